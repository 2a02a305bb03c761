// Arithmetic on vectors of which one element is wanted (translate/jit/single_elements.h).
#include "translate/jit/single_elements.h"

#include <gtest/gtest.h>

#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>

#include <string>

namespace ptxrun::jit {
namespace {

/// How many of the body's floating-point operations are left on vectors.
unsigned vectorsLeft(const std::string &body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const std::string text =
      "declare <8 x float> @llvm.sqrt.v8f32(<8 x float>)\n"
      "declare <8 x float> @llvm.fma.v8f32(<8 x float>, <8 x float>, <8 x float>)\n"
      "define float @f(<8 x float> %x, <8 x float> %y, float %n) {\n"
      "  %d = insertelement <8 x float> poison, float %n, i64 0\n"
      "  %d3 = insertelement <8 x float> poison, float %n, i64 3\n"
      "  %all = insertelement <8 x float> %y, float %n, i64 0\n" +
      body + "  %e = extractelement <8 x float> %r, i64 0\n  ret float %e\n}\n";
  const auto module = llvm::parseAssemblyString(text, problem, context);
  if (!module) {
    ADD_FAILURE() << problem.getMessage().str() << '\n' << text;
    return ~0u;
  }
  llvm::Function &f = *module->getFunction("f");
  computeSingleElements(f);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs())) << body;
  unsigned left = 0;
  for (const llvm::Instruction &i : llvm::instructions(f))
    left += i.getType()->isVectorTy() &&
            (llvm::isa<llvm::BinaryOperator>(i) || llvm::isa<llvm::IntrinsicInst>(i));
  return left;
}

TEST(SingleElements, TheFirstIsComputedByItself) {
  EXPECT_EQ(vectorsLeft("  %r = fdiv <8 x float> %x, %d\n"), 0u);
  EXPECT_EQ(vectorsLeft("  %r = fadd <8 x float> %d, %x\n"), 0u);
  EXPECT_EQ(vectorsLeft("  %r = call <8 x float> @llvm.sqrt.v8f32(<8 x float> %d)\n"), 0u);
  EXPECT_EQ(vectorsLeft("  %r = call <8 x float> @llvm.fma.v8f32(<8 x float> %x, <8 x float> %y, "
                        "<8 x float> %d)\n"),
            0u);
  // The last step of a sum over lanes, and what follows from it.
  EXPECT_EQ(
      vectorsLeft("  %o = shufflevector <8 x float> %x, <8 x float> poison, <8 x i32> <i32 1, "
                  "i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, "
                  "i32 poison>\n  %s = fadd <8 x float> %x, %o\n"
                  "  %r = fdiv <8 x float> %s, %y\n"),
      0u);
}

TEST(SingleElements, OthersOnlyWhereTheyAreSlow) {
  EXPECT_EQ(vectorsLeft("  %r = fdiv <8 x float> %x, %d3\n"), 0u);
  EXPECT_EQ(vectorsLeft("  %r = fadd <8 x float> %x, %d3\n"), 1u);
}

TEST(SingleElements, WhatHasMoreIsLeft) {
  EXPECT_EQ(vectorsLeft("  %r = fdiv <8 x float> %x, %all\n"), 1u);
  EXPECT_EQ(vectorsLeft("  %r = fdiv <8 x float> %x, %y\n"), 1u);
}

} // namespace
} // namespace ptxrun::jit
