#include "translate/simt/memory_order.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Local.h>

#include <map>

#include "translate/simt/cost.h"
#include "translate/simt/pieces.h"

namespace ptxrun::simt {
namespace {

using llvm::Instruction;
using llvm::Value;

/// Whether it does the same with each element of its operands, which are all vectors of numbers.
bool isOfElements(const Instruction &i) {
  if (!i.getType()->isVectorTy() || i.getType()->getScalarType()->isPointerTy() ||
      !isElementwise(i))
    return false;
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
  return llvm::all_of(call ? call->args() : i.operands(), [&](const Value *operand) {
    return operand->getType()->isVectorTy() &&
           !operand->getType()->getScalarType()->isPointerTy() &&
           elementCount(operand) == elementCount(&i);
  });
}

/// Whether each bit of the result comes of bits at the same place.
bool isBitwise(const Instruction &i) {
  return i.getType()->isIntOrIntVectorTy() &&
         (i.isBitwiseLogicOp() || llvm::isa<llvm::SelectInst>(i));
}

/// Whether both are the same operation, on vectors of any length.
bool areAlike(const Instruction &a, const Instruction &b) {
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&a);
  auto *other = llvm::dyn_cast<llvm::IntrinsicInst>(&b);
  return a.isSameOperationAs(&b, Instruction::CompareUsingScalarTypes) &&
         (!call || (other && call->getIntrinsicID() == other->getIntrinsicID()));
}

/// What is stored, or put together, in one block, computed anew.
class Rewriter {
 public:
  Rewriter(const llvm::LoopInfo &loops, unsigned vectorBits)
      : loops_(loops), vectorBits_(vectorBits) {}

  /// Null if it cannot be, or if it lies as it is computed.
  Value *valueFor(Instruction &root) {
    before_ = root.getNextNode();
    Value *old = &root;
    const unsigned whole = elementBits(old);
    const Value *first = originOf(old, 0, whole).first;
    const bool isWhole = first->getType()->isVectorTy() && elementBits(first) == whole;
    const unsigned parts = isWhole ? widthOfParts(first) : 0;
    Value *built = nullptr;
    if (parts != 0)
      built = inPieces(old, llvm::IntegerType::get(old->getContext(), parts));
    return built ? built : inPieces(old, old->getType()->getScalarType());
  }

  /// Whether what was computed so far was computed for these only.
  bool isForNothingBut(const llvm::SmallPtrSetImpl<Instruction *> &roots) const {
    llvm::SmallVector<const Instruction *> work(replaced_.begin(), replaced_.end());
    llvm::SmallPtrSet<const Instruction *, 16> seen;
    while (!work.empty())
      for (const llvm::User *user : work.pop_back_val()->users()) {
        auto *i = llvm::cast<Instruction>(user);
        if (replaced_.contains(i) || roots.contains(i))
          continue;
        if (!isMove(i))
          return false;
        if (seen.insert(i).second)
          work.push_back(i);
      }
    return true;
  }

  void forget() {
    for (Instruction *i : llvm::reverse(made_))
      i->eraseFromParent();
  }

 private:
  /// A register at a time: what is computed at once lives at once.
  Value *inPieces(Value *old, llvm::Type *scalar) {
    const unsigned bits = unsigned(scalar->getScalarSizeInBits()),
                   n = elementCount(old) * partsOf(old, scalar);
    const unsigned perRegister = vectorBits_ / std::max(1U, bits);
    const size_t made = made_.size(), replaced = replaced_.size(), known = added_.size();
    llvm::SmallVector<Value *> registers;
    for (unsigned first = 0; first < n; first += perRegister) {
      Pieces pieces;
      for (unsigned k = first; k < std::min(n, first + perRegister); ++k)
        pieces.push_back(originOf(old, k, bits));
      if (pieces.size() < 2 || pieces[0].first == pieces[1].first)
        break;
      registers.push_back(build(pieces, scalar));
      if (!registers.back())
        break;
    }
    if (!registers.empty() && registers.back() && llvm::isPowerOf2_64(registers.size()) &&
        registers.size() * elementCount(registers[0]) == n)
      return as(concatenated(registers), old->getType());
    while (made_.size() > made)
      made_.pop_back_val()->eraseFromParent();
    while (replaced_.size() > replaced)
      replaced_.pop_back();
    while (added_.size() > known)
      known_.erase(added_.pop_back_val());
    return nullptr;
  }

  Value *concatenated(llvm::SmallVector<Value *> parts) {
    while (parts.size() > 1) {
      llvm::SmallVector<Value *> wider;
      for (size_t k = 0; k < parts.size(); k += 2) {
        llvm::SmallVector<int> both;
        for (unsigned e = 0; e < 2 * elementCount(parts[k]); ++e)
          both.push_back(int(e));
        wider.push_back(
            noted(llvm::IRBuilder<>(before_).CreateShuffleVector(parts[k], parts[k + 1], both)));
      }
      parts = wider;
    }
    return parts[0];
  }

  /// A vector of these pieces, whose elements have a type of their width.
  Value *build(const Pieces &pieces, llvm::Type *scalar) {
    const std::pair key(pieces, scalar);
    if (auto known = known_.find(key); known != known_.end())
      return known->second;
    Value *built = atOnce(pieces, scalar);
    if (!built && made_.size() < kLimits.accesses.inMemoryOrder) {
      if (!(built = operation(pieces, scalar)))
        built = partsOfWider(pieces, scalar);
    }
    if (built)
      built = as(built, llvm::FixedVectorType::get(scalar, unsigned(pieces.size())));
    added_.push_back(known_.emplace(key, built).first);
    return built;
  }

  Value *as(Value *value, llvm::Type *type) {
    return value->getType() == type ? value
                                    : noted(llvm::IRBuilder<>(before_).CreateBitCast(value, type));
  }

  /// What needs no computation.
  Value *atOnce(const Pieces &pieces, llvm::Type *scalar) {
    const auto [first, from] = pieces[0];
    const unsigned n = unsigned(pieces.size());
    if (llvm::all_of(pieces, [](auto &e) { return llvm::isa<llvm::Constant>(e.first); }))
      return constants(pieces, scalar);
    if (!first->getType()->isVectorTy())
      return scalars(pieces, scalar);
    if (Value *row = loadsInARow(pieces, scalar))
      return row;
    for (unsigned k = 0; k < n; ++k)
      if (pieces[k] != Piece{first, from + k})
        return nullptr;
    const unsigned parts = partsOf(first, scalar), all = elementCount(first) * parts;
    if (from % n != 0)
      return nullptr;
    Value *whole = parts == 1 ? first : as(first, llvm::FixedVectorType::get(scalar, all));
    return all == n ? whole : select(whole, n, [&](unsigned k) { return from + k; });
  }

  /// Several loads whose memory lies in a row, as one.
  Value *loadsInARow(const Pieces &pieces, llvm::Type *scalar) {
    const llvm::DataLayout &layout = before_->getDataLayout();
    const Value *base = nullptr;
    llvm::LoadInst *first = nullptr, *last = nullptr;
    llvm::APInt next;
    for (size_t k = 0; k < pieces.size();) {
      auto *load = llvm::dyn_cast<llvm::LoadInst>(pieces[k].first);
      if (!load || !load->isSimple() || (first && load->getParent() != first->getParent()))
        return nullptr;
      const unsigned n = elementCount(load) * partsOf(load, scalar);
      for (unsigned e = 0; e < n; ++e)
        if (k + e >= pieces.size() || pieces[k + e] != Piece{load, e})
          return nullptr;
      llvm::APInt at(64, 0);
      const Value *root = load->getPointerOperand()->stripAndAccumulateConstantOffsets(
          layout, at, /*AllowNonInbounds=*/true);
      if (first && (root != base || at != next))
        return nullptr;
      if (!first) {
        first = last = load;
        base = root;
      }
      next = at + layout.getTypeStoreSize(load->getType());
      if (last->comesBefore(load))
        last = load;
      k += n;
    }
    if (elementCount(first) * partsOf(first, scalar) == pieces.size())
      return nullptr;
    const llvm::Instruction *earliest = last;
    for (auto &[value, at] : pieces)
      if (auto *load = llvm::cast<Instruction>(value); load->comesBefore(earliest))
        earliest = load;
    for (const Instruction *i = earliest; i != last; i = i->getNextNode())
      if (i->mayWriteToMemory())
        return nullptr;
    llvm::IRBuilder<> b(last);
    llvm::LoadInst *whole =
        b.CreateAlignedLoad(llvm::FixedVectorType::get(scalar, unsigned(pieces.size())),
                            first->getPointerOperand(), first->getAlign());
    whole->copyMetadata(*first, {llvm::LLVMContext::MD_invariant_load});
    return noted(whole);
  }

  static unsigned partsOf(const Value *v, const llvm::Type *scalar) {
    const unsigned bits = scalar->getScalarSizeInBits();
    return bits == 0 ? 1 : elementBits(v) / bits;
  }

  template <class Index> Value *select(Value *from, unsigned n, Index index) {
    llvm::SmallVector<int> mask;
    for (unsigned k = 0; k < n; ++k)
      mask.push_back(int(index(k)));
    return noted(llvm::IRBuilder<>(before_).CreateShuffleVector(from, mask));
  }

  static llvm::Constant *constants(const Pieces &pieces, llvm::Type *scalar) {
    llvm::SmallVector<llvm::Constant *> elements;
    for (auto &[value, at] : pieces) {
      const unsigned parts = partsOf(value, scalar);
      auto *element = llvm::cast<llvm::Constant>(value);
      if (element->getType()->isVectorTy())
        element = element->getAggregateElement(at / parts);
      if (element && parts > 1) {
        auto *whole = llvm::dyn_cast<llvm::ConstantInt>(element);
        const unsigned bits = scalar->getScalarSizeInBits();
        element =
            whole ? llvm::ConstantInt::get(scalar->getContext(),
                                           whole->getValue().extractBits(bits, at % parts * bits))
                  : nullptr;
      }
      if (!element || elementBits(element) != scalar->getScalarSizeInBits())
        return nullptr;
      elements.push_back(llvm::ConstantExpr::getBitCast(element, scalar));
    }
    return llvm::ConstantVector::get(elements);
  }

  /// The same scalar everywhere, or a few in turn.
  Value *scalars(const Pieces &pieces, llvm::Type *scalar) {
    const unsigned n = unsigned(pieces.size());
    for (unsigned period : {1U, 2U, 4U}) {
      bool isPeriod = n % period == 0;
      for (unsigned k = 0; k < n && isPeriod; ++k) {
        isPeriod = pieces[k] == pieces[k % period] && !pieces[k].first->getType()->isVectorTy() &&
                   elementBits(pieces[k].first) == scalar->getScalarSizeInBits();
      }
      if (!isPeriod)
        continue;
      Value *few = llvm::PoisonValue::get(llvm::FixedVectorType::get(scalar, period));
      for (unsigned k = 0; k < period; ++k)
        few = noted(
            llvm::IRBuilder<>(before_).CreateInsertElement(few, as(pieces[k].first, scalar), k));
      return select(few, n, [&](unsigned k) { return k % period; });
    }
    return nullptr;
  }

  /// The same part of each element of a wider vector (`x >> 16` of what was computed in 32 bits).
  Value *partsOfWider(const Pieces &pieces, llvm::Type *scalar) {
    if (!llvm::isa<Instruction>(pieces[0].first))
      return nullptr;
    llvm::Type *wider = pieces[0].first->getType()->getScalarType();
    const unsigned parts = partsOf(pieces[0].first, scalar);
    if (parts == 1 || !wider->isIntegerTy())
      return nullptr;
    Pieces of;
    for (auto &[value, at] : pieces) {
      if (value->getType()->getScalarType() != wider || at % parts != pieces[0].second % parts)
        return nullptr;
      of.push_back(originOf(value, at / parts, elementBits(value)));
    }
    Value *whole = build(of, wider);
    if (!whole)
      return nullptr;
    llvm::IRBuilder<> b(before_);
    const unsigned shift = pieces[0].second % parts * scalar->getScalarSizeInBits();
    Value *moved = noted(b.CreateLShr(whole, shift));
    return noted(b.CreateTrunc(moved, llvm::FixedVectorType::get(scalar, unsigned(pieces.size()))));
  }

  /// The same operation on all elements, or on all of these parts of them.
  Value *operation(const Pieces &pieces, llvm::Type *scalar) {
    auto *first = llvm::dyn_cast<Instruction>(pieces[0].first);
    if (!first || !isOfElements(*first))
      return nullptr;
    const unsigned parts = partsOf(first, scalar);
    if (parts != 1 && !isBitwise(*first))
      return nullptr;
    for (auto &[value, at] : pieces) {
      auto *i = llvm::dyn_cast<Instruction>(value);
      if (!i || !isOfElements(*i) || !areAlike(*first, *i) ||
          loops_.getLoopFor(i->getParent()) != loops_.getLoopFor(before_->getParent()))
        return nullptr;
    }
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(first);
    llvm::SmallVector<Value *> operands;
    for (unsigned k = 0; k < (call ? call->arg_size() : first->getNumOperands()); ++k) {
      llvm::Type *type = first->getOperand(k)->getType()->getScalarType();
      const bool isWhole = parts == 1 || type->isIntegerTy(1); // a condition of whole elements
      if (!isWhole)
        type = scalar;
      Pieces of;
      for (auto &[value, at] : pieces)
        of.push_back(originOf(llvm::cast<Instruction>(value)->getOperand(k),
                              isWhole ? at / parts : at, unsigned(type->getScalarSizeInBits())));
      operands.push_back(build(of, type));
      if (!operands.back())
        return nullptr;
    }
    Instruction *made =
        like(*first, operands, parts == 1 ? first->getType()->getScalarType() : scalar);
    for (auto &[value, at] : pieces) {
      if (!llvm::isa<llvm::BitCastInst>(value)) // which cost nothing
        replaced_.insert(llvm::cast<Instruction>(value));
      made->andIRFlags(value);
    }
    return noted(made);
  }

  Instruction *like(const Instruction &i, llvm::ArrayRef<Value *> operands, llvm::Type *scalar) {
    llvm::Type *type = llvm::FixedVectorType::get(scalar, elementCount(operands[0]));
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
  const unsigned vectorBits_;
  std::map<std::pair<Pieces, llvm::Type *>, Value *> known_;
  llvm::SmallVector<decltype(known_)::iterator> added_; ///< what is known, in order
  llvm::SmallSetVector<const Instruction *, 32> replaced_;
  llvm::SmallVector<Instruction *> made_; ///< in an order in which operands come first
  Instruction *before_ = nullptr;         ///< new code stands behind the first that it is for
};

/// Elements of one vector that lie in a row there, as they do in it.
bool isCut(const llvm::User *user) {
  auto *shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(user);
  int first;
  return shuffle &&
         llvm::ShuffleVectorInst::isExtractSubvectorMask(
             shuffle->getShuffleMask(), int(elementCount(shuffle->getOperand(0))), first);
}

bool isStored(const Instruction &i) {
  return llvm::any_of(i.uses(), [](const llvm::Use &use) {
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(use.getUser());
    return use.getOperandNo() == 0 &&
           (llvm::isa<llvm::StoreInst>(use.getUser()) ||
            (call && call->getIntrinsicID() == llvm::Intrinsic::masked_store));
  });
}

/// What is stored, in one piece or in several.
bool isOfStructures(const Instruction &i) {
  return llvm::isa<llvm::ShuffleVectorInst>(i) && !isCut(&i) &&
         (isStored(i) || llvm::any_of(i.users(), [](const llvm::User *user) {
            return isCut(user) && isStored(*llvm::cast<Instruction>(user));
          }));
}

/// `lo | hi << 16`, and not only a part of such.
bool isOfParts(const Instruction &i) {
  return i.getType()->isVectorTy() && widthOfParts(&i) != 0 &&
         llvm::none_of(i.users(), [](auto *user) { return widthOfParts(user) != 0; });
}

/// All of these or none: code that is needed in both orders would be there twice.
bool rewrite(llvm::ArrayRef<llvm::WeakVH> candidates, const llvm::LoopInfo &loops,
             unsigned vectorBits) {
  Rewriter rewriter(loops, vectorBits);
  std::vector<std::pair<llvm::WeakVH, Value *>> found;
  llvm::SmallPtrSet<Instruction *, 16> roots;
  for (const llvm::WeakVH &handle : candidates) {
    auto *root = llvm::cast_or_null<Instruction>(handle);
    if (Value *value = root ? rewriter.valueFor(*root) : nullptr) {
      found.emplace_back(root, value);
      roots.insert(root);
    }
  }
  if (found.empty() || !rewriter.isForNothingBut(roots)) {
    rewriter.forget();
    return false;
  }
  for (auto &[root, value] : found)
    if (root) { // else it was needed for another one only
      root->replaceAllUsesWith(value);
      llvm::RecursivelyDeleteTriviallyDeadInstructions(root);
    }
  return true;
}

bool rewrite(llvm::BasicBlock &block, const llvm::LoopInfo &loops, unsigned vectorBits) {
  auto those = [&](bool (*isOne)(const Instruction &)) {
    std::vector<llvm::WeakVH> found;
    for (Instruction &i : block)
      if (isOne(i))
        found.emplace_back(&i);
    return found;
  };
  bool isChanged = rewrite(those(isOfStructures), loops, vectorBits);
  const std::vector<llvm::WeakVH> parts = those(isOfParts);
  if (parts.empty() || rewrite(parts, loops, vectorBits))
    return isChanged || !parts.empty();
  for (const llvm::WeakVH &one : parts)
    isChanged |= rewrite(one, loops, vectorBits);
  return isChanged;
}

} // namespace

bool computeInMemoryOrder(llvm::Function &function, const Target &target) {
  if (llvm::none_of(llvm::instructions(function),
                    [](const Instruction &i) { return isOfStructures(i) || isOfParts(i); }))
    return false;
  const llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  bool isChanged = false;
  for (llvm::BasicBlock &block : function)
    isChanged |= rewrite(block, loops, target.vectorBits);
  return isChanged;
}

} // namespace ptxrun::simt
