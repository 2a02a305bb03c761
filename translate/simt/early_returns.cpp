#include "translate/simt/early_returns.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>

#include "translate/simt/cost.h"
#include "translate/simt/prepare.h"
#include "translate/simt/promote.h"
#include "translate/simt/staged_stores.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

using Blocks = llvm::SetVector<BasicBlock *>;

/// Whether a thread that does nothing may stand beside it: others do not wait for it here, nor for
/// each other.
bool mayBeLeftOut(const Instruction &i) {
  using Kind = Word::Kind;
  if (llvm::isa<llvm::UnreachableInst>(i))
    return false;
  const Word word = wordAt(i);
  switch (word.kind) {
  case Kind::barrier:
    return isWholeBarrier(i);
  case Kind::warpUniform:
  case Kind::warpVarying:
  case Kind::schedule:
  case Kind::exit:
  case Kind::runtime:
  case Kind::runtimeWait:
    return false;
  default: {
    auto *call = llvm::dyn_cast<llvm::CallBase>(&i);
    const llvm::Function *callee = call ? call->getCalledFunction() : nullptr;
    return !call ||
           (callee && (callee->isDeclaration() || callee->hasFnAttribute(kWaitsForNobody)));
  }
  }
}

class EarlyReturn {
 public:
  EarlyReturn(llvm::Function &f, BasicBlock *end)
      : f_(f), end_(end), dominators_(f), postDominators_(f), loops_(dominators_) {}

  /// Finds the last block behind which some return and others come to barriers, and changes it.
  bool run() {
    for (BasicBlock *b : llvm::post_order(&f_.getEntryBlock()))
      if (isFoundAt(b)) {
        change();
        return true;
      }
    return false;
  }

 private:
  Blocks reachable(BasicBlock *from) const {
    Blocks found;
    if (from != end_)
      found.insert(from);
    for (size_t n = 0; n < found.size(); ++n)
      for (BasicBlock *next : llvm::successors(found[n]))
        if (next != end_)
          found.insert(next);
    return found;
  }

  bool isFoundAt(BasicBlock *b) {
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(b->getTerminator());
    if (!branch || !branch->isConditional() || loops_.getLoopFor(b))
      return false;
    fork_ = branch;
    for (unsigned n : {0u, 1u}) {
      first_ = branch->getSuccessor(n);
      behind_ = reachable(first_);
      returning_ = reachable(branch->getSuccessor(1 - n));
      if (mayWalk())
        return true;
    }
    return false;
  }

  bool mayWalk() {
    if (behind_.size() > kLimits.search.walked ||
        llvm::none_of(behind_, [](auto *b) { return hasBarrier(*b); }) ||
        llvm::any_of(returning_, [&](auto *b) { return hasBarrier(*b) || behind_.contains(b); }))
      return false;
    for (BasicBlock *b : behind_) {
      for (BasicBlock *before : llvm::predecessors(b))
        if (!behind_.contains(before) && !(b == first_ && before == fork_->getParent()))
          return false;
      if (!llvm::isa<llvm::BranchInst>(b->getTerminator()) || !llvm::all_of(*b, mayBeLeftOut) ||
          !postDominators_.dominates(end_, b)) // an endless loop
        return false;
    }
    way_.clear();
    decisions_.clear();
    carried_.clear();
    seen_.clear();
    if (isSameForCta(fork_->getCondition(), /*isCarried=*/false))
      return false; // gangs do not part
    seen_.clear();
    for (BasicBlock *b : behind_)
      if (hasBarrier(*b))
        way_.insert(b);
    for (size_t n = 0; n < way_.size(); ++n)
      for (BasicBlock *b : behind_)
        if (decidesAbout(*b, way_[n]) && decisions_.insert(b)) {
          way_.insert(b);
          const auto *branch = llvm::cast<llvm::BranchInst>(b->getTerminator());
          if (!isSameForCta(branch->getCondition(), /*isCarried=*/true))
            return false;
        }
    widenWay();
    carryWhatNobodyRead();
    return true;
  }

  /// All else that everybody comes to.
  void widenWay() {
    for (BasicBlock *b : behind_)
      if (llvm::none_of(behind_, [&](BasicBlock *at) {
            return !decisions_.contains(at) && decidesAbout(*at, b);
          }))
        way_.insert(b);
  }

  bool isParameter(const llvm::LoadInst &load) const {
    llvm::APInt offset(64, 0);
    return load.hasMetadata(llvm::LLVMContext::MD_invariant_load) &&
           llvm::isa<llvm::Argument>(load.getPointerOperand()->stripAndAccumulateConstantOffsets(
               f_.getDataLayout(), offset, /*AllowNonInbounds=*/true));
  }

  /// Whether threads that return may compute it as well, if they have its operands.
  bool mayBeCarried(const Instruction &i) const {
    if (auto *phi = llvm::dyn_cast<llvm::PHINode>(&i)) {
      const llvm::Loop *loop = loops_.getLoopFor(phi->getParent());
      return phi->getNumIncomingValues() == 1 ||
             (loop && loop->getHeader() == phi->getParent() &&
              llvm::all_of(phi->blocks(), [&](BasicBlock *from) {
                return !behind_.contains(from) || way_.contains(from);
              }));
    }
    if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i))
      return isParameter(*load); // tables end where threads return
    if (i.mayReadOrWriteMemory() || i.isTerminator() || llvm::isa<llvm::AllocaInst>(i))
      return false; // clocks among them
    return wordAt(i).isSpecialRegister() || llvm::isSafeToSpeculativelyExecute(&i);
  }

  /// Numbers and addresses on the way, which are rows only if all threads have them.
  void carryWhatNobodyRead() {
    llvm::SetVector<Instruction *> more;
    for (BasicBlock *b : way_)
      for (Instruction &i : *b)
        if (mayBeCarried(i))
          more.insert(&i);
    const auto isThere = [&](Value *v) {
      auto *i = llvm::dyn_cast<Instruction>(v);
      return !i || !behind_.contains(i->getParent()) || more.contains(i);
    };
    while (more.remove_if([&](Instruction *i) { return !llvm::all_of(i->operands(), isThere); }))
      continue;
    carried_.insert(more.begin(), more.end());
  }

  /// Whether it depends on the way from `b` if `at` is come to.
  bool decidesAbout(BasicBlock &b, BasicBlock *at) const {
    auto *branch = llvm::cast<llvm::BranchInst>(b.getTerminator());
    return branch->isConditional() && !postDominators_.properlyDominates(at, &b) &&
           llvm::any_of(llvm::successors(&b),
                        [&](BasicBlock *next) { return postDominators_.dominates(at, next); });
  }

  /// Whether a value is made of what is the same for all threads of a CTA. `isCarried`: they are to
  /// compute it themselves, where it is not computed before they part.
  bool isSameForCta(Value *v, bool isCarried) {
    auto *i = llvm::dyn_cast<Instruction>(v);
    if (!i)
      return true;
    const bool isBehind = behind_.contains(i->getParent());
    if (!seen_.insert(i).second)
      return true; // or found not to be where it was seen
    if (isCarried && isBehind) {
      carried_.insert(i);
      way_.insert(i->getParent());
    }
    if (auto *phi = llvm::dyn_cast<llvm::PHINode>(i)) {
      const llvm::Loop *loop = loops_.getLoopFor(phi->getParent());
      const bool isOfLoop = loop && loop->getHeader() == phi->getParent() && isCarried && isBehind;
      if (phi->getNumIncomingValues() != 1 && !isOfLoop)
        return false;
      if (isOfLoop)
        for (BasicBlock *from : phi->blocks())
          if (behind_.contains(from))
            way_.insert(from);
    } else if (auto *load = llvm::dyn_cast<llvm::LoadInst>(i)) {
      if (!load->hasMetadata(llvm::LLVMContext::MD_invariant_load))
        return false;
    } else if (const Word word = wordAt(*i); word.kind != Word::Kind::none) {
      return word.op == Op::ntid || word.op == Op::ctaid || word.op == Op::nctaid ||
             (!isBehind &&
              (word.op == Op::barRedAnd || word.op == Op::barRedOr || word.op == Op::barRedPopc));
    } else if (i->mayReadOrWriteMemory() || llvm::isa<llvm::AllocaInst>(i) ||
               (llvm::isa<llvm::CallBase>(i) && !llvm::isa<llvm::IntrinsicInst>(i))) {
      return false;
    }
    return llvm::all_of(i->operands(),
                        [&](Value *operand) { return isSameForCta(operand, isCarried); });
  }

  // From here on the kernel changes.

  /// A part of the way that threads which returned leave out, and where they go on.
  struct Work {
    BasicBlock *before, *first, *next;
  };

  void change() {
    foldPhisOfOne();
    BasicBlock *fork = fork_->getParent();
    condition_ = fork_->getCondition();
    isTrueForOthers_ = fork_->getSuccessor(0) == first_;
    // Where those that return have come to, go on together.
    BasicBlock *together = BasicBlock::Create(f_.getContext(), "walk", &f_, first_);
    const llvm::DebugLoc line = fork_->getDebugLoc();
    llvm::BranchInst::Create(first_, together)->setDebugLoc(line);
    first_->replacePhiUsesWith(fork, together);
    fork_->replaceSuccessorWith(first_, together);
    for (BasicBlock *b : returning_)
      b->getTerminator()->replaceSuccessorWith(end_, together);
    if (returning_.empty())
      llvm::ReplaceInstWithInst(fork_, llvm::BranchInst::Create(together));
    start_ = decisions_.empty() ? together : endWhereAllReturn(together, line);
    std::vector<Work> work;
    if (!way_.contains(first_)) // leads to the way
      work.push_back({start_, first_, nextOnWay(first_)});
    const Blocks way = way_;
    for (BasicBlock *b : way)
      partAtBarriers(*b, work);
    keepInMemory();
    for (const Work &w : work)
      leaveOut(w, line);
    promoteSlots(f_, slots_);
    normaliseLoops(f_);
  }

  /// Blocks with one way in may get others, from where work is left out. There is what carried phis
  /// pass on.
  void foldPhisOfOne() {
    for (BasicBlock *b : behind_)
      for (llvm::PHINode &phi : llvm::make_early_inc_range(b->phis()))
        if (phi.getNumIncomingValues() == 1 && carried_.remove(&phi)) {
          phi.replaceAllUsesWith(phi.getIncomingValue(0));
          phi.eraseFromParent();
        }
  }

  /// bar.red over who goes on: no one walks alone. Returns where the others start.
  BasicBlock *endWhereAllReturn(BasicBlock *together, const llvm::DebugLoc &line) {
    llvm::IRBuilder<> b(together->getTerminator());
    b.SetCurrentDebugLocation(line);
    Value *goesOn = isTrueForOthers_ ? condition_ : b.CreateNot(condition_);
    Value *any = callWord(b, Op::barRedOr, b.getInt1Ty(), {b.getInt32(0), b.getInt32(0), goesOn});
    BasicBlock *walk = llvm::SplitBlock(together, together->getTerminator());
    together->getTerminator()->eraseFromParent();
    b.SetInsertPoint(together);
    b.SetCurrentDebugLocation(line);
    b.CreateCondBr(any, walk, end_);
    return walk;
  }

  /// The first place of the way, or the end, that all come to from here.
  BasicBlock *nextOnWay(BasicBlock *b) const {
    auto *node = postDominators_.getNode(b);
    while (node->getBlock() && node->getBlock() != end_ && !way_.contains(node->getBlock()))
      node = node->getIDom();
    return node->getBlock() ? node->getBlock() : end_;
  }
  bool isOnWay(BasicBlock *b) const { return b == end_ || way_.contains(b); }

  /// What is carried goes to the front; what lies before, between and behind barriers becomes
  /// blocks of its own.
  void partAtBarriers(BasicBlock &b, std::vector<Work> &work) {
    const bool isDecision = decisions_.contains(&b);
    BasicBlock *const only = b.getSingleSuccessor();
    BasicBlock *const next = isDecision || (only && isOnWay(only)) ? nullptr : nextBehind(b);
    Instruction *front = &*b.getFirstNonPHIIt();
    for (Instruction &i :
         llvm::make_early_inc_range(llvm::make_range(front->getIterator(), b.end())))
      if (!carried_.contains(&i))
        continue;
      else if (&i == front)
        front = i.getNextNode();
      else
        i.moveBefore(front);
    BasicBlock *before = &b, *at = llvm::SplitBlock(&b, front);
    for (auto barrier = llvm::find_if(*at, isBarrierWord); barrier != at->end();
         barrier = llvm::find_if(*at, isBarrierWord)) {
      BasicBlock *wait = llvm::SplitBlock(at, barrier);
      BasicBlock *rest = llvm::SplitBlock(wait, std::next(barrier));
      if (at->size() > 1)
        work.push_back({before, at, wait});
      before = wait;
      at = rest;
    }
    if (next) {
      work.push_back({before, at, next});
      return;
    }
    BasicBlock *tail = llvm::SplitBlock(at, at->getTerminator());
    if (at->size() > 1)
      work.push_back({before, at, tail});
    // Ways off, through what only the others do.
    llvm::SmallVector<BasicBlock *> off;
    for (BasicBlock *s : llvm::successors(tail))
      if (!isOnWay(s) && behind_.contains(s))
        off.push_back(s);
    for (BasicBlock *s : off)
      if (llvm::is_contained(llvm::successors(tail), s)) {
        BasicBlock *edge = BasicBlock::Create(f_.getContext(), "walk", &f_, s);
        llvm::BranchInst::Create(s, edge)->setDebugLoc(tail->getTerminator()->getDebugLoc());
        s->replacePhiUsesWith(tail, edge);
        tail->getTerminator()->replaceSuccessorWith(s, edge);
        work.push_back({edge, s, nextOnWay(s)});
      }
  }

  /// Where the branch that ends a block which decides nothing leads everybody.
  BasicBlock *nextBehind(BasicBlock &b) const {
    auto *node = postDominators_.getNode(&b)->getIDom();
    return node && node->getBlock() ? nextOnWay(node->getBlock()) : end_;
  }

  /// What lives from block to block and is not carried goes through memory, until promoted: threads
  /// that leave out what defines it have nothing there.
  void keepInMemory() {
    llvm::SmallVector<Instruction *> values;
    for (BasicBlock *b : reachable(start_))
      for (Instruction &i : *b)
        if (!carried_.contains(&i) && !i.getType()->isVoidTy() &&
            (llvm::isa<llvm::PHINode>(i) || i.isUsedOutsideOfBlock(b)))
          values.push_back(&i);
    for (Instruction *i : values)
      if (auto *phi = llvm::dyn_cast<llvm::PHINode>(i))
        slots_.push_back(llvm::DemotePHIToStack(phi));
      else
        slots_.push_back(llvm::DemoteRegToStack(*i));
    llvm::erase_if(slots_, [](const auto *slot) { return !slot; });
  }

  void leaveOut(const Work &w, const llvm::DebugLoc &line) {
    llvm::Instruction *jump = w.before->getTerminator();
    llvm::IRBuilder<> b(jump);
    b.SetCurrentDebugLocation(line);
    b.CreateCondBr(condition_, isTrueForOthers_ ? w.first : w.next,
                   isTrueForOthers_ ? w.next : w.first);
    jump->eraseFromParent();
  }

  llvm::Function &f_;
  BasicBlock *end_;
  llvm::DominatorTree dominators_;
  llvm::PostDominatorTree postDominators_;
  llvm::LoopInfo loops_;
  llvm::BranchInst *fork_ = nullptr; ///< where some return
  BasicBlock *first_ = nullptr;      ///< where the others go
  Blocks behind_, returning_;        ///< what they do, and what the ones that return still do
  /// Of what is behind: where all threads go; where it is decided what of it; what all compute.
  Blocks way_, decisions_;
  llvm::SetVector<Instruction *> carried_;
  llvm::DenseSet<const Instruction *> seen_;
  Value *condition_ = nullptr;
  bool isTrueForOthers_ = true;
  BasicBlock *start_ = nullptr; ///< where all walk on from
  std::vector<llvm::AllocaInst *> slots_;
};

} // namespace

bool walkAlongToBarriers(llvm::Function &kernel) {
  if (llvm::none_of(llvm::instructions(kernel), isBarrierWord))
    return false;
  BasicBlock *end = nullptr;
  for (BasicBlock &b : kernel)
    if (llvm::isa<llvm::ReturnInst>(b.getTerminator()))
      end = &b;
  bool isChanged = false;
  while (end && !llvm::isa<llvm::PHINode>(end->front()) && EarlyReturn(kernel, end).run())
    isChanged = true;
  return isChanged;
}

} // namespace ptxrun::simt
