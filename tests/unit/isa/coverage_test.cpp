// The figures of `ptxrun isa`.
#include <gtest/gtest.h>

#include <algorithm>

#include "translate/isa/coverage.h"

namespace ptxrun::isa {
namespace {

/// True if a form of the instruction counts as tested.
bool isTested(std::string_view instruction) {
  auto all = coverage();
  return std::any_of(all.begin(), all.end(), [&](const Coverage &c) {
    return c.form->instruction == instruction && c.isTested;
  });
}

TEST(Coverage, HasOneEntryPerForm) {
  auto all = coverage();
  ASSERT_EQ(all.size(), forms().size());
  for (const Coverage &c : all)
    EXPECT_EQ(&forms()[c.form->id], c.form);
}

TEST(Coverage, CountsNothingWithoutAHandler) {
  for (const Coverage &c : coverage())
    if (c.form->handler == Handler::none) {
      EXPECT_FALSE(c.isExecuted || c.isTested) << c.form->notation;
    }
}

TEST(Coverage, ExecutedMeansATestExecutesIt) {
  for (const Coverage &c : coverage())
    EXPECT_LE(c.isExecuted, c.isTested) << c.form->notation;
}

TEST(Coverage, FindsWhatCaseFilesAndKernelsContain) {
  EXPECT_TRUE(isTested("add"));
  EXPECT_TRUE(isTested("ld"));
  EXPECT_TRUE(isTested("bra"));
  EXPECT_TRUE(isTested("setp"));
}

TEST(Coverage, NamesAFamilyForEveryForm) {
  for (const Form &f : forms())
    EXPECT_NE(familyOf(f).find(' '), std::string_view::npos) << f.section;
}

} // namespace
} // namespace ptxrun::isa
