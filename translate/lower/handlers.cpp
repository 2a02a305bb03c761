#include "translate/lower/handlers.h"

#include <iterator>

namespace ptxrun::lower {

// The table names handlers; each is a function of this namespace. One that does not exist is a link
// error.
#define PTXRUN_HANDLER(name) void name(LaneBuilder &, const check::Instruction &);
#include "isa_handlers.inc"
#undef PTXRUN_HANDLER

namespace {
constexpr LowerHandler kHandlers[] = {
    nullptr,
#define PTXRUN_HANDLER(name) &lower::name,
#include "isa_handlers.inc"
#undef PTXRUN_HANDLER
};
} // namespace

LowerHandler handlerOf(isa::Handler handler) {
  const auto index = static_cast<size_t>(handler);
  return index < std::size(kHandlers) ? kHandlers[index] : nullptr;
}

} // namespace ptxrun::lower
