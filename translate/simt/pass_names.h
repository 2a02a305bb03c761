// The names of the passes (passes.def), and sets of them as users write them. Knows nothing of
// LLVM.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "translate/support/code_options.h"

namespace ptxrun::simt {

enum class Pass : uint8_t {
#define SIMT_PASS(id, name, kind, requires_, preserves, gives, what) id,
#define SIMT_PART(id, name, what) id,
#include "translate/simt/passes.def"
#undef SIMT_PART
#undef SIMT_PASS
};

/// Reads what to leave out: "-jam,-rows", "-all" for all that may be, "-all,+jam" for all but jam;
/// in that order. Returns what is wrong with the text; empty: nothing.
std::string readPasses(std::string_view text, PassSet &);

} // namespace ptxrun::simt
