// Results against what was expected.
#pragma once
#include <string>

#include "loader/ptxrun/array.h"
#include "loader/ptxrun/plan.h"

namespace ptxrun::command {

struct Comparison {
  uint64_t compared = 0, different = 0;
  double worstRelative = 0; ///< greatest |got - expected| / |expected| seen, floating point only
  std::string firstDifferences; ///< one line each, at most five
};

/// Compares with an expression; `expected` names refer to the contents before the first launch.
Comparison compareWithExpression(const Array &got, const Expectation &, const Expression &expected);
/// Compares element by element; throws UsageError where the element counts differ.
Comparison compareWithArray(const Array &got, const Expectation &, const Array &expected);

/// The lines that differ between two texts, for a message; empty if they are equal (in any order of
/// lines if so asked).
std::string compareText(std::string got, std::string expected, bool isAnyOrder);

} // namespace ptxrun::command
