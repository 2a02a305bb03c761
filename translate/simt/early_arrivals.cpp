// One lane of a warp waits for an mbarrier and starts copies, then all lanes arrive at another one:
//
//     if (elected) {                        if (elected) {
//       while (!try_wait(empty)) ;            while (!try_wait(empty)) ;
//       copy(...);                            copy(...);
//     }                                     } else if (first) {
//     if (first)                       ->     arrive(order);
//       arrive(order);                      }
//                                           if (first && elected)
//                                             arrive(order);
//
// Each lane does what it did, in its order. But in lockstep, where the lanes that wait for nothing
// go first (block_order.cpp), nobody who waits for their arrival is kept waiting by the elected
// one: what is left behind the wait is the waiting lane's own (examine.cpp).
//
// Between the branch and the arrival nothing may touch memory or wait, so that the arrival has the
// same accesses before it; the conditions on the way, and the address, are computed again.
#include "translate/simt/early_arrivals.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <optional>

#include "translate/simt/cost.h"
#include "translate/simt/prepare.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

/// On both arrivals and on the branch at which the lanes part: one node of their own.
constexpr const char *kParting = "ptxrun.parting";
/// On the end of the block that the lanes go to first that do not wait.
constexpr const char *kGoesFirst = "ptxrun.goes.first";

bool isTest(const llvm::Instruction &i) { return isMbarrierTest(wordAt(i).op); }

/// A branch one way of which leads straight to where both meet, while lanes may wait on the other.
struct Parting {
  llvm::BranchInst *branch;
  unsigned shortWay; ///< the successor
  llvm::BasicBlock *meeting;
};

/// What is computed again before the branch: `value` and what it is made of behind `meeting`.
class Copies {
 public:
  Copies(const Parting &parting, const llvm::DominatorTree &dominators)
      : parting_(parting), dominators_(dominators) {}

  bool canCopy(const llvm::Value *value, unsigned depth = 0) const {
    auto *i = llvm::dyn_cast<llvm::Instruction>(value);
    if (!i || dominators_.dominates(i, parting_.branch))
      return true;
    if (depth == kLimits.search.early || !isSpeculatable(*i))
      return false;
    return llvm::all_of(i->operands(), [&](const llvm::Use &o) { return canCopy(o, depth + 1); });
  }

  llvm::Value *copy(llvm::Value *value, llvm::IRBuilder<> &b) {
    auto *i = llvm::dyn_cast<llvm::Instruction>(value);
    if (!i || dominators_.dominates(i, parting_.branch))
      return value;
    if (llvm::Value *done = done_.lookup(i))
      return done;
    llvm::SmallVector<llvm::Value *, 4> operands;
    for (llvm::Value *o : i->operands())
      operands.push_back(copy(o, b));
    llvm::Instruction *again = i->clone();
    for (unsigned k = 0; k < operands.size(); ++k)
      again->setOperand(k, operands[k]);
    b.Insert(again);
    return done_[i] = again;
  }

 private:
  const Parting &parting_;
  const llvm::DominatorTree &dominators_;
  llvm::DenseMap<const llvm::Instruction *, llvm::Value *> done_;
};

struct Condition {
  llvm::Value *value;
  bool isTrue;
};

/// An arrival that nothing but conditions lies before, from the meeting point on.
struct Arrival {
  Parting parting;
  llvm::CallInst *call;
  llvm::SmallVector<Condition, 2> conditions;
};

class Search {
 public:
  explicit Search(llvm::Function &f)
      : function_(f), dominators_(f), postDominators_(f), loops_(dominators_) {}

  std::optional<Arrival> find() const {
    for (llvm::BasicBlock &b : function_)
      if (auto parting = partingAt(b))
        if (auto arrival = arrivalBehind(*parting))
          return arrival;
    return std::nullopt;
  }
  const llvm::DominatorTree &dominators() const { return dominators_; }

 private:
  std::optional<Parting> partingAt(llvm::BasicBlock &b) const {
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(b.getTerminator());
    if (!branch || !branch->isConditional() || branch->hasMetadata(kParting))
      return std::nullopt;
    const auto *node = postDominators_.getNode(&b);
    llvm::BasicBlock *meeting = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
    if (!meeting || !dominators_.dominates(&b, meeting) ||
        loops_.getLoopFor(meeting) != loops_.getLoopFor(&b))
      return std::nullopt;
    for (unsigned k = 0; k < 2; ++k)
      if (branch->getSuccessor(k) == meeting && branch->getSuccessor(1 - k) != meeting &&
          llvm::any_of(reachable(branch->getSuccessor(1 - k), meeting),
                       [](const llvm::BasicBlock *way) { return llvm::any_of(*way, isTest); }))
        return Parting{branch, k, meeting};
    return std::nullopt;
  }

  std::optional<Arrival> arrivalBehind(const Parting &parting) const {
    // Blocks in which nothing before their end touches memory, from the meeting point on.
    llvm::SmallVector<llvm::BasicBlock *> stack{parting.meeting};
    BlockSet seen, pure;
    llvm::SmallVector<llvm::CallInst *> found;
    while (!stack.empty()) {
      llvm::BasicBlock *b = stack.pop_back_val();
      if (!seen.insert(b).second || !dominators_.dominates(parting.meeting, b))
        continue;
      llvm::Instruction *first = firstEffect(*b);
      if (first && isArrival(wordAt(*first).op) && first->use_empty())
        found.push_back(llvm::cast<llvm::CallInst>(first));
      if (first)
        continue;
      pure.insert(b);
      stack.append(llvm::succ_begin(b), llvm::succ_end(b));
    }
    const Copies copies(parting, dominators_);
    for (llvm::CallInst *call : found) {
      auto conditions = conditionsOf(*call->getParent(), parting, pure);
      if (conditions && llvm::all_of(call->args(), [&](auto &a) { return copies.canCopy(a); }) &&
          llvm::all_of(*conditions, [&](const Condition &c) { return copies.canCopy(c.value); }))
        return Arrival{parting, call, std::move(*conditions)};
    }
    return std::nullopt;
  }

  static llvm::Instruction *firstEffect(llvm::BasicBlock &b) {
    for (llvm::Instruction &i : b)
      if (i.mayReadOrWriteMemory() || i.mayThrow() || !i.willReturn())
        return &i;
    return nullptr;
  }

  /// What lanes that come to the meeting point find on their way if, and only if, they come to
  /// `block`; nothing where that cannot be told, or another way to it has effects.
  std::optional<llvm::SmallVector<Condition, 2>>
  conditionsOf(const llvm::BasicBlock &block, const Parting &parting, const BlockSet &pure) const {
    if (loops_.getLoopFor(&block) != loops_.getLoopFor(parting.meeting))
      return std::nullopt;
    llvm::SmallVector<Condition, 2> conditions;
    for (const llvm::BasicBlock *at = &block; at != parting.meeting;) {
      llvm::BasicBlock *before = dominators_.getNode(at)->getIDom()->getBlock();
      // All ways between the two are among the blocks without effects.
      llvm::SmallVector<const llvm::BasicBlock *> stack(llvm::pred_begin(at), llvm::pred_end(at));
      BlockSet seen;
      while (!stack.empty()) {
        const llvm::BasicBlock *b = stack.pop_back_val();
        if (!seen.insert(b).second)
          continue;
        if (!pure.contains(b))
          return std::nullopt;
        if (b != before)
          stack.append(llvm::pred_begin(b), llvm::pred_end(b));
      }
      if (!postDominators_.dominates(at, before)) {
        auto *branch = llvm::dyn_cast<llvm::BranchInst>(before->getTerminator());
        if (!branch || !branch->isConditional())
          return std::nullopt;
        const auto way = llvm::find_if(llvm::seq(2u), [&](unsigned k) {
          return postDominators_.dominates(at, branch->getSuccessor(k)) &&
                 dominators_.dominates(llvm::BasicBlockEdge(before, branch->getSuccessor(k)), at);
        });
        if (way == llvm::seq(2u).end())
          return std::nullopt;
        conditions.push_back({branch->getCondition(), *way == 0});
      }
      at = before;
    }
    return conditions;
  }

  llvm::Function &function_;
  llvm::DominatorTree dominators_;
  llvm::PostDominatorTree postDominators_;
  llvm::LoopInfo loops_;
};

void moveShortWay(const Arrival &arrival, const llvm::DominatorTree &dominators) {
  const Parting &p = arrival.parting;
  llvm::BasicBlock *at = p.branch->getParent();
  llvm::LLVMContext &context = at->getContext();
  llvm::Function *f = at->getParent();
  Copies copies(p, dominators);

  auto *shortWay = llvm::BasicBlock::Create(context, "short.way", f, p.meeting);
  auto *early = llvm::BasicBlock::Create(context, "arrives.early", f, p.meeting);
  llvm::IRBuilder<> b(shortWay);
  b.SetCurrentDebugLocation(arrival.call->getDebugLoc());
  llvm::Value *arrives = nullptr;
  for (const Condition &c : arrival.conditions) {
    llvm::Value *one = copies.copy(c.value, b);
    one = c.isTrue ? one : b.CreateNot(one);
    arrives = arrives ? b.CreateLogicalAnd(one, arrives) : one;
  }
  llvm::SmallVector<llvm::Value *> arguments;
  for (llvm::Value *a : arrival.call->args())
    arguments.push_back(copies.copy(a, b));
  llvm::MDNode *same = llvm::MDNode::getDistinct(context, {});
  b.CreateCondBr(arrives ? arrives : b.getTrue(), early, p.meeting)
      ->setMetadata(kGoesFirst, llvm::MDNode::get(context, {}));
  b.SetInsertPoint(early);
  auto *call = llvm::cast<llvm::CallInst>(arrival.call->clone());
  for (unsigned k = 0; k < arguments.size(); ++k)
    call->setArgOperand(k, arguments[k]);
  b.Insert(call)->setMetadata(kParting, same);
  b.CreateBr(p.meeting);

  p.branch->setSuccessor(p.shortWay, shortWay);
  for (llvm::PHINode &phi : p.meeting->phis()) {
    llvm::Value *in = phi.getIncomingValueForBlock(at);
    phi.setIncomingBlock(unsigned(phi.getBasicBlockIndex(at)), shortWay);
    phi.addIncoming(in, early);
  }
  auto *isLate = llvm::PHINode::Create(b.getInt1Ty(), 4, "arrives.late", p.meeting->begin());
  for (llvm::BasicBlock *from : llvm::predecessors(p.meeting))
    isLate->addIncoming(b.getInt1(from != shortWay && from != early), from);

  llvm::Instruction *late =
      llvm::SplitBlockAndInsertIfThen(isLate, arrival.call->getIterator(), false);
  arrival.call->moveBefore(late);
  arrival.call->setMetadata(kParting, same);
  p.branch->setMetadata(kParting, same);
}

} // namespace

void arriveBeforeOthersWait(llvm::Function &f) {
  const auto arrives = [](const llvm::BasicBlock &b) {
    return llvm::any_of(b, [](const llvm::Instruction &i) { return isArrival(wordAt(i).op); });
  };
  if (llvm::none_of(f, [](const llvm::BasicBlock &b) { return llvm::any_of(b, isTest); }) ||
      llvm::none_of(f, arrives))
    return;
  while (true) {
    const Search search(f);
    auto arrival = search.find();
    if (!arrival)
      return;
    moveShortWay(*arrival, search.dominators());
  }
}

bool isApart(const llvm::Instruction &arrival, const llvm::BasicBlock &branch) {
  const llvm::MDNode *node = arrival.getMetadata(kParting);
  return node && node == branch.getTerminator()->getMetadata(kParting);
}

bool goesFirst(const llvm::BasicBlock &block) {
  return block.getTerminator()->hasMetadata(kGoesFirst);
}

} // namespace ptxrun::simt
