#include "translate/lower/canonical_nan.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

namespace ptxrun::lower {

using namespace llvm;

namespace {

constexpr StringLiteral kBlind = "ptx.nan.blind";

bool isBlind(const Value *value) {
  auto *instruction = dyn_cast<Instruction>(value);
  return instruction && instruction->hasMetadataOtherThanDebugLoc() &&
         instruction->hasMetadata(kBlind);
}

/// A function of the lane library, not of the PTX.
bool isLibrary(const Function &function) {
  return function.hasFnAttribute(Attribute::AlwaysInline) && function.getName().starts_with("ptx_");
}

bool isNarrowFloat(const Type *type) { return type->isFloatTy() || type->isHalfTy(); }

/// The float of as many bits; null if there is none.
Type *floatOf(Type *type) {
  if (isNarrowFloat(type))
    return type;
  return type->isIntegerTy(32)   ? Type::getFloatTy(type->getContext())
         : type->isIntegerTy(16) ? Type::getHalfTy(type->getContext())
                                 : nullptr;
}

const Function *calleeOf(const Instruction &instruction) {
  auto *call = dyn_cast<CallInst>(&instruction);
  return call ? call->getCalledFunction() : nullptr;
}

bool isShuffle(const Instruction &instruction) {
  const Function *callee = calleeOf(instruction);
  return callee && callee->getName().starts_with("ptx.shfl.sync.");
}

/// What operations make and see of NaN, where some types have one for all.
class Rules {
 protected:
  explicit Rules(bool hasOneDouble) : hasOneDouble_(hasOneDouble) {}

  bool isOurs(const Type *type) const {
    return isNarrowFloat(type) || (hasOneDouble_ && type->isDoubleTy());
  }
  Type *ourFloatOf(Type *type) const {
    if (hasOneDouble_ && (type->isDoubleTy() || type->isIntegerTy(64)))
      return Type::getDoubleTy(type->getContext());
    return floatOf(type);
  }

  /// Whether any NaN may come out, and which one is the CPU's choice.
  bool isArithmetic(const Value *value) const {
    auto *instruction = dyn_cast<Instruction>(value);
    if (!instruction || !isOurs(instruction->getType()) || isBlind(instruction))
      return false;
    switch (instruction->getOpcode()) {
    case Instruction::FAdd:
    case Instruction::FSub:
    case Instruction::FMul:
    case Instruction::FDiv:
    case Instruction::FPTrunc:
      return true;
    default:
      break;
    }
    if (auto *call = dyn_cast<IntrinsicInst>(instruction))
      return is_contained({Intrinsic::fma, Intrinsic::sqrt, Intrinsic::trunc, Intrinsic::floor,
                           Intrinsic::ceil, Intrinsic::roundeven},
                          call->getIntrinsicID());
    const Function *callee = calleeOf(*instruction);
    return callee && (isLibrary(*callee) || callee->getName().starts_with("ptx.rounded."));
  }

  /// Chooses among operands of its own size, or is one.
  bool isChoice(const Value *value) const {
    auto *instruction = dyn_cast<Instruction>(value);
    if (!instruction || !ourFloatOf(instruction->getType()) || isBlind(instruction))
      return false;
    if (isa<BitCastInst>(instruction))
      return ourFloatOf(instruction->getOperand(0)->getType());
    return isa<PHINode, SelectInst, FreezeInst>(instruction);
  }

  /// The sign of a zero in `|x| < smallest ? copysign(0, x) : x`, which is never that of a NaN.
  bool isFlushedSign(const Instruction &instruction, const Value *x) const {
    using namespace PatternMatch;
    if (!match(&instruction, m_Intrinsic<Intrinsic::copysign>(m_PosZeroFP(), m_Specific(x))))
      return false;
    return all_of(instruction.users(), [&](const User *user) {
      FCmpInst::Predicate predicate;
      return match(user, m_Select(m_FCmp(predicate, m_FAbs(m_Specific(x)), m_Value()),
                                  m_Specific(&instruction), m_Specific(x))) &&
             FCmpInst::isOrdered(predicate);
    });
  }

  /// Whether the operation is the same for every NaN: arithmetic, comparisons, conversions.
  bool ignoresBits(const Use &use) const {
    const auto &user = *cast<Instruction>(use.getUser());
    if (isBlind(&user) || isArithmetic(&user) || isa<FCmpInst, FPToSIInst, FPToUIInst>(user))
      return true;
    if (isa<SelectInst>(user))
      return use.getOperandNo() == 0;
    if (auto *call = dyn_cast<IntrinsicInst>(&user))
      switch (call->getIntrinsicID()) {
      case Intrinsic::fptosi_sat:
      case Intrinsic::fptoui_sat:
      case Intrinsic::is_fpclass:
        return true;
      case Intrinsic::copysign:
        return isFlushedSign(user, use.get());
      default:
        break;
      }
    // The lane library's functions take floats as numbers, matrix instructions their registers.
    const Function *callee = calleeOf(user);
    return callee && ((isLibrary(*callee) && isOurs(use->getType())) ||
                      callee->getName().starts_with("ptx.rounded.") ||
                      callee->getName().starts_with("ptx.matrix."));
  }

  /// Operations whose result's bits are seen only if something sees them: |x|, -x, the float of a
  /// half, casts, and a shuffle, whose value is the first of two results.
  bool passesBits(const Use &use) const {
    const auto &user = *cast<Instruction>(use.getUser());
    if (isShuffle(user))
      return use.getOperandNo() == 0;
    if (isa<ExtractValueInst>(user)) // of a shuffle: nothing else has such a result
      return true;
    if (isa<BitCastInst>(user))
      return ourFloatOf(user.getType());
    if (!isOurs(user.getType()))
      return false;
    if (user.getOpcode() == Instruction::FNeg || isa<FPExtInst>(user))
      return true;
    auto *call = dyn_cast<IntrinsicInst>(&user);
    return call && call->getIntrinsicID() == Intrinsic::fabs;
  }

  /// Sums and products of finite numbers are no NaN.
  bool mayBeNan(const Value *value) const {
    while (auto *cast = dyn_cast<BitCastInst>(value))
      value = cast->getOperand(0);
    if (!isArithmetic(value))
      return true;
    const auto &operation = *cast<Instruction>(value);
    if (auto *call = dyn_cast<CallBase>(&operation)) {
      auto *intrinsic = dyn_cast<IntrinsicInst>(call);
      const Function *callee = call->getCalledFunction();
      if (intrinsic
              ? intrinsic->getIntrinsicID() != Intrinsic::fma
              : !callee->getName().starts_with("ptx.rounded.") ||
                    callee->getName().contains(".div.") || callee->getName().contains(".sqrt."))
        return true;
    } else if (operation.getOpcode() == Instruction::FDiv) {
      return true;
    }
    const DataLayout &layout = operation.getDataLayout();
    return any_of(operation.operands(), [&](const Use &operand) {
      constexpr FPClassTest kSpecial = fcNan | fcInf;
      return operand->getType()->isFloatingPointTy() &&
             (computeKnownFPClass(operand, layout, kSpecial).KnownFPClasses & kSpecial) != fcNone;
    });
  }

 private:
  const bool hasOneDouble_;
};

class Canonical : Rules {
 public:
  Canonical(Function &function, bool hasOneDouble) : Rules(hasOneDouble), function_(function) {}

  bool run() {
    for (Instruction &instruction : instructions(function_))
      if (isArithmetic(&instruction) && !seen_.contains(&instruction))
        web(instruction);
    return isChanged_;
  }

 private:
  /// Whether somebody sees the bits of what the operation passes on.
  bool isSeen(const Instruction &operation, unsigned depth = 0) const {
    constexpr unsigned kDeepest = 8;
    return any_of(operation.uses(), [&](const Use &use) {
      if (ignoresBits(use))
        return false;
      if (auto *part = dyn_cast<ExtractValueInst>(use.getUser());
          part && part->getIndices()[0] != 0)
        return false;
      return !passesBits(use) || depth == kDeepest ||
             isSeen(*cast<Instruction>(use.getUser()), depth + 1);
    });
  }

  bool looksAtBits(const Use &use) const {
    if (ignoresBits(use))
      return false;
    return !passesBits(use) || isSeen(*cast<Instruction>(use.getUser()));
  }

  /// A value that comes into a web and is no NaN but the canonical one.
  bool isHarmless(const Value *value) const {
    if (isa<UndefValue>(value) || isBlind(value) || isa<SIToFPInst, UIToFPInst>(value))
      return true;
    APInt bits;
    if (auto *number = dyn_cast<ConstantFP>(value))
      bits = number->getValueAPF().bitcastToAPInt();
    else if (auto *integer = dyn_cast<ConstantInt>(value))
      bits = integer->getValue();
    else if (auto *call = dyn_cast<IntrinsicInst>(value))
      return call->getIntrinsicID() == Intrinsic::copysign && isHarmless(call->getArgOperand(0));
    else
      return false;
    const Type *type = ourFloatOf(value->getType());
    return bits == canonicalNanBits(bits.getBitWidth()) ||
           !APFloat(type->getFltSemantics(), bits).isNaN();
  }

  /// Mends all that a piece of arithmetic and the choices it takes part in show.
  void web(Instruction &start) {
    SetVector<Instruction *> sources, choices; // arithmetic that comes in; the web's own values
    bool hasOthers = false;
    SmallVector<Instruction *> work = {&start};
    sources.insert(&start);
    while (!work.empty()) {
      Instruction *value = work.pop_back_val();
      const auto join = [&](Instruction *choice) {
        if (choices.insert(choice))
          work.push_back(choice);
      };
      for (Use &use : value->uses())
        if (isChoice(use.getUser()) && !ignoresBits(use))
          join(cast<Instruction>(use.getUser()));
      if (!choices.contains(value))
        continue;
      for (Use &use : value->operands()) {
        if ((isa<SelectInst>(value) && use.getOperandNo() == 0) || isHarmless(use))
          continue;
        if (isChoice(use)) {
          join(cast<Instruction>(use));
        } else if (isArithmetic(use)) {
          auto *source = cast<Instruction>(use);
          if (sources.insert(source))
            work.push_back(source);
        } else {
          hasOthers = true;
        }
      }
    }
    seen_.insert(sources.begin(), sources.end());
    const auto shows = [&](Instruction *value) {
      return any_of(value->uses(), [&](const Use &use) {
        return !choices.contains(cast<Instruction>(use.getUser())) && looksAtBits(use);
      });
    };
    const bool isShown = any_of(choices, shows);
    for (Instruction *source : sources)
      if (hasOthers && isShown)
        replaceHere(*source, choices);
      else
        replaceWhereSeen(*source, choices);
    if (!hasOthers)
      for (Instruction *choice : choices)
        replaceWhereSeen(*choice, choices);
  }

  /// Other NaNs come into the web, too: it gets the canonical one of this arithmetic.
  void replaceHere(Instruction &source, const SetVector<Instruction *> &choices) {
    SmallVector<Use *> shown;
    for (Use &use : source.uses())
      if (choices.contains(cast<Instruction>(use.getUser())) ? !ignoresBits(use) : looksAtBits(use))
        shown.push_back(&use);
    const auto place = source.getInsertionPointAfterDef();
    if (shown.empty() || !place || !mayBeNan(&source))
      return;
    Value *one = canonical(source, **place);
    for (Use *use : shown)
      use->set(one);
  }

  void replaceWhereSeen(Instruction &value, const SetVector<Instruction *> &choices) {
    SmallVector<Use *> shown;
    for (Use &use : value.uses())
      if (!choices.contains(cast<Instruction>(use.getUser())) && looksAtBits(use))
        shown.push_back(&use);
    if (shown.empty() || !mayBeNan(&value))
      return;
    for (Use *use : shown)
      use->set(canonical(value, *cast<Instruction>(use->getUser())));
  }

  Value *canonical(Instruction &value, Instruction &before) {
    isChanged_ = true;
    IRBuilder<> ir(&before);
    ir.SetCurrentDebugLocation(value.getDebugLoc());
    Type *type = value.getType();
    Value *bits = ir.CreateBitCast(&value, ir.getIntNTy(type->getPrimitiveSizeInBits()));
    return ir.CreateBitCast(canonicalBits(ir, &value, bits), type);
  }

  /// value, or the canonical NaN if it is any; chosen between bits, which no rule about floats
  /// undoes.
  static Value *canonicalBits(IRBuilder<> &ir, Value *value, Value *bits) {
    const unsigned width = bits->getType()->getIntegerBitWidth();
    auto *narrowing = dyn_cast<FPTruncInst>(value);
    Value *isNan = nullptr;
    if (width >= 32) {
      Value *number = ir.CreateBitCast(value, width == 64 ? ir.getDoubleTy() : ir.getFloatTy());
      isNan = ir.CreateFCmpUNO(number, ConstantFP::getZero(number->getType()));
    } else if (narrowing && narrowing->getOperand(0)->getType()->isFloatTy()) {
      Value *number = narrowing->getOperand(0); // a comparison of halves would be one of floats
      isNan = ir.CreateFCmpUNO(number, ConstantFP::getZero(number->getType()));
    } else {
      isNan = ir.CreateICmpUGT(ir.CreateAnd(bits, 0x7fff), ir.getInt16(0x7c00));
    }
    Value *one = ir.CreateSelect(isNan, ir.getInt(canonicalNanBits(width)), bits);
    markNanBlind(one);
    return one;
  }

  Function &function_;
  SmallPtrSet<Instruction *, 32> seen_;
  bool isChanged_ = false;
};

/// A part of what is joined: `value` from bit `at` on.
struct Part {
  Value *value;
  unsigned at;
};

/// The parts of zext(a) | zext(b) << 16 | ...; false if it is not made so.
bool partsOf(Value *joined, unsigned at, SmallVectorImpl<Part> &parts) {
  using namespace PatternMatch;
  Value *left, *right;
  const APInt *distance;
  if (match(joined, m_Or(m_Value(left), m_Value(right))))
    return partsOf(left, at, parts) && partsOf(right, at, parts);
  if (match(joined, m_Shl(m_Value(left), m_APInt(distance))))
    return distance->ult(64) && partsOf(left, at + unsigned(distance->getZExtValue()), parts);
  if (!match(joined, m_ZExt(m_Value(left))))
    return false;
  parts.push_back({left, at});
  return true;
}

/// The element that is cut out at bit `at`, if it was joined from elements of this type.
Value *elementAt(Value *joined, unsigned at, Type *type) {
  SmallVector<Part> parts;
  if (!isa<Instruction>(joined) || !partsOf(joined, 0, parts))
    return nullptr;
  Value *element = nullptr;
  for (const Part &part : parts) {
    if (part.value->getType() != type || part.at % type->getIntegerBitWidth() != 0)
      return nullptr;
    if (part.at == at)
      element = element ? nullptr : part.value;
  }
  return element;
}

/// Elements of packed values go straight from one instruction to the next.
bool forwardElements(Function &function) {
  using namespace PatternMatch;
  SmallVector<WeakTrackingVH> unused;
  for (Instruction &instruction : instructions(function)) {
    Value *joined;
    const APInt *distance = nullptr;
    if (!match(&instruction, m_Trunc(m_Value(joined))) || !floatOf(instruction.getType()))
      continue;
    Value *whole = joined;
    if (match(joined, m_LShr(m_Value(whole), m_APInt(distance))) && distance->uge(64))
      continue;
    const unsigned at = distance ? unsigned(distance->getZExtValue()) : 0;
    if (Value *element = elementAt(whole, at, instruction.getType())) {
      instruction.replaceAllUsesWith(element);
      unused.emplace_back(&instruction);
    }
  }
  const bool isChanged = !unused.empty();
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(unused);
  return isChanged;
}

} // namespace

void markNanBlind(Value *value) {
  if (auto *instruction = dyn_cast<Instruction>(value))
    instruction->setMetadata(kBlind, MDNode::get(instruction->getContext(), {}));
}

APInt canonicalNanBits(unsigned width) {
  return width == 64 ? APInt(64, 0x7ff8000000000000) : APInt::getSignedMaxValue(width);
}

PreservedAnalyses CanonicalNanPass::run(Function &function, FunctionAnalysisManager &) {
  if (isLibrary(function))
    return PreservedAnalyses::all();
  bool isChanged = forwardElements(function);
  isChanged |= Canonical(function, hasOneDouble_).run();
  if (!isChanged)
    return PreservedAnalyses::all();
  PreservedAnalyses preserved;
  preserved.preserveSet<CFGAnalyses>();
  return preserved;
}

} // namespace ptxrun::lower
