// What `ptxrun isa --numerics` says was measured.
#include "loader/ptxrun/measured.h"

#include <gtest/gtest.h>

namespace ptxrun::command {
namespace {

const isa::Form *formWith(std::string_view notation) {
  for (const isa::Form &form : isa::forms())
    if (form.notation == notation)
      return &form;
  return nullptr;
}

TEST(Measured, HasEveryApproximateForm) {
  for (const isa::Form &form : isa::forms()) {
    const bool isApproximate = form.notation.find(".approx") != std::string_view::npos ||
                               form.notation.find(".full") != std::string_view::npos;
    if (isApproximate && (form.section.starts_with("9.7.3.") || form.section.starts_with("9.7.4.")))
      EXPECT_FALSE(measuredRowsOf(form).empty()) << form.notation;
  }
}

TEST(Measured, NamesFormsOfTheTable) {
  EXPECT_FALSE(measuredRows().empty());
  for (const MeasuredRow &row : measuredRows())
    EXPECT_NE(formWith(row.form), nullptr) << row.form;
}

TEST(Measured, KnowsWhatOldFormsStandFor) {
  const isa::Form *sine = formWith("sin.f32 d, a;"), *quotient = formWith("div.f64 d, a, b;");
  ASSERT_TRUE(sine && quotient);
  ASSERT_FALSE(measuredRowsOf(*sine).empty());
  EXPECT_EQ(measuredRowsOf(*sine)[0]->instruction, "sin.approx.ftz.f32");
  EXPECT_TRUE(measuredRowsOf(*quotient).empty());
}

TEST(Measured, IsWithinTheManualsBounds) {
  for (const MeasuredRow &row : measuredRows())
    EXPECT_LE(row.worst, row.bound) << row.instruction << ", " << row.range;
}

} // namespace
} // namespace ptxrun::command
