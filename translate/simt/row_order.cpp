// CTAs of two or three dimensions, row by row.
//
// A block of 16 x 16 threads on a picture is 16 gangs, each in a row of its own: run CTA after CTA,
// they read one line of each of 16 rows, then the next line of each. The hardware that fetches
// ahead sees no streams there, and what belongs to a row is computed anew for each gang. Where
// nothing ties gangs to one another, neighbouring CTAs run together instead:
//
//     for cta in [first, end):                   =>   for strip of neighbours along x:
//       for each row of gangs: body                     for each row of gangs:
//                                                         for each cta of the strip: body
//
// The order of gangs is open where they do not communicate: no barriers, no shared memory (its
// window is that of one CTA at a time), no atomics, no volatile or ordered accesses, no calls of
// the runtime. Those that write what others read without any of these have a race, and no order
// promised; each gang's own accesses stay in order. Bodies with loops stay as they are: they may
// come back to memory that the next row of their own CTA wants to find in the cache, and so may
// those whose lanes stride. And where much is computed for each lane that all rows of a CTA have in
// common, LLVM hoists it from the loop over them: that saves more.
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/Analysis/BranchProbabilityInfo.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "translate/simt/cost.h"
#include "translate/simt/entry_builder.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

using llvm::Value;

bool isOrdered(const llvm::Instruction &i) {
  if (auto *call = llvm::dyn_cast<llvm::CallBase>(&i)) {
    const llvm::Function *callee = call->getCalledFunction();
    return !callee || (!callee->isIntrinsic() && !entryOf(*callee).isAccess() && !isCopyOfLanes(i));
  }
  return i.isAtomic() || i.isVolatile() || llvm::isa<llvm::FenceInst>(i);
}

/// Gangs in a row of the block, where rows are whole gangs and there are several.
unsigned gangsPerRow(const ModuleContext &context) {
  const auto [x, y, z] = context.options.block;
  return uint64_t(y) * z > 1 && x % context.gangThreads == 0 ? x / context.gangThreads : 0;
}

bool mayRunInAnyOrder(const llvm::Function &body) {
  return body.getArg(kCta)->use_empty() && body.getArg(kGang)->use_empty() &&
         llvm::none_of(llvm::instructions(body), [](auto &i) { return isOrdered(i); });
}

/// Vectors that each gang computes on its usual way and that are the same for all rows of its CTA.
unsigned sharedByRows(const llvm::Function &body, const llvm::LoopInfo &loops) {
  const llvm::BranchProbabilityInfo probabilities(body, loops);
  const llvm::BlockFrequencyInfo frequencies(body, probabilities, loops);
  const uint64_t entry = frequencies.getEntryFreq().getFrequency();
  llvm::DenseSet<const Value *> differ{body.getArg(kFirstThread)};
  unsigned n = 0;
  for (const llvm::BasicBlock *b : llvm::ReversePostOrderTraversal<const llvm::Function *>(&body)) {
    const bool isUsual =
        frequencies.getBlockFreq(b).getFrequency() > entry / kLimits.rowOrder.usual;
    for (const llvm::Instruction &i : *b)
      if (llvm::isa<llvm::PHINode>(i) || i.mayReadOrWriteMemory() ||
          llvm::any_of(i.operands(), [&](const Value *v) { return differ.contains(v); }))
        differ.insert(&i);
      else
        n += isUsual && i.getType()->isVectorTy() && !llvm::isa<llvm::ShuffleVectorInst>(i);
  }
  return n;
}

class RowOrder {
 public:
  RowOrder(ModuleContext &context, llvm::Function &body)
      : context_(context), body_(body),
        f_(*makeCtaRange(context, body)), e_{llvm::IRBuilder<>(block("entry")), context,
                                             f_.getArg(0), f_.getArg(1), f_.getArg(2)} {
    setLine(e_.b, f_);
  }

  void build() {
    llvm::IRBuilder<> &b = e_.b;
    llvm::Type *i64 = b.getInt64Ty(), *i32 = b.getInt32Ty();
    llvm::BasicBlock *entry = b.GetInsertBlock(), *strips = block("strips"), *done = block("done");
    Value *first = f_.getArg(3), *end = f_.getArg(4);
    Value *nx = b.CreateZExt(e_.gridExtent(0), i64), *ny = b.CreateZExt(e_.gridExtent(1), i64);
    e_.writeLanes(b.getInt32(context_.gangThreads));
    b.CreateCondBr(b.CreateICmpULT(first, end), strips, done);

    // strips: the CTAs from `n` to the end of the range, of the row of the grid, or of what a strip
    // may hold
    b.SetInsertPoint(strips);
    llvm::PHINode *n = b.CreatePHI(i64, 2, "strip");
    Value *x = b.CreateURem(n, nx), *row = b.CreateUDiv(n, nx);
    Value *size =
        b.getInt64(std::max(1u, kLimits.rowOrder.stripThreads / context_.options.block[0]));
    for (Value *limit : {b.CreateSub(end, n), b.CreateSub(nx, x)})
      size = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, size, limit);
    e_.writeCtaid(ctaid_, 1, b.CreateTrunc(b.CreateURem(row, ny), i32));
    e_.writeCtaid(ctaid_, 2, b.CreateTrunc(b.CreateUDiv(row, ny), i32));
    Value *x32 = b.CreateTrunc(x, i32), *xEnd = b.CreateAdd(x32, b.CreateTrunc(size, i32));
    const unsigned perRow = gangsPerRow(context_) * context_.gangThreads;
    const unsigned threads = perRow * context_.options.block[1] * context_.options.block[2];
    loop("row", b.getInt32(0), b.getInt32(threads), perRow, [&](Value *rowStart) {
      loop("cta", x32, xEnd, 1, [&](Value *ctaX) {
        e_.writeCtaid(ctaid_, 0, ctaX);
        loop("gang", b.getInt32(0), b.getInt32(perRow), context_.gangThreads, [&](Value *inRow) {
          Value *thread = b.CreateAdd(rowStart, inRow, "first.thread", true, true);
          e_.writeFirstThread(thread);
          e_.call(&body_, ctaid_, thread, e_.allLanes());
        });
      });
    });
    Value *next = b.CreateAdd(n, size);
    n->addIncoming(first, entry);
    n->addIncoming(next, b.GetInsertBlock());
    b.CreateCondBr(b.CreateICmpULT(next, end), strips, done);
    b.SetInsertPoint(done);
    b.CreateRetVoid();
  }

 private:
  llvm::BasicBlock *block(const char *name) {
    return llvm::BasicBlock::Create(f_.getContext(), name, &f_);
  }

  /// for i in [from, to) by step: body(i)   with at least one round
  void loop(const char *name, Value *from, Value *to, unsigned step,
            llvm::function_ref<void(Value *)> body) {
    llvm::IRBuilder<> &b = e_.b;
    llvm::BasicBlock *before = b.GetInsertBlock(), *round = block(name), *after = block(name);
    b.CreateBr(round);
    b.SetInsertPoint(round);
    llvm::PHINode *i = b.CreatePHI(b.getInt32Ty(), 2, name);
    body(i);
    Value *next = b.CreateAdd(i, b.getInt32(step), "", true, false);
    i->addIncoming(from, before);
    i->addIncoming(next, b.GetInsertBlock());
    b.CreateCondBr(b.CreateICmpULT(next, to), round, after);
    b.SetInsertPoint(after);
  }

  ModuleContext &context_;
  llvm::Function &body_, &f_;
  Entry e_;
  Value *ctaid_[3];
};

} // namespace

bool buildRowOrderEntry(ModuleContext &context, llvm::Function &full) {
  if (context.lanes == 1 || context.options.tier != Tier::optimised || context.hasBarriers ||
      context.stridesAcrossLanes || gangsPerRow(context) == 0 || !mayRunInAnyOrder(full))
    return false;
  const llvm::DominatorTree dominators(full);
  const llvm::LoopInfo loops(dominators);
  if (!loops.empty() || sharedByRows(full, loops) > kLimits.rowOrder.sharedByRows)
    return false;
  RowOrder(context, full).build();
  return true;
}

} // namespace ptxrun::simt
