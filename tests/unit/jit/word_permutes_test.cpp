// The fragment of a transposed matrix as one permutation of words (translate/jit/word_permutes.h).
#include "translate/jit/word_permutes.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>

#include <functional>
#include <string>

namespace {

using namespace llvm;

constexpr int kLanes = 32;

/// <i32 of(0), of(1) ...>, of all lanes.
std::string vectorOf(const std::function<int(int)> &of) {
  std::string text = "<";
  for (int lane = 0; lane < kLanes; ++lane)
    text += (lane ? ", i32 " : "i32 ") + std::to_string(of(lane));
  return text + ">";
}

bool isOdd(int lane) { return lane / 4 % 2 == 1; }

/// Threads of neighbouring rows exchange halves (`turned`: bits), and rows and columns of pairs
/// change places. `own` is the half that a thread of an even row keeps.
std::unique_ptr<Module> transposed(LLVMContext &context, int turned, int own) {
  const std::string v = "<32 x i32> ";
  const auto masks = [&](bool isOfOdd) {
    return vectorOf([&](int lane) { return isOdd(lane) == isOfOdd ? own : ~own; });
  };
  SMDiagnostic wrong;
  std::unique_ptr<Module> module = parseAssemblyString(
      "define " + v + "@f(" + v + "%x) {\n  %y = shufflevector " + v + "%x, " + v + "poison, " + v +
          vectorOf([](int lane) { return lane ^ 4; }) + "\n  %turned = call " + v +
          "@llvm.fshl.v32i32(" + v + "%y, " + v + "%y, " + v +
          vectorOf([&](int) { return turned; }) + ")\n  %kept = and " + v + "%x, " + masks(false) +
          "\n  %got = and " + v + "%turned, " + masks(true) + "\n  %both = or " + v +
          "%kept, %got\n  %r = shufflevector " + v + "%both, " + v + "poison, " + v +
          vectorOf([](int lane) { return lane % 4 * 8 | (lane & 4) | lane / 8; }) + "\n  ret " + v +
          "%r\n}\ndeclare " + v + "@llvm.fshl.v32i32(" + v + ", " + v + ", " + v + ")\n",
      wrong, context);
  if (!module) {
    ADD_FAILURE() << wrong.getMessage().str();
    return nullptr;
  }
  ptxrun::jit::permuteWords(*module->getFunction("f"), 512);
  EXPECT_FALSE(verifyModule(*module, &errs()));
  return module;
}

TEST(WordPermutes, AFragmentIsTransposedAtOnce) {
  LLVMContext context;
  const std::unique_ptr<Module> module = transposed(context, 16, 0xffff);
  ASSERT_TRUE(module);
  const ShuffleVectorInst *only = nullptr;
  for (Instruction &i : instructions(*module->getFunction("f"))) {
    EXPECT_TRUE((isa<ShuffleVectorInst, BitCastInst, ReturnInst>(i)));
    if (auto *shuffle = dyn_cast<ShuffleVectorInst>(&i)) {
      EXPECT_FALSE(only);
      only = shuffle;
    }
  }
  ASSERT_TRUE(only);
  ASSERT_EQ(only->getShuffleMask().size(), 2U * kLanes);
  // Half h of thread t is the element of row 2 * (t % 4) + h and column t / 4 (PTX ISA
  // 9.7.14.5.15); before, thread t had two elements of row t / 4.
  for (int t = 0; t < kLanes; ++t)
    for (int h = 0; h < 2; ++h)
      EXPECT_EQ(only->getMaskValue(unsigned(2 * t + h)), (2 * (t % 4) + h) * 8 + t / 4);
}

TEST(WordPermutes, WhatMovesBytesOrCutsThemIsLeft) {
  LLVMContext context;
  for (const auto &[turned, own] : {std::pair{8, 0xffff}, std::pair{16, 0xfff}}) {
    const std::unique_ptr<Module> module = transposed(context, turned, own);
    ASSERT_TRUE(module);
    bool isJoined = false;
    for (Instruction &i : instructions(*module->getFunction("f")))
      isJoined |= i.getOpcode() == Instruction::Or;
    EXPECT_TRUE(isJoined);
  }
}

} // namespace
