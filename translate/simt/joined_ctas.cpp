#include "translate/simt/joined_ctas.h"

#include <llvm/Analysis/InstructionSimplify.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>

#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

using llvm::Instruction;
using llvm::Value;

/// One axis of the launch.
struct Axis {
  unsigned number;
  uint32_t own;    ///< %ntid
  uint32_t joined; ///< CTAs
  uint32_t threads() const { return own * joined; }
};

/// A multiple of %tid or %ctaid, in 32 bits or extended to 64.
struct Place {
  Op op = Op::none; ///< tid or ctaid
  uint64_t times = 0;
};

/// `v` as a multiple of a word of this axis.
Place placeIn(const Value *v, unsigned axis) {
  auto *i = llvm::dyn_cast<Instruction>(v);
  if (!i)
    return {};
  if (const Word word = wordAt(*i); word.kind != Word::Kind::none)
    return (word.op == Op::tid || word.op == Op::ctaid) && word.axis == axis ? Place{word.op, 1}
                                                                             : Place{};
  if (llvm::isa<llvm::ZExtInst, llvm::SExtInst>(i)) { // neither is negative
    auto *inner = llvm::dyn_cast<Instruction>(i->getOperand(0));
    const bool isWord = inner && wordAt(*inner).kind != Word::Kind::none;
    return isWord ? placeIn(inner, axis) : Place{};
  }
  const bool isProduct = i->getOpcode() == Instruction::Mul;
  if (!(isProduct || i->getOpcode() == Instruction::Shl) || !i->getType()->isIntegerTy() ||
      i->getType()->getIntegerBitWidth() > 64)
    return {};
  const bool isSwapped = isProduct && llvm::isa<llvm::ConstantInt>(i->getOperand(0));
  const auto *times = llvm::dyn_cast<llvm::ConstantInt>(i->getOperand(isSwapped ? 0 : 1));
  if (!times || (!isProduct && times->uge(64)))
    return {};
  Place inner = placeIn(i->getOperand(isSwapped ? 1 : 0), axis);
  inner.times *= isProduct ? times->getZExtValue() : uint64_t{1} << times->getZExtValue();
  return inner;
}

bool isSum(const Value *v) {
  auto *i = llvm::dyn_cast<llvm::BinaryOperator>(v);
  auto *either = llvm::dyn_cast<llvm::PossiblyDisjointInst>(v);
  return i && (i->getOpcode() == Instruction::Add || (either && either->isDisjoint()));
}

class Joiner {
 public:
  Joiner(llvm::Function &f, const Axis &axis) : f_(f), axis_(axis) {}

  /// Sums that are a multiple of the thread's place in the grid, along this axis, become that.
  void joinSums() {
    llvm::SmallVector<Instruction *> sums;
    for (Instruction &i : llvm::instructions(f_))
      if (isSum(&i))
        sums.push_back(&i);
    llvm::SmallVector<llvm::WeakTrackingVH> done;
    for (Instruction *sum : sums)
      if (joinSum(*sum))
        done.push_back(sum);
    llvm::RecursivelyDeleteTriviallyDeadInstructions(done);
  }

  /// What else is computed of the place.
  void replaceWords() {
    llvm::SmallVector<llvm::CallInst *> words;
    for (Instruction &i : llvm::instructions(f_))
      if (const Word word = wordAt(i); (word.op == Op::tid || word.op == Op::ctaid) &&
                                       word.axis == axis_.number && !made_.contains(&i))
        words.push_back(llvm::cast<llvm::CallInst>(&i));
    for (llvm::CallInst *word : words) {
      llvm::IRBuilder<> b(word->getNextNode());
      b.SetCurrentDebugLocation(word->getDebugLoc());
      Value *own = b.getInt32(axis_.own), *now = nullptr;
      if (wordAt(*word).op == Op::tid)
        now = b.CreateURem(threadWord(), own);
      else
        now = b.CreateAdd(b.CreateMul(ctaWord(), b.getInt32(axis_.joined), "", true, true),
                          b.CreateUDiv(threadWord(), own), "", true, true);
      word->replaceAllUsesWith(now);
      word->eraseFromParent();
    }
  }

  /// Threads of CTAs that the grid does not have return.
  void returnBeyondGrid() {
    Value *place = placeInGrid(); // before the block is split, in what stays of it
    llvm::BasicBlock *entry = &f_.getEntryBlock();
    Instruction *behind = llvm::cast<Instruction>(place)->getNextNode();
    llvm::IRBuilder<> b(behind);
    b.SetCurrentDebugLocation(llvm::cast<Instruction>(place)->getDebugLoc());
    Value *ctas = wordCall(b, nameOf(Op::nctaid));
    Value *end = b.CreateMul(ctas, b.getInt32(axis_.own), "", true, true);
    Value *isBeyond = b.CreateICmpUGE(place, end);
    llvm::BasicBlock *rest = llvm::SplitBlock(entry, behind);
    auto *out = llvm::BasicBlock::Create(f_.getContext(), "beyond", &f_, rest);
    llvm::ReturnInst::Create(f_.getContext(), out);
    llvm::ReplaceInstWithInst(entry->getTerminator(),
                              llvm::BranchInst::Create(out, rest, isBeyond));
  }

 private:
  bool joinSum(Instruction &sum) {
    llvm::SmallVector<Value *> terms{sum.getOperand(0), sum.getOperand(1)}, others;
    const Value *thread = nullptr;
    Place ofThread, ofCta;
    for (size_t n = 0; n < terms.size() && terms.size() <= kMostTerms; ++n) {
      const Place place = placeIn(terms[n], axis_.number);
      if (place.op == Op::tid && !thread) {
        thread = terms[n], ofThread = place;
      } else if (place.op == Op::ctaid && ofCta.op == Op::none) {
        ofCta = place;
      } else if (isSum(terms[n])) {
        auto *inner = llvm::cast<Instruction>(terms[n]);
        terms.append(inner->value_op_begin(), inner->value_op_end());
      } else {
        others.push_back(terms[n]);
      }
    }
    const uint64_t mask = llvm::maskTrailingOnes<uint64_t>(sum.getType()->getScalarSizeInBits());
    if (!thread || ofCta.op == Op::none || terms.size() > kMostTerms ||
        ((ofThread.times * axis_.own ^ ofCta.times) & mask) != 0)
      return false;
    llvm::IRBuilder<> b(&sum);
    Value *joined = b.CreateZExt(placeInGrid(), sum.getType());
    if (ofThread.times != 1)
      joined = b.CreateMul(joined, llvm::ConstantInt::get(sum.getType(), ofThread.times));
    for (Value *other : others)
      joined = b.CreateAdd(joined, other);
    sum.replaceAllUsesWith(joined);
    return true;
  }

  std::string nameOf(Op op) const {
    return std::string(wordFor(op).name) + "." + "xyz"[axis_.number];
  }

  llvm::CallInst *wordCall(llvm::IRBuilder<> &b, const std::string &name) {
    auto word =
        f_.getParent()->getOrInsertFunction(name, llvm::FunctionType::get(b.getInt32Ty(), false));
    auto *callee = llvm::cast<llvm::Function>(word.getCallee());
    callee->setSpeculatable();
    callee->setDoesNotAccessMemory();
    callee->setDoesNotThrow();
    callee->setWillReturn();
    return b.CreateCall(word);
  }

  /// The word at the function's start.
  Value *wordAtStart(Value *&known, Op op, uint32_t end) {
    if (!known) {
      llvm::IRBuilder<> b(&*f_.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
      llvm::CallInst *call = wordCall(b, nameOf(op));
      call->setMetadata(
          llvm::LLVMContext::MD_range,
          llvm::MDBuilder(f_.getContext()).createRange(llvm::APInt(32, 0), llvm::APInt(32, end)));
      if (const Instruction *next = call->getNextNode())
        call->setDebugLoc(next->getDebugLoc());
      made_.insert(call);
      known = call;
    }
    return known;
  }
  Value *threadWord() { return wordAtStart(thread_, Op::tid, axis_.threads()); }
  Value *ctaWord() { return wordAtStart(cta_, Op::ctaid, INT32_MAX); }

  Value *placeInGrid() {
    if (!place_) {
      Value *thread = threadWord(), *cta = ctaWord();
      auto *first = llvm::cast<Instruction>(thread), *second = llvm::cast<Instruction>(cta);
      llvm::IRBuilder<> b((second->comesBefore(first) ? first : second)->getNextNode());
      b.SetCurrentDebugLocation(first->getDebugLoc());
      Value *begin = b.CreateMul(cta, b.getInt32(axis_.threads()), "", true, true);
      place_ = b.CreateAdd(begin, thread, "", true, true);
    }
    return place_;
  }

  static constexpr size_t kMostTerms = 8;
  llvm::Function &f_;
  const Axis axis_;
  Value *thread_ = nullptr, *cta_ = nullptr, *place_ = nullptr;
  llvm::SmallPtrSet<const Value *, 4> made_;
};

/// %ntid is known where CTAs are joined.
void foldExtent(llvm::Function &f, const Axis &axis) {
  llvm::SmallVector<llvm::WeakTrackingVH> extents;
  for (Instruction &i : llvm::instructions(f))
    if (const Word word = wordAt(i); word.op == Op::ntid && word.axis == axis.number)
      extents.push_back(&i);
  for (const llvm::WeakTrackingVH &extent : extents) {
    auto *i = llvm::cast<Instruction>(extent);
    llvm::replaceAndRecursivelySimplify(i, llvm::ConstantInt::get(i->getType(), axis.own));
  }
}

} // namespace

void joinCtas(llvm::Module &m, llvm::Function &kernel, CodeOptions &options) {
  for (unsigned a = 0; a < 3; ++a) {
    const Axis axis{a, options.block[a], options.joinedCtas[a]};
    for (llvm::Function &f : m) {
      if (f.isDeclaration())
        continue;
      foldExtent(f, axis);
      if (axis.joined == 1)
        continue;
      Joiner joiner(f, axis);
      joiner.joinSums();
      joiner.replaceWords();
      if (&f == &kernel && a == 0)
        joiner.returnBeyondGrid();
    }
  }
  for (unsigned a = 0; a < 3; ++a)
    options.block[a] *= options.joinedCtas[a];
}

} // namespace ptxrun::simt
