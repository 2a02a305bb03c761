// What of the instruction set is parsed, executed and tested: the figures of `ptxrun isa`.
#pragma once
#include <string_view>
#include <vector>

#include "translate/isa/table.h"

namespace ptxrun::isa {

struct Coverage {
  const Form *form = nullptr;
  bool isExecuted = false; ///< a handler lowers it, and a test executes it
  bool isTested = false;   ///< a case file or a kernel among the tests and samples contains it
};

/// One entry per form, in the table's order. Which forms the tests contain was found out when this
/// was built (scan_tests.py).
std::vector<Coverage> coverage();

/// The family that `ptxrun isa` groups a form under: "9.7.13 Parallel synchronization and
/// communication".
std::string_view familyOf(const Form &);

} // namespace ptxrun::isa
