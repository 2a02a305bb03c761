// Counters of a loop that keep their distance (translate/jit/loop_counters.h).
#include "translate/jit/loop_counters.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <string>

#include "translate/lower/analyses.h"

namespace {

using namespace llvm;

/// Two counters, from `first` and `second` on, that both have to stay below %end.
std::string loopOf(const std::string &start, const std::string &first, const std::string &second) {
  return R"(
define i64 @f(i32 %given, i32 %by, i32 %end) {
entry:
)" + start +
         R"(
  %step = shl i32 %by, 6
  br label %loop
loop:
  %i = phi i32 [ )" +
         first + R"(, %entry ], [ %i.next, %loop ]
  %j = phi i32 [ )" +
         second + R"(, %entry ], [ %j.next, %loop ]
  %sum = phi i64 [ 0, %entry ], [ %sum.next, %loop ]
  %wide.i = sext i32 %i to i64
  %wide.j = sext i32 %j to i64
  %both = add i64 %wide.i, %wide.j
  %sum.next = add i64 %sum, %both
  %i.next = add i32 %i, %step
  %j.next = add i32 %step, %j
  %last.i = or disjoint i32 %i.next, 31
  %last.j = or disjoint i32 %j.next, 31
  %below.i = icmp slt i32 %last.i, %end
  %below.j = icmp slt i32 %last.j, %end
  %below = and i1 %below.i, %below.j
  br i1 %below, label %loop, label %done
done:
  ret i64 %sum.next
})";
}

struct Counts {
  unsigned phis = 0, extensions = 0, comparisons = 0, sumsThatDoNotWrap = 0;
  bool operator==(const Counts &) const = default;
};
std::ostream &operator<<(std::ostream &out, const Counts &c) {
  return out << c.phis << " phis, " << c.extensions << " extended values, " << c.comparisons
             << " comparisons, " << c.sumsThatDoNotWrap << " sums that do not wrap";
}

Counts joined(const std::string &ir) {
  LLVMContext context;
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> module = parseAssemblyString(ir, diagnostic, context);
  if (!module) {
    diagnostic.print("loop_counters_test", errs());
    return {};
  }
  Function &f = *module->getFunction("f");
  ptxrun::lower::Analyses analyses;
  ptxrun::jit::JoinCounters().run(f, analyses.functions);
  EXPECT_FALSE(verifyFunction(f, &errs()));
  Counts counts;
  SmallPtrSet<Value *, 4> extended;
  for (Instruction &i : instructions(f)) {
    counts.phis += isa<PHINode>(i) && i.getType()->isIntegerTy(32);
    counts.comparisons += isa<ICmpInst>(i);
    counts.sumsThatDoNotWrap += i.getOpcode() == Instruction::Add && i.hasNoSignedWrap();
    if (isa<SExtInst>(i))
      extended.insert(i.getOperand(0));
  }
  counts.extensions = unsigned(extended.size());
  return counts;
}

TEST(LoopCounters, OfAlignedStartsAreOneWithOneExtensionAndOneComparison) {
  const Counts counts = joined(loopOf("  %first = shl i32 %given, 6\n"
                                      "  %second = or disjoint i32 %first, 32",
                                      "%first", "%second"));
  EXPECT_EQ(counts, (Counts{.phis = 1, .extensions = 1, .comparisons = 1, .sumsThatDoNotWrap = 2}));
}

TEST(LoopCounters, TheLeastStandsForTheOthers) {
  const Counts counts = joined(loopOf("  %first = shl i32 %given, 6\n"
                                      "  %second = or disjoint i32 %first, 32",
                                      "%second", "%first"));
  EXPECT_EQ(counts, (Counts{.phis = 1, .extensions = 1, .comparisons = 1, .sumsThatDoNotWrap = 2}));
}

TEST(LoopCounters, ThatMayWrapKeepExtensionsAndComparisons) {
  const Counts counts = joined(loopOf("  %second = add i32 %given, 32", "%given", "%second"));
  EXPECT_EQ(counts, (Counts{.phis = 1, .extensions = 2, .comparisons = 2}));
}

TEST(LoopCounters, FrozenAloneStayApart) {
  const Counts counts = joined(loopOf("  %frozen = freeze i32 %given\n"
                                      "  %second = add i32 %frozen, 32",
                                      "%given", "%second"));
  EXPECT_EQ(counts, (Counts{.phis = 2, .extensions = 2, .comparisons = 2}));
}

TEST(LoopCounters, OfOtherDistancesStayApart) {
  const Counts counts = joined(loopOf("  %second = add i32 %given, %by", "%given", "%second"));
  EXPECT_EQ(counts, (Counts{.phis = 2, .extensions = 2, .comparisons = 2}));
}

} // namespace
