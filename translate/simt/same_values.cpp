// Versions of code for gangs whose lanes hold the same value.
//
//   v = (n - i) / step  =>  br ptx.same(v), [v = ptx.first(v); what depends on it], rest
//
// Compilers count the rounds of `for (i = lane; i < n; i += 32)` before the loop, run what is left
// over of a multiple of four first, and then four rounds at a time. Lanes that may count
// differently may come to the second loop at different i: nothing there would lie in a row any
// more. And of an index that is taken apart, `i / columns` and `i % columns`, lanes of one row
// agree on the first, and the second lies in a row for them. Where an address is made of several
// such values, the first gets a version, and the others join it.
//
// Only what lies between the value and the point behind everything that depends on it is copied.
//
// Where lanes hold two values, as in every gang whose rows end within its last round, those with
// the same take turns: the second loop would else begin at two places, and nothing lie in a row.
//
//   br ptx.few(v), turns, rest
//   turns:  u = ptx.next(v);  if (v == u) [v = u; what depends on it];  br v == u, end, turns
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/InstructionSimplify.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "translate/simt/agreed_comparisons.h"
#include "translate/simt/cost.h"
#include "translate/simt/guesses.h"
#include "translate/simt/prepare.h"
#include "translate/simt/version_regions.h"
#include "translate/simt/versions.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

/// Metadata: a version was added for this value, or would not help.
constexpr const char *kTried = "ptx.same.tried";
/// The same, of turns.
constexpr const char *kTurnsTried = "ptx.few.tried";

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

/// What of a number lies above the bits that `v` shifts out of it: as compilers write a quotient by
/// a power of two times the divisor, which leaves the remainder. The same for lanes that agree on
/// `v`.
llvm::SmallVector<Instruction *> multiplesOf(const Instruction &v) {
  using namespace llvm::PatternMatch;
  llvm::SmallVector<Instruction *> found;
  const llvm::APInt *by, *mask;
  Value *number;
  if (match(&v, m_Shr(m_Value(number), m_APInt(by))) && by->ult(by->getBitWidth()))
    for (llvm::User *user : number->users())
      if (match(user, m_And(m_Specific(number), m_APInt(mask))) && mask->isNegatedPowerOf2() &&
          mask->countr_zero() == by->getZExtValue())
        found.push_back(llvm::cast<Instruction>(user));
  return found;
}

/// In `blocks`, where active lanes agree on `v`, and `same` is what they agree on: behind that.
void settleMultiples(const Instruction &v, Instruction &same, llvm::ArrayRef<BasicBlock *> blocks) {
  for (Instruction *i : multiplesOf(v))
    if (llvm::is_contained(blocks, i->getParent()) &&
        (i->getParent() != same.getParent() || same.comesBefore(i))) {
      llvm::IRBuilder<> b(i);
      i->replaceAllUsesWith(b.CreateShl(&same, v.getOperand(1)));
    }
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

/// What depends on `v`, from its block on; no blocks where nothing does.
Region regionOf(const ShapeAnalysis &shapes, Instruction &v) {
  const llvm::DenseSet<const BasicBlock *> wanted = dependents(shapes, v);
  return wanted.empty() ? Region{} : regionFrom(shapes, v.getParent(), wanted);
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

/// Lets the special version that `v` is in be the one for gangs whose lanes hold the same in it.
bool joinChoice(const ShapeAnalysis &shapes, Instruction &v, const GangShape &gang) {
  llvm::BranchInst *choice = choiceBefore(shapes, v.getParent());
  if (!choice)
    return false;
  Value *early = computedBefore(&v, choice, shapes.dominators());
  if (!early)
    return false;
  llvm::IRBuilder<> b(choice);
  // Where the rest of the choice's test fails, it may be anything.
  early = b.CreateFreeze(early);
  Value *same = callWord(b, Op::same, b.getInt1Ty(), early);
  choice->setCondition(b.CreateAnd(choice->getCondition(), same));
  b.SetInsertPoint(&v);
  b.SetCurrentDebugLocation(v.getDebugLoc());
  llvm::CallInst *first = callWord(b, Op::first, v.getType(), early);
  v.replaceAllUsesWith(first);
  llvm::SmallVector<BasicBlock *> agreed;
  shapes.dominators().getDescendants(v.getParent(), agreed);
  settleMultiples(v, *first, agreed);
  agreed.clear();
  shapes.dominators().getDescendants(choice->getSuccessor(0), agreed);
  settleComparisons(v, agreed, gang);
  return true;
}

/// A shift that leaves a number's sign, and nothing else of it.
bool isSign(const Value &v) {
  const llvm::APInt *by;
  return match(&v, llvm::PatternMatch::m_Shr(llvm::PatternMatch::m_Value(),
                                             llvm::PatternMatch::m_APInt(by))) &&
         *by == by->getBitWidth() - 1;
}

/// Lets the special version that `sign` is in be the one for gangs whose lanes hold no negative
/// number in what it is the sign of. Compilers round quotients by powers of two towards zero with
/// it; without, `i / 32` and `i % 32` are a shift and a mask.
bool assumeNoSign(const ShapeAnalysis &shapes, Instruction &sign) {
  const Shape of = shapes.shape(sign.getOperand(0));
  llvm::BranchInst *choice =
      of.hasOffsets() && !of.isUniform() ? choiceBefore(shapes, sign.getParent()) : nullptr;
  Value *early = choice ? computedBefore(sign.getOperand(0), choice, shapes.dominators()) : nullptr;
  if (!early)
    return false;
  llvm::IRBuilder<> b(choice);
  early = b.CreateFreeze(early); // as in joinChoice
  Value *isPositive = b.CreateICmpSGE(early, llvm::Constant::getNullValue(early->getType()));
  choice->setCondition(
      b.CreateAnd(choice->getCondition(), callWord(b, Op::all, b.getInt1Ty(), isPositive)));
  llvm::replaceAndRecursivelySimplify(&sign, llvm::Constant::getNullValue(sign.getType()));
  return true;
}

/// A copy of `v`, and of what only `v` is made of, at `place`: what the lanes' own values take is
/// not done where they agree.
Instruction *computedAgain(Instruction &v, Instruction *place) {
  Instruction *again = v.clone();
  again->insertBefore(place);
  for (llvm::Use &use : again->operands())
    if (auto *of = llvm::dyn_cast<Instruction>(use);
        of && of->hasNUses(2) && of->getParent() == v.getParent() &&
        !llvm::isa<llvm::PHINode>(of) && !of->mayReadOrWriteMemory())
      use.set(computedAgain(*of, again));
  return again;
}

void addVersion(Instruction &v, const Region &region, const GangShape &gang,
                llvm::DenseSet<const BasicBlock *> &general) {
  llvm::ValueToValueMapTy map;
  const Fork f = fork(*v.getNextNode(), region, map, [&](llvm::IRBuilder<> &b) {
    return callWord(b, Op::same, b.getInt1Ty(), &v);
  });
  llvm::IRBuilder<> b(&*f.special[0]->getFirstInsertionPt());
  b.SetCurrentDebugLocation(v.getDebugLoc());
  llvm::CallInst *first = callWord(b, Op::first, v.getType(), &v);
  for (BasicBlock *block : f.special)
    for (Instruction &i : *block)
      if (&i != first)
        i.replaceUsesOfWith(&v, first);
  settleMultiples(v, *first, f.special);
  general.insert(f.rest.begin(), f.rest.end());
  settleComparisons(v, f.special, gang);
  // A value of its own for the others, who may take turns.
  Instruction *again = computedAgain(v, &*f.rest[0]->getFirstInsertionPt());
  for (BasicBlock *block : f.rest)
    for (Instruction &i : *block)
      i.replaceUsesOfWith(&v, again);
}

void replaceByZero(Instruction &i) {
  llvm::replaceAndRecursivelySimplify(&i, llvm::Constant::getNullValue(i.getType()));
}

/// What the region's accesses are worth where `sign` is none, nor any of what then lies in a row.
uint64_t worthWithout(const Instruction &sign, const Region &region, const GangShape &gang) {
  llvm::ValueToValueMapTy map;
  llvm::Function *trial =
      llvm::CloneFunction(const_cast<llvm::Function *>(sign.getFunction()), map);
  llvm::SmallVector<BasicBlock *> blocks;
  for (const BasicBlock *block : region.blocks)
    blocks.push_back(llvm::cast<BasicBlock>(&*map[block]));
  llvm::SmallVector<llvm::WeakTrackingVH> signs;
  signs.emplace_back(map[&sign]);
  uint64_t found = 0;
  while (!signs.empty()) {
    for (const llvm::WeakTrackingVH &each : signs)
      if (auto *i = llvm::dyn_cast_or_null<Instruction>(&*each))
        replaceByZero(*i);
    signs.clear();
    const ShapeAnalysis shapes(*trial, gang, false);
    found = worth(shapes, blocks);
    for (BasicBlock *block : blocks)
      for (Instruction &i : *block)
        if (isSign(i) && shapes.shape(i.getOperand(0)).hasOffsets())
          signs.emplace_back(&i);
  }
  trial->eraseFromParent();
  return found;
}

/// Whether it is the sign of what lies in a row, or of what all lanes share of such a number:
/// shifted and added to it, it leaves none.
bool roundsRow(const ShapeAnalysis &shapes, const Instruction &sign) {
  const Shape of = shapes.shape(sign.getOperand(0));
  if (!of.isUniform())
    return of.hasOffsets();
  return llvm::any_of(sign.users(), [&](const llvm::User *shifted) {
    return llvm::any_of(shifted->users(), [&](const llvm::User *sum) {
      return llvm::isa<Instruction>(sum) && !shapes.isUniform(sum);
    });
  });
}

/// What depends on `sign`, by way of a few numbers that lie in rows whatever it is.
llvm::DenseSet<const BasicBlock *> behindSign(const ShapeAnalysis &shapes,
                                              const Instruction &sign) {
  llvm::DenseSet<const BasicBlock *> blocks;
  llvm::SmallSetVector<const Instruction *, 8> numbers;
  numbers.insert(&sign);
  for (size_t k = 0; k < std::min<size_t>(numbers.size(), kLimits.search.agreed); ++k) {
    const auto behind = dependents(shapes, *numbers[k]);
    blocks.insert(behind.begin(), behind.end());
    for (const llvm::User *user : numbers[k]->users())
      if (auto *i = llvm::cast<Instruction>(user); i->isBinaryOp() && !shapes.shape(i).isVarying())
        numbers.insert(i);
  }
  return blocks;
}

/// A version for gangs whose lanes hold no negative number in what `sign` is the sign of, where
/// what depends on it then lies in rows.
bool addVersionWithoutSign(const ShapeAnalysis &shapes, Instruction &sign, const GangShape &gang,
                           unsigned &copied, llvm::DenseSet<const BasicBlock *> &general) {
  if (sign.hasMetadata(kTried) || !roundsRow(shapes, sign))
    return false;
  sign.setMetadata(kTried, llvm::MDNode::get(sign.getContext(), {}));
  const llvm::DenseSet<const BasicBlock *> wanted = behindSign(shapes, sign);
  const Region region = wanted.empty() ? Region{} : regionFrom(shapes, sign.getParent(), wanted);
  const unsigned size = sizeOf(region, &sign);
  const auto isApart = [&](const Instruction &i) {
    const Value *pointer = llvm::getLoadStorePointerOperand(&i);
    return pointer && shapes.shape(pointer).isVarying();
  };
  if (region.blocks.empty() || mayMeetOtherGangs(region) ||
      copied + size > kLimits.versions.copied ||
      sign.getFunction()->getInstructionCount() > kLimits.versions.copied ||
      llvm::none_of(region.blocks,
                    [&](const BasicBlock *b) { return llvm::any_of(*b, isApart); }) ||
      worthWithout(sign, region, gang) < worth(shapes, region.blocks) + size)
    return false;
  copied += size;
  llvm::ValueToValueMapTy map;
  const Fork f = fork(*sign.getNextNode(), region, map, [&](llvm::IRBuilder<> &b) {
    Value *number = sign.getOperand(0);
    return callWord(b, Op::all, b.getInt1Ty(),
                    b.CreateICmpSGE(number, llvm::Constant::getNullValue(number->getType())));
  });
  general.insert(f.rest.begin(), f.rest.end());
  Instruction *special = sign.clone();
  special->insertBefore(&*f.special[0]->getFirstInsertionPt());
  for (BasicBlock *block : f.special)
    for (Instruction &i : *block)
      i.replaceUsesOfWith(&sign, special);
  replaceByZero(*special);
  return true;
}

/// Nobody outside the lane sees in which order lanes run it, and no lane waits for others in it.
bool mayTakeTurns(const Instruction &i) {
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i))
    return load->isSimple();
  const Word word = wordAt(i);
  if (word.kind == Word::Kind::laneTest)
    return word.op != Op::first && word.op != Op::same;
  if (auto *call = llvm::dyn_cast<llvm::CallBase>(&i); call && call->isConvergent())
    return false;
  return !i.mayReadOrWriteMemory();
}

/// Loops whose accesses lie in a row only where lanes agree on `v`, and that may take turns.
bool isWorthTurns(const ShapeAnalysis &shapes, const ShapeAnalysis &agreed, const Region &region,
                  unsigned depth) {
  llvm::SmallVector<BasicBlock *> loops;
  for (BasicBlock *b : region.blocks) {
    if (!llvm::all_of(*b, mayTakeTurns))
      return false;
    if (shapes.loops().getLoopDepth(b) > depth)
      loops.push_back(b);
  }
  return worth(agreed, loops) > worth(shapes, loops);
}

void addTurns(Instruction &v, const Region &region, const GangShape &gang,
              llvm::DenseSet<const BasicBlock *> &rests) {
  BasicBlock *before = v.getParent();
  const llvm::SmallVector<BasicBlock *> blocks = setApart(*v.getNextNode(), region, region.meet);
  llvm::ValueToValueMapTy map;
  copyRegion(blocks, region.meet, map);
  auto mapped = [&](BasicBlock *b) { return llvm::cast<BasicBlock>(&*map[b]); };
  BasicBlock *first = mapped(blocks[0]), *last = mapped(blocks.back());
  llvm::LLVMContext &c = v.getContext();
  BasicBlock *turns = BasicBlock::Create(c, "turns", before->getParent(), first);
  BasicBlock *turned = BasicBlock::Create(c, "turned", before->getParent(), blocks[0]);
  // before: ...; v; br few(v), turns, rest      rest: what followed
  llvm::IRBuilder<> b(before->getTerminator());
  b.SetCurrentDebugLocation(v.getDebugLoc());
  Value *each = b.CreateFreeze(&v); // or a lane's turn might never come
  Value *few = callWord(b, Op::few, b.getInt1Ty(), each);
  before->getTerminator()->eraseFromParent();
  expectFirst(llvm::BranchInst::Create(turns, blocks[0], few, before), v.getDebugLoc());
  // turns: mine = v == next(v); br mine, first, turned      first: copy of rest
  b.SetInsertPoint(turns);
  Value *next = callWord(b, Op::next, v.getType(), each);
  Value *mine = b.CreateICmpEQ(each, next);
  b.CreateCondBr(mine, first, turned);
  for (BasicBlock *block : blocks)
    for (Instruction &i : *mapped(block))
      i.replaceUsesOfWith(&v, next);
  // turned: what the lanes whose turn it was computed; br mine, end, turns
  last->getTerminator()->replaceSuccessorWith(region.meet, turned);
  b.SetInsertPoint(turned);
  for (llvm::PHINode &phi : region.meet->phis()) {
    const int k = phi.getBasicBlockIndex(last);
    llvm::PHINode *result = b.CreatePHI(phi.getType(), 2);
    result->addIncoming(phi.getIncomingValue(unsigned(k)), last);
    result->addIncoming(llvm::PoisonValue::get(phi.getType()), turns);
    phi.setIncomingValue(unsigned(k), result);
    phi.setIncomingBlock(unsigned(k), turned);
  }
  b.CreateCondBr(mine, region.meet, turns);
  llvm::SmallVector<BasicBlock *> agreed;
  for (BasicBlock *block : blocks)
    agreed.push_back(mapped(block));
  settleComparisons(v, agreed, gang);
  rests.insert(turns);
  rests.insert(turned);
}

/// The value that lanes might agree on where `i` is one that several lanes have in common; null if
/// it is none.
Instruction *mayBeSame(const ShapeAnalysis &shapes, Instruction &i) {
  const bool mayBe = isCoarse(i) && i.getType()->isIntegerTy() && shapes.shape(&i).isVarying();
  return mayBe ? &asChosen(shapes, i) : nullptr;
}

} // namespace

void wantNoVersionFor(Instruction &i) {
  for (const char *tried : {kTried, kTurnsTried})
    i.setMetadata(tried, llvm::MDNode::get(i.getContext(), {}));
}

bool addTurnsForFewValues(const ShapeAnalysis &shapes, llvm::Function &f, const GangShape &gang,
                          unsigned &copied, llvm::DenseSet<const BasicBlock *> &rests) {
  for (BasicBlock *block : shapes.order())
    for (Instruction &coarse : *block) {
      if ((!isCoarse(coarse) && !coarse.hasMetadata(kTried)) || !coarse.getType()->isIntegerTy() ||
          !shapes.shape(&coarse).isVarying())
        continue;
      Instruction &i = asChosen(shapes, coarse);
      if (i.hasMetadata(kTurnsTried) || !isComputedFromKnown(shapes, i))
        continue;
      i.setMetadata(kTurnsTried, llvm::MDNode::get(f.getContext(), {}));
      const Region region = regionOf(shapes, i);
      const unsigned size = sizeOf(region, &i);
      if (region.blocks.empty() || !region.meet || copied + size > kLimits.versions.copied)
        continue;
      const ShapeAnalysis agreed(f, gang, false, {&i});
      if (!isWorthTurns(shapes, agreed, region, shapes.loops().getLoopDepth(block)))
        continue;
      copied += size;
      addTurns(i, region, gang, rests);
      return true;
    }
  return false;
}

llvm::SmallVector<Instruction *> quotients(const ShapeAnalysis &shapes,
                                           llvm::ArrayRef<BasicBlock *> blocks) {
  llvm::SmallVector<Instruction *> found;
  for (BasicBlock *block : blocks)
    for (Instruction &coarse : *block)
      if (found.size() < kLimits.search.agreed)
        if (Instruction *i = mayBeSame(shapes, coarse); i && isComputedFromKnown(shapes, *i))
          found.push_back(i);
  return found;
}

bool addVersionForSameValue(const ShapeAnalysis &shapes, llvm::Function &f, const GangShape &gang,
                            unsigned &copied, llvm::DenseSet<const BasicBlock *> &general,
                            llvm::function_ref<bool(const BasicBlock *)> isIn) {
  for (BasicBlock *block : shapes.order()) {
    if (!isIn(block) || general.contains(block))
      continue;
    // Those before, on each of which nothing depends alone: an address that is made of several.
    llvm::SmallVector<Instruction *> together, coarseOnes;
    llvm::MDNode *tried = llvm::MDNode::get(f.getContext(), {});
    for (Instruction &coarse : *block) {
      if (isSign(coarse) && (assumeNoSign(shapes, coarse) ||
                             addVersionWithoutSign(shapes, coarse, gang, copied, general)))
        return true;
      Instruction *value = mayBeSame(shapes, coarse);
      if (!value || value->hasMetadata(kTried) || coarse.hasMetadata(kTried) ||
          !isComputedFromKnown(shapes, *value))
        continue;
      Instruction &i = *value;
      i.setMetadata(kTried, tried);
      coarse.setMetadata(kTried, tried); // once a version has a copy of `i`, it leads there no more
      const Region region = regionOf(shapes, i);
      const unsigned size = sizeOf(region, &i);
      if (region.blocks.empty() || mayMeetOtherGangs(region) ||
          copied + size > kLimits.versions.copied)
        continue;
      auto isWorthIt = [&](llvm::ArrayRef<Instruction *> values) {
        llvm::SmallVector<Instruction *> same(values);
        for (const Instruction *v : values)
          same.append(multiplesOf(*v));
        const ShapeAnalysis agreed(f, gang, false, same);
        return worth(agreed, region.blocks) >= worth(shapes, region.blocks) + size;
      };
      if (isWorthIt({&i})) {
        if (!joinChoice(shapes, i, gang)) {
          copied += size;
          addVersion(i, region, gang, general);
        }
        return true;
      }
      if (together.size() == kLimits.search.agreed)
        continue;
      together.push_back(&i);
      coarseOnes.push_back(&coarse);
      if (together.size() == 1 || !isWorthIt(together))
        continue;
      // The first of them now; the others join it one after the other.
      Instruction &first = *together[0];
      for (Instruction *other : llvm::drop_begin(together))
        other->setMetadata(kTried, nullptr);
      for (Instruction *other : llvm::drop_begin(coarseOnes))
        other->setMetadata(kTried, nullptr);
      if (!joinChoice(shapes, first, gang)) {
        const Region all = regionOf(shapes, first);
        copied += sizeOf(all, &first);
        addVersion(first, all, gang, general);
      }
      return true;
    }
  }
  return false;
}

} // namespace ptxrun::simt
