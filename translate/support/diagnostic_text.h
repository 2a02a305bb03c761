// One diagnostic as text, for those who print them one by one.
#pragma once
#include <string>
#include <string_view>

#include "translate/support/diagnostics.h"

namespace ptxrun::support {

std::string_view nameOf(Severity); ///< "error", "warning", "note"
/// What is wrong, in bytes that a terminal may print.
std::string printableMessage(const Diagnostics &, const Diagnostic &);
/// As Diagnostics::text has it: `file:line:column: error: message`, the line, a caret run, the
/// notes.
std::string textOf(const Diagnostics &, const Diagnostic &);

} // namespace ptxrun::support
