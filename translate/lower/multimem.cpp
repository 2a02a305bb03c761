// multimem (PTX ISA 9.7.9.14): a multicast object of one device has one replica, so that its
// address is ordinary memory.
#include "translate/lower/lane_builder.h"
#include "translate/lower/memory_access.h"

namespace ptxrun::lower {

using check::Instruction;

void lowerMultimemLdReduce(LaneBuilder &b, const Instruction &in) { lowerLoad(b, in); }

void lowerMultimemSt(LaneBuilder &b, const Instruction &in) { lowerStore(b, in); }

void lowerMultimemRed(LaneBuilder &b, const Instruction &in) {
  if (in.operands[1].kind == check::Operand::Kind::vector)
    return lowerRedVector(b, in);
  switch (in.type()) {
  case isa::Type::f16:
  case isa::Type::bf16:
  case isa::Type::f16x2:
  case isa::Type::bf16x2:
    return lowerRedHalf(b, in);
  default:
    return lowerRed(b, in);
  }
}

} // namespace ptxrun::lower
