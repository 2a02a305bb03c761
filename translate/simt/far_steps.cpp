#include "translate/simt/far_steps.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

#include "translate/simt/cost.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {

using llvm::Value;

std::optional<FarStep> findFarStep(const Value *address, const llvm::Loop &loop) {
  llvm::SmallVector<const Value *> stack{address};
  for (unsigned n = 0; !stack.empty() && n < kLimits.search.operands; ++n) {
    auto *i = llvm::dyn_cast<llvm::Instruction>(stack.pop_back_val());
    if (!i || !loop.contains(i) || i->mayReadOrWriteMemory() || i->getType()->isVectorTy())
      continue;
    auto *phi = llvm::dyn_cast<llvm::PHINode>(const_cast<llvm::Instruction *>(i));
    if (!phi) {
      stack.append(i->value_op_begin(), i->value_op_end());
      continue;
    }
    if (phi->getParent() != loop.getHeader() || !loop.getLoopLatch())
      continue;
    auto *next =
        llvm::dyn_cast<llvm::Instruction>(phi->getIncomingValueForBlock(loop.getLoopLatch()));
    if (!next ||
        (next->getOpcode() != llvm::Instruction::Add && !llvm::isa<llvm::GetElementPtrInst>(next)))
      continue;
    for (unsigned k : {0u, 1u})
      if (next->getOperand(k) == phi && next->getNumOperands() == 2)
        if (Value *step = next->getOperand(1 - k);
            !llvm::isa<llvm::Constant>(step) && loop.isLoopInvariant(step))
          return FarStep{phi, step};
  }
  return std::nullopt;
}

namespace {

/// `v` as it will be when `of` is `becomes`: what the loop computes of it, computed again. Null
/// where that might trap (a division).
Value *asItWillBe(Value *v, const FarStep &of, Value *becomes, const llvm::Loop &loop,
                  llvm::DenseMap<Value *, Value *> &known, llvm::IRBuilder<> &b) {
  auto *i = llvm::dyn_cast<llvm::Instruction>(v);
  if (v == of.phi)
    return becomes;
  if (!i || !loop.contains(i) || llvm::isa<llvm::PHINode>(i) || i->mayReadOrWriteMemory())
    return v;
  if (auto it = known.find(v); it != known.end())
    return it->second;
  llvm::SmallVector<Value *> operands;
  for (Value *o : i->operands()) {
    operands.push_back(asItWillBe(o, of, becomes, loop, known, b));
    if (!operands.back())
      return nullptr;
  }
  if (std::equal(operands.begin(), operands.end(), i->value_op_begin()))
    return known[v] = v;
  llvm::Instruction *copy = i->clone();
  for (unsigned k = 0; k < operands.size(); ++k)
    copy->setOperand(k, operands[k]);
  copy->dropPoisonGeneratingFlags(); // it may lie behind the end of everything
  b.Insert(copy);
  if (llvm::isSafeToSpeculativelyExecute(copy))
    return known[v] = copy;
  copy->eraseFromParent();
  return known[v] = nullptr;
}

} // namespace

void fetchNextRounds(llvm::Function &f, unsigned rounds, unsigned gangs, const Target &target) {
  auto linesOf = [&](const llvm::LoadInst &load) {
    const uint64_t bytes = f.getDataLayout().getTypeStoreSize(load.getType()).getFixedValue();
    return unsigned((bytes + target.lineBytes - 1) / target.lineBytes);
  };
  llvm::DominatorTree dominators(f);
  llvm::LoopInfo loops(dominators);
  for (const llvm::Loop *loop : loops.getLoopsInPreorder()) {
    if (!loop->isInnermost())
      continue;
    llvm::SmallVector<std::pair<llvm::LoadInst *, FarStep>> loads;
    llvm::SmallVector<llvm::Instruction *> fetches;
    for (llvm::BasicBlock *block : loop->blocks())
      for (llvm::Instruction &i : *block) {
        auto *load = llvm::dyn_cast<llvm::LoadInst>(&i);
        if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
            call && call->getIntrinsicID() == llvm::Intrinsic::prefetch)
          fetches.push_back(call);
        else if (load && load->isSimple() && load->getType()->isVectorTy())
          if (std::optional<FarStep> step = findFarStep(load->getPointerOperand(), *loop);
              step && step->phi->getType()->isIntegerTy())
            loads.push_back({load, *step});
      }
    if (loads.empty())
      continue;
    for (llvm::Instruction *fetch : fetches)
      fetch->eraseFromParent();
    unsigned lines = 0;
    for (auto &[load, step] : loads)
      lines += linesOf(*load);
    const unsigned fetched =
        lines <= target.linesAhead ? gangs : std::max(1u, gangs * target.linesAhead / lines);
    for (auto [n, access] : llvm::enumerate(loads)) {
      auto &[load, step] = access;
      if (n % gangs >= fetched)
        continue;
      llvm::IRBuilder<> b(load);
      Value *far = b.CreateAdd(
          step.phi, b.CreateMul(step.by, llvm::ConstantInt::get(step.by->getType(), rounds)));
      llvm::DenseMap<Value *, Value *> known;
      Value *at = asItWillBe(load->getPointerOperand(), step, far, *loop, known, b);
      if (!at)
        continue; // what has been made of it is cleaned up
      for (unsigned line = 0; line < linesOf(*load); ++line)
        fetchAhead(b, at, int64_t(line) * target.lineBytes);
    }
  }
}

} // namespace ptxrun::simt
