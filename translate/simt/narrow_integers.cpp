#include "translate/simt/narrow_integers.h"

#include <llvm/ADT/EquivalenceClasses.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <optional>

#include "translate/simt/cost.h"

namespace ptxrun::simt {
namespace {

using llvm::ConstantRange;
using llvm::Instruction;
using llvm::Value;

constexpr unsigned kWide = 32, kNarrow = 16;

/// How a 32-bit number follows from its lower 16 bits.
enum class Reading { none, zeroExtended, signExtended };

bool isUnsignedShort(const ConstantRange &r) {
  return r.getUnsignedMax().getActiveBits() <= kNarrow;
}
bool isSignedShort(const ConstantRange &r) {
  return r.getSignedMin().getSignificantBits() <= kNarrow &&
         r.getSignedMax().getSignificantBits() <= kNarrow;
}
Reading readingOf(const ConstantRange &r) {
  return isUnsignedShort(r) ? Reading::zeroExtended
         : isSignedShort(r) ? Reading::signExtended
                            : Reading::none;
}

/// Two numbers that are compared, of which one becomes the result or a condition.
Reading commonReading(const ConstantRange &a, const ConstantRange &b) {
  return readingOf(a.unionWith(b));
}

class Narrowing {
 public:
  Narrowing(llvm::Function &f, const GangShape &gang) : f_(f), gang_(gang) {}

  bool run() {
    for (llvm::BasicBlock *block : llvm::ReversePostOrderTraversal<llvm::Function *>(&f_))
      for (Instruction &i : *block)
        if (const auto range = rangeIfNarrow(i))
          members_.insert({&i, *range});
    join();
    llvm::SmallVector<Instruction *> chosen;
    for (auto &[i, range] : members_)
      if (gains_.lookup(groups_.getLeaderValue(i)) > 0)
        chosen.push_back(i);
    for (Instruction *i : chosen)
      narrow_[i] = narrowed(*i);
    for (Instruction *i : chosen)
      replaceUses(*i);
    for (Instruction *i : llvm::reverse(chosen))
      i->eraseFromParent();
    return !chosen.empty();
  }

 private:
  static bool isExtension(const Value *v) {
    return llvm::isa<llvm::ZExtInst, llvm::SExtInst>(v) && v->getType()->isIntegerTy(kWide) &&
           llvm::cast<Instruction>(v)->getOperand(0)->getType()->getIntegerBitWidth() <= kNarrow;
  }

  /// Of a constant, an extension or a member; nothing of other values.
  std::optional<ConstantRange> rangeOf(Value *v) const {
    if (!v->getType()->isIntegerTy(kWide))
      return std::nullopt;
    if (auto *c = llvm::dyn_cast<llvm::ConstantInt>(v)) {
      const ConstantRange range(c->getValue());
      return readingOf(range) == Reading::none ? std::nullopt : std::optional(range);
    }
    if (auto it = members_.find(llvm::dyn_cast<Instruction>(v)); it != members_.end())
      return it->second;
    if (!isExtension(v))
      return std::nullopt;
    const auto *i = llvm::cast<Instruction>(v);
    const auto all = ConstantRange::getFull(i->getOperand(0)->getType()->getIntegerBitWidth());
    return llvm::isa<llvm::ZExtInst>(v) ? all.zeroExtend(kWide) : all.signExtend(kWide);
  }

  /// The numbers an operation gives that can be done in 16 bits: nothing for others.
  std::optional<ConstantRange> rangeIfNarrow(Instruction &i) {
    const auto range = i.getType()->isIntegerTy(kWide) ? resultOf(i) : std::nullopt;
    if (!range || readingOf(*range) == Reading::none)
      return std::nullopt;
    if (!shapes_)
      shapes_.emplace(f_, gang_, false);
    return shapes_->shape(&i).isVarying() ? range : std::nullopt;
  }

  std::optional<ConstantRange> resultOf(Instruction &i) const {
    using llvm::Intrinsic::ID;
    if (auto *select = llvm::dyn_cast<llvm::SelectInst>(&i)) {
      const auto a = rangeOf(select->getTrueValue()), b = rangeOf(select->getFalseValue());
      return a && b ? std::optional(a->unionWith(*b)) : std::nullopt;
    }
    if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i)) {
      const ID id = call->getIntrinsicID();
      if (id == llvm::Intrinsic::abs) {
        const auto a = rangeOf(call->getArgOperand(0));
        return a && isSignedShort(*a) ? std::optional(a->abs()) : std::nullopt;
      }
      if (!llvm::isa<llvm::MinMaxIntrinsic>(call))
        return std::nullopt;
      const auto a = rangeOf(call->getArgOperand(0)), b = rangeOf(call->getArgOperand(1));
      if (!a || !b || commonReading(*a, *b) == Reading::none)
        return std::nullopt;
      return ConstantRange::intrinsic(id, {*a, *b});
    }
    auto *operation = llvm::dyn_cast<llvm::BinaryOperator>(&i);
    const auto a = operation ? rangeOf(operation->getOperand(0)) : std::nullopt;
    const auto b = a ? rangeOf(operation->getOperand(1)) : std::nullopt;
    if (!b)
      return std::nullopt;
    switch (operation->getOpcode()) {
    case Instruction::Add:
    case Instruction::Sub:
    case Instruction::Mul:
    case Instruction::And:
    case Instruction::Or:
    case Instruction::Xor: // the lower bits follow from those of the operands
      return a->binaryOp(operation->getOpcode(), *b);
    case Instruction::Shl:
    case Instruction::LShr:
    case Instruction::AShr: {
      const bool isLeft = operation->getOpcode() == Instruction::Shl;
      const bool isArithmetic = operation->getOpcode() == Instruction::AShr;
      if (!b->isSingleElement() || b->getSingleElement()->uge(kNarrow) ||
          (!isLeft && !isUnsignedShort(*a) && !(isArithmetic && isSignedShort(*a))))
        return std::nullopt;
      return a->binaryOp(operation->getOpcode(), *b);
    }
    default:
      return std::nullopt;
    }
  }

  /// A use that takes 16 bits as well as 32.
  bool takesNarrow(const Instruction &user) const {
    if (auto *compared = llvm::dyn_cast<llvm::ICmpInst>(&user)) {
      const auto a = rangeOf(compared->getOperand(0)), b = rangeOf(compared->getOperand(1));
      return a && b && commonReading(*a, *b) != Reading::none;
    }
    return llvm::isa<llvm::TruncInst>(user) && user.getType()->getIntegerBitWidth() <= kNarrow;
  }

  /// A condition by which wider values are selected.
  static bool isMaskOfWide(const Instruction &condition) {
    return llvm::isa<llvm::ICmpInst>(condition) &&
           llvm::any_of(condition.users(), [](const llvm::User *u) {
             return llvm::isa<llvm::SelectInst>(u) && u->getType()->getScalarSizeInBits() > kNarrow;
           });
  }

  bool isMember(const Value *v) const {
    return members_.contains(const_cast<Instruction *>(llvm::dyn_cast<Instruction>(v)));
  }

  /// Operations that use each other are narrowed together or not at all. What that saves: half the
  /// registers of each, of extensions that nothing else uses, and of what takes results; what it
  /// costs: extensions of results.
  void join() {
    const auto &gain = kLimits.narrowing;
    llvm::DenseSet<const Value *> seen;
    llvm::MapVector<Instruction *, int> own;
    for (auto &[i, range] : members_) {
      groups_.insert(i);
      for (Value *operand : i->operands())
        if (isMember(operand))
          groups_.unionSets(i, llvm::cast<Instruction>(operand));
        else if (isExtension(operand) && seen.insert(operand).second)
          own[i] += llvm::all_of(operand->users(),
                                 [&](const llvm::User *u) {
                                   return isMember(u) || takesNarrow(*llvm::cast<Instruction>(u));
                                 })
                        ? gain.ofEach
                        : -gain.ofEach;
      own[i] += gain.ofEach;
      bool isWanted = false;
      for (const llvm::User *u : i->users()) {
        const auto &user = *llvm::cast<Instruction>(u);
        if (takesNarrow(user))
          own[i] += isMaskOfWide(user) ? -gain.ofExtension : gain.ofEach;
        else
          isWanted |= !isMember(&user);
      }
      own[i] -= isWanted ? gain.ofExtension : 0;
    }
    for (auto &[i, value] : own)
      gains_[groups_.getLeaderValue(i)] += value;
  }

  Value *narrowOf(Value *v, llvm::IRBuilder<> &b) {
    llvm::Type *type = b.getIntNTy(kNarrow);
    if (auto *c = llvm::dyn_cast<llvm::ConstantInt>(v))
      return llvm::ConstantInt::get(type, c->getValue().trunc(kNarrow));
    if (Value *known = narrow_.lookup(v))
      return known;
    auto &extension = *llvm::cast<llvm::CastInst>(v);
    llvm::IRBuilder<> at(&extension);
    Value *from = extension.getOperand(0);
    return narrow_[v] = from->getType() == type
                            ? from
                            : at.CreateCast(extension.getOpcode(), from, type, v->getName());
  }

  Value *narrowed(Instruction &i) {
    llvm::IRBuilder<> b(&i);
    const auto operand = [&](unsigned n) { return narrowOf(i.getOperand(n), b); };
    if (auto *select = llvm::dyn_cast<llvm::SelectInst>(&i))
      return b.CreateSelect(select->getCondition(), operand(1), operand(2), i.getName(), select);
    if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i)) {
      if (call->getIntrinsicID() == llvm::Intrinsic::abs)
        return b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, operand(0), b.getFalse());
      const bool isUnsigned = common(i.getOperand(0), i.getOperand(1)) == Reading::zeroExtended;
      return b.CreateBinaryIntrinsic(isUnsigned ? unsignedOf(call->getIntrinsicID())
                                                : call->getIntrinsicID(),
                                     operand(0), operand(1));
    }
    auto opcode = llvm::cast<llvm::BinaryOperator>(i).getOpcode();
    if (opcode == Instruction::AShr && isUnsignedShort(*rangeOf(i.getOperand(0))))
      opcode = Instruction::LShr;
    return b.CreateBinOp(opcode, operand(0), operand(1), i.getName());
  }

  Reading common(Value *a, Value *b) const { return commonReading(*rangeOf(a), *rangeOf(b)); }

  /// Numbers of 32 bits that are not negative compare the same either way.
  static llvm::Intrinsic::ID unsignedOf(llvm::Intrinsic::ID id) {
    return id == llvm::Intrinsic::smin   ? llvm::Intrinsic::umin
           : id == llvm::Intrinsic::smax ? llvm::Intrinsic::umax
                                         : id;
  }

  bool isNarrowNow(Value *v) const {
    return llvm::isa<llvm::ConstantInt>(v) || isExtension(v) || narrow_.contains(v);
  }

  void replaceUses(Instruction &i) {
    const llvm::SetVector<llvm::User *> users(i.user_begin(), i.user_end());
    Value *wide = nullptr;
    for (llvm::User *u : users) {
      auto &user = *llvm::cast<Instruction>(u);
      if (narrow_.contains(&user))
        continue; // goes
      llvm::IRBuilder<> b(&user);
      Value *instead = nullptr;
      if (llvm::isa<llvm::TruncInst>(user) && takesNarrow(user)) {
        instead = b.CreateTrunc(narrow_.lookup(&i), user.getType(), user.getName());
      } else if (auto *compared = llvm::dyn_cast<llvm::ICmpInst>(&user);
                 compared && takesNarrow(user) && isNarrowNow(compared->getOperand(0)) &&
                 isNarrowNow(compared->getOperand(1))) {
        Value *left = compared->getOperand(0), *right = compared->getOperand(1);
        const auto predicate = common(left, right) == Reading::zeroExtended
                                   ? compared->getUnsignedPredicate()
                                   : compared->getPredicate();
        instead = b.CreateICmp(predicate, narrowOf(left, b), narrowOf(right, b), user.getName());
      }
      if (instead) {
        user.replaceAllUsesWith(instead);
        user.eraseFromParent();
        continue;
      }
      if (!wide) {
        b.SetInsertPoint(i.getNextNode());
        b.SetCurrentDebugLocation(i.getDebugLoc());
        wide = readingOf(*rangeOf(&i)) == Reading::zeroExtended
                   ? b.CreateZExt(narrow_.lookup(&i), i.getType(), i.getName())
                   : b.CreateSExt(narrow_.lookup(&i), i.getType(), i.getName());
      }
      user.replaceUsesOfWith(&i, wide);
    }
  }

  llvm::Function &f_;
  const GangShape &gang_;
  std::optional<ShapeAnalysis> shapes_;                   ///< once there is something to ask
  llvm::MapVector<Instruction *, ConstantRange> members_; ///< in the order of control
  llvm::EquivalenceClasses<Instruction *> groups_;
  llvm::DenseMap<Instruction *, int> gains_; ///< of a group, by its leader
  llvm::DenseMap<Value *, Value *> narrow_;
};

} // namespace

bool narrowIntegers(llvm::Function &f, const GangShape &gang, const Target &target) {
  return gang.lanes * kWide > target.vectorBits && Narrowing(f, gang).run();
}

} // namespace ptxrun::simt
