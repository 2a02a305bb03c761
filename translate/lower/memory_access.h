// Handlers that other handlers build on.
#pragma once
#include <llvm/ADT/STLFunctionalExtras.h>

namespace llvm {
class Value;
}

namespace ptxrun::check {
struct Instruction;
}

namespace ptxrun::lower {

class LaneBuilder;

/// Emits `each` for the place of a multicast address on every device but the first.
void forOtherReplicas(LaneBuilder &, llvm::Value *address,
                      llvm::function_ref<void(llvm::Value *)> each);

void lowerStore(LaneBuilder &, const check::Instruction &);
void lowerRed(LaneBuilder &, const check::Instruction &);
void lowerRedVector(LaneBuilder &, const check::Instruction &);
void lowerRedHalf(LaneBuilder &, const check::Instruction &);
void lowerLoad(LaneBuilder &, const check::Instruction &);

} // namespace ptxrun::lower
