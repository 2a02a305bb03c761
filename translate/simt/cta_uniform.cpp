#include "translate/simt/cta_uniform.h"

#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>

#include "translate/simt/prepare.h"

namespace ptxrun::simt {
namespace {

/// Gives each gang a value of its own even if the operands are the same.
bool readsTheWorld(const llvm::Instruction &i, bool inLockstep) {
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i); load && load->isSimple() && inLockstep)
    return false;
  if (i.hasMetadata(llvm::LLVMContext::MD_invariant_load))
    return false;
  return i.mayReadOrWriteMemory() || llvm::isa<llvm::AllocaInst>(i);
}

} // namespace

CtaUniformity::CtaUniformity(llvm::Function &f, llvm::ArrayRef<const llvm::Value *> perGang,
                             bool inLockstep, llvm::DenseSet<const llvm::BasicBlock *> agreed,
                             llvm::DenseSet<const llvm::Use *> same)
    : function_(f), postDominators_(f), dominators_(f), loops_(dominators_),
      agreed_(std::move(agreed)), same_(std::move(same)) {
  for (const llvm::Value *v : perGang)
    mark(v);
  for (const llvm::BasicBlock &b : f)
    for (const llvm::Instruction &i : b)
      if (readsTheWorld(i, inLockstep))
        mark(&i);
  while (!worklist_.empty()) {
    const llvm::Value *v = worklist_.pop_back_val();
    for (const llvm::Use &u : v->uses()) {
      auto *i = llvm::dyn_cast<llvm::Instruction>(u.getUser());
      if (!i || i->getFunction() != &f || same_.contains(&u))
        continue;
      if (i->isTerminator())
        branchVaries(i->getParent());
      else
        mark(i);
    }
  }
}

void CtaUniformity::mark(const llvm::Value *v) {
  if (!v->getType()->isVoidTy() && varying_.insert(v).second)
    worklist_.push_back(v);
}

/// Gangs part at the end of `block`: where they may meet again, the phis tell which way each took;
/// and what a loop has computed when they leave it in different iterations differs.
void CtaUniformity::branchVaries(const llvm::BasicBlock *block) {
  if (block->getTerminator()->getNumSuccessors() < 2 || agreed_.contains(block) ||
      !varyingBranches_.insert(block).second)
    return;
  const llvm::BasicBlock *stop = meetingPoint(block);
  llvm::DenseMap<const llvm::BasicBlock *, unsigned>
      ways; // successors from which a block can be reached
  for (const llvm::BasicBlock *s : llvm::successors(block))
    for (const llvm::BasicBlock *b : reachable(s, stop))
      ++ways[b];
  if (stop)
    for (const llvm::PHINode &phi : stop->phis())
      mark(&phi);
  const bool isInLoop = ways.contains(block);
  for (auto [b, count] : ways)
    if (isInLoop || count > 1)
      for (const llvm::PHINode &phi : b->phis())
        mark(&phi);
  if (!isInLoop)
    return;
  for (auto [b, count] : ways)
    for (const llvm::Instruction &i : *b)
      for (const llvm::User *u : i.users())
        if (!ways.contains(llvm::cast<llvm::Instruction>(u)->getParent()))
          mark(&i);
}

const llvm::BasicBlock *CtaUniformity::meetingPoint(const llvm::BasicBlock *block) const {
  return meetingPointOf(llvm::to_vector<2>(llvm::successors(block)), postDominators_, loops_);
}

bool CtaUniformity::agreeOn(llvm::ArrayRef<llvm::BasicBlock *> blocks) const {
  llvm::SmallVector<const llvm::BasicBlock *> branching;
  for (const llvm::BasicBlock &b : function_)
    if (b.getTerminator()->getNumSuccessors() > 1)
      branching.push_back(&b);
  // All branches that decide, through others perhaps, whether a block of the list is reached.
  llvm::SmallVector<const llvm::BasicBlock *> stack(blocks.begin(), blocks.end());
  llvm::DenseSet<const llvm::BasicBlock *> seen(blocks.begin(), blocks.end());
  while (!stack.empty()) {
    const llvm::BasicBlock *b = stack.pop_back_val();
    for (const llvm::BasicBlock *branch : branching) {
      const bool decides = !postDominators_.properlyDominates(b, branch) &&
                           llvm::any_of(llvm::successors(branch), [&](const llvm::BasicBlock *s) {
                             return postDominators_.dominates(b, s);
                           });
      if (!decides)
        continue;
      if (varyingBranches_.contains(branch))
        return false;
      if (seen.insert(branch).second)
        stack.push_back(branch);
    }
  }
  return true;
}

} // namespace ptxrun::simt
