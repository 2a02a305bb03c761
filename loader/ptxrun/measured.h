// measured.tsv: how far approximate instructions are from the functions. Written by
// tests/numerics/numerics_measure, whose README says how; part of the executable.
#pragma once
#include <string>
#include <vector>

#include "translate/isa/table.h"

namespace ptxrun::command {

struct MeasuredRow {
  std::string form;        ///< the table's notation
  std::string instruction; ///< ex2.approx.ftz.f32
  std::string range;       ///< of inputs: "all", "[-2pi, 2pi]"
  std::string inputs;      ///< how many: "all 4294967296", "100004096"
  std::string unit;        ///< ulp, relative, absolute; magnitude: the result's size
  double bound = 0;        ///< the manual's; infinity where it gives none
  double worst = 0;
  std::string at, result; ///< the operands with the worst error, and what came out, in hexadecimal
  std::string date, commit;
};

const std::vector<MeasuredRow> &measuredRows();

/// Those of a form; of forms that PTX had before 1.4 (sin.f32), those of the form it stands for
/// (sin.approx.ftz.f32). Empty for exact forms.
std::vector<const MeasuredRow *> measuredRowsOf(const isa::Form &);

} // namespace ptxrun::command
