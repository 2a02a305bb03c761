// What the asynchronous copies have in common: their operands.
#pragma once
#include "intrinsics/abi.h"
#include "translate/check/checked_module.h"

namespace llvm {
class Value;
}

namespace ptxrun::lower {

class LaneBuilder;

/// The last of the address operands: the mbarrier; null where the form has none.
const check::Operand *mbarrierOf(const check::Instruction &);
/// Its host address, a null pointer where the form has none.
llvm::Value *mbarrierPointer(LaneBuilder &, const check::Instruction &,
                             isa::StateSpace = isa::StateSpace::sharedCluster);

struct CopyEnds {
  llvm::Value *destination, *source;
};
/// Host addresses of operands 0 and 1 by the two spaces the opcode names, in that order.
CopyEnds endsOf(LaneBuilder &, const check::Instruction &);

/// The operand of type u16 that is no vector (CTA mask or byte mask) as i16, null where the form
/// has none.
llvm::Value *maskOperandOf(LaneBuilder &, const check::Instruction &);

abi::ReduceOp reduceOpOf(const check::Instruction &);
abi::ReduceType reduceTypeOf(isa::Type);

} // namespace ptxrun::lower
