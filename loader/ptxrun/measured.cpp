#include "loader/ptxrun/measured.h"

#include <cstdlib>
#include <sstream>

// The file's text, between two symbols of this object.
__asm__(".section .rodata\n"
        "ptxrun_measured_begin:\n"
        ".incbin \"" PTXRUN_MEASURED "\"\n"
        "ptxrun_measured_end:\n"
        ".previous\n");

extern "C" {
extern const char ptxrun_measured_begin[] __attribute__((visibility("hidden")));
extern const char ptxrun_measured_end[] __attribute__((visibility("hidden")));
}

namespace ptxrun::command {
namespace {

std::vector<MeasuredRow> readAll() {
  std::istringstream file(std::string(ptxrun_measured_begin, ptxrun_measured_end));
  std::vector<MeasuredRow> rows;
  std::string line;
  std::getline(file, line); // the columns' names
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    MeasuredRow row;
    std::string bound, worst;
    for (std::string *field : {&row.form, &row.instruction, &row.range, &row.inputs, &row.unit,
                               &bound, &worst, &row.at, &row.result, &row.date, &row.commit})
      std::getline(fields, *field, '\t');
    row.bound = std::strtod(bound.c_str(), nullptr);
    row.worst = std::strtod(worst.c_str(), nullptr);
    rows.push_back(std::move(row));
  }
  return rows;
}

/// `sin.approx.ftz.f32` for `sin.f32 d, a;`, `rsqrt.approx.f64` for `rsqrt.f64 d, a;`; empty for
/// what says itself how it rounds.
std::string modernName(const isa::Form &form) {
  const std::string_view written = form.notation.substr(0, form.notation.find(' '));
  const size_t dot = written.find('.');
  if (!form.section.starts_with("9.7.3.") || dot == std::string_view::npos)
    return {};
  const std::string_view type = written.substr(dot);
  if (type != ".f32" && type != ".f64")
    return {};
  return std::string(written.substr(0, dot)) + (type == ".f32" ? ".approx.ftz" : ".approx") +
         std::string(type);
}

} // namespace

const std::vector<MeasuredRow> &measuredRows() {
  static const std::vector<MeasuredRow> rows = readAll();
  return rows;
}

std::vector<const MeasuredRow *> measuredRowsOf(const isa::Form &form) {
  const std::string modern = modernName(form);
  std::vector<const MeasuredRow *> found;
  for (const MeasuredRow &row : measuredRows())
    if (row.form == form.notation || row.instruction == modern)
      found.push_back(&row);
  return found;
}

} // namespace ptxrun::command
