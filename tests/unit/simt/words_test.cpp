#include "translate/simt/words.h"

#include <gtest/gtest.h>
#include <llvm/IR/Module.h>

#include "translate/lower/runtime_words.h"

namespace ptxrun::simt {
namespace {

struct Words : testing::Test {
  Word named(const char *name) {
    return wordOf(*llvm::cast<llvm::Function>(
        module.getOrInsertFunction(name, llvm::Type::getVoidTy(context)).getCallee()));
  }
  GangEntry entryNamed(const char *name) {
    return entryOf(*llvm::cast<llvm::Function>(
        module.getOrInsertFunction(name, llvm::Type::getVoidTy(context)).getCallee()));
  }
  llvm::LLVMContext context;
  llvm::Module module{"words", context};
};

TEST_F(Words, AreFoundByWholeNames) {
  EXPECT_EQ(named("ptx.shfl.sync.idx").op, Op::shflIdx);
  EXPECT_EQ(named("ptx.shfl.sync.idx").shape, ShapeRule::shuffle);
  EXPECT_EQ(named("ptx.bar.sync").kind, Word::Kind::barrier);
  EXPECT_TRUE(named("ptx.redux.sync.fmin.abs.nan").isCollective());
}

TEST_F(Words, OfThreeDimensionsHaveAnAxis) {
  EXPECT_EQ(named("ptx.sreg.tid.x").op, Op::tid);
  EXPECT_EQ(named("ptx.sreg.tid.x").axis, 0u);
  EXPECT_EQ(named("ptx.sreg.nclusterid.z").axis, 2u);
  EXPECT_EQ(named("ptx.sreg.tid").op, Op::other);
}

TEST_F(Words, WithTypesAreFoundByTheLongestBeginning) {
  EXPECT_EQ(named("ptx.same.i64").op, Op::same);
  EXPECT_EQ(named("ptx.warp.wgmma.2.4.4").op, Op::warpWgmma);
  EXPECT_EQ(named("ptx.warp.tcgen05_ld.1.0.4").op, Op::warpOperation);
  EXPECT_EQ(named("ptx.sreg.envreg2").op, Op::envreg2);
  EXPECT_EQ(named("ptx.sreg.envreg31").op, Op::envreg);
  EXPECT_EQ(named("ptx.rounded.fma.rp.f64").op, Op::fmaRp);
}

TEST_F(Words, OfTheRuntimeAreThoseOfItsTable) {
  for (const lower::RuntimeWord &known : lower::kRuntimeWords) {
    const Word word = named(std::string(known.word).c_str());
    EXPECT_EQ(word.runtime, &known) << known.word;
    EXPECT_EQ(word.kind == Word::Kind::runtimeWait, known.suspends) << known.word;
  }
  EXPECT_EQ(wordFor(Op::mbarrierTryWait).runtime->word, "ptx.mbarrier.try_wait");
  EXPECT_EQ(wordFor(Op::tcgen05Commit).runtime->word, "ptx.tcgen05.commit");
}

TEST_F(Words, OthersAreTold) {
  EXPECT_EQ(named("ptx.bar.syncs").op, Op::other);
  EXPECT_EQ(named("llvm.fma.f32").op, Op::none);
  EXPECT_EQ(named("fn.helper").op, Op::none);
}

TEST_F(Words, AreCalledByNameAndType) {
  llvm::Function *f =
      llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                                     {llvm::Type::getInt64Ty(context)}, false),
                             llvm::GlobalValue::ExternalLinkage, "f", module);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", f));
  const llvm::CallInst *call = callWord(b, Op::first, b.getInt64Ty(), f->getArg(0));
  EXPECT_EQ(call->getCalledFunction()->getName(), "ptx.first.i64");
  EXPECT_EQ(wordAt(*call).op, Op::first);
  EXPECT_EQ(callWord(b, Op::yield, b.getVoidTy(), {})->getCalledFunction()->getName(), "ptx.yield");
}

TEST_F(Words, EntriesSayWhatTheyNeed) {
  EXPECT_TRUE(entryNamed("ptxrun_bar_sync").maySuspend());
  EXPECT_FALSE(entryNamed("ptxrun_trap").maySuspend());
  EXPECT_TRUE(entryNamed("ptxrun_load_wrapped").isAccess());
  EXPECT_EQ(entryNamed("ptxrun_vprintf").needs, GangEntry::Needs::place);
  EXPECT_EQ(entryNamed("ptxrun_access").needs, GangEntry::Needs::record);
}

} // namespace
} // namespace ptxrun::simt
