// The figures of `ptxrun isa`.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "translate/isa/coverage.h"

namespace ptxrun::isa {
namespace {

const Coverage &entryOf(const std::vector<Coverage> &all, std::string_view notation) {
  return *std::ranges::find_if(all,
                               [&](const Coverage &c) { return c.form->notation == notation; });
}

/// The stage of one value of the form's first set.
Stage stageOf(const Coverage &entry, std::string_view value) {
  const auto &values = entry.modifiers.at(0).values;
  return std::ranges::find(values, value, &ModifierValue::text)->stage;
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
      EXPECT_FALSE(c.isExecuted() || c.isTested()) << c.form->notation;
    }
}

TEST(Coverage, TakesFormsAndValuesFromRecords) {
  std::vector<Coverage> all = noCoverage();
  EXPECT_EQ(addRecord(all, "checked\t9.7.1.1 add.type d, a, b;\t.u16\n"
                           "tested\t9.7.1.1 add.type d, a, b;\t.s32\n"
                           "executed\t9.7.1.1 add.type d, a, b;\t.s32\n"),
            0u);
  const Coverage &add = entryOf(all, "add.type d, a, b;");
  EXPECT_TRUE(add.isTested());
  EXPECT_EQ(stageOf(add, "u16"), Stage::checked);
  EXPECT_EQ(stageOf(add, "s32"), Stage::tested);
  EXPECT_EQ(stageOf(add, "u64"), Stage::unseen);
  EXPECT_EQ(entryOf(all, "sub.type d, a, b;").stage, Stage::unseen);
}

TEST(Coverage, CountsWhatIsLeftOutAsAValue) {
  std::vector<Coverage> all = noCoverage();
  EXPECT_EQ(addRecord(all, "tested\t9.7.1.1 add{.sat}.q4 d, a, b;\t.u8x4\n"), 0u);
  const Coverage &add = entryOf(all, "add{.sat}.q4 d, a, b;");
  EXPECT_EQ(stageOf(add, ""), Stage::tested);
  EXPECT_EQ(stageOf(add, "sat"), Stage::unseen);
}

TEST(Coverage, NamesTheLineOfARecordThatIsNone) {
  std::vector<Coverage> all = noCoverage();
  EXPECT_EQ(addRecord(all, "tested\t9.7.1.1 add.type d, a, b;\t.u16\nsomething else\n"), 2u);
  EXPECT_EQ(addRecord(all, "tested\t9.7.1.1 add.type d, a, b;\t.u17\n"), 1u);
  EXPECT_EQ(addRecord(all, "seen\t9.7.1.1 add.type d, a, b;\t.u16\n"), 1u);
}

TEST(Coverage, TellsFormsApartThatAreWrittenAlike) {
  std::set<std::string> names;
  for (const Form &form : forms())
    EXPECT_TRUE(names.insert(nameOf(form)).second) << nameOf(form);
}

TEST(Coverage, ShowsWhatTheTableThatShipsSays) {
  EXPECT_TRUE(entryOf(coverage(), "add.type d, a, b;").isTested());
}

TEST(Coverage, NamesAFamilyForEveryForm) {
  for (const Form &f : forms())
    EXPECT_NE(familyOf(f).find(' '), std::string_view::npos) << f.section;
}

} // namespace
} // namespace ptxrun::isa
