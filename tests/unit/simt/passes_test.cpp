#include "translate/simt/passes.h"

#include <map>

#include "tests/unit/simt/lane_text.h"

namespace ptxrun::simt {
namespace {

std::string problemOf(std::string_view text) {
  PassSet left;
  return readPasses(text, left);
}

TEST(Passes, NamesAreTakenInTheOrderGiven) {
  PassSet left;
  ASSERT_EQ(readPasses("-jam,-rows", left), "");
  EXPECT_TRUE(left.has(Pass::jam) && left.has(Pass::rows));
  EXPECT_FALSE(left.has(Pass::versions));
  ASSERT_EQ(readPasses("-all,+jam", left), "");
  EXPECT_TRUE(left.has(Pass::rows) && left.has(Pass::versions) && left.has(Pass::sameValues));
  EXPECT_FALSE(left.has(Pass::jam) || left.has(Pass::widen));
  ASSERT_EQ(readPasses("", left), "");
  EXPECT_EQ(left.bits(), 0u);
}

TEST(Passes, WhatIsWrongIsNamed) {
  EXPECT_EQ(problemOf("jam"), "'jam' is neither -NAME nor +NAME");
  EXPECT_EQ(problemOf("-jamming"), "there is no pass 'jamming'");
  EXPECT_EQ(problemOf("-jam,-widen"), "pass 'widen' is needed for the result");
}

TEST(Passes, NamesAreUnique) {
  std::map<std::string_view, int> count;
  for (const PassInfo &info : passes())
    EXPECT_EQ(++count[info.name], 1) << info.name;
}

/// `y[i] = x[i]` for i < n, in a loop whose every round stores to one place.
const char *const kGuardedSum =
    "%x = call i32 @ptx.sreg.tid.x()\n%n = load i32, ptr %params\n%in = icmp ult i32 %x, %n\n"
    "br i1 %in, label %body, label %end\n"
    "body:\n%q = getelementptr i8, ptr %params, i64 8\n%base = load i64, ptr %q\n"
    "%e = zext i32 %x to i64\n%o = shl i64 %e, 2\n%a = add i64 %base, %o\n"
    "%p = inttoptr i64 %a to ptr\nbr label %loop\n"
    "loop:\n%k = phi i32 [ 0, %body ], [ %k1, %loop ]\n%v = load float, ptr %p\n"
    "%w = fadd float %v, 1.0\nstore float %w, ptr %p\n%k1 = add i32 %k, 1\n"
    "%more = icmp ult i32 %k1, %n\nbr i1 %more, label %loop, label %end\nend:\nret void";

/// The passes that ran, and that each left behind what it promises (PassRun verifies).
std::vector<std::string> ranOf(const CodeOptions &options) {
  std::vector<std::string> ran;
  llvm::Expected<GangModule> gang =
      widen(laneModule(kGuardedSum), options,
            [&](const PassInfo &info, const llvm::Module &) { ran.emplace_back(info.name); });
  EXPECT_TRUE(bool(gang)) << llvm::toString(gang.takeError());
  return ran;
}

TEST(Passes, RunInOrderAndAreTold) {
  const std::vector<std::string> all = {"prepare",
                                        "endless-waits",
                                        "early-arrivals",
                                        "early-returns",
                                        "reroll",
                                        "local-rows",
                                        "butterflies",
                                        "rounds",
                                        "versions",
                                        "repeated-stores",
                                        "rows",
                                        "matrix-groups",
                                        "stragglers",
                                        "serial-accesses",
                                        "narrow-integers",
                                        "widen",
                                        "memory-order",
                                        "jam",
                                        "entry"};
  EXPECT_EQ(ranOf({.lanes = 32, .block = {256, 1, 1}}), all);
  const std::vector<std::string> baseline = {"prepare",       "endless-waits", "early-arrivals",
                                             "early-returns", "widen",         "entry"};
  EXPECT_EQ(ranOf({.lanes = 32, .block = {256, 1, 1}, .tier = Tier::baseline}), baseline);
}

TEST(Passes, ThoseLeftOutDoNotRun) {
  CodeOptions options{.lanes = 32, .block = {256, 1, 1}};
  ASSERT_EQ(readPasses("-all,+rows", options.passesLeftOut), "");
  const std::vector<std::string> few = {"prepare", "rows", "widen", "entry"};
  EXPECT_EQ(ranOf(options), few);
}

} // namespace
} // namespace ptxrun::simt
