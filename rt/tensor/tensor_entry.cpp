// The entry point of tcgen05.mma.
#include <cstring>

#include "rt/launch/failure.h"
#include "rt/launch/worker.h"
#include "rt/tensor/tensor_memory.h"
#include "rt/tensor/tensor_multiply.h"
#include "rt/tensor/tensor_queue.h"

namespace ptxrun::rt {

namespace {

struct Multiplication : TensorOperation {
  TensorMmaOperands operands;
  std::unique_ptr<TensorOperation> copy() const override { return copyOf(*this); }
  void perform(GangState &g) override { multiplyTensor(g, std::span(&operands, 1)); }
};

/// Where D may begin: lane 0, or 16 where it takes half of each quarter (9.7.16.10.5).
void checkLanes(GangState &g, const TensorMmaOperands &o) {
  const unsigned rows = o.form.isPair ? o.instruction.m / 2 : o.instruction.m;
  const bool mayBeHalf = rows == 64 && !o.form.isStationary && (!o.form.isPair || o.form.isSparse);
  if (o.d.lane != 0 && !(mayBeHalf && o.d.lane == 16))
    failTensor(g, "tcgen05.mma", "D at lane " + std::to_string(o.d.lane));
  const unsigned laneA = static_cast<uint32_t>(o.a) >> 16;
  if (o.form.hasTensorA && laneA != o.d.lane)
    failTensor(g, "tcgen05.mma",
               "A at lane " + std::to_string(laneA) + " and D at lane " + std::to_string(o.d.lane));
  if (o.form.shiftsA && rows != 128)
    failTensor(g, "tcgen05.mma", ".ashift needs M = 128, or 256 of a pair");
}

} // namespace
} // namespace ptxrun::rt

using namespace ptxrun;
using namespace ptxrun::rt;

extern "C" {

void ptxrun_tcgen05_mma(abi::Gang *gang, uint32_t, uint64_t form, uint32_t d, uint64_t a,
                        uint64_t b, uint32_t descriptor, uint32_t hasInput, uint32_t metadata,
                        uint32_t scaleA, uint32_t scaleB, uint64_t zeroColumns,
                        const uint32_t *disabledLanes) {
  GangState &g = stateOf(gang);
  Multiplication o;
  TensorMmaOperands &m = o.operands;
  m.form = abi::fromWord<abi::TensorMmaForm>(form);
  std::string error = readInstruction(m.form, descriptor, m.instruction);
  if (!error.empty())
    failTensor(g, "tcgen05.mma", "the instruction descriptor: " + std::move(error));
  m.d = tensorAddress(d);
  m.a = a;
  m.b = b;
  m.hasInput = hasInput != 0;
  m.metadata = tensorAddress(metadata);
  m.scaleA = tensorAddress(scaleA);
  m.scaleB = tensorAddress(scaleB);
  m.zeroColumns = zeroColumns;
  if (m.form.hasMask)
    std::memcpy(m.disabledLanes, disabledLanes, sizeof m.disabledLanes);
  if (m.form.isPair)
    peerOf(g, "tcgen05.mma");
  checkLanes(g, m);
  if (isTensorEager(g))
    multiplySoon(g, m);
  else
    submitTensorOperation(g, o);
}
}
