// Which programs may run in lockstep. Masked lockstep is one of the interleavings PTX allows unless
// a lane waits for something that another lane of its own gang still has to do, and lockstep keeps
// that lane from going on:
//  - a loop that polls memory or an mbarrier, while lanes that left it, or took another way, wait
//  for it to end and have a write
//    before them that may end a wait (waits.h): of this loop, or of another warp's that this one
//    waits for in turn. What lies behind a barrier that needs all lanes does not count: they would
//    not get there either;
//  - a collective or barrier under divergent control, whose other members may wait elsewhere. Lanes
//  that left for good are not waited
//    for, if nobody waits for what they do on their way;
//  - a loop that tries to take one lock and then another, and gives the first back where the other
//  is taken: lanes that do so in step may find each other's lock taken round after round.
// Waits for blocks that come before are none of these (look_back.h).
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "translate/simt/cost.h"
#include "translate/simt/early_arrivals.h"
#include "translate/simt/look_back.h"
#include "translate/simt/members.h"
#include "translate/simt/prepare.h"
#include "translate/simt/waits.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {

bool waitsForOthers(const llvm::Instruction &i) {
  Word w = wordAt(i);
  if (w.kind == Word::Kind::runtime || w.kind == Word::Kind::runtimeWait)
    return true; // arrives at or waits for an mbarrier, or a cluster barrier
  if (w.kind == Word::Kind::barrier || w.isCollective())
    return w.op != Op::activemask;
  auto *call = llvm::dyn_cast<llvm::CallBase>(&i);
  const llvm::Function *callee = call ? call->getCalledFunction() : nullptr;
  return call &&
         (!callee || (!callee->isDeclaration() && !callee->hasFnAttribute(kWaitsForNobody)));
}

bool isWaitedIn(const BlockSet &region) {
  return llvm::any_of(region,
                      [](const llvm::BasicBlock *b) { return llvm::any_of(*b, waitsForOthers); });
}

BlockSet reachable(const llvm::BasicBlock *start, const llvm::BasicBlock *stop) {
  BlockSet seen;
  llvm::SmallVector<const llvm::BasicBlock *> stack{start};
  while (!stack.empty()) {
    const llvm::BasicBlock *b = stack.pop_back_val();
    if (b == stop || !seen.insert(b).second)
      continue;
    stack.append(llvm::succ_begin(b), llvm::succ_end(b));
  }
  return seen;
}

namespace {

/// Whether `i` has one value for the whole run of the function.
bool isOutsideLoops(const llvm::Instruction &i, const ShapeAnalysis &shapes) {
  return !shapes.loops().getLoopFor(i.getParent());
}

/// What follows for `condition` where `known` is or is not so. A bound without its remainder is
/// taken to be no larger than the bound: below zero it is, where no thread's number is.
std::optional<bool> impliedBy(llvm::Value *known, bool isSo, llvm::Value *condition,
                              const llvm::DataLayout &layout) {
  if (const auto implied = llvm::isImpliedCondition(known, condition, layout, isSo))
    return implied;
  auto *bound = llvm::dyn_cast<llvm::ICmpInst>(known);
  auto *rounded = llvm::dyn_cast<llvm::ICmpInst>(condition);
  if (!bound || !rounded || bound->getOperand(0) != rounded->getOperand(0))
    return std::nullopt;
  const auto least = llvm::CmpInst::ICMP_SGE;
  const auto beyond = isSo ? bound->getPredicate() : bound->getInversePredicate();
  const auto multiple = roundedTowardsZero(rounded->getOperand(1));
  if (beyond != least || !multiple || !multiple->isMultiple || multiple->x != bound->getOperand(1))
    return std::nullopt;
  if (rounded->getPredicate() == least)
    return true;
  return rounded->getInversePredicate() == least ? std::optional(false) : std::nullopt;
}

/// The blocks that lanes may come to from `start` on which have left `parted` by that way.
BlockSet reachableBy(const llvm::BasicBlock *parted, const llvm::BasicBlock *way,
                     const llvm::BasicBlock *start, const ShapeAnalysis &shapes) {
  auto *branch = llvm::cast<llvm::BranchInst>(parted->getTerminator());
  if (!isOutsideLoops(*branch, shapes))
    return reachable(start, nullptr);
  const bool isTrue = branch->getSuccessor(0) == way;
  BlockSet seen;
  llvm::SmallVector<const llvm::BasicBlock *> stack{start};
  while (!stack.empty()) {
    const llvm::BasicBlock *b = stack.pop_back_val();
    if (!seen.insert(b).second)
      continue;
    auto *next = llvm::dyn_cast<llvm::BranchInst>(b->getTerminator());
    if (next && next->isConditional() && isOutsideLoops(*next, shapes))
      if (const auto known = impliedBy(branch->getCondition(), isTrue, next->getCondition(),
                                       parted->getModule()->getDataLayout())) {
        stack.push_back(next->getSuccessor(*known ? 0 : 1));
        continue;
      }
    stack.append(llvm::succ_begin(b), llvm::succ_end(b));
  }
  return seen;
}

/// Whether lanes that part in `a` and do not come to `block` leave the loop that it is in, or never
/// enter it, and do not come there again. `way`: the blocks from `a` to where all meet again, by
/// `block`.
bool leaveForGood(const llvm::BasicBlock *a, const llvm::BasicBlock *block, const BlockSet &way,
                  const llvm::BasicBlock *behind, const ShapeAnalysis &shapes) {
  const llvm::Loop *loop = shapes.loops().getLoopFor(block);
  while (loop && loop->getParentLoop())
    loop = loop->getParentLoop();
  if (!loop || loop->contains(behind) || reachable(behind, nullptr).contains(block))
    return false;
  const bool isGuard = !loop->contains(a) && llvm::none_of(way, [&](const llvm::BasicBlock *b) {
    return !loop->contains(b) && llvm::any_of(*b, waitsForOthers);
  });
  return isGuard || loop->isLoopExiting(a);
}

/// Where lanes that part from those in a block meet them again: only at the end, where nobody waits
/// any more, or also behind a loop.
enum class Behind { end, noWaits, collectives };

/// Whether lanes part at the end of `a`, some come to `block` from there, and others may wait for
/// somebody elsewhere in the meantime: not where they run to the end of the function by themselves.
/// `collectives`: they may wait behind a loop that is not run again. In `block` lanes are named,
/// and those which are named and wait there would never come: such a program ends only where the
/// mask names nobody of them.
bool mayWaitElsewhere(const llvm::BasicBlock *a, const llvm::BasicBlock *block,
                      const ShapeAnalysis &shapes, Behind behind) {
  if (!shapes.isDivergentBranch(a))
    return false;
  const llvm::BasicBlock *stop = shapes.meetingPoint(a);
  unsigned leading = 0;
  bool doWait = false, doWaitBehind = false;
  BlockSet way;
  for (const llvm::BasicBlock *s : llvm::successors(a)) {
    BlockSet region = reachable(s, stop);
    if (region.contains(block)) {
      ++leading;
      way = std::move(region);
    } else {
      doWait |= isWaitedIn(region);
      doWaitBehind |= stop && !doWait && isWaitedIn(reachableBy(a, s, stop, shapes));
    }
  }
  // Where both ways meet again before the end, the others do not leave.
  if (stop && !llvm::isa<llvm::ReturnInst>(stop->getTerminator()) && !doWait)
    doWait =
        behind == Behind::end ||
        ((behind == Behind::noWaits || !leaveForGood(a, block, way, stop, shapes)) && doWaitBehind);
  return leading > 1 || (leading == 1 && doWait);
}

/// True if at no branch that parts lanes around `block` others may wait elsewhere.
bool othersAreGone(const llvm::BasicBlock *block, const ShapeAnalysis &shapes, Behind behind) {
  return llvm::none_of(shapes.order(), [&](const llvm::BasicBlock *a) {
    return mayWaitElsewhere(a, block, shapes, behind);
  });
}

/// True if at every divergent branch around `block` the other way does nothing with mbarriers or
/// barriers before the lanes meet again: then nobody on it can be what a wait in `block` waits for.
bool othersAreIdle(const llvm::BasicBlock *block, const ShapeAnalysis &shapes) {
  for (const llvm::BasicBlock *a : shapes.order()) {
    if (!shapes.isDivergentBranch(a))
      continue;
    const llvm::BasicBlock *stop = shapes.meetingPoint(a);
    bool leads = false, others = false;
    for (const llvm::BasicBlock *s : llvm::successors(a)) {
      auto region = reachable(s, stop);
      if (region.contains(block)) {
        leads = true;
        continue;
      }
      for (const llvm::BasicBlock *b : region)
        others |= llvm::any_of(*b, waitsForOthers);
    }
    if (leads && others)
      return false;
  }
  return true;
}

/// Whether lanes of each group that are not in block `at` are all elsewhere, or wait for nobody
/// there (Behind::collectives).
bool areTogetherOrGone(const std::optional<Groups> &groups, const llvm::BasicBlock *at,
                       const ShapeAnalysis &shapes) {
  return llvm::none_of(shapes.order(), [&](const llvm::BasicBlock *a) {
    return mayWaitElsewhere(a, at, shapes, Behind::collectives) &&
           !(groups && groups->goTogether(a->getTerminator()->getOperand(0), shapes));
  });
}

/// What a function looks like to tiles of a warp: as gangs of so many lanes, of which all find the
/// same where they ask the tile.
class Tiles {
 public:
  Tiles(const llvm::Function &f, const ShapeAnalysis &shapes)
      : function_(f), block_(shapes.block()) {}

  /// Whether the lanes of each tile are together there, or those elsewhere gone; no tiles: not.
  bool areTogetherOrGone(const Groups &tiles, const llvm::BasicBlock *at) {
    const unsigned lanes = tiles.masks.empty() ? 32 : 32 / unsigned(tiles.masks.size());
    for (unsigned k = 0; k < tiles.masks.size(); ++k)
      if (tiles.masks[k] != llvm::maskTrailingOnes<uint32_t>(lanes) << k * lanes)
        return false;
    if (lanes == 32)
      return false;
    std::unique_ptr<ShapeAnalysis> &shapes = shapes_[lanes];
    if (!shapes)
      shapes = std::make_unique<ShapeAnalysis>(const_cast<llvm::Function &>(function_),
                                               GangShape{lanes, block_}, false);
    return !shapes->isInDivergentRegion(at) || simt::areTogetherOrGone(std::nullopt, at, *shapes);
  }

 private:
  const llvm::Function &function_;
  const std::array<uint32_t, 3> block_;
  std::map<unsigned, std::unique_ptr<ShapeAnalysis>> shapes_; ///< by lanes
};

} // namespace

bool holdsForOneLane(const llvm::Value *condition, bool isTrue, const ShapeAnalysis &shapes) {
  if (auto *i = llvm::dyn_cast<llvm::BinaryOperator>(condition)) {
    auto *one = llvm::dyn_cast<llvm::ConstantInt>(i->getOperand(1));
    if (i->getOpcode() == llvm::Instruction::Xor && one && one->isOne())
      return holdsForOneLane(i->getOperand(0), !isTrue, shapes);
    if (i->getOpcode() == (isTrue ? llvm::Instruction::And : llvm::Instruction::Or))
      return holdsForOneLane(i->getOperand(0), isTrue, shapes) ||
             holdsForOneLane(i->getOperand(1), isTrue, shapes);
    return false;
  }
  if (auto *part = llvm::dyn_cast<llvm::ExtractValueInst>(condition)) {
    auto *call = llvm::dyn_cast<llvm::CallBase>(part->getAggregateOperand());
    return isTrue && call && wordAt(*call).op == Op::elect &&
           shapes.isUniform(call->getArgOperand(0));
  }
  auto *compare = llvm::dyn_cast<llvm::ICmpInst>(condition);
  if (!compare ||
      compare->getPredicate() != (isTrue ? llvm::CmpInst::ICMP_EQ : llvm::CmpInst::ICMP_NE))
    return false;
  const auto areAllDifferent = [](const Shape &shape) {
    return shape.hasOffsets() &&
           std::set<int64_t>(shape.offsets->begin(), shape.offsets->end()).size() ==
               shape.offsets->size();
  };
  const Shape a = shapes.shape(compare->getOperand(0)), b = shapes.shape(compare->getOperand(1));
  return (areAllDifferent(a) && b.isUniform()) || (a.isUniform() && areAllDifferent(b));
}

namespace {

std::string at(const llvm::Instruction &i) {
  return i.getDebugLoc() ? " at PTX line " + std::to_string(i.getDebugLoc().getLine())
                         : std::string();
}

/// Which lanes are elsewhere while one waits, and what they may do there before all lanes have to
/// meet.
class Elsewhere {
 public:
  Elsewhere(const llvm::Function &f, const ShapeAnalysis &shapes, const Waits &waits)
      : shapes_(shapes), waits_(waits), lookBack_(f, shapes, waits) {}

  /// A write by which lanes that are not in `block` (nor, where one is given, in the loop) may end
  /// a wait; null if there is none.
  const llvm::Instruction *wakingWrite(const llvm::BasicBlock *block, const llvm::Loop *loop) {
    if (loop && shapes_.isDivergentLoop(loop) && !isForOneLane(block)) {
      llvm::SmallVector<llvm::BasicBlock *> exits;
      loop->getUniqueExitBlocks(exits);
      for (const llvm::BasicBlock *e : exits)
        if (const llvm::Instruction *write = firstWrite(e, block))
          return write;
    }
    for (const llvm::BasicBlock *a : shapes_.order()) {
      // Where there is one lane only, nobody goes the other way.
      if (!shapes_.isDivergentBranch(a) || (loop && loop->contains(a)) || isForOneLane(a))
        continue;
      const llvm::BasicBlock *stop = shapes_.meetingPoint(a);
      llvm::SmallVector<const llvm::BasicBlock *, 2> others;
      bool leads = false;
      for (const llvm::BasicBlock *s : llvm::successors(a)) {
        if (reachable(s, stop).contains(block))
          leads = true;
        else
          others.push_back(s);
      }
      for (const llvm::BasicBlock *s : others)
        if (const llvm::Instruction *write = leads ? firstWrite(s, a) : nullptr)
          return write;
    }
    return nullptr;
  }

 private:
  /// All lanes but one are kept away from the block: by `tid == 0`, or an election.
  bool isForOneLane(const llvm::BasicBlock *block) const {
    for (const llvm::BasicBlock *a : shapes_.order()) {
      auto *branch = llvm::dyn_cast<llvm::BranchInst>(a->getTerminator());
      if (!branch || !branch->isConditional() || !shapes_.dominators().dominates(a, block))
        continue;
      for (unsigned k = 0; k < 2; ++k)
        if (holdsForOneLane(branch->getCondition(), k == 0, shapes_) &&
            shapes_.dominators().dominates(llvm::BasicBlockEdge(a, branch->getSuccessor(k)), block))
          return true;
    }
    return false;
  }

  /// The first write behind `start` that may end a wait and that no barrier of all lanes keeps
  /// away. Branches that are decided by conditions which hold at `from` are taken one way only (`if
  /// (warp == 0) ...; if (warp == 1) ...`).
  const llvm::Instruction *firstWrite(const llvm::BasicBlock *start, const llvm::BasicBlock *from) {
    llvm::SmallVector<const llvm::BasicBlock *> stack{start};
    BlockSet seen;
    while (!stack.empty()) {
      const llvm::BasicBlock *b = stack.pop_back_val();
      if (!seen.insert(b).second)
        continue;
      bool isCut = false;
      for (const llvm::Instruction &i : *b) {
        if ((isCut = needsAllLanes(i)))
          break;
        if (waits_.mayEndWait(i) && !lookBack_.endsOnlyLookBack(i) && !isApart(i, *from))
          return &i;
      }
      if (isCut)
        continue;
      auto *branch = llvm::dyn_cast<llvm::BranchInst>(b->getTerminator());
      if (branch && branch->isConditional())
        if (auto way = knownWay(branch->getCondition(), from)) {
          stack.push_back(branch->getSuccessor(*way ? 0 : 1));
          continue;
        }
      stack.append(llvm::succ_begin(b), llvm::succ_end(b));
    }
    return nullptr;
  }

  /// What the condition is for lanes that came through `from`, where branches before it tell and
  /// are not in loops.
  std::optional<bool> knownWay(const llvm::Value *condition, const llvm::BasicBlock *from) const {
    const llvm::DataLayout &layout = from->getModule()->getDataLayout();
    auto *instruction = llvm::dyn_cast<llvm::Instruction>(condition);
    if (instruction && shapes_.loops().getLoopFor(instruction->getParent()))
      return std::nullopt;
    for (auto *node = shapes_.dominators().getNode(from); node && node->getIDom();
         node = node->getIDom()) {
      const llvm::BasicBlock *d = node->getIDom()->getBlock();
      auto *branch = llvm::dyn_cast<llvm::BranchInst>(d->getTerminator());
      if (!branch || !branch->isConditional() || shapes_.loops().getLoopFor(d))
        continue;
      for (unsigned k = 0; k < 2; ++k)
        if (shapes_.dominators().dominates(llvm::BasicBlockEdge(d, branch->getSuccessor(k)), from))
          if (auto way =
                  llvm::isImpliedCondition(branch->getCondition(), condition, layout, k == 0))
            return way;
    }
    return std::nullopt;
  }

  static bool needsAllLanes(const llvm::Instruction &i) {
    const Word word = wordAt(i);
    if (word.kind == Word::Kind::barrier)
      return true;
    auto *call = llvm::dyn_cast<llvm::CallBase>(&i);
    if (!word.isCollective() || call->arg_size() == 0)
      return false;
    auto *members = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(call->arg_size() - 1));
    return members && members->isMinusOne();
  }

  const ShapeAnalysis &shapes_;
  const Waits &waits_;
  const LookBack lookBack_;
};

/// Whether a lane comes from `first`, which tries to take a lock, to `block` only where it did not
/// get it.
bool isMissedBefore(const llvm::Instruction &first, const llvm::BasicBlock *block,
                    const llvm::DominatorTree &dominators) {
  auto *cas = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&first);
  for (auto *node = dominators.getNode(block); cas && node->getIDom(); node = node->getIDom()) {
    const llvm::BasicBlock *d = node->getIDom()->getBlock();
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(d->getTerminator());
    if (!dominators.dominates(first.getParent(), d))
      return false;
    if (!branch || !branch->isConditional())
      continue;
    const auto taken = whereItSucceeds(branch->getCondition(), *cas);
    if (taken &&
        dominators.dominates(llvm::BasicBlockEdge(d, branch->getSuccessor(*taken ? 1 : 0)), block))
      return true;
  }
  return false;
}

/// A lock that a round of the loop tries to take where it has just taken another one; null if there
/// is none.
const llvm::Instruction *secondLock(const Polled &polled, const ShapeAnalysis &shapes) {
  const auto isTaking = [](const llvm::Instruction *i) {
    return i && llvm::isa<llvm::AtomicCmpXchgInst, llvm::AtomicRMWInst>(i);
  };
  for (const llvm::Instruction *second : polled.reads)
    if (isTaking(second) && shapes.isInDivergentRegion(second->getParent()))
      for (const llvm::Instruction *first : polled.reads)
        if (isTaking(first) &&
            shapes.dominators().properlyDominates(first->getParent(), second->getParent()) &&
            !isMissedBefore(*first, second->getParent(), shapes.dominators()))
          return second;
  return nullptr;
}

/// Masks that linearised control carries from block to block, summed over all blocks: each target
/// in a divergent region waits for its turn from the first branch to it on. Code, and the time to
/// make it, grow with this sum, which is a small multiple of the blocks but where very many ways
/// are open at once.
uint64_t openWays(const llvm::Function &f, const ShapeAnalysis &shapes) {
  uint64_t sum = 0;
  for (const llvm::BasicBlock &b : f) {
    if (!shapes.isInDivergentRegion(&b))
      continue;
    unsigned first = shapes.index(&b);
    for (const llvm::BasicBlock *p : llvm::predecessors(&b))
      first = std::min(first, shapes.index(p));
    sum += shapes.index(&b) - first;
  }
  return sum;
}

} // namespace

Findings examine(const llvm::Function &f, const ShapeAnalysis &shapes, const Waits &waits,
                 bool isKernel) {
  Findings r;
  Elsewhere elsewhere(f, shapes, waits);
  Tiles tiles(f, shapes);
  const auto areMembersTogether = [&](const llvm::Value *members, const llvm::BasicBlock *b) {
    const std::optional<Groups> groups = groupsOf(members, shapes);
    return areTogetherOrGone(groups, b, shapes) ||
           (groups && isKernel && tiles.areTogetherOrGone(*groups, b));
  };
  auto needThreads = [&](std::string why, const llvm::Instruction &where) {
    if (r.needsThreads.empty())
      r.needsThreads = std::move(why) + at(where);
  };
  for (const llvm::Loop *l : const_cast<llvm::LoopInfo &>(shapes.loops()).getLoopsInPreorder()) {
    const Polled polled = waits.polledBy(*l);
    r.spins |= polled.isAny() || (isKernel && waits.waitsForTime(*l));
    if (!polled.isAny() || !r.needsThreads.empty())
      continue;
    if (!isKernel)
      needThreads("a function that is not inlined waits for others", *polled.first);
    else if (elsewhere.wakingWrite(l->getHeader(), l))
      needThreads(polled.mbarriers ? "lanes of a warp may wait at an mbarrier for each other"
                                   : "lanes of a warp may wait for each other",
                  *polled.first);
    else if (const llvm::Instruction *second = secondLock(polled, shapes))
      needThreads("lanes of a warp may keep each other from taking two locks", *second);
  }
  if (const uint64_t open = openWays(f, shapes);
      open > kLimits.control.openWays && open > kLimits.control.openWaysPerBlock * f.size())
    needThreads("more ways are open at once than lockstep is worth", f.getEntryBlock().front());
  if (waits.pollsByRecursion(f)) {
    r.spins = true;
    needThreads("a function that calls itself may wait for others", f.getEntryBlock().front());
  }
  for (const llvm::BasicBlock &b : f) {
    if (llvm::isa<llvm::ReturnInst>(b.getTerminator()))
      for (const llvm::BasicBlock *p : llvm::predecessors(&b))
        r.mayExitEarly |= shapes.isInDivergentRegion(p) || shapes.isDivergentBranch(p);
    for (const llvm::Instruction &i : b) {
      const Word w = wordAt(i);
      auto *alloca = llvm::dyn_cast<llvm::AllocaInst>(&i);
      if (alloca &&
          (!llvm::isa<llvm::ConstantInt>(alloca->getArraySize()) || &b != &f.getEntryBlock()))
        needThreads("each thread takes stack of its own size", i);
      auto *call = llvm::dyn_cast<llvm::CallBase>(&i);
      r.hasCollectives |= w.isCollective();
      r.hasBarriers |= w.kind == Word::Kind::barrier || isOfCluster(w.op);
      const llvm::Value *members = w.isCollective() && call->arg_size()
                                       ? call->getArgOperand(call->arg_size() - 1)
                                       : nullptr;
      r.hasVaryingMembers |= members && !shapes.isUniform(members);
      if (!r.needsThreads.empty() || !shapes.isInDivergentRegion(&b))
        continue;
      if (members) {
        // Operations of a warp are .aligned: all its lanes come here, and lockstep waits for them.
        const bool isAligned = w.op == Op::warpOperation || w.op == Op::warpWgmma;
        if (!isAligned && !namesActiveLanes(members, &b, shapes) &&
            (!areMembersTogether(members, &b) || elsewhere.wakingWrite(&b, nullptr)))
          needThreads("a warp collective under divergent control names lanes that may be elsewhere",
                      i);
      } else if (w.kind == Word::Kind::barrier) {
        r.mayExitEarly |= !othersAreGone(&b, shapes, Behind::end);
        if (!othersAreGone(&b, shapes, Behind::noWaits) || elsewhere.wakingWrite(&b, nullptr))
          needThreads("a barrier under divergent control", i);
      } else if (w.kind == Word::Kind::runtimeWait && !call->getType()->isIntegerTy(1)) {
        if (!othersAreIdle(&b, shapes) || elsewhere.wakingWrite(&b, nullptr))
          needThreads("lanes of a warp may wait at a barrier of the cluster for each other", i);
      }
    }
  }
  return r;
}

llvm::SmallVector<llvm::BasicBlock *> partingAroundBarriers(const ShapeAnalysis &shapes) {
  llvm::SmallVector<llvm::BasicBlock *> found;
  llvm::SmallVector<const llvm::BasicBlock *> waiting;
  for (const llvm::BasicBlock *b : shapes.order())
    if (shapes.isInDivergentRegion(b) && hasBarrier(*b))
      waiting.push_back(b);
  for (llvm::BasicBlock *a : shapes.order())
    if (llvm::any_of(waiting, [&](const llvm::BasicBlock *b) {
          return mayWaitElsewhere(a, b, shapes, Behind::noWaits);
        }))
      found.push_back(a);
  return found;
}

std::vector<llvm::Function *> bodies(llvm::Module &m) {
  std::vector<llvm::Function *> list;
  for (llvm::Function &f : m)
    if (!f.isDeclaration())
      list.push_back(&f);
  return list;
}

Findings examineAll(llvm::Module &m, const llvm::Function *kernel, const GangShape &gang) {
  Findings all;
  const Waits waits(m);
  for (llvm::Function *f : bodies(m)) {
    ShapeAnalysis shapes(*f, gang, f != kernel);
    Findings one = examine(*f, shapes, waits, f == kernel);
    all.hasCollectives |= one.hasCollectives;
    all.hasVaryingMembers |= one.hasVaryingMembers;
    all.hasBarriers |= one.hasBarriers;
    all.mayExitEarly |= one.mayExitEarly;
    all.spins |= one.spins;
    if (f != kernel && (one.hasCollectives || one.hasBarriers) && one.needsThreads.empty())
      one.needsThreads = "a function that is not inlined synchronises";
    if (all.needsThreads.empty())
      all.needsThreads = one.needsThreads;
  }
  return all;
}

} // namespace ptxrun::simt
