// Measures the approximate functions over many inputs.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/numerics/approximate.h"

namespace ptxrun::numerics {

/// How much is measured.
struct Extent {
  uint64_t step = 1; ///< every so many of all f32
  uint64_t samples =
      100'000'000; ///< of f64, and of pairs of f32; all special values and pairs come on top
};

/// A line of measured.tsv. Numbers are bits in hexadecimal.
struct Row {
  std::string form; ///< the table's notation
  std::string mnemonic;
  std::string range;
  std::string inputs; ///< "all 4294967296" or "100004096"
  std::string unit;
  double bound = 0;   ///< the manual's, infinity where it gives none
  double worst = 0;   ///< by MPFR
  std::string at;     ///< the input (or inputs, with a comma) that shows it
  std::string result; ///< what the instruction gave there
};

/// The approximations, each with those that differ from it in `.ftz` alone.
std::vector<std::span<const Approximation>> allTwins();

/// Their rows, one for each range of each.
std::vector<Row> measureTwins(std::span<const Approximation> twins, const Extent &);

/// measured.tsv: lines of tabs; the first says what the columns are. Date and commit are the same
/// for all rows of a run.
std::string writeRows(const std::vector<Row> &, std::string_view date, std::string_view commit);
std::vector<Row> readRows(const std::string &path);

} // namespace ptxrun::numerics
