#include "translate/simt/memory_order.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Local.h>

#include <map>

#include "translate/simt/cost.h"

namespace ptxrun::simt {
namespace {

using llvm::Instruction;
using llvm::Value;

unsigned length(const Value *v) {
  return llvm::cast<llvm::FixedVectorType>(v->getType())->getNumElements();
}

/// An element of a vector; of a scalar, the scalar.
using Element = std::pair<Value *, unsigned>;
using Elements = std::vector<Element>;

/// Where an element comes from, behind all that only moves it.
Element originOf(Value *vector, unsigned at) {
  for (;;) {
    if (auto *shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(vector)) {
      const int from = shuffle->getMaskValue(at);
      if (from < 0)
        return {llvm::PoisonValue::get(vector->getType()), 0};
      const unsigned n = length(shuffle->getOperand(0));
      vector = shuffle->getOperand(unsigned(from) < n ? 0 : 1);
      at = unsigned(from) % n;
      continue;
    }
    auto *insert = llvm::dyn_cast<llvm::InsertElementInst>(vector);
    auto *place = insert ? llvm::dyn_cast<llvm::ConstantInt>(insert->getOperand(2)) : nullptr;
    if (!place)
      return {vector, at};
    if (place->getZExtValue() == at)
      return {insert->getOperand(1), 0};
    vector = insert->getOperand(0);
  }
}

bool isMove(const Value *v) {
  return llvm::isa<llvm::ShuffleVectorInst, llvm::InsertElementInst>(v);
}

/// Whether it does the same with each element of its operands, which are all vectors.
bool isElementwise(const Instruction &i) {
  if (!i.getType()->isVectorTy() || i.getType()->getScalarType()->isPointerTy())
    return false;
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
  if (call ? !llvm::isTriviallyVectorizable(call->getIntrinsicID())
           : !llvm::isa<llvm::BinaryOperator, llvm::UnaryOperator, llvm::CastInst, llvm::CmpInst,
                        llvm::SelectInst>(i))
    return false;
  return llvm::all_of(call ? call->args() : i.operands(), [&](const Value *operand) {
    return operand->getType()->isVectorTy() &&
           !operand->getType()->getScalarType()->isPointerTy() && length(operand) == length(&i);
  });
}

/// Whether both are the same operation, on vectors of any length.
bool areAlike(const Instruction &a, const Instruction &b) {
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&a);
  auto *other = llvm::dyn_cast<llvm::IntrinsicInst>(&b);
  return a.isSameOperationAs(&b, Instruction::CompareUsingScalarTypes) &&
         (!call || (other && call->getIntrinsicID() == other->getIntrinsicID()));
}

/// The stores of one block, computed anew.
class Rewriter {
 public:
  explicit Rewriter(const llvm::LoopInfo &loops) : loops_(loops) {}

  /// Null if it cannot be.
  Value *valueFor(llvm::StoreInst &store) {
    Value *old = store.getValueOperand();
    Elements elements;
    for (unsigned k = 0; k < length(old); ++k)
      elements.push_back(originOf(old, k));
    if (elements.size() < 2 || elements[0].first == elements[1].first) // lies as it is computed
      return nullptr;
    before_ = &store;
    return build(elements);
  }

  /// Whether what was computed so far was computed for these stores only.
  bool isForNothingBut(const llvm::SmallPtrSetImpl<Instruction *> &stores) const {
    llvm::SmallVector<const Instruction *> work(replaced_.begin(), replaced_.end());
    llvm::SmallPtrSet<const Instruction *, 16> seen;
    while (!work.empty())
      for (const llvm::User *user : work.pop_back_val()->users()) {
        auto *i = llvm::cast<Instruction>(user);
        if (isMove(i) && seen.insert(i).second)
          work.push_back(i);
        else if (!isMove(i) && !replaced_.contains(i) && !stores.contains(i))
          return false;
      }
    return true;
  }

  void forget() {
    for (Instruction *i : llvm::reverse(made_))
      i->eraseFromParent();
  }

 private:
  Value *build(const Elements &elements) {
    if (auto known = known_.find(elements); known != known_.end())
      return known->second;
    Value *built = atOnce(elements);
    if (!built && made_.size() < kLimits.accesses.inMemoryOrder)
      built = operation(elements);
    return known_[elements] = built;
  }

  /// What needs no computation.
  Value *atOnce(const Elements &elements) {
    const auto [first, from] = elements[0];
    const unsigned n = unsigned(elements.size());
    if (llvm::all_of(elements, [](auto &e) { return llvm::isa<llvm::Constant>(e.first); })) {
      llvm::SmallVector<llvm::Constant *> constants;
      for (auto &[value, at] : elements) {
        auto *constant = llvm::cast<llvm::Constant>(value);
        constants.push_back(constant->getType()->isVectorTy() ? constant->getAggregateElement(at)
                                                              : constant);
        if (!constants.back())
          return nullptr;
      }
      return llvm::ConstantVector::get(constants);
    }
    llvm::IRBuilder<> b(before_);
    if (!first->getType()->isVectorTy())
      return llvm::all_of(elements, [&](auto &e) { return e.first == first; })
                 ? noted(b.CreateVectorSplat(n, first))
                 : nullptr;
    for (unsigned k = 0; k < n; ++k)
      if (elements[k] != Element{first, from + k})
        return nullptr;
    if (from == 0 && length(first) == n)
      return first;
    if (from % n != 0)
      return nullptr;
    llvm::SmallVector<int> part;
    for (unsigned k = 0; k < n; ++k)
      part.push_back(int(from + k));
    return noted(b.CreateShuffleVector(first, part));
  }

  /// The same operation on all elements.
  Value *operation(const Elements &elements) {
    auto *first = llvm::dyn_cast<Instruction>(elements[0].first);
    if (!first || !isElementwise(*first))
      return nullptr;
    for (auto &[value, at] : elements) {
      auto *i = llvm::dyn_cast<Instruction>(value);
      if (!i || !isElementwise(*i) || !areAlike(*first, *i) ||
          loops_.getLoopFor(i->getParent()) != loops_.getLoopFor(before_->getParent()))
        return nullptr;
    }
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(first);
    llvm::SmallVector<Value *> operands;
    for (unsigned k = 0; k < (call ? call->arg_size() : first->getNumOperands()); ++k) {
      Elements of;
      for (auto &[value, at] : elements)
        of.push_back(originOf(llvm::cast<Instruction>(value)->getOperand(k), at));
      operands.push_back(build(of));
      if (!operands.back())
        return nullptr;
    }
    Instruction *made = like(*first, operands);
    for (auto &[value, at] : elements) {
      replaced_.insert(llvm::cast<Instruction>(value));
      made->andIRFlags(value);
    }
    return noted(made);
  }

  Instruction *like(const Instruction &i, llvm::ArrayRef<Value *> operands) {
    llvm::Type *type =
        llvm::FixedVectorType::get(i.getType()->getScalarType(), length(operands[0]));
    llvm::IRBuilder<> b(before_);
    Instruction *made;
    if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i)) { // its name has the type
      made = b.CreateIntrinsic(type, call->getIntrinsicID(), operands);
      made->copyIRFlags(&i);
    } else {
      made = b.Insert(i.clone());
      made->dropUnknownNonDebugMetadata();
      made->mutateType(type);
      for (unsigned k = 0; k < operands.size(); ++k)
        made->setOperand(k, operands[k]);
    }
    made->setDebugLoc(i.getDebugLoc());
    return made;
  }

  Value *noted(Value *made) {
    if (auto *i = llvm::dyn_cast<Instruction>(made))
      made_.push_back(i);
    return made;
  }

  const llvm::LoopInfo &loops_;
  std::map<Elements, Value *> known_;
  llvm::SmallPtrSet<const Instruction *, 32> replaced_;
  std::vector<Instruction *> made_; ///< in an order in which operands come first
  Instruction *before_ = nullptr;   ///< new code stands before the first store that needs it
};

bool mayBeOfStructures(const Instruction &i) {
  auto *store = llvm::dyn_cast<llvm::StoreInst>(&i);
  return store && store->isSimple() && llvm::isa<llvm::ShuffleVectorInst>(store->getValueOperand());
}

/// All of a block's structures or none: code that is needed in both orders would be there twice.
bool rewrite(llvm::BasicBlock &block, const llvm::LoopInfo &loops) {
  Rewriter rewriter(loops);
  std::vector<std::pair<llvm::StoreInst *, Value *>> found;
  llvm::SmallPtrSet<Instruction *, 16> stores;
  for (Instruction &i : llvm::make_filter_range(block, mayBeOfStructures)) {
    auto *store = llvm::cast<llvm::StoreInst>(&i);
    if (Value *value = rewriter.valueFor(*store)) {
      found.emplace_back(store, value);
      stores.insert(store);
    }
  }
  if (found.empty() || !rewriter.isForNothingBut(stores)) {
    rewriter.forget();
    return false;
  }
  for (auto &[store, value] : found) {
    Value *old = store->getValueOperand();
    store->setOperand(0, value);
    llvm::RecursivelyDeleteTriviallyDeadInstructions(old);
  }
  return true;
}

} // namespace

bool computeInMemoryOrder(llvm::Function &function) {
  if (llvm::none_of(llvm::instructions(function), mayBeOfStructures))
    return false;
  const llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  bool isChanged = false;
  for (llvm::BasicBlock &block : function)
    isChanged |= rewrite(block, loops);
  return isChanged;
}

} // namespace ptxrun::simt
