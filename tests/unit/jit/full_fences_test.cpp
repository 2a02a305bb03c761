// Fences become locked operations (translate/jit/full_fences.h).
#include "translate/jit/full_fences.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>

namespace {

using namespace llvm;

TEST(FullFences, AreLockedOperations) {
  LLVMContext context;
  SMDiagnostic wrong;
  const std::unique_ptr<Module> module = parseAssemblyString(
      "define i32 @f(ptr %p, ptr %q, i1 %c) {\n"
      "  br i1 %c, label %fenced, label %rest\n"
      "fenced:\n  store i32 1, ptr %p\n  fence seq_cst\n  br label %rest\n"
      "rest:\n  fence acquire\n  fence syncscope(\"singlethread\") seq_cst\n  fence seq_cst\n"
      "  %found = load i32, ptr %q\n  ret i32 %found\n}\n",
      wrong, context);
  ASSERT_TRUE(module) << wrong.getMessage().str();
  Function &f = *module->getFunction("f");
  ptxrun::jit::lockForFences(f);
  ASSERT_FALSE(verifyFunction(f, &errs()));
  unsigned fences = 0, locked = 0;
  for (Instruction &i : instructions(f)) {
    if (auto *fence = dyn_cast<FenceInst>(&i)) {
      ++fences;
      EXPECT_TRUE(fence->getOrdering() == AtomicOrdering::Acquire ||
                  fence->getSyncScopeID() == SyncScope::SingleThread);
    }
    if (auto *update = dyn_cast<AtomicRMWInst>(&i)) {
      ++locked;
      EXPECT_EQ(update->getOrdering(), AtomicOrdering::SequentiallyConsistent);
      EXPECT_TRUE(update->use_empty());
      EXPECT_TRUE(isa<AllocaInst>(update->getPointerOperand()));
      // In the fence's place.
      EXPECT_TRUE(isa<StoreInst>(update->getPrevNode()) || isa<LoadInst>(update->getNextNode()));
    }
  }
  EXPECT_EQ(fences, 2u);
  EXPECT_EQ(locked, 2u);
}

} // namespace
