// One tcgen05.mma (PTX ISA 9.7.16.10).
#pragma once
#include <span>

#include "intrinsics/tensor_forms.h"
#include "rt/tensor/instruction_descriptor.h"
#include "rt/tensor/tensor_memory.h"

namespace ptxrun::rt {

struct TensorMmaOperands {
  abi::TensorMmaForm form;
  TensorMma instruction;
  TensorAddress d{}, metadata{}, scaleA{}, scaleB{};
  uint64_t a = 0, b = 0; ///< descriptors; A: or an address in tensor memory
  bool hasInput = true;
  uint64_t zeroColumns = 0;       ///< zero-column mask descriptor
  uint32_t disabledLanes[8] = {}; ///< of the even and the odd CTA of a pair, four words each
};

/// Products that are multiplied together, at most: rows of 64 bytes have room for them.
inline constexpr size_t kLongestRun = 4;

/// Multiplies, in the memory of the gang's CTA or of both CTAs of its pair. More than one product:
/// a run, each of which continues the one before.
void multiplyTensor(GangState &, std::span<const TensorMmaOperands>);

/// Whether a product can be the first of a run, and whether `next` goes on where `last` ends: the
/// same D, further along K, summed in a chain, so that one longer product gives the same bits.
bool beginsRun(const TensorMmaOperands &);
bool continuesRun(const TensorMmaOperands &last, const TensorMmaOperands &next);
/// Reports descriptors and columns that are wrong, before the product is put off.
void checkTensorProduct(GangState &, const TensorMmaOperands &);

/// The columns of B that count as zero: bit n % 64 of word n / 64 (9.7.16.4.3). `shift` receives
/// the column shift.
struct ZeroColumns {
  uint64_t mask[4] = {};
  unsigned shift = 0;
};
ZeroColumns zeroColumnsOf(uint64_t descriptor, unsigned m, unsigned n);

} // namespace ptxrun::rt
