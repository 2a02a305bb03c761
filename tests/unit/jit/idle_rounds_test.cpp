// Loops over gangs end where nothing happens any more (translate/jit/idle_rounds.h).
#include "translate/jit/idle_rounds.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>

#include <string>

#include "translate/lower/analyses.h"

namespace {

using namespace llvm;

/// What a loop over 32 gangs is made of.
struct GangLoop {
  std::string record = "%gang";                  ///< where the first thread is written
  std::string guard = "icmp ult i32 %g, 4";      ///< of those that work
  std::string goesOn = "icmp ult i32 %next, 32"; ///< at the end
  std::string first = "0";                       ///< gang
  std::string otherwise = "";                    ///< what the rest do
  std::string result = "0";                      ///< of the function
};

/// What its counter, or the next, is below behind the pass to go on; "none" where it never does.
std::string boundOf(const GangLoop &l) {
  LLVMContext context;
  SMDiagnostic wrong;
  const std::unique_ptr<Module> module =
      parseAssemblyString("define i32 @f(ptr %launch, ptr %cta, ptr %gang, ptr %shared) {\n"
                          "entry:\n  br label %round\n"
                          "round:\n  %g = phi i32 [ " +
                              l.first +
                              ", %entry ], [ %next, %end ]\n"
                              "  %thread = shl nuw nsw i32 %g, 5\n"
                              "  %place = getelementptr i8, ptr " +
                              l.record +
                              ", i64 8\n"
                              "  store i32 %thread, ptr %place\n"
                              "  %isBusy = " +
                              l.guard +
                              "\n  br i1 %isBusy, label %work, label %rest\n"
                              "work:\n  store float 1.0, ptr %shared\n  br label %end\n"
                              "rest:\n" +
                              l.otherwise +
                              "  br label %end\n"
                              "end:\n  %next = add nuw nsw i32 %g, 1\n  %more = " +
                              l.goesOn +
                              "\n"
                              "  br i1 %more, label %round, label %done\n"
                              "done:\n  ret i32 " +
                              l.result + "\n}\n",
                          wrong, context);
  if (!module) {
    ADD_FAILURE() << wrong.getMessage().str();
    return "";
  }
  Function &f = *module->getFunction("f");
  ptxrun::lower::Analyses analyses(nullptr);
  ptxrun::jit::EndIdleRounds().run(f, analyses.functions);
  EXPECT_FALSE(verifyModule(*module, &errs()));
  std::string bound;
  for (BasicBlock &block : f)
    if (block.getName() == "end") {
      auto *branch = cast<BranchInst>(block.getTerminator());
      auto *compare = dyn_cast<ICmpInst>(branch->getCondition());
      bound = compare ? std::to_string(cast<ConstantInt>(compare->getOperand(1))->getZExtValue())
                      : "none";
    }
  return bound;
}

TEST(IdleRounds, LoopsEndWithTheLastGangThatWorks) {
  EXPECT_EQ(boundOf({}), "4");
  EXPECT_EQ(boundOf({.goesOn = "icmp ult i32 %g, 31"}), "3");
  EXPECT_EQ(boundOf({.guard = "icmp eq i32 %g, 0"}), "none"); // one round: it does not go on
  EXPECT_EQ(boundOf({.guard = "icmp ult i32 %g, 1"}), "none");
}

TEST(IdleRounds, OthersAreLeft) {
  EXPECT_EQ(boundOf({.guard = "icmp ult i32 %g, 40"}), "32");
  EXPECT_EQ(boundOf({.guard = "icmp eq i32 %g, 3"}), "32");
  EXPECT_EQ(boundOf({.guard = "icmp ugt i32 %g, 3"}), "32");
  EXPECT_EQ(boundOf({.record = "%shared"}), "32"); // the others' stores are seen
  EXPECT_EQ(boundOf({.otherwise = "  store float 2.0, ptr %shared\n"}), "32");
  EXPECT_EQ(boundOf({.first = "1"}), "32");
  EXPECT_EQ(boundOf({.result = "%thread"}), "32");
}

/// Loops that wait count nothing.
TEST(IdleRounds, LoopsWithoutACounterAreLeft) {
  LLVMContext context;
  SMDiagnostic wrong;
  const std::unique_ptr<Module> module = parseAssemblyString(
      "define void @f(ptr %launch, ptr %cta, ptr %gang) {\nentry:\n  br label %wait\n"
      "wait:\n  %flag = load volatile i32, ptr %cta\n  %isThere = icmp ult i32 %flag, 7\n"
      "  br i1 %isThere, label %wait, label %done\ndone:\n  ret void\n}\n",
      wrong, context);
  ASSERT_TRUE(module) << wrong.getMessage().str();
  ptxrun::lower::Analyses analyses(nullptr);
  ptxrun::jit::EndIdleRounds().run(*module->getFunction("f"), analyses.functions);
  EXPECT_FALSE(verifyModule(*module, &errs()));
}

} // namespace
