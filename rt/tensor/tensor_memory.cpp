#include "rt/tensor/tensor_memory.h"

#include <bit>
#include <new>

#include "rt/launch/failure.h"
#include "rt/tensor/tensor_state.h"

namespace ptxrun::rt {

void failTensor(GangState &g, const char *instruction, std::string &&what) {
  {
    const std::string taken = std::move(what);
    recordFailure(g, Status::undefinedUse,
                  std::string(instruction) + ": " + taken + " in " + describeGang(g));
  }
  leaveKernel(g);
}

TensorMemory &tensorMemoryOf(GangState &g, CtaState &cta) {
  if (!cta.tensor)
    cta.tensor = new (std::nothrow) TensorState;
  if (cta.tensor && !cta.tensor->memory)
    cta.tensor->memory.reset(new (std::nothrow) TensorMemory);
  if (!cta.tensor || !cta.tensor->memory) {
    recordFailure(g, Status::outOfMemory, "not enough memory for tensor memory");
    leaveKernel(g);
  }
  return *cta.tensor->memory;
}

CtaState &peerOf(GangState &g, const char *instruction) {
  GroupState &group = groupOf(g);
  const uint32_t rank = g.cta->cta.clusterRank ^ 1;
  if (rank >= group.ctaCount)
    failTensor(g, instruction, ".cta_group::2, but the block has no peer in its cluster");
  return group.ctas[rank];
}

TensorMemory &requireColumns(GangState &g, CtaState &cta, const char *instruction, const char *what,
                             uint32_t first, uint32_t count) {
  TensorMemory &memory = tensorMemoryOf(g, cta);
  if (!memory.isAllocated(first, count))
    failTensor(g, instruction,
               std::string(what) + " in columns " + std::to_string(first) + " to " +
                   std::to_string(first + count - 1) + ", which are not all allocated");
  return memory;
}

void checkTensorMemory(GangState &g) {
  const TensorState *state = g.cta->tensor;
  if (!state || !state->memory || !state->memory->taken || groupOf(g).launch->isStopped())
    return;
  recordFailure(g, Status::undefinedUse,
                "tcgen05.dealloc: " +
                    std::to_string(std::popcount(state->memory->taken) * TensorMemory::kUnit) +
                    " columns of tensor memory were not given back before the end of " +
                    describeGang(g));
}

std::string describeAllocation(const GangState &g) {
  for (const AllocationRequest &request : g.cta->tensor->requests)
    if (request.gang == &g)
      return std::string("tcgen05.alloc of ") + std::to_string(request.columns) + " columns" +
             (request.isPair ? " in both blocks of the pair" : "") + ": " +
             std::to_string(std::popcount(g.cta->tensor->memory->taken) * TensorMemory::kUnit) +
             " of 512 are allocated";
  return "tcgen05.alloc";
}

} // namespace ptxrun::rt
