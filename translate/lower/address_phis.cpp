#include "translate/lower/address_phis.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

namespace ptxrun::lower {

namespace {

using llvm::Instruction;
using llvm::Value;

/// What a number is: nothing known yet, an address of a variable, or something else (`variable` is
/// null). What might be an address of one or of another, or no address, is `mixed`.
struct Kind {
  enum { unknown, number, address, mixed } what = unknown;
  llvm::AllocaInst *variable = nullptr;
  bool operator==(const Kind &) const = default;
};

constexpr Kind kNumber{Kind::number}, kMixed{Kind::mixed};

Kind either(Kind a, Kind b) {
  if (a.what == Kind::unknown || a == b)
    return b;
  return b.what == Kind::unknown ? a : kMixed;
}

Kind sum(Kind a, Kind b) {
  if (a.what == Kind::unknown || b.what == Kind::unknown)
    return {};
  return a == kNumber ? b : b == kNumber ? a : kMixed;
}

Kind difference(Kind a, Kind b) {
  if (a.what == Kind::unknown || b.what == Kind::unknown)
    return {};
  if (b == kNumber)
    return a;
  return a.what == Kind::address && a == b ? kNumber : kMixed;
}

class AddressPhis {
 public:
  explicit AddressPhis(llvm::Function &function)
      : function_(function), layout_(function.getParent()->getDataLayout()) {}

  bool run() {
    findKinds();
    llvm::SmallVector<Instruction *> meets;
    for (const auto &[value, kind] : kinds_)
      if (kind.what == Kind::address && llvm::isa<llvm::PHINode, llvm::SelectInst>(value))
        meets.push_back(value);
    for (Instruction *meet : meets)
      distanceOf(meet);
    for (Instruction *meet : meets)
      replace(*meet);
    return !meets.empty();
  }

 private:
  Kind kindOf(Value *value) const {
    auto *i = llvm::dyn_cast<Instruction>(value);
    auto it = i ? kinds_.find(i) : kinds_.end();
    return it == kinds_.end() ? kNumber : it->second;
  }

  /// From what an instruction computes with; `unknown` as long as too little of that is known.
  Kind evaluate(Instruction &i) const {
    switch (i.getOpcode()) {
    case Instruction::PtrToInt: {
      auto *variable = llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(i.getOperand(0)));
      return variable ? Kind{Kind::address, variable} : kNumber;
    }
    case Instruction::PHI: {
      Kind kind;
      for (Value *incoming : llvm::cast<llvm::PHINode>(i).incoming_values())
        kind = either(kind, kindOf(incoming));
      return kind;
    }
    case Instruction::Select:
      return either(kindOf(i.getOperand(1)), kindOf(i.getOperand(2)));
    case Instruction::Or: // clang adds small constants to aligned addresses so
      if (!llvm::haveNoCommonBitsSet(i.getOperand(0), i.getOperand(1),
                                     llvm::SimplifyQuery(layout_)))
        return kMixed;
      [[fallthrough]];
    case Instruction::Add:
      return sum(kindOf(i.getOperand(0)), kindOf(i.getOperand(1)));
    case Instruction::Sub:
      return difference(kindOf(i.getOperand(0)), kindOf(i.getOperand(1)));
    default:
      return kMixed;
    }
  }

  static bool mayCarry(const Instruction &i) {
    return i.getType()->isIntegerTy(64) &&
           (i.isBinaryOp() || llvm::isa<llvm::PHINode, llvm::SelectInst>(i));
  }

  /// Of all that addresses of variables reach. Begins with nothing known of any, so that what comes
  /// round a loop does not stand in its own way.
  void findKinds() {
    llvm::SmallVector<Instruction *> left;
    for (Instruction &i : llvm::instructions(function_))
      if (llvm::isa<llvm::PtrToIntInst>(i) && i.getType()->isIntegerTy(64) &&
          evaluate(i).what == Kind::address) {
        kinds_.insert({&i, {}});
        left.push_back(&i);
      }
    for (size_t n = 0; n < left.size(); ++n)
      for (llvm::User *user : left[n]->users())
        if (auto *i = llvm::cast<Instruction>(user); mayCarry(*i) && kinds_.insert({i, {}}).second)
          left.push_back(i);
    while (!left.empty()) {
      Instruction *i = left.pop_back_val();
      const Kind now = evaluate(*i);
      Kind &kind = kinds_[i];
      if (kind == now)
        continue;
      kind = now;
      for (llvm::User *user : i->users())
        if (auto *next = llvm::cast<Instruction>(user); kinds_.contains(next))
          left.push_back(next);
    }
  }

  Value *variableOf(Instruction &of) {
    llvm::AllocaInst *variable = kinds_.find(&of)->second.variable;
    Value *&base = bases_[variable];
    if (!base) {
      llvm::IRBuilder<> ir(variable->getParent(), std::next(variable->getIterator()));
      base = ir.CreatePtrToInt(variable, ir.getInt64Ty());
    }
    return base;
  }

  /// How far an address is from the start of its variable.
  Value *distanceOf(Value *address) {
    auto *i = llvm::cast<Instruction>(address);
    if (auto it = distances_.find(i); it != distances_.end())
      return it->second;
    llvm::IRBuilder<> ir(i);
    if (auto *phi = llvm::dyn_cast<llvm::PHINode>(i)) {
      llvm::PHINode *distance = ir.CreatePHI(phi->getType(), phi->getNumIncomingValues());
      distances_[i] = distance;
      for (unsigned k = 0; k < phi->getNumIncomingValues(); ++k)
        distance->addIncoming(distanceOf(phi->getIncomingValue(k)), phi->getIncomingBlock(k));
      return distance;
    }
    ir.SetInsertPoint(i->getParent(), std::next(i->getIterator()));
    ir.SetCurrentDebugLocation(i->getDebugLoc());
    Value *x = i->getOperand(0), *y = i->getNumOperands() > 1 ? i->getOperand(1) : nullptr;
    Value *distance;
    if (auto *select = llvm::dyn_cast<llvm::SelectInst>(i)) {
      Value *of[] = {distanceOf(select->getTrueValue()), distanceOf(select->getFalseValue())};
      distance = ir.CreateSelect(select->getCondition(), of[0], of[1]);
    } else if (i->getOpcode() == Instruction::Sub) {
      distance = ir.CreateSub(distanceOf(x), y);
    } else if (i->isBinaryOp()) {
      const bool isFirst = kindOf(x).what == Kind::address;
      distance = ir.CreateAdd(distanceOf(isFirst ? x : y), isFirst ? y : x);
    } else if (x == kinds_.find(i)->second.variable) {
      distance = ir.getInt64(0);
    } else {
      Value *base = variableOf(*i);
      ir.SetInsertPoint(i->getParent(), std::next(i->getIterator()));
      distance = ir.CreateSub(i, base);
    }
    return distances_[i] = distance;
  }

  void replace(Instruction &meet) {
    auto *distance = llvm::dyn_cast<Instruction>(distances_.find(&meet)->second);
    Instruction *behind = distance && distance->getParent() == meet.getParent() ? distance : &meet;
    llvm::IRBuilder<> ir(meet.getParent(), llvm::isa<llvm::PHINode>(meet)
                                               ? meet.getParent()->getFirstInsertionPt()
                                               : std::next(behind->getIterator()));
    meet.replaceAllUsesWith(ir.CreateAdd(variableOf(meet), distances_.find(&meet)->second));
    meet.eraseFromParent();
  }

  llvm::Function &function_;
  const llvm::DataLayout &layout_;
  llvm::MapVector<Instruction *, Kind> kinds_;
  llvm::DenseMap<Instruction *, Value *> distances_;
  llvm::DenseMap<llvm::AllocaInst *, Value *> bases_;
};

} // namespace

llvm::PreservedAnalyses AddressPhisPass::run(llvm::Function &function,
                                             llvm::FunctionAnalysisManager &) {
  if (!AddressPhis(function).run())
    return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

} // namespace ptxrun::lower
