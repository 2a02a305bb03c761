// Handlers that other handlers build on.
#pragma once

namespace ptxrun::check {
struct Instruction;
}

namespace ptxrun::lower {

class LaneBuilder;

void lowerStore(LaneBuilder &, const check::Instruction &);
void lowerRed(LaneBuilder &, const check::Instruction &);
void lowerRedVector(LaneBuilder &, const check::Instruction &);
void lowerRedHalf(LaneBuilder &, const check::Instruction &);
void lowerLoad(LaneBuilder &, const check::Instruction &);

} // namespace ptxrun::lower
