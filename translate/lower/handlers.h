// The handlers that the instruction table names: one function each, found by isa::Handler.
#pragma once
#include "translate/check/checked_module.h"

namespace ptxrun::lower {

class LaneBuilder;
using LowerHandler = void (*)(LaneBuilder &, const check::Instruction &);

/// The handler's function, null for Handler::none.
LowerHandler handlerOf(isa::Handler);

} // namespace ptxrun::lower
