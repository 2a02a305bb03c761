// What the forms of wgmma and tcgen05 say beside their operands (PTX ISA 9.7.15, 9.7.16), in one
// word each: lowering writes it as a constant, the runtime reads it.
#pragma once
#include <bit>
#include <cstdint>

#include "intrinsics/matrix/element.h"

namespace ptxrun::abi {

/// wgmma.mma_async{.sp} m64nNkK. `k` counts A's zeros too.
struct WgmmaForm {
  uint64_t n : 9 = 0;
  uint64_t k : 9 = 0;
  uint64_t a : 5 = 0; ///< matrix::Element, like b and d
  uint64_t b : 5 = 0;
  uint64_t d : 5 = 0;
  uint64_t isSparse : 1 = 0;
  uint64_t selector : 2 = 0; ///< sp-sel
  uint64_t negatesA : 1 = 0;
  uint64_t negatesB : 1 = 0;
  uint64_t isTransposedA : 1 = 0; ///< M-major
  uint64_t isTransposedB : 1 = 0; ///< N-major
  uint64_t saturates : 1 = 0;
  uint64_t hasRegistersA : 1 = 0;
  uint64_t policy : 4 = 0;        ///< matrix::Policy
  uint64_t productsLess1 : 3 = 0; ///< more than one: they continue each other (canContinue)
  uint64_t unused : 15 = 0;

  static constexpr unsigned kMostProducts = 8;
  unsigned products() const { return static_cast<unsigned>(productsLess1) + 1; }
  /// Whether a product of this form that adds to the D of one before can be done with it.
  bool canContinue() const {
    return !isSparse && elementA() != matrix::Element::b1 && elementD() != matrix::Element::f16;
  }
  matrix::Element elementA() const { return static_cast<matrix::Element>(a); }
  matrix::Element elementB() const { return static_cast<matrix::Element>(b); }
  matrix::Element elementD() const { return static_cast<matrix::Element>(d); }
  /// Registers of D that a thread has.
  unsigned registersD() const { return n / (elementD() == matrix::Element::f16 ? 4u : 2u); }
};

/// `.kind::` of tcgen05.mma.
enum class TensorKind : uint32_t { f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4 };

/// tcgen05.mma{.ws}{.sp}. The types, M and N are in its instruction descriptor.
struct TensorMmaForm {
  uint64_t kind : 3 = 0;   ///< TensorKind
  uint64_t isPair : 1 = 0; ///< .cta_group::2
  uint64_t isSparse : 1 = 0;
  uint64_t isStationary : 1 = 0; ///< .ws
  uint64_t hasTensorA : 1 = 0;   ///< A lies in tensor memory
  uint64_t shiftsA : 1 = 0;      ///< .ashift
  uint64_t hasMask : 1 = 0;      ///< disable-output-lane
  uint64_t inputShift : 4 = 0;   ///< scale-input-d: D is multiplied by 2^-inputShift
  uint64_t scaleBlock : 7 = 0;   ///< how many k share a block scale; 0: no scales
  uint64_t policy : 4 = 0;       ///< matrix::Policy
  uint64_t unused : 40 = 0;
};

/// The shapes of tcgen05.ld and .st.
enum class TensorShape : uint32_t { s32x32b, s16x64b, s16x128b, s16x256b, s16x32bx2 };
enum class TensorReduction : uint32_t { none, minimum, maximum };

/// tcgen05.ld{.red} and .st.
struct TensorMoveForm {
  uint64_t shape : 3 = 0;     ///< TensorShape
  uint64_t registers : 8 = 0; ///< of each thread, 1 to 128, without the reduction's
  uint64_t isPacked : 1 = 0;  ///< .pack::16b, .unpack::16b
  uint64_t reduction : 2 = 0; ///< TensorReduction
  uint64_t isFloat : 1 = 0;   ///< of the reduction: f32, else integers
  uint64_t isSigned : 1 = 0;
  uint64_t takesMagnitude : 1 = 0; ///< .abs
  uint64_t keepsNan : 1 = 0;       ///< .NaN
  uint64_t unused : 14 = 0;
  uint64_t halfOffset : 32 = 0; ///< immHalfSplitoff, in columns
};

/// The shapes of tcgen05.cp with their multicasts.
enum class TensorCopyShape : uint32_t {
  s128x256b,
  s4x256b,
  s128x128b,
  s64x128b02,
  s64x128b01,
  s32x128b
};
/// How elements lie in shared memory: as they are, or 16 of them of 6 or 4 bits in 16 bytes.
enum class TensorCopyFormat : uint32_t { plain, b6, b4 };

/// tcgen05.cp.
struct TensorCopyForm {
  uint64_t shape : 3 = 0;  ///< TensorCopyShape
  uint64_t format : 2 = 0; ///< TensorCopyFormat
  uint64_t isPair : 1 = 0;
  uint64_t unused : 58 = 0;
};

template <class Form> constexpr uint64_t toWord(Form form) { return std::bit_cast<uint64_t>(form); }
template <class Form> constexpr Form fromWord(uint64_t word) { return std::bit_cast<Form>(word); }

} // namespace ptxrun::abi
