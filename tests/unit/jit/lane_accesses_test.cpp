// Which gathers and scatters are written out lane by lane, and which are calls.
#include "translate/jit/lane_accesses.h"

#include <gtest/gtest.h>

#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/SourceMgr.h>

#include <set>

#include "translate/simt/cost.h"

namespace ptxrun::jit {
namespace {

/// A loop that gathers by `hot` and, behind a branch that hardly ever goes there, by `cold`.
constexpr const char *kText = R"(
declare <8 x i32> @llvm.masked.gather.v8i32.v8p0(<8 x ptr>, i32, <8 x i1>, <8 x i32>)
define void @f(<8 x ptr> %hot, <8 x ptr> %cold, <8 x i1> %who, ptr %out, i1 %seldom) {
entry:
  br label %loop
loop:
  %k = phi i32 [0, %entry], [%next, %latch]
  %a = call <8 x i32> @llvm.masked.gather.v8i32.v8p0(<8 x ptr> %hot, i32 4, <8 x i1> %who, <8 x i32> poison)
  store <8 x i32> %a, ptr %out
  br i1 %seldom, label %rest, label %latch, !prof !0
rest:
  %b = call <8 x i32> @llvm.masked.gather.v8i32.v8p0(<8 x ptr> %cold, i32 4, <8 x i1> %who, <8 x i32> poison)
  store <8 x i32> %b, ptr %out
  br label %latch
latch:
  %next = add i32 %k, 1
  %more = icmp ult i32 %next, 100
  br i1 %more, label %loop, label %exit
exit:
  ret void
}
!0 = !{!"branch_weights", i32 1, i32 2000}
)";

/// The blocks that have a gather left.
std::set<std::string> gathering(const char *text, bool isBaseline) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, problem, context);
  if (!module) {
    ADD_FAILURE() << problem.getMessage().str();
    return {};
  }
  accessLanesInPlace(*module, simt::targetFor(CpuLevel::sse4), isBaseline);
  std::set<std::string> blocks;
  for (const llvm::Instruction &i : llvm::instructions(*module->getFunction("f")))
    if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
        call && call->getIntrinsicID() == llvm::Intrinsic::masked_gather)
      blocks.insert(i.getParent()->getName().str());
  return blocks;
}

TEST(LaneAccesses, ThatRunSeldomAreCalls) {
  EXPECT_EQ(gathering(kText, false), std::set<std::string>{"rest"});
}

TEST(LaneAccesses, AreCallsInBaselineCode) {
  EXPECT_EQ(gathering(kText, true), (std::set<std::string>{"loop", "rest"}));
}

/// Instructions of the function that does the gathers of kText.
unsigned sizeOfFunction(bool isBaseline) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(kText, problem, context);
  accessLanesByCalls(*module, simt::targetFor(CpuLevel::sse4), isBaseline);
  unsigned size = 0;
  for (const llvm::Function &function : *module)
    if (function.getName().starts_with("gather.")) {
      EXPECT_EQ(size, 0u); // one for both
      size = function.getInstructionCount();
    }
  return size;
}

TEST(LaneAccesses, CallOneFunctionShortInBaselineCode) {
  const unsigned size = sizeOfFunction(true);
  EXPECT_GT(size, 0u);
  EXPECT_LT(size, 24u);
  EXPECT_GT(sizeOfFunction(false), size + 3 * 8u); // each of eight lanes, too
}

/// As many gathers in a loop as `number`.
std::string many(unsigned number) {
  std::string text = "declare <32 x i32> @llvm.masked.gather.v32i32.v32p0(<32 x ptr>, i32, <32 x "
                     "i1>, <32 x i32>)\n"
                     "define void @f(<32 x ptr> %p, <32 x i1> %who, ptr %out, i1 %more) {\n"
                     "entry:\n  br label %loop\nloop:\n";
  for (unsigned k = 0; k < number; ++k) {
    const std::string n = std::to_string(k);
    text += "  %a" + n +
            " = call <32 x i32> @llvm.masked.gather.v32i32.v32p0(<32 x ptr> %p, i32 4, <32 x i1> "
            "%who, <32 x i32> poison)\n  store volatile <32 x i32> %a" +
            n + ", ptr %out\n";
  }
  return text + "  br i1 %more, label %loop, label %exit\nexit:\n  ret void\n}\n";
}

TEST(LaneAccesses, HaveABudget) {
  const auto fitting = unsigned(simt::kLimits.code.lanesOften / 32);
  EXPECT_EQ(gathering(many(fitting).c_str(), false), std::set<std::string>{});
  EXPECT_EQ(gathering(many(fitting + 1).c_str(), false), std::set<std::string>{"loop"});
}

} // namespace
} // namespace ptxrun::jit
