// Versions of code for gangs in which all lanes agree. A masked access to memory runs at half
// bandwidth even under a full mask, so the common case gets code without masks.
//
//   guard   br divergent c, T, F      =>  br ptx.all(c), T.all, rest;   rest: br c, T, F
//           T.all is a copy of everything T dominates. Where indices of T are known before it and
//           might wrap between lanes, all(c) is all(c) & ptx.nowrap(i), and T.all needs no tests of
//           its own.
//   loop    latch: br divergent c, header, exit   =>  a copy of the loop runs first:
//           latch.all: br ptx.all(c), header.all, rest;   rest: br c, header, exit
//           header: br divergent c, body, exit    =>  header.all: br ptx.all(c), body.all, header
//           (the header runs again: it must be pure)
//
//   index   p = base + sext(i) where i might wrap between lanes and a loop moves p on
//           =>  br ptx.nowrap(i), code with sext exact, copy with sext lane by lane
//
//   value   see same_values.cpp, clamped_indices.cpp
//   several guards in a row: see joint_guards.cpp
//
// ptx.all is uniform, so the copies keep the mask of the code before them. Only code that all lanes
// of a gang reach is copied, and only where it accesses memory that lies in a row for the lanes, or
// mostly does.
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "translate/lower/lane_module.h"
#include "translate/simt/cost.h"
#include "translate/simt/guesses.h"
#include "translate/simt/prepare.h"
#include "translate/simt/version_regions.h"
#include "translate/simt/versions.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {

void expectFirst(llvm::BranchInst *branch, const llvm::DebugLoc &line) {
  branch->setDebugLoc(line);
  branch->setMetadata(llvm::LLVMContext::MD_prof,
                      llvm::MDBuilder(branch->getContext()).createLikelyBranchWeights());
  branch->setMetadata(kVersion, llvm::MDNode::get(branch->getContext(), {}));
}

/// Puts the function's return into a block of its own, which is not copied: functions keep one.
static void setReturnApart(llvm::BasicBlock *b) {
  auto *end = llvm::dyn_cast<llvm::ReturnInst>(b->getTerminator());
  if (!end)
    return;
  llvm::BasicBlock *place = llvm::SplitBlock(b, end);
  place->setName("return");
  if (llvm::Value *result = end->getReturnValue()) {
    auto *phi = llvm::PHINode::Create(result->getType(), 2, "", place->begin());
    phi->addIncoming(result, b);
    end->setOperand(0, phi);
  }
}

void copyBlocks(llvm::ArrayRef<llvm::BasicBlock *> blocks, llvm::ValueToValueMapTy &map) {
  for (llvm::BasicBlock *b : blocks)
    setReturnApart(b);
  llvm::SmallVector<llvm::BasicBlock *> copies;
  for (llvm::BasicBlock *b : blocks) {
    llvm::BasicBlock *c = llvm::CloneBasicBlock(b, map, ".all", b->getParent());
    map[b] = c;
    copies.push_back(c);
  }
  for (llvm::BasicBlock *c : copies)
    for (llvm::Instruction &i : *c)
      llvm::RemapInstruction(&i, map, llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals);
  for (unsigned k = 0; k < blocks.size(); ++k)
    for (llvm::BasicBlock *s : llvm::successors(copies[k])) {
      if (llvm::is_contained(copies, s))
        continue;
      for (llvm::PHINode &phi : s->phis()) {
        if (phi.getBasicBlockIndex(copies[k]) >= 0)
          continue;
        llvm::Value *v = phi.getIncomingValueForBlock(blocks[k]);
        auto it = map.find(v);
        phi.addIncoming(it == map.end() ? v : static_cast<llvm::Value *>(it->second), copies[k]);
      }
    }
}

namespace {

class Versions {
 public:
  Versions(llvm::Function &f, const GangShape &gang, const PassRun &passes, unsigned perStore)
      : function_(f), gang_(gang), forGuards_(passes.isOn(Pass::jointGuards)),
        forSameValues_(passes.isOn(Pass::sameValues)),
        forClamped_(passes.isOn(Pass::clampedIndices)), perStore_(perStore) {}

  bool run() {
    bool changed = false;
    for (unsigned round = 0; round < kLimits.versions.rounds && addOne(); ++round) {
      changed = true;
      normaliseLoops(function_);
    }
    return changed;
  }

 private:
  using Blocks = llvm::SmallVector<llvm::BasicBlock *>;

  static bool mayBeRow(const ShapeAnalysis &shapes, const llvm::Value *p) {
    const Shape &s = shapes.shape(p);
    return s.hasOffsets() ||
           (s.isVarying() && mayBeNeighbours(linearAddress(p, shapes).index, shapes));
  }

  /// What a copy without masks saves: memory accesses that need no mask if all lanes are active,
  /// and atomics of shared memory that need no search for the lanes that are. Masked loads keep the
  /// hardware from fetching ahead, stores do not; those in loops count as often as a short loop
  /// makes them.
  uint64_t gain(const ShapeAnalysis &shapes, llvm::ArrayRef<llvm::BasicBlock *> blocks,
                unsigned &size) const {
    uint64_t n = 0;
    size = 0;
    for (llvm::BasicBlock *b : blocks) {
      size += unsigned(b->sizeWithoutDebug());
      const unsigned depth = std::min(shapes.loops().getLoopDepth(b), kLimits.versions.deepestLoop);
      for (llvm::Instruction &i : *b)
        if (const llvm::Value *p = llvm::getLoadStorePointerOperand(&i); p && mayBeRow(shapes, p))
          n += uint64_t(llvm::isa<llvm::LoadInst>(i) ? kLimits.versions.perLoad : perStore_)
               << (kLimits.versions.roundsLog2 * depth);
        else if (auto *rmw = llvm::dyn_cast<llvm::AtomicRMWInst>(&i);
                 rmw && rmw->getPointerAddressSpace() == lower::kShared && depth > 0)
          n += kLimits.versions.perStore;
    }
    return n;
  }

  bool affordable(llvm::ArrayRef<llvm::BasicBlock *> blocks, const ShapeAnalysis &shapes) {
    unsigned size;
    uint64_t saved = gain(shapes, blocks, size);
    if (saved < size) {
      // In the copy, lanes that agree on them load in a row: no mask, and no gather.
      llvm::SmallVector<llvm::Instruction *> values;
      if (forSameValues_)
        values.append(quotients(shapes, blocks));
      if (forClamped_)
        values.append(clampedIndices(shapes, blocks));
      if (!values.empty()) {
        const ShapeAnalysis agreed(function_, gang_, false, values);
        saved += 2 * (gain(agreed, blocks, size) - saved);
      }
    }
    if (saved < size || copied_ + size > kLimits.versions.copied)
      return false;
    copied_ += size;
    return true;
  }

  /// A conditional index whose offsets would be lost at a phi (a pointer that a loop moves on).
  static bool feedsPhi(const ShapeAnalysis &shapes, const llvm::Instruction &index) {
    llvm::SmallVector<const llvm::Value *> stack{&index};
    llvm::DenseSet<const llvm::Value *> seen;
    while (!stack.empty() && seen.size() < kLimits.search.users) {
      const llvm::Value *v = stack.pop_back_val();
      if (!seen.insert(v).second)
        continue;
      for (const llvm::User *u : v->users()) {
        if (llvm::isa<llvm::PHINode>(u))
          return true;
        if (shapes.shape(u).isConditional)
          stack.push_back(u);
      }
    }
    return false;
  }

  bool checkIndex(const ShapeAnalysis &shapes) {
    bool changed = false;
    for (llvm::BasicBlock *b : shapes.order())
      for (llvm::Instruction &i : *b) {
        if (!mayWrap(shapes, i) || !feedsPhi(shapes, i))
          continue;
        if (!general_.contains(b)) {
          splitAtIndex(shapes, i);
          return true;
        }
        setAside(i, kWrapping);
        changed = true;
      }
    return changed;
  }

  static void setAside(llvm::Instruction &index, llvm::StringRef kind) {
    index.setMetadata(kind, llvm::MDNode::get(index.getContext(), {}));
  }

  /// Two versions of all that the index dominates: one in which it and every other such index that
  /// can be computed before it are exact, and one, for when any of them wraps, in which none is.
  void splitAtIndex(const ShapeAnalysis &shapes, llvm::Instruction &first) {
    llvm::BasicBlock *before = first.getParent();
    llvm::SmallVector<llvm::BasicBlock *> region;
    shapes.dominators().getDescendants(before, region);
    unsigned size = 0;
    for (llvm::BasicBlock *b : region)
      size += unsigned(b->sizeWithoutDebug());
    if (copied_ + size > kLimits.versions.copied) {
      setAside(first, kWrapping);
      return;
    }
    copied_ += size;
    llvm::SmallVector<llvm::Instruction *> indices;
    llvm::IRBuilder<> builder(&first);
    llvm::Value *holds = builder.getTrue();
    llvm::ValueToValueMapTy known;
    for (llvm::BasicBlock *b : region)
      for (llvm::Instruction &i : *b) {
        if ((b == before && i.comesBefore(&first)) || !mayWrap(shapes, i) || !feedsPhi(shapes, i))
          continue;
        llvm::Value *index =
            computedAt(shapes, i.getOperand(0), &first, known, kLimits.search.repeated);
        if (!index)
          continue;
        indices.push_back(&i);
        const Op op = llvm::isa<llvm::SExtInst>(i) ? Op::nowrapSigned : Op::nowrapUnsigned;
        holds = builder.CreateAnd(callWord(builder, op, builder.getInt1Ty(), index), holds);
      }
    llvm::BasicBlock *exact = llvm::SplitBlock(before, &first);
    *llvm::find(region, before) = exact;
    llvm::ValueToValueMapTy map;
    copyBlocks(region, map);
    for (llvm::BasicBlock *b : region)
      general_.insert(llvm::cast<llvm::BasicBlock>(map[b]));
    llvm::DebugLoc line = before->getTerminator()->getDebugLoc();
    before->getTerminator()->eraseFromParent();
    expectFirst(
        llvm::BranchInst::Create(exact, llvm::cast<llvm::BasicBlock>(map[exact]), holds, before),
        line);
    for (llvm::Instruction *i : indices) {
      setAside(*llvm::cast<llvm::Instruction>(map[i]), kWrapping);
      setAside(*i, kExact);
    }
  }

  bool addOne() {
    ShapeAnalysis shapes(function_, gang_, false);
    const auto isForWholeGangs = [&](const llvm::BasicBlock *b) {
      return !shapes.isInDivergentRegion(b);
    };
    // Gangs that are not clamped: their indices are tested for wrapping with it.
    if ((forClamped_ && addVersionForClampedIndices(shapes, function_, gang_, copied_, general_,
                                                    isForWholeGangs)) ||
        checkIndex(shapes) ||
        (forSameValues_ &&
         addVersionForSameValue(shapes, function_, gang_, copied_, general_, isForWholeGangs)))
      return true;
    for (llvm::BasicBlock *a : shapes.order()) {
      if (!shapes.isDivergentBranch(a) || rests_.contains(a) || general_.contains(a))
        continue;
      const llvm::Loop *loop = shapes.loops().getLoopFor(a);
      if (loop && shapes.isDivergentLoop(loop)) {
        llvm::BasicBlock *before = loop->getLoopPreheader();
        if (before && !shapes.isInDivergentRegion(before) &&
            !copiedLoops_.contains(loop->getHeader()) && copyLoop(shapes, *loop, a))
          return true;
      } else if (!shapes.isInDivergentRegion(a) &&
                 ((forGuards_ &&
                   addVersionForGuards(shapes, gang_, *a, rests_,
                                       [&](llvm::ArrayRef<llvm::BasicBlock *> blocks) {
                                         return affordable(blocks, shapes);
                                       })) ||
                  copyGuarded(shapes, a))) {
        return true;
      }
    }
    const auto isForAll = [&](const llvm::BasicBlock *b) {
      return llvm::none_of(rests_,
                           [&](auto *rest) { return shapes.dominators().dominates(rest, b); });
    };
    if (forClamped_ &&
        addVersionForClampedIndices(shapes, function_, gang_, copied_, general_, isForAll))
      return true;
    return forSameValues_ &&
           (addVersionForSameValue(shapes, function_, gang_, copied_, general_, isForAll) ||
            addTurnsForFewValues(shapes, function_, gang_, copied_, rests_));
  }

  llvm::Value *all(llvm::Value *condition, bool isNegated, llvm::BasicBlock *at) {
    llvm::IRBuilder<> b(at->getTerminator());
    return callWord(b, Op::all, b.getInt1Ty(), isNegated ? b.CreateNot(condition) : condition);
  }

  /// `v` before `at`: itself, or a copy of integer arithmetic on values that are known there; null
  /// where it is neither.
  static llvm::Value *computedAt(const ShapeAnalysis &shapes, llvm::Value *v, llvm::Instruction *at,
                                 llvm::ValueToValueMapTy &known, unsigned depth) {
    auto *i = llvm::dyn_cast<llvm::Instruction>(v);
    if (!i || shapes.dominators().dominates(i, at))
      return v;
    if (auto it = known.find(v); it != known.end())
      return it->second;
    using I = llvm::Instruction;
    const unsigned op = i->getOpcode();
    if (depth == 0 || (op != I::Add && op != I::Sub && op != I::Mul && op != I::Shl &&
                       op != I::Or && op != I::Xor))
      return nullptr;
    llvm::Value *x = computedAt(shapes, i->getOperand(0), at, known, depth - 1);
    llvm::Value *y = x ? computedAt(shapes, i->getOperand(1), at, known, depth - 1) : nullptr;
    if (!y)
      return nullptr;
    // What lowering proved of the operands may hold only behind the guard: no flags, and disjoint
    // bits are a sum.
    const bool isDisjoint = op == I::Or && llvm::cast<llvm::PossiblyDisjointInst>(i)->isDisjoint();
    llvm::IRBuilder<> builder(at);
    return known[v] = builder.CreateBinOp(
               isDisjoint ? I::Add : llvm::cast<llvm::BinaryOperator>(i)->getOpcode(), x, y);
  }

  /// Lets the copy of a region run only where its indices do not wrap between lanes; accesses in
  /// the copy then need no test.
  llvm::Value *andNoIndexWraps(const ShapeAnalysis &shapes, llvm::Value *agree,
                               llvm::ArrayRef<llvm::BasicBlock *> region, llvm::BasicBlock *a,
                               llvm::ValueToValueMapTy &map) {
    llvm::ValueToValueMapTy known;
    llvm::DenseSet<llvm::Value *> tested[2];
    llvm::Instruction *at = a->getTerminator();
    llvm::IRBuilder<> builder(at);
    for (llvm::BasicBlock *b : region)
      for (llvm::Instruction &i : *b) {
        if (!mayWrap(shapes, i))
          continue;
        const bool isSigned = llvm::isa<llvm::SExtInst>(i);
        llvm::Value *index =
            computedAt(shapes, i.getOperand(0), at, known, kLimits.search.repeated);
        if (!index)
          continue;
        if (tested[isSigned].insert(index).second) {
          builder.SetInsertPoint(at);
          agree = builder.CreateAnd(
              agree, callWord(builder, isSigned ? Op::nowrapSigned : Op::nowrapUnsigned,
                              builder.getInt1Ty(), index));
        }
        llvm::cast<llvm::Instruction>(map[&i])->setMetadata(
            kExact, llvm::MDNode::get(function_.getContext(), {}));
      }
    return agree;
  }

  bool copyGuarded(const ShapeAnalysis &shapes, llvm::BasicBlock *a) {
    auto *branch = llvm::cast<llvm::BranchInst>(a->getTerminator());
    for (unsigned side = 0; side < 2; ++side) {
      llvm::BasicBlock *t = branch->getSuccessor(side);
      if (t->getSinglePredecessor() != a ||
          neverHoldsForAll(shapes, branch->getCondition(), side == 1))
        continue;
      llvm::SmallVector<llvm::BasicBlock *> region;
      shapes.dominators().getDescendants(t, region);
      if (!affordable(region, shapes))
        continue;
      llvm::ValueToValueMapTy map;
      copyBlocks(region, map);
      auto *fast = llvm::cast<llvm::BasicBlock>(map[t]);
      // a: ...; br all(c), fast, rest     rest: br c, T, F
      llvm::BasicBlock *rest = llvm::SplitBlock(a, branch);
      rest->setName(a->getName() + ".rest");
      for (llvm::PHINode &phi : fast->phis())
        phi.replaceIncomingBlockWith(rest, a);
      llvm::Value *agree = all(branch->getCondition(), side == 1, a);
      agree = andNoIndexWraps(shapes, agree, region, a, map);
      a->getTerminator()->eraseFromParent();
      expectFirst(llvm::BranchInst::Create(fast, rest, agree, a), branch->getDebugLoc());
      rests_.insert(rest);
      return true;
    }
    return false;
  }

  static bool isPure(const llvm::BasicBlock &b) {
    for (const llvm::Instruction &i : b)
      if (i.mayHaveSideEffects() || (i.mayReadFromMemory() && i.isVolatile()))
        return false;
    return true;
  }

  bool copyLoop(const ShapeAnalysis &shapes, const llvm::Loop &loop, llvm::BasicBlock *a) {
    llvm::BasicBlock *header = loop.getHeader(), *latch = loop.getLoopLatch(),
                     *before = loop.getLoopPreheader();
    const bool atLatch = a == latch, atHeader = a == header && !atLatch && isPure(*header);
    if (!atLatch && !atHeader)
      return false;
    // Only this branch parts the lanes of the loop for good.
    for (llvm::BasicBlock *b : loop.blocks())
      if (b != a && shapes.isDivergentBranch(b)) {
        const llvm::BasicBlock *meet = shapes.meetingPoint(b);
        if (!meet || !loop.contains(meet))
          return false;
      }
    Blocks blocks(loop.blocks().begin(), loop.blocks().end());
    if (!affordable(blocks, shapes))
      return false;
    llvm::ValueToValueMapTy map;
    copyBlocks(blocks, map);
    auto mapped = [&](llvm::Value *v) -> llvm::Value * {
      auto it = map.find(v);
      return it == map.end() ? v : static_cast<llvm::Value *>(it->second);
    };
    auto *fastHeader = llvm::cast<llvm::BasicBlock>(map[header]),
         *fast = llvm::cast<llvm::BasicBlock>(map[a]);
    auto *branch = llvm::cast<llvm::BranchInst>(fast->getTerminator());
    const unsigned inside =
        loop.contains(llvm::cast<llvm::BranchInst>(a->getTerminator())->getSuccessor(0)) ? 0 : 1;
    llvm::BasicBlock *exit = branch->getSuccessor(1 - inside), *stay = branch->getSuccessor(inside);
    auto *rest = llvm::BasicBlock::Create(function_.getContext(), header->getName() + ".rest",
                                          &function_, header);
    llvm::Value *condition = branch->getCondition();
    llvm::DebugLoc line = branch->getDebugLoc();
    llvm::Value *agree = all(condition, inside == 1, fast);
    branch->eraseFromParent();
    expectFirst(llvm::BranchInst::Create(stay, rest, agree, fast), line);
    if (atLatch) {
      auto *part = llvm::BranchInst::Create(inside == 0 ? header : exit,
                                            inside == 0 ? exit : header, condition, rest);
      part->setDebugLoc(line);
      for (llvm::PHINode &phi : exit->phis())
        phi.replaceIncomingBlockWith(fast, rest);
      for (llvm::PHINode &phi : header->phis())
        phi.setIncomingValue(phi.getBasicBlockIndex(before),
                             mapped(phi.getIncomingValueForBlock(latch)));
    } else {
      llvm::BranchInst::Create(header, rest)->setDebugLoc(line);
      for (llvm::PHINode &phi : llvm::make_early_inc_range(exit->phis()))
        phi.removeIncomingValue(fast, false);
      for (llvm::PHINode &phi : header->phis())
        phi.setIncomingValue(phi.getBasicBlockIndex(before), mapped(&phi));
    }
    for (llvm::PHINode &phi : header->phis())
      phi.setIncomingBlock(phi.getBasicBlockIndex(before), rest);
    before->getTerminator()->replaceSuccessorWith(header, fastHeader);
    copiedLoops_.insert(header);
    rests_.insert(rest);
    return true;
  }

  llvm::Function &function_;
  const GangShape gang_;
  const bool forGuards_, forSameValues_, forClamped_;
  const unsigned perStore_; ///< instructions that may be copied for the mask of one
  unsigned copied_ = 0;
  llvm::DenseSet<const llvm::BasicBlock *> rests_, copiedLoops_, general_;
};

} // namespace

bool addFullGangVersions(llvm::Function &f, const GangShape &gang, const PassRun &passes,
                         const Target &target) {
  return Versions(f, gang, passes, target.copiedPerStore()).run();
}

} // namespace ptxrun::simt
