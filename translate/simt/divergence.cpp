// Control dependence of shapes: divergent branches, the blocks where parted lanes meet, loops left
// at different times.
//
// Joins are found by propagating labels in block order from the successors of a divergent branch: a
// block reached by two labels is where lanes that took different ways may meet; its phis vary where
// the edges from there bring different values. (Edges that only a uniform branch leads to do not
// count: no lanes come by them while others come from here.) If
// from the branch both the header and an exit of a loop around it can be reached, lanes leave that
// loop in different iterations; the loop's exits then act like a branch.
#include <llvm/IR/Instructions.h>

#include <set>

#include "translate/simt/prepare.h"
#include "translate/simt/shape.h"

namespace ptxrun::simt {

ShapeAnalysis::ShapeAnalysis(llvm::Function &function, const GangShape &gang, bool varyingArguments,
                             llvm::ArrayRef<llvm::Instruction *> taken)
    : function_(function), gang_(gang), varyingArguments_(varyingArguments),
      taken_(taken.begin(), taken.end()), dominators_(function), postDominators_(function),
      loops_(dominators_) {
  computeOrder();
  if (gang_.lanes > 1)
    run();
}

void ShapeAnalysis::push(const llvm::BasicBlock *block) {
  for (const llvm::Instruction &i : *block)
    if (queued_.insert(&i).second)
      worklist_.push_back(&i);
}

void ShapeAnalysis::run() {
  for (auto it = order_.rbegin(); it != order_.rend(); ++it)
    for (auto i = (*it)->rbegin(); i != (*it)->rend(); ++i)
      if (queued_.insert(&*i).second)
        worklist_.push_back(&*i);
  while (!worklist_.empty()) {
    const llvm::Instruction *i = worklist_.pop_back_val();
    queued_.erase(i);
    if (auto *branch = llvm::dyn_cast<llvm::BranchInst>(i)) {
      Shape s = branch->isConditional() ? shape(branch->getCondition()) : Shape{};
      if (s.kind != Shape::Kind::unknown && !s.isUniform() &&
          branch->getSuccessor(0) != branch->getSuccessor(1) &&
          divergentBranches_.insert(branch->getParent()).second)
        branchDiverges(branch->getParent());
      continue;
    }
    Shape before = shapes_.lookup(i), after = evaluate(*i);
    if (before.isVarying() || before == after || after.kind == Shape::Kind::unknown)
      continue;
    shapes_[i] = after;
    for (const llvm::User *u : i->users())
      if (auto *user = llvm::dyn_cast<llvm::Instruction>(u); user && queued_.insert(user).second)
        worklist_.push_back(user);
  }
}

void ShapeAnalysis::markRegion(llvm::ArrayRef<const llvm::BasicBlock *> starts,
                               const llvm::BasicBlock *stop) {
  for (const llvm::BasicBlock *start : starts)
    for (const llvm::BasicBlock *b : reachable(start, stop))
      divergentRegion_.insert(b);
}

void ShapeAnalysis::propagateJoins(llvm::ArrayRef<const llvm::BasicBlock *> seeds,
                                   llvm::function_ref<bool(const llvm::BasicBlock *)> partAt,
                                   const llvm::Loop *within, const llvm::BasicBlock *stop,
                                   const llvm::Loop *&leftLoop) {
  llvm::DenseMap<const llvm::BasicBlock *, const llvm::BasicBlock *> label;
  llvm::DenseSet<const llvm::BasicBlock *>
      met; // blocks where two labels met: their own label from then on
  std::set<unsigned> todo;
  llvm::DenseSet<const llvm::Loop *> headerReached, exitReached;
  auto arrive = [&](const llvm::BasicBlock *at, const llvm::BasicBlock *with) {
    auto [it, isNew] = label.try_emplace(at, with);
    if (isNew) {
      todo.insert(index(at));
    } else if (it->second != with && met.insert(at).second) {
      it->second = at;
    }
  };
  auto follow = [&](const llvm::BasicBlock *from, const llvm::BasicBlock *to,
                    const llvm::BasicBlock *with) {
    for (const llvm::Loop *l = within; l; l = l->getParentLoop()) {
      if (from == nullptr || l->contains(from)) {
        if (to == l->getHeader()) {
          headerReached.insert(l);
          return;
        }
        if (!l->contains(to))
          exitReached.insert(l);
      }
    }
    if (from && index(to) <= index(from))
      return; // back edge of a loop inside the region
    arrive(to, with);
  };
  for (const llvm::BasicBlock *s : seeds)
    follow(nullptr, s, s);
  while (!todo.empty()) {
    const llvm::BasicBlock *b = order_[*todo.begin()];
    todo.erase(todo.begin());
    if (b == stop)
      continue;
    for (const llvm::BasicBlock *s : llvm::successors(b))
      follow(b, s, label[b]);
  }
  for (const llvm::BasicBlock *at : met) {
    llvm::SmallVector<const llvm::BasicBlock *, 4> from;
    for (const llvm::BasicBlock *p : llvm::predecessors(at))
      if (label.contains(p) || partAt(p))
        from.push_back(p);
    joins_[at].push_back(std::move(from));
    push(at);
  }
  leftLoop = nullptr;
  for (const llvm::Loop *l = within; l; l = l->getParentLoop())
    if (headerReached.contains(l) && exitReached.contains(l))
      leftLoop = l; // the outermost; those inside it that contain the branch are left as well
}

void ShapeAnalysis::branchDiverges(const llvm::BasicBlock *block) {
  llvm::SmallVector<const llvm::BasicBlock *> seeds(llvm::succ_begin(block), llvm::succ_end(block));
  const llvm::BasicBlock *stop = meetingPoint(block);
  const llvm::Loop *within = loops_.getLoopFor(block), *left = nullptr;
  propagateJoins(
      seeds, [&](const llvm::BasicBlock *b) { return b == block; }, within, stop, left);
  markRegion(seeds, stop);
  for (const llvm::Loop *l = within; left && l; l = l->getParentLoop()) {
    loopDiverges(l);
    if (l == left)
      break;
  }
}

void ShapeAnalysis::loopDiverges(const llvm::Loop *loop) {
  if (!divergentLoops_.insert(loop).second)
    return;
  llvm::SmallVector<llvm::BasicBlock *> exits;
  loop->getUniqueExitBlocks(exits);
  llvm::SmallVector<const llvm::BasicBlock *> seeds(exits.begin(), exits.end());
  for (llvm::BasicBlock *e : exits)
    push(e);
  const llvm::BasicBlock *stop = meetingPointOf(seeds, postDominators_, loops_);
  for (const llvm::BasicBlock *b : loop->blocks())
    divergentRegion_.insert(b);
  const llvm::Loop *within = loop->getParentLoop(), *left = nullptr;
  propagateJoins(
      seeds, [&](const llvm::BasicBlock *b) { return loop->contains(b); }, within, stop, left);
  markRegion(seeds, stop);
  for (const llvm::Loop *l = within; left && l; l = l->getParentLoop()) {
    loopDiverges(l);
    if (l == left)
      break;
  }
}

namespace {

/// The innermost loop around both blocks whose next round may begin, from `from` on, without `to`.
const llvm::Loop *loopThatMisses(const llvm::BasicBlock *to, const llvm::BasicBlock *from,
                                 const llvm::LoopInfo &loops) {
  if (!loops.getLoopFor(to))
    return nullptr;
  const BlockSet before = reachable(from, to);
  for (const llvm::Loop *l = loops.getLoopFor(to); l; l = l->getParentLoop())
    if (l->contains(from) && l->getHeader() != to &&
        llvm::any_of(before, [&](const llvm::BasicBlock *b) { return l->isLoopLatch(b); }))
      return l;
  return nullptr;
}

} // namespace

const llvm::BasicBlock *meetingPointOf(llvm::ArrayRef<const llvm::BasicBlock *> starts,
                                       const llvm::PostDominatorTree &postDominators,
                                       const llvm::LoopInfo &loops) {
  const llvm::BasicBlock *at = starts.empty() ? nullptr : starts[0];
  for (const llvm::BasicBlock *start : starts)
    at = at ? postDominators.findNearestCommonDominator(at, start) : nullptr;
  // Where the only way out of a loop begins, all come by in the end, but some a round later.
  const auto missing = [&]() -> const llvm::Loop * {
    for (const llvm::BasicBlock *start : starts)
      if (const llvm::Loop *l = at && at != start ? loopThatMisses(at, start, loops) : nullptr)
        return l;
    return nullptr;
  };
  while (const llvm::Loop *l = missing())
    while (at && l->contains(at)) {
      const auto *node = postDominators.getNode(at);
      at = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
    }
  return at;
}

const llvm::BasicBlock *ShapeAnalysis::meetingPoint(const llvm::BasicBlock *block) const {
  const auto [known, isNew] = meetingPoints_.try_emplace(block);
  if (isNew)
    known->second =
        meetingPointOf(llvm::to_vector<2>(llvm::successors(block)), postDominators_, loops_);
  return known->second;
}

bool ShapeAnalysis::reconverges(const llvm::BasicBlock *from, const llvm::BasicBlock *to) const {
  if (!dominators_.dominates(from, to) || !postDominators_.dominates(to, from))
    return false;
  const llvm::Loop *loop = loops_.getLoopFor(from);
  if (loops_.getLoopFor(to) != loop)
    return false;
  // No way from `from` back to the header of its loop that misses `to`.
  llvm::SmallVector<const llvm::BasicBlock *> stack(llvm::succ_begin(from), llvm::succ_end(from));
  llvm::DenseSet<const llvm::BasicBlock *> seen;
  while (!stack.empty()) {
    const llvm::BasicBlock *b = stack.pop_back_val();
    if (b == to || !seen.insert(b).second)
      continue;
    if (b == from || (loop && b == loop->getHeader()))
      return false;
    stack.append(llvm::succ_begin(b), llvm::succ_end(b));
  }
  return true;
}

} // namespace ptxrun::simt
