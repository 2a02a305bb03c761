// PTX text to a LaneModule and its IR as text, for tests that state properties of the IR.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "translate/check/checked_module.h"
#include "translate/lower/lower.h"
#include "translate/support/source.h"

namespace ptxrun::lower::test {

struct Lowered {
  std::unique_ptr<support::SourceFile> source;
  std::unique_ptr<check::CheckedModule> checked;
  std::optional<LaneModule> lane; ///< absent where checking or lowering failed
  std::string ir;                 ///< the module as text
  std::string diagnostics;

  bool contains(std::string_view text) const { return ir.find(text) != std::string::npos; }
  unsigned count(std::string_view text) const;
};

/// Lowers kernel `k` of a whole module without its `.version` lines; verifies the result (a broken
/// contract fails the test).
Lowered lowerModule(std::string_view text, bool optimise = true);

/// Lowers a kernel `k` with parameters `out` and `in` (.u64), registers %p, %h (b16), %r (b32), %rd
/// (b64), %f, %d<32> and `body`, which finds the parameters in %rd30 (out) and %rd31 (in).
Lowered lowerBody(std::string_view body, bool optimise = true);

} // namespace ptxrun::lower::test
