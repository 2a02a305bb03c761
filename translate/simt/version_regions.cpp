#include "translate/simt/version_regions.h"

#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "translate/simt/cost.h"
#include "translate/simt/prepare.h"
#include "translate/simt/versions.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

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
  r.meet = const_cast<BasicBlock *>(end);
  if (end && shapes.dominators().dominates(start, end))
    r.end = r.meet;
  return r;
}

unsigned sizeOf(const Region &region, const Instruction *from) {
  unsigned size = 0;
  for (const BasicBlock *b : region.blocks)
    if (b == from->getParent())
      size += unsigned(std::distance(from->getIterator(), b->end()));
    else
      size += unsigned(b->sizeWithoutDebug());
  return size;
}

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
static bool mayMeetOtherGangs(const Instruction &i) {
  using K = Word::Kind;
  const K kind = wordAt(i).kind;
  if (kind == K::none)
    return llvm::isa<llvm::CallBase>(i) && !llvm::isa<llvm::IntrinsicInst>(i);
  return kind == K::barrier || kind == K::runtimeWait || kind == K::schedule || kind == K::exit;
}

bool mayMeetOtherGangs(const BasicBlock &block) {
  return llvm::any_of(block, [](const Instruction &i) { return mayMeetOtherGangs(i); });
}

bool mayMeetOtherGangs(const Region &region) {
  return llvm::any_of(region.blocks, [](const BasicBlock *b) { return mayMeetOtherGangs(*b); });
}

llvm::SmallVector<BasicBlock *> setApart(Instruction &at, const Region &region, BasicBlock *end) {
  BasicBlock *before = at.getParent(), *rest = llvm::SplitBlock(before, &at);
  llvm::SmallVector<BasicBlock *> blocks(region.blocks);
  *llvm::find(blocks, before) = rest;
  std::swap(blocks[0], *llvm::find(blocks, rest));
  if (end) {
    llvm::SmallVector<BasicBlock *> ends;
    for (BasicBlock *p : llvm::predecessors(end))
      if (llvm::is_contained(blocks, p) && !llvm::is_contained(ends, p))
        ends.push_back(p);
    blocks.push_back(llvm::SplitBlockPredecessors(end, ends, ".same"));
  }
  return blocks;
}

void copyRegion(llvm::ArrayRef<BasicBlock *> blocks, BasicBlock *end,
                llvm::ValueToValueMapTy &map) {
  copyBlocks(blocks, map);
  if (!end)
    return;
  BasicBlock *last = blocks.back(), *lastCopy = llvm::cast<BasicBlock>(&*map[last]);
  for (BasicBlock *b : blocks)
    for (Instruction &i : *b) {
      llvm::SmallVector<llvm::Use *> outside;
      for (llvm::Use &u : i.uses()) {
        auto *user = llvm::cast<Instruction>(u.getUser());
        const BasicBlock *at = user->getParent();
        if (auto *phi = llvm::dyn_cast<llvm::PHINode>(user))
          at = phi->getIncomingBlock(u);
        if (at != lastCopy && !llvm::is_contained(blocks, at))
          outside.push_back(&u);
      }
      if (outside.empty())
        continue;
      llvm::PHINode *phi = llvm::PHINode::Create(i.getType(), 2, "", end->begin());
      phi->addIncoming(&i, last);
      phi->addIncoming(map[&i], lastCopy);
      for (llvm::Use *u : outside)
        u->set(phi);
    }
}

Fork fork(Instruction &at, const Region &region, llvm::ValueToValueMapTy &map,
          llvm::function_ref<Value *(llvm::IRBuilder<> &)> test) {
  BasicBlock *before = at.getParent();
  const llvm::DebugLoc line = at.getDebugLoc();
  Fork f;
  f.rest = setApart(at, region, region.end);
  copyRegion(f.rest, region.end, map);
  for (BasicBlock *b : f.rest)
    f.special.push_back(llvm::cast<BasicBlock>(&*map[b]));
  llvm::IRBuilder<> b(before->getTerminator());
  b.SetCurrentDebugLocation(line);
  Value *holds = test(b);
  before->getTerminator()->eraseFromParent();
  f.choice = llvm::BranchInst::Create(f.special[0], f.rest[0], holds, before);
  expectFirst(f.choice, line);
  return f;
}

bool mayWrap(const ShapeAnalysis &shapes, const Instruction &i) {
  return llvm::isa<llvm::SExtInst, llvm::ZExtInst>(i) && shapes.shape(&i).isConditional &&
         !shapes.shape(i.getOperand(0)).isConditional;
}

bool neverHoldsForAll(const ShapeAnalysis &shapes, const Value *condition, bool isNegated) {
  using namespace llvm::PatternMatch;
  const Value *x, *y;
  if (match(condition, m_Not(m_Value(x))))
    return neverHoldsForAll(shapes, x, !isNegated);
  if (isNegated ? match(condition, m_LogicalOr(m_Value(x), m_Value(y)))
                : match(condition, m_LogicalAnd(m_Value(x), m_Value(y))))
    return neverHoldsForAll(shapes, x, isNegated) || neverHoldsForAll(shapes, y, isNegated);
  auto *compare = llvm::dyn_cast<llvm::ICmpInst>(condition);
  if (!compare)
    return false;
  Shape a = shapes.shape(compare->getOperand(0)), b = shapes.shape(compare->getOperand(1));
  auto predicate = isNegated ? compare->getInversePredicate() : compare->getPredicate();
  if (predicate == llvm::CmpInst::ICMP_ULT) {
    std::swap(a, b);
    predicate = llvm::CmpInst::ICMP_UGT;
  }
  if (predicate == llvm::CmpInst::ICMP_UGT)
    return a.hasOffsets() && !a.isConditional && a.alignment >= kMaxAlignment && a.offsets &&
           llvm::is_contained(*a.offsets, 0);
  return predicate == llvm::CmpInst::ICMP_EQ &&
         ((a.hasOffsets() && b.isUniform()) || (a.isUniform() && b.hasOffsets()));
}

void assumeNoWraps(llvm::BranchInst &choice, llvm::ArrayRef<BasicBlock *> blocks,
                   const GangShape &gang) {
  const ShapeAnalysis shapes(*choice.getFunction(), gang, false);
  llvm::IRBuilder<> b(&choice);
  llvm::DenseSet<Value *> tested[2];
  for (BasicBlock *block : blocks)
    for (Instruction &i : *block) {
      Value *index = mayWrap(shapes, i)
                         ? computedBefore(i.getOperand(0), &choice, shapes.dominators())
                         : nullptr;
      if (!index)
        continue;
      const bool isSigned = llvm::isa<llvm::SExtInst>(i);
      if (tested[isSigned].insert(index).second)
        choice.setCondition(b.CreateAnd(
            choice.getCondition(), callWord(b, isSigned ? Op::nowrapSigned : Op::nowrapUnsigned,
                                            b.getInt1Ty(), b.CreateFreeze(index))));
      i.setMetadata(kExact, llvm::MDNode::get(choice.getContext(), {}));
    }
}

} // namespace ptxrun::simt
