// Whether a result is the one expected.
#pragma once
#include <string>

#include "tests/isa/case_file.h"

namespace ptxrun::isa_test {

/// Empty if `actual` (an element of a result of `slot`'s type) is `expected` within the tolerance,
/// else what is wrong.
std::string differenceOf(const Slot &slot, const Tolerance &, const Value &expected,
                         unsigned element, uint64_t actual);

} // namespace ptxrun::isa_test
