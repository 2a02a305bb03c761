// The instruction descriptor of tcgen05.mma (PTX ISA 9.7.16.4.2) together with the form, checked
// against the shapes and types of 9.7.16.2.1.
#pragma once
#include <string>

#include "intrinsics/tensor_forms.h"

namespace ptxrun::rt {

struct TensorMma {
  matrix::Element a = matrix::Element::f16, b = matrix::Element::f16, d = matrix::Element::f32;
  matrix::Element scale = matrix::Element::ue8m0;
  unsigned m = 0, n = 0;
  unsigned k = 0;           ///< with A's zeros
  unsigned compressedK = 0; ///< elements of a row of A
  bool negatesA = false, negatesB = false;
  bool isTransposedA = false, isTransposedB = false; ///< MN-major
  bool saturates = false;
  unsigned selector = 0; ///< sparsity selector
  unsigned scaleIdA = 0, scaleIdB = 0;
  bool isByteEach = false; ///< 6- and 4-bit elements take a byte each of tensor memory, 16 take 16
                           ///< bytes of shared memory
};

/// Empty, or what is wrong.
std::string readInstruction(abi::TensorMmaForm, uint32_t descriptor, TensorMma &);

} // namespace ptxrun::rt
