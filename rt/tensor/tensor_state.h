// What a CTA keeps for wgmma and tcgen05: registers and products that were put off, tensor memory.
#pragma once
#include <memory>
#include <vector>

#include "rt/launch/records.h"
#include "rt/tensor/late_products.h"
#include "rt/tensor/operands.h"
#include "rt/tensor/tensor_memory.h"
#include "rt/tensor/tensor_queue.h"
#include "rt/tensor/wgmma.h"

namespace ptxrun::rt {

/// Room for one instruction's operands and results; stacks of kernels have little.
struct TensorScratch {
  static constexpr unsigned kMaxRows = 288, kMaxRowBytes = 256; ///< of a run's products
  char a[128 * kMaxRowBytes];
  char b[kMaxRows * kMaxRowBytes];
  uint32_t accumulators[128 * 256];
  FloatBuffer rows; ///< A of a warp, as prepareRows() has it
  /// Operands: here, since a stack may be abandoned while they are read.
  Numbers numbersA, numbersB, rowsB; ///< B as k rows of n, and as it was
  Selection selection;
  std::vector<float> scalesA, scalesB;
};

struct TensorState {
  std::unique_ptr<LateProducts> products[kMaxWarps]; ///< wgmma of each warp, where it is put off
  std::unique_ptr<WarpgroupTiles> warpgroups[kMaxWarps / 4];
  std::unique_ptr<TensorMemory> memory;    ///< null until it is first used
  std::vector<AllocationRequest> requests; ///< that wait for columns
  TensorQueue queue;                       ///< the group's, in its first CTA's state
  std::vector<uint32_t> registers;         ///< of a warp of several gangs, in passing
  std::unique_ptr<TensorScratch> scratch;
};

/// The CTA's, made if need be.
TensorState &tensorStateOf(GangState &);
TensorScratch &tensorScratchOf(GangState &);
void freeTensorState(TensorState *);
/// Forgets everything, at the start of a CTA.
void resetTensorState(TensorState &);
/// Between two instructions: `to` has what `from` has, the same gangs and columns. Memory that both
/// have stays where it is.
void copyTensorState(const TensorState &from, TensorState &to);

} // namespace ptxrun::rt
