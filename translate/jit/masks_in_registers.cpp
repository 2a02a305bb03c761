#include "translate/jit/masks_in_registers.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include "translate/jit/register_parts.h"

namespace ptxrun::jit {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

/// The masks of one number of lanes in a block that are joined with each other.
class JoinedMasks {
 public:
  JoinedMasks(BasicBlock &block, unsigned lanes, unsigned vectorBytes)
      : block_(block), lanes_(lanes), vectorBits_(8 * vectorBytes) {}

  /// `mask` and what it is joined with.
  void add(Instruction &mask) {
    SmallVector<Instruction *> stack{&mask};
    while (!stack.empty()) {
      Instruction *i = stack.pop_back_val();
      if (!isPart(i) || !masks_.insert(i))
        continue;
      if (!isa<CmpInst>(i))
        for (Value *operand : i->operands())
          if (auto *joined = dyn_cast<Instruction>(operand))
            stack.push_back(joined);
      for (User *user : i->users())
        if (isJoint(*user))
          stack.push_back(cast<Instruction>(user));
    }
  }
  bool contains(const Instruction *mask) const {
    return masks_.contains(const_cast<Instruction *>(mask));
  }

  /// Whether most of what the masks are made of and made for has 32 or 64 bits, and several
  /// registers hold them; settles which.
  bool areWorthIt() {
    for (const Instruction *mask : masks_) {
      if (isa<CmpInst>(mask))
        count(mask->getOperand(0)->getType());
      else
        for (const Value *operand : mask->operands())
          others_ += isMask(operand) && !isa<Constant>(operand) && !isOne(operand);
      for (const User *user : mask->users())
        if (auto *i = cast<Instruction>(user); !contains(i))
          count(typeUnder(*i));
    }
    bits_ = longs_ > words_ ? 64 : 32;
    return words_ + longs_ > others_ && lanes_ > each() && lanes_ % each() == 0;
  }

  void split(SmallVectorImpl<WeakTrackingVH> &replaced) {
    SmallVector<Instruction *> ordered(masks_.begin(), masks_.end());
    sort(ordered, [](const Instruction *x, const Instruction *y) { return x->comesBefore(y); });
    for (Instruction *mask : ordered)
      parts_[mask] = partsOf(*mask);
    for (Instruction *mask : ordered) {
      const SmallSetVector<User *, 8> users(mask->user_begin(), mask->user_end());
      for (User *user : users)
        if (auto *i = cast<Instruction>(user); !contains(i))
          give(*mask, *i, replaced);
      replaced.emplace_back(mask);
    }
  }

 private:
  using Parts = SmallVector<Value *, 8>;

  bool isMask(const Value *v) const {
    auto *type = dyn_cast<FixedVectorType>(v->getType());
    return type && type->getElementType()->isIntegerTy(1) && type->getNumElements() == lanes_;
  }
  bool isOne(const Value *v) const {
    auto *i = dyn_cast<Instruction>(v);
    return i && contains(i);
  }
  static bool isJoint(const User &user) {
    auto *i = cast<Instruction>(&user);
    return i->isBitwiseLogicOp() || isa<FreezeInst>(i) ||
           (isa<SelectInst>(i) && i->getType()->isVectorTy());
  }
  bool isPart(Instruction *i) const {
    if (i->getParent() != &block_ || !isMask(i))
      return false;
    if (!isa<CmpInst>(i))
      return isJoint(*i);
    const unsigned bits = i->getOperand(0)->getType()->getScalarSizeInBits();
    return bits == 32 || bits == 64;
  }

  void count(const Type *type) {
    const Type *element = type ? type->getScalarType() : nullptr;
    const unsigned bits = !element                 ? 0
                          : element->isPointerTy() ? 64
                                                   : element->getScalarSizeInBits();
    ++(bits == 32 ? words_ : bits == 64 ? longs_ : others_);
  }
  /// Of what somebody chooses, accesses or makes by the mask; null if the mask goes there as bytes.
  const Type *typeUnder(const Instruction &user) const {
    if (user.getParent() != &block_)
      return nullptr;
    if (isa<SExtInst, ZExtInst, SelectInst>(user))
      return user.getType();
    if (auto *access = dyn_cast<IntrinsicInst>(&user))
      switch (access->getIntrinsicID()) {
      case Intrinsic::masked_store:
      case Intrinsic::masked_scatter:
        return access->getArgOperand(0)->getType();
      case Intrinsic::masked_load:
      case Intrinsic::masked_gather:
        return access->getType();
      default:
        break;
      }
    return nullptr;
  }

  unsigned each() const { return vectorBits_ / bits_; }
  FixedVectorType *numbers(LLVMContext &c) const {
    return FixedVectorType::get(Type::getIntNTy(c, bits_), each());
  }
  Parts partsOf(Instruction &i) {
    IRBuilder<> ir(&i);
    Parts made;
    for (unsigned k = 0; k < lanes_ / each(); ++k)
      made.push_back(partOf(ir, i, k));
    return made;
  }
  Value *partOf(IRBuilder<> &ir, Instruction &i, unsigned k) {
    if (auto *compare = dyn_cast<CmpInst>(&i))
      return comparedAsNumbers(ir, *compare, k * each(), numbers(i.getContext()));
    const auto of = [&](unsigned operand) { return operandsPart(ir, i.getOperand(operand), k); };
    if (isa<FreezeInst>(i))
      return ir.CreateFreeze(of(0));
    if (auto *choice = dyn_cast<SelectInst>(&i)) {
      Value *condition = choice->getCondition();
      return ir.CreateSelect(condition->getType()->isVectorTy() ? ir.CreateIsNeg(of(0)) : condition,
                             of(1), of(2));
    }
    return ir.CreateBinOp(cast<BinaryOperator>(i).getOpcode(), of(0), of(1));
  }
  Value *operandsPart(IRBuilder<> &ir, Value *v, unsigned k) {
    if (auto *i = dyn_cast<Instruction>(v); i && contains(i))
      return parts_[i][k];
    return ir.CreateSExt(part(ir, v, k * each(), each()), numbers(v->getContext()));
  }

  /// The mask to one who is none of them.
  void give(Instruction &mask, Instruction &user, SmallVectorImpl<WeakTrackingVH> &replaced) {
    if (user.getParent() != &block_ || isa<PHINode>(user)) {
      Value *&bytes = bytes_[&mask];
      IRBuilder<> ir(mask.getNextNode());
      if (!bytes)
        bytes = ir.CreateIsNeg(concatenateVectors(ir, parts_[&mask]));
      user.replaceUsesOfWith(&mask, bytes);
      return;
    }
    IRBuilder<> ir(&user);
    Value *all = concatenateVectors(ir, parts_[&mask]);
    const unsigned bits = user.getType()->getScalarSizeInBits();
    if (!isa<SExtInst, ZExtInst>(user) || bits < 32) {
      user.replaceUsesOfWith(&mask, ir.CreateIsNeg(all));
      return;
    }
    Value *number = ir.CreateSExtOrTrunc(all, user.getType());
    if (isa<ZExtInst>(user)) {
      addByIt(user, number, replaced);
      number = ir.CreateLShr(number, bits - 1);
    }
    user.replaceAllUsesWith(number);
    replaced.emplace_back(&user);
  }

  /// x + zeroOrOne is x - number, which is 0 or -1.
  static void addByIt(Instruction &zeroOrOne, Value *number,
                      SmallVectorImpl<WeakTrackingVH> &replaced) {
    const SmallSetVector<User *, 4> users(zeroOrOne.user_begin(), zeroOrOne.user_end());
    for (User *user : users) {
      Value *other;
      if (!match(user, m_c_Add(m_Specific(&zeroOrOne), m_Value(other))) || other == &zeroOrOne)
        continue;
      IRBuilder<> ir(cast<Instruction>(user));
      user->replaceAllUsesWith(ir.CreateSub(other, number));
      replaced.emplace_back(user);
    }
  }

  BasicBlock &block_;
  const unsigned lanes_, vectorBits_;
  unsigned bits_ = 32; ///< of an element of the numbers
  SmallSetVector<Instruction *, 16> masks_;
  /// Of what they are made of and made for, by its width.
  unsigned words_ = 0, longs_ = 0, others_ = 0;
  DenseMap<const Instruction *, Parts> parts_;   ///< in each register
  DenseMap<const Instruction *, Value *> bytes_; ///< what goes elsewhere
};

} // namespace

void keepMasksInRegisters(Function &function, unsigned vectorBytes) {
  SmallVector<WeakTrackingVH> replaced;
  for (BasicBlock &block : function) {
    SmallVector<Instruction *> joints;
    for (Instruction &i : block)
      if (auto *type = dyn_cast<FixedVectorType>(i.getType());
          type && type->getElementType()->isIntegerTy(1) &&
          (i.isBitwiseLogicOp() || isa<SelectInst>(i)) && type->getNumElements() > vectorBytes / 8)
        joints.push_back(&i);
    SmallPtrSet<Instruction *, 16> done;
    for (Instruction *joint : joints) {
      if (done.contains(joint))
        continue;
      JoinedMasks masks(block, cast<FixedVectorType>(joint->getType())->getNumElements(),
                        vectorBytes);
      masks.add(*joint);
      for (Instruction *other : joints)
        if (masks.contains(other))
          done.insert(other);
      if (masks.areWorthIt())
        masks.split(replaced);
    }
  }
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(replaced);
}

} // namespace ptxrun::jit
