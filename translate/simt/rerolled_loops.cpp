// Loops that lanes stride through, as compilers write them:
//
//     for (k = first + lane; k < end; k += 32) body(k)
//       =>  n = number of rounds;  left = n % 4
//           for (; left != 0; --left) body(k), k += 32
//           if (n >= 4)
//             do body(k), body(k + 32), body(k + 64), body(k + 96), k += 128; while (k < end)
//
// or the unrolled loop first, and what is left behind it. Where lanes have n rounds and n - 1, they
// part in the one loop, and have no rows in the other: what was one row of an `end` that is no
// multiple of 128 would be gathered, lane by lane. Gangs for which both loops together do what one
// loop would take that one:
//
//     do body(k), k += 32; while (k < end)
//
// That the unrolled loop does what four rounds of the other one do is seen from the code: its
// values are the same operations on addresses and numbers that are equal as sums; so are the
// numbers of rounds. That no number wraps which is extended on the way, as sums do not show, is
// asked at run time, for all lanes at once (isRight).
#include "translate/simt/rerolled_loops.h"

#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include "translate/simt/unrolled_pair.h"
#include "translate/simt/versions.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::PHINode;
using llvm::Value;

/// What rounds take from the way to their loop.
llvm::SmallSetVector<Value *, 8> UnrolledPair::takenAlong() const {
  llvm::SmallSetVector<Value *, 8> taken;
  for (Instruction &i : *one_)
    if (!llvm::isa<PHINode>(i))
      for (Value *v : i.operand_values())
        if (isInside(v) && llvm::cast<Instruction>(v)->getParent() != one_)
          taken.insert(v);
  return taken;
}

/// All that has to be asked, where the loop begins, and what it takes along, is known before the
/// loops.
bool UnrolledPair::isAskable() {
  llvm::MapVector<Value *, Value *> made;
  const auto isKnownFirst = [&](Value *v) { return initially(v, nullptr, made) != nullptr; };
  return isKnown(end_) && isKnown(start_) && llvm::all_of(takenAlong(), isKnownFirst) &&
         llvm::all_of(one_->phis(), [&](const PHINode &phi) { return isKnownFirst(startOf(phi)); });
}

/// Whether there is a first round, as the way to the loops tells.
bool UnrolledPair::isBelowEnd() {
  const Form *start = formOf(start_);
  const BasicBlock *b = choice_->getParent();
  for (const BasicBlock *before = b; (before = b->getSinglePredecessor()); b = before) {
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(before->getTerminator());
    const auto known = branch && branch->isConditional() ? comparisonFor(*branch, b) : std::nullopt;
    if (!known || known->predicate != llvm::CmpInst::ICMP_SLT || known->y != end_)
      continue;
    if (const Form *x = formOf(known->x); x && x->perRound == 0 && x->perTurn == 0 &&
                                          x->sum.key() == start->sum.key() &&
                                          x->sum.constant == start->sum.constant)
      return true;
  }
  return false;
}

/// Whether the counter has the rounds that both loops have, and no number wraps that is extended on
/// the way, for all lanes:
///   0 <= start < end <= greatest - step
Value *UnrolledPair::isRight(llvm::IRBuilder<> &b) {
  auto *type = llvm::cast<llvm::IntegerType>(start_->getType());
  const auto number = [&](uint64_t n) { return llvm::ConstantInt::get(type, n); };
  Value *start = b.CreateFreeze(before(start_)), *end = b.CreateFreeze(before(end_));
  Value *isInRange = b.CreateICmpSGE(start, number(0));
  if (!isBelowEnd())
    isInRange = b.CreateAnd(isInRange, b.CreateICmpSLT(start, end));
  Value *all = callWord(b, Op::all, b.getInt1Ty(), isInRange);
  const llvm::APInt greatest = llvm::APInt::getSignedMaxValue(type->getBitWidth());
  all = b.CreateAnd(all,
                    b.CreateICmpSLE(end, llvm::ConstantInt::get(type, greatest - uint64_t(step_))));
  // In 64 bits, where numbers of 32 do not wrap.
  const auto wide = [&](Value *v) { return b.CreateSExt(v, b.getInt64Ty()); };
  for (const Extended &e : extended_) {
    Value *offset = b.getInt64(0);
    for (const auto &[term, times] : e.offset)
      offset =
          b.CreateAdd(offset, b.CreateMul(wide(b.CreateFreeze(before(const_cast<Value *>(term)))),
                                          b.getInt64(uint64_t(times))));
    Value *last = b.CreateMul(b.CreateAdd(wide(end), b.getInt64(uint64_t(step_))),
                              b.getInt64(uint64_t(e.times)));
    Value *least = b.CreateAdd(offset, b.getInt64(uint64_t(e.least)));
    Value *most = b.CreateAdd(b.CreateAdd(offset, last), b.getInt64(uint64_t(e.most)));
    all =
        b.CreateAnd(all, b.CreateICmpSGE(least, b.getInt64(e.isSigned ? uint64_t(INT32_MIN) : 0)));
    all = b.CreateAnd(all, b.CreateICmpSLE(most, b.getInt64(uint64_t(INT32_MAX))));
  }
  return all;
}

/// `v` as it is where no round has been done, if isRight(). Without a builder, nothing is made, and
/// null says that it is not known.
Value *UnrolledPair::initially(Value *v, llvm::IRBuilder<> *b,
                               llvm::MapVector<Value *, Value *> &made) {
  v = beforeTheWay(v);
  if (auto *phi = llvm::dyn_cast<PHINode>(v); phi && phi->getParent() == joined_) {
    PHINode *changed = changedBy(*phi);
    return changed ? initially(startOf(*changed), b, made) : nullptr;
  }
  auto *i = llvm::dyn_cast<Instruction>(v);
  const bool isRemade =
      i && llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::GetElementPtrInst>(i) &&
      isSpeculatable(*i);
  if (!isRemade)
    return !isKnown(v) ? nullptr : b ? before(v) : v;
  if (auto known = made.find(v); known != made.end())
    return known->second;
  llvm::SmallVector<Value *> operands;
  for (Value *operand : i->operands()) {
    operands.push_back(initially(operand, b, made));
    if (!operands.back())
      return made[v] = nullptr;
  }
  const bool isExact = exact_.contains(i);
  if (!b || (!isExact && !isInside(i) &&
             std::equal(operands.begin(), operands.end(), i->value_op_begin())))
    return made[v] = v;
  Instruction *copy = i->clone();
  for (auto [n, operand] : llvm::enumerate(operands))
    copy->setOperand(unsigned(n), operand);
  copy->dropPoisonGeneratingFlags();
  if (isExact)
    copy->setMetadata(kExact, llvm::MDNode::get(copy->getContext(), {}));
  return made[v] = b->Insert(copy);
}

/// Numbers of rounds, on which lanes need not agree any more.
void UnrolledPair::settle(Value *test) const {
  llvm::SmallVector<Value *> stack{test, left_, choice_->getCondition(), next_->getCondition()};
  llvm::SmallPtrSet<Value *, 32> seen;
  while (!stack.empty()) {
    auto *i = llvm::dyn_cast<Instruction>(stack.pop_back_val());
    if (!i || llvm::isa<PHINode>(i) || i->mayReadOrWriteMemory() || !seen.insert(i).second)
      continue;
    wantNoVersionFor(*i);
    stack.append(i->value_op_begin(), i->value_op_end());
  }
}

void UnrolledPair::rewrite() {
  llvm::IRBuilder<> b(choice_);
  b.SetCurrentDebugLocation(choice_->getDebugLoc());
  Value *test = isRight(b);
  settle(test);
  Value *start = before(start_), *end = before(end_);
  llvm::Function &f = *one_->getParent();
  const BasicBlock *aheadOfOne = (isUnrolledFirst() ? second_ : first_)->getLoopPreheader();
  llvm::MapVector<Value *, Value *> made;
  llvm::SmallVector<Value *> starts;
  for (const PHINode &phi : one_->phis())
    starts.push_back(initially(startOf(phi), &b, made));
  llvm::ValueToValueMapTy map;
  for (Value *v : takenAlong())
    map[v] = initially(v, &b, made);
  BasicBlock *from = choice_->getParent(), *rest = llvm::SplitBlock(from, choice_);
  BasicBlock *ahead = BasicBlock::Create(f.getContext(), "rolled.ahead", &f, rest);
  BasicBlock *done = BasicBlock::Create(f.getContext(), "rolled.done", &f, rest);
  from->getTerminator()->eraseFromParent();
  expectFirst(llvm::BranchInst::Create(ahead, rest, test, from), choice_->getDebugLoc());
  for (auto [v, copy] : made) // which promise what holds there only
    if (copy != v)
      llvm::cast<Instruction>(copy)->moveBefore(*ahead, ahead->end());

  BasicBlock *rolled = llvm::CloneBasicBlock(one_, map, ".rolled", &f);
  llvm::BranchInst::Create(rolled, ahead)->setDebugLoc(choice_->getDebugLoc());
  for (Instruction &i : *rolled) {
    llvm::RemapInstruction(&i, map, llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals);
    i.dropPoisonGeneratingFlags();
  }
  for (auto [i, kind] : notKnown_)
    llvm::cast<Instruction>(map[i])->setMetadata(kind, nullptr);
  for (auto [n, phi] : llvm::enumerate(one_->phis())) {
    auto *copy = llvm::cast<PHINode>(map[&phi]);
    for (unsigned k : {0u, 1u})
      if (copy->getIncomingBlock(k) == aheadOfOne) {
        copy->setIncomingBlock(k, ahead);
        copy->setIncomingValue(k, starts[n]);
      } else {
        copy->setIncomingBlock(k, rolled);
      }
  }
  auto *last = llvm::cast<llvm::BranchInst>(rolled->getTerminator());
  Value *counted = last->getCondition();
  b.SetInsertPoint(last);
  b.SetCurrentDebugLocation(many_->getTerminator()->getDebugLoc());
  auto *counter = PHINode::Create(start->getType(), 2, "counter", rolled->begin());
  Value *next = b.CreateAdd(counter, llvm::ConstantInt::get(start->getType(), uint64_t(step_)));
  counter->addIncoming(start, ahead);
  counter->addIncoming(next, rolled);
  b.CreateCondBr(b.CreateICmpSLT(next, end), rolled, done);
  last->eraseFromParent();
  llvm::BranchInst::Create(behind_, done)->setDebugLoc(many_->getTerminator()->getDebugLoc());
  for (const auto &[phi, value] : results_) {
    auto copy = map.find(value);
    phi->addIncoming(copy == map.end() ? value : static_cast<Value *>(copy->second), done);
  }
  llvm::RecursivelyDeleteTriviallyDeadInstructions(counted); // the rounds that are left
  llvm::DeleteDeadPHIs(rolled);
}

static bool rerollOne(llvm::Function &f, const GangShape &gang) {
  const ShapeAnalysis shapes(f, gang, false);
  for (const llvm::Loop *loop : shapes.loops().getLoopsInPreorder()) {
    if (!isLoopOfOneBlock(*loop))
      continue;
    UnrolledPair pair(*loop, shapes);
    if (!pair.find())
      continue;
    pair.rewrite();
    normaliseLoops(f);
    return true;
  }
  return false;
}

bool rerollLoops(llvm::Function &f, const GangShape &gang) {
  const auto leadsToItself = [](const BasicBlock &b) {
    return llvm::is_contained(llvm::successors(&b), &b);
  };
  const auto pairs = unsigned(llvm::count_if(f, leadsToItself)) / 2;
  unsigned rolled = 0;
  while (rolled < pairs && rerollOne(f, gang))
    ++rolled;
  return rolled != 0;
}

} // namespace ptxrun::simt
