// Versions of code for gangs whose lanes hold the same value.
//
//   v = (n - i) / step  =>  br ptx.same(v), [v = ptx.first(v); what depends on it], rest
//
// Compilers count the rounds of `for (i = lane; i < n; i += 32)` before the loop, run what is left
// over of a multiple of four first, and then four rounds at a time. Lanes that may count
// differently may come to the second loop at different i: nothing there would lie in a row any
// more. And of an index that is taken apart, `i / columns` and `i % columns`, lanes of one row
// agree on the first, and the second lies in a row for them.
//
// Only what lies between the value and the point behind everything that depends on it is copied.
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "translate/simt/cost.h"
#include "translate/simt/prepare.h"
#include "translate/simt/versions.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

/// Metadata: a version was added for this value, or would not help.
constexpr const char *kTried = "ptx.same.tried";

/// Gives neighbouring arguments mostly the same result.
bool isCoarse(const Instruction &i) {
  switch (i.getOpcode()) {
  case Instruction::UDiv:
  case Instruction::SDiv:
  case Instruction::LShr:
  case Instruction::AShr:
  case Instruction::FPToUI:
  case Instruction::FPToSI:
    return true;
  default:
    return false;
  }
}

/// `i`, or what is chosen between it and something else for all lanes alike (a quotient, or what
/// division by zero gives).
Instruction &asChosen(const ShapeAnalysis &shapes, Instruction &i) {
  Instruction *v = &i;
  while (v->hasOneUse()) {
    auto *select = llvm::dyn_cast<llvm::SelectInst>(*v->user_begin());
    if (!select || select->getParent() != v->getParent() ||
        !shapes.isUniform(select->getCondition()))
      break;
    v = select;
  }
  return *v;
}

/// Computed by arithmetic alone from values of which all are known across the lanes.
bool isComputedFromKnown(const ShapeAnalysis &shapes, const Instruction &of) {
  llvm::SmallVector<const Instruction *> stack{&of};
  llvm::DenseSet<const Instruction *> seen;
  while (!stack.empty()) {
    const Instruction *i = stack.pop_back_val();
    if (!seen.insert(i).second)
      continue;
    const bool isPure = i->isBinaryOp() || i->isUnaryOp() || i->isCast() ||
                        llvm::isa<llvm::CmpInst, llvm::SelectInst, llvm::IntrinsicInst>(i);
    if (!isPure || i->mayReadOrWriteMemory() || seen.size() > kLimits.search.operands)
      return false;
    for (const Value *op : i->operands())
      if (auto *o = llvm::dyn_cast<Instruction>(op); o && shapes.shape(o).isVarying())
        stack.push_back(o);
  }
  return true;
}

/// Blocks whose branch or whose accesses to memory depend on `v`.
llvm::DenseSet<const BasicBlock *> dependents(const ShapeAnalysis &shapes, const Value &v) {
  llvm::DenseSet<const BasicBlock *> blocks;
  llvm::SmallVector<const Value *> stack{&v};
  llvm::DenseSet<const Value *> seen;
  while (!stack.empty()) {
    const Value *value = stack.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (const llvm::User *u : value->users()) {
      auto *i = llvm::cast<Instruction>(u);
      if (llvm::getLoadStorePointerOperand(i) == value ||
          (i->isTerminator() && shapes.isDivergentBranch(i->getParent()))) {
        blocks.insert(i->getParent());
        if (i->isTerminator()) // lanes that part here bring different values to where they meet
          if (const BasicBlock *meet = shapes.meetingPoint(i->getParent()))
            for (const llvm::PHINode &phi : meet->phis())
              if (!phi.getType()->isFloatingPointTy())
                stack.push_back(&phi);
      }
      if (shapes.shape(i).isVarying() && !i->mayReadOrWriteMemory() &&
          !i->getType()->isFloatingPointTy())
        stack.push_back(i);
    }
  }
  return blocks;
}

struct Region {
  BasicBlock *end = nullptr; // where all ways meet, if nobody comes there but from the blocks
  llvm::SmallVector<BasicBlock *> blocks;
};

/// What runs between `start` and the first meeting point behind all `wanted` blocks; no blocks
/// where there is no such part of the code.
Region regionFrom(const ShapeAnalysis &shapes, BasicBlock *start,
                  const llvm::DenseSet<const BasicBlock *> &wanted) {
  Region r;
  const BasicBlock *end = start;
  BlockSet inside;
  auto comesFromInside = [&](const BasicBlock *b) {
    return llvm::all_of(llvm::predecessors(b),
                        [&](const BasicBlock *p) { return inside.contains(p); });
  };
  // A loop that begins where the ways meet is part of it, and one that they meet in is with all of
  // its rounds.
  auto isEnd = [&] {
    return llvm::all_of(wanted, [&](const BasicBlock *b) { return inside.contains(b); }) &&
           llvm::all_of(inside,
                        [&](const BasicBlock *b) { return b == start || comesFromInside(b); }) &&
           (!shapes.dominators().dominates(start, end) || comesFromInside(end));
  };
  do {
    end = shapes.meetingPoint(end);
    inside = reachable(start, end);
  } while (end && !isEnd());
  for (BasicBlock *b : shapes.order())
    if (inside.contains(b)) {
      if (!shapes.dominators().dominates(start, b))
        return {};
      r.blocks.push_back(b);
    }
  if (end && shapes.dominators().dominates(start, end))
    r.end = const_cast<BasicBlock *>(end);
  return r;
}

/// What accesses to memory are worth in these blocks: those in a row or uniform, more so without
/// masks.
uint64_t worth(const ShapeAnalysis &shapes, llvm::ArrayRef<BasicBlock *> blocks) {
  uint64_t n = 0;
  for (BasicBlock *b : blocks) {
    const unsigned depth = std::min(shapes.loops().getLoopDepth(b), kLimits.versions.deepestLoop);
    for (Instruction &i : *b)
      if (const Value *p = llvm::getLoadStorePointerOperand(&i))
        if (const Shape s = shapes.shape(p); !s.isVarying())
          n += uint64_t(shapes.isInDivergentRegion(b) ? 1 : 2) * (llvm::isa<llvm::LoadInst>(i)
                                                                      ? kLimits.versions.perLoad
                                                                      : kLimits.versions.perStore)
               << (kLimits.versions.roundsLog2 * depth);
  }
  return n;
}

/// A call in which gangs may wait for each other.
bool mayMeetOtherGangs(const Instruction &i) {
  using K = Word::Kind;
  const K kind = wordAt(i).kind;
  if (kind == K::none)
    return llvm::isa<llvm::CallBase>(i) && !llvm::isa<llvm::IntrinsicInst>(i);
  return kind == K::barrier || kind == K::runtimeWait || kind == K::schedule || kind == K::exit;
}

/// The innermost choice whose special version `block` belongs to.
llvm::BranchInst *choiceBefore(const ShapeAnalysis &shapes, BasicBlock *block) {
  for (auto *node = shapes.dominators().getNode(block); node; node = node->getIDom())
    if (BasicBlock *before = node->getBlock()->getSinglePredecessor())
      if (auto *branch = llvm::dyn_cast<llvm::BranchInst>(before->getTerminator());
          branch && branch->hasMetadata(kVersion))
        return branch->getSuccessor(0) == node->getBlock() ? branch : nullptr;
  return nullptr;
}

/// `v` before `at`: itself or a copy; null where it needs what is not known there.
Value *computedBefore(const ShapeAnalysis &shapes, Value *v, Instruction *at,
                      llvm::DenseMap<Value *, Value *> &known) {
  auto *i = llvm::dyn_cast<Instruction>(v);
  if (!i || shapes.dominators().dominates(i, at))
    return v;
  if (auto it = known.find(v); it != known.end())
    return it->second;
  if (llvm::isa<llvm::PHINode>(i) || i->mayReadOrWriteMemory() ||
      !llvm::isSafeToSpeculativelyExecute(i))
    return nullptr;
  llvm::SmallVector<Value *> operands;
  for (Value *op : i->operands()) {
    operands.push_back(llvm::isa<llvm::Function>(op) ? op : computedBefore(shapes, op, at, known));
    if (!operands.back())
      return nullptr;
  }
  Instruction *copy = i->clone();
  copy->insertBefore(at);
  copy->dropPoisonGeneratingFlags(); // they may hold only behind the choice
  for (unsigned n = 0; n < operands.size(); ++n)
    copy->setOperand(n, operands[n]);
  return known[v] = copy;
}

/// Lets the special version that `v` is in be the one for gangs whose lanes hold the same in it.
bool joinChoice(const ShapeAnalysis &shapes, Instruction &v) {
  llvm::BranchInst *choice = choiceBefore(shapes, v.getParent());
  if (!choice)
    return false;
  llvm::DenseMap<Value *, Value *> known;
  Value *early = computedBefore(shapes, &v, choice, known);
  if (!early)
    return false;
  llvm::IRBuilder<> b(choice);
  // Where the rest of the choice's test fails, it may be anything.
  Value *same = callWord(b, Op::same, b.getInt1Ty(), b.CreateFreeze(early));
  choice->setCondition(b.CreateAnd(choice->getCondition(), same));
  b.SetInsertPoint(&*std::next(v.getIterator()));
  b.SetCurrentDebugLocation(v.getDebugLoc());
  Value *first = callWord(b, Op::first, v.getType(), &v);
  v.replaceUsesWithIf(first, [&](const llvm::Use &u) { return u.getUser() != first; });
  return true;
}

void addVersion(Instruction &v, const Region &region, llvm::DenseSet<const BasicBlock *> &general) {
  BasicBlock *before = v.getParent();
  // before: ...; v; br same(v), first, rest     rest: what followed     first: copy of it
  BasicBlock *rest = llvm::SplitBlock(before, std::next(v.getIterator()));
  llvm::SmallVector<BasicBlock *> blocks(region.blocks);
  *llvm::find(blocks, before) = rest;
  if (region.end) {
    llvm::SmallVector<BasicBlock *> ends;
    for (BasicBlock *p : llvm::predecessors(region.end))
      if (!llvm::is_contained(ends, p))
        ends.push_back(p);
    blocks.push_back(llvm::SplitBlockPredecessors(region.end, ends, ".same"));
  }
  llvm::ValueToValueMapTy map;
  copyBlocks(blocks, map);
  auto mapped = [&](BasicBlock *b) { return llvm::cast<BasicBlock>(&*map[b]); };
  // What is used behind the region comes from either version.
  if (region.end) {
    BasicBlock *last = blocks.back();
    for (BasicBlock *b : blocks)
      for (Instruction &i : *b) {
        llvm::SmallVector<llvm::Use *> outside;
        for (llvm::Use &u : i.uses()) {
          auto *user = llvm::cast<Instruction>(u.getUser());
          const BasicBlock *at = user->getParent();
          if (auto *phi = llvm::dyn_cast<llvm::PHINode>(user))
            at = phi->getIncomingBlock(u);
          if (at != mapped(last) && !llvm::is_contained(blocks, at))
            outside.push_back(&u);
        }
        if (outside.empty())
          continue;
        llvm::PHINode *phi = llvm::PHINode::Create(i.getType(), 2, "", region.end->begin());
        phi->addIncoming(&i, last);
        phi->addIncoming(map[&i], mapped(last));
        for (llvm::Use *u : outside)
          u->set(phi);
      }
  }
  llvm::IRBuilder<> b(before->getTerminator());
  Value *same = callWord(b, Op::same, b.getInt1Ty(), &v);
  const llvm::DebugLoc line = v.getDebugLoc();
  before->getTerminator()->eraseFromParent();
  expectFirst(llvm::BranchInst::Create(mapped(rest), rest, same, before), line);
  b.SetInsertPoint(&*mapped(rest)->getFirstInsertionPt());
  b.SetCurrentDebugLocation(line);
  Value *first = callWord(b, Op::first, v.getType(), &v);
  for (BasicBlock *block : blocks)
    for (Instruction &i : *mapped(block))
      if (&i != first)
        i.replaceUsesOfWith(&v, first);
  general.insert(blocks.begin(), blocks.end());
}

} // namespace

bool addVersionForSameValue(const ShapeAnalysis &shapes, llvm::Function &f, const GangShape &gang,
                            unsigned &copied, llvm::DenseSet<const BasicBlock *> &general) {
  for (BasicBlock *block : shapes.order()) {
    if (shapes.isInDivergentRegion(block) || general.contains(block))
      continue;
    for (Instruction &coarse : *block) {
      if (!isCoarse(coarse) || !coarse.getType()->isIntegerTy() ||
          !shapes.shape(&coarse).isVarying())
        continue;
      Instruction &i = asChosen(shapes, coarse);
      if (i.hasMetadata(kTried) || !isComputedFromKnown(shapes, i))
        continue;
      i.setMetadata(kTried, llvm::MDNode::get(f.getContext(), {}));
      const llvm::DenseSet<const BasicBlock *> wanted = dependents(shapes, i);
      const Region region = wanted.empty() ? Region{} : regionFrom(shapes, block, wanted);
      unsigned size = 0;
      bool meetsOthers = false;
      for (BasicBlock *b : region.blocks) {
        size += unsigned(b->sizeWithoutDebug());
        meetsOthers |= llvm::any_of(*b, mayMeetOtherGangs);
      }
      if (region.blocks.empty() || meetsOthers || copied + size > kLimits.versions.copied)
        continue;
      const ShapeAnalysis agreed(f, gang, false, &i);
      if (worth(agreed, region.blocks) < worth(shapes, region.blocks) + size)
        continue;
      if (!joinChoice(shapes, i)) {
        copied += size;
        addVersion(i, region, general);
      }
      return true;
    }
  }
  return false;
}

} // namespace ptxrun::simt
