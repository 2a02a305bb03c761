#include "translate/simt/unify.h"

#include <llvm/Analysis/InstructionSimplify.h>
#include <llvm/IR/ProfDataUtils.h>

#include "translate/simt/cost.h"
#include "translate/simt/cta_uniform.h"
#include "translate/simt/prepare.h"
#include "translate/simt/region_state.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

using llvm::Value;

/// What `v` is computed with of what differs between gangs, operands first; false where that is not
/// the same whenever it is done.
bool collect(llvm::Instruction *v, const CtaUniformity &uniformity,
             llvm::SmallVectorImpl<llvm::Instruction *> &steps,
             llvm::DenseSet<llvm::Instruction *> &seen) {
  if (uniformity.isUniform(v) || !seen.insert(v).second)
    return true;
  if ((!isRepeatable(*v) && !llvm::isa<llvm::FreezeInst>(v)) ||
      seen.size() > kLimits.unify.instructions)
    return false;
  for (Value *op : v->operands())
    if (auto *i = llvm::dyn_cast<llvm::Instruction>(op); i && !collect(i, uniformity, steps, seen))
      return false;
  steps.push_back(v);
  return true;
}

/// Whether gangs that part at `branch` come to one of `barriers` before they meet.
bool isAroundBarrier(const llvm::BasicBlock &branch, const CtaUniformity &uniformity,
                     llvm::ArrayRef<llvm::BasicBlock *> barriers) {
  const llvm::BasicBlock *stop = uniformity.meetingPoint(&branch);
  return llvm::any_of(llvm::successors(&branch), [&](const llvm::BasicBlock *s) {
    const BlockSet parted = reachable(s, stop);
    return llvm::any_of(barriers, [&](const llvm::BasicBlock *b) { return parted.contains(b); });
  });
}

} // namespace

std::optional<unsigned> generalVersion(const llvm::BranchInst &branch) {
  uint64_t onTrue, onFalse;
  if (!branch.isConditional() || !branch.hasMetadata(kVersion) ||
      !llvm::extractBranchWeights(branch, onTrue, onFalse) || onTrue == onFalse)
    return std::nullopt;
  return onTrue > onFalse ? 1 : 0;
}

void unifyVersions(ModuleContext &context, llvm::Function &full, unsigned gangsPerCta) {
  CtaUniformity uniformity(full, {full.getArg(kFirstThread), full.getArg(kGang)});
  llvm::SmallVector<llvm::BasicBlock *> barriers;
  for (llvm::BasicBlock &block : full)
    for (llvm::Instruction &i : block)
      if (entryAt(i).maySuspend())
        barriers.push_back(&block);
  if (uniformity.agreeOn(barriers))
    return;
  for (llvm::BasicBlock &block : full) {
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    if (!branch || !uniformity.varies(block) || !isAroundBarrier(block, uniformity, barriers))
      continue;
    const std::optional<unsigned> general = generalVersion(*branch);
    auto *condition = general ? llvm::dyn_cast<llvm::Instruction>(branch->getCondition()) : nullptr;
    if (!condition)
      continue;
    llvm::SmallVector<llvm::Instruction *> steps;
    llvm::DenseSet<llvm::Instruction *> seen;
    if (!collect(condition, uniformity, steps, seen) ||
        steps.size() * gangsPerCta > kLimits.unify.instructions) {
      branch->setCondition(llvm::ConstantInt::getBool(full.getContext(), *general == 0));
      continue;
    }
    llvm::IRBuilder<> b(branch);
    Value *all = nullptr;
    for (unsigned gang = 0; gang < gangsPerCta; ++gang) {
      llvm::DenseMap<Value *, Value *> own{
          {full.getArg(kFirstThread), b.getInt32(gang * context.lanes)}};
      for (llvm::Instruction *step : steps) {
        llvm::Instruction *copy = step->clone();
        for (llvm::Use &u : copy->operands())
          if (Value *mapped = own.lookup(u.get()))
            u.set(mapped);
        b.Insert(copy);
        Value *simple = llvm::simplifyInstruction(copy, {full.getDataLayout(), copy});
        own[step] = simple ? simple : copy;
        if (simple)
          copy->eraseFromParent();
      }
      Value *holds = *general == 1 ? own[condition] : b.CreateNot(own[condition]);
      all = all ? b.CreateAnd(all, holds) : holds;
    }
    branch->setCondition(*general == 1 ? all : b.CreateNot(all));
  }
}

} // namespace ptxrun::simt
