#include "translate/simt/waits.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>

#include "translate/lower/address_parameters.h"
#include "translate/lower/lane_module.h"
#include "translate/simt/linear_sum.h"
#include "translate/simt/prepare.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

using llvm::Value;

const llvm::Function *definedCallee(const llvm::Instruction &i) {
  auto *call = llvm::dyn_cast<llvm::CallBase>(&i);
  const llvm::Function *f = call ? call->getCalledFunction() : nullptr;
  return f && !f->isDeclaration() ? f : nullptr;
}

/// Kernels are the functions that take the `.param` space.
bool isParamSpace(const Value *v) {
  auto *a = llvm::dyn_cast<llvm::Argument>(v);
  return a && a->getParent()->arg_size() == 1 && a->getType()->isPointerTy() &&
         a->getParent()->getReturnType()->isVoidTy() &&
         !a->getParent()->getName().starts_with("fn.");
}

/// Follows the ways by which an address is computed to where it starts from.
class AddressWalk {
 public:
  explicit AddressWalk(Place &place, const llvm::DataLayout &layout)
      : place_(place), layout_(layout) {}

  void run(const Value *pointer) {
    stack_.push_back(pointer);
    while (!stack_.empty()) {
      const Value *v = stack_.pop_back_val();
      if (seen_.insert(v).second)
        step(v);
    }
  }
  bool startsFromShared() const { return startsFromShared_; }

 private:
  /// Only values as wide as an address can be one.
  void follow(const Value *v) {
    if (v->getType()->isPointerTy() || v->getType()->getScalarSizeInBits() >= 64)
      stack_.push_back(v);
  }

  void step(const Value *v) {
    if (const auto parameter = onlyAddressIn(v)) {
      place_.roots.push_back({nullptr, *parameter});
    } else if (llvm::isa<llvm::AllocaInst>(v)) {
      place_.isLocal = true;
    } else if (llvm::isa<llvm::GlobalValue>(v)) {
      place_.roots.push_back({v, 0});
    } else if (llvm::isa<llvm::Argument>(v)) {
      place_.isAny = true;
    } else if (auto *load = llvm::dyn_cast<llvm::LoadInst>(v)) {
      fromLoad(*load);
    } else if (auto *call = llvm::dyn_cast<llvm::CallBase>(v)) {
      fromCall(*call);
    } else if (auto *op = llvm::dyn_cast<llvm::Operator>(v)) {
      fromOperator(*op);
    }
  }

  /// The offset of the kernel parameter that is loaded.
  std::optional<int64_t> parameterOf(const Value *v) const {
    auto *load = llvm::dyn_cast<llvm::LoadInst>(v);
    if (!load)
      return std::nullopt;
    llvm::APInt offset(layout_.getIndexTypeSizeInBits(load->getPointerOperandType()), 0);
    const Value *base =
        load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout_, offset, true);
    return isParamSpace(base) ? std::optional(offset.getSExtValue()) : std::nullopt;
  }

  /// The parameter of a sum in which it is known to be an address, once, and nothing else is: an
  /// address plus a number, wherever the number comes from.
  std::optional<int64_t> onlyAddressIn(const Value *v) const {
    if (!llvm::isa<llvm::AddOperator, llvm::SubOperator, llvm::GEPOperator>(v))
      return std::nullopt;
    std::optional<int64_t> found;
    for (const auto &[term, times] : sumOf(v).terms) {
      auto *i = llvm::dyn_cast<llvm::Instruction>(term);
      if (llvm::isa<llvm::GlobalValue, llvm::AllocaInst>(term) ||
          (i && wordAt(*i).op == Op::sharedBase))
        return std::nullopt;
      const auto parameter = parameterOf(term);
      if (!parameter || !lower::isAddressParameter(*i->getFunction(), *parameter))
        continue;
      if (found || times != 1)
        return std::nullopt;
      found = parameter;
    }
    return found;
  }

  void fromLoad(const llvm::LoadInst &load) {
    if (const auto parameter = parameterOf(&load))
      place_.roots.push_back({nullptr, *parameter});
    else
      place_.isAny = true;
  }

  void fromCall(const llvm::CallBase &call) {
    const Word word = wordAt(call);
    if (word.op == Op::sharedBase)
      startsFromShared_ = true;
    else if (!word.isSpecialRegister())
      place_.isAny = true;
  }

  void fromOperator(const llvm::Operator &op) {
    using I = llvm::Instruction;
    switch (op.getOpcode()) {
    case I::GetElementPtr:
      stack_.push_back(op.getOperand(0));
      return;
    case I::Add:
    case I::Sub:
    case I::Or:
    case I::And:
    case I::PHI:
    case I::IntToPtr:
    case I::PtrToInt:
    case I::BitCast:
    case I::AddrSpaceCast:
    case I::Freeze:
      for (const Value *o : op.operand_values())
        follow(o);
      return;
    case I::Select:
      follow(op.getOperand(1));
      follow(op.getOperand(2));
      return;
    case I::ExtractValue:
      place_.isAny = true;
      return;
    default:
      return; // an index
    }
  }

  Place &place_;
  const llvm::DataLayout &layout_;
  llvm::SmallVector<const Value *> stack_;
  llvm::SmallPtrSet<const Value *, 16> seen_;
  bool startsFromShared_ = false;
};

/// Notes what is known of an address that is one kernel parameter, a constant and multiples of a
/// power of two, as that of a field in an array of structures is.
void noteField(const Value *pointer, const llvm::DataLayout &layout, Place &place) {
  constexpr unsigned kMostZeros = 16;
  unsigned parameters = 0, zeros = kMostZeros;
  LinearSum sum = sumOf(pointer);
  while (!sum.terms.empty()) {
    const auto [v, times] = sum.terms.back();
    sum.terms.pop_back();
    auto *load = llvm::dyn_cast<llvm::LoadInst>(v);
    if (auto *phi = llvm::dyn_cast<llvm::PHINode>(v); phi && phi->getNumIncomingValues() == 1)
      sum.add(sumOf(phi->getIncomingValue(0)), times); // LCSSA form
    else if (load && times == 1 && isParamSpace(load->getPointerOperand()->stripInBoundsOffsets()))
      ++parameters;
    else // of a parameter that is hidden in here no low bit is known
      zeros = std::min(zeros, llvm::computeKnownBits(v, layout).countMinTrailingZeros() +
                                  unsigned(llvm::countr_zero(uint64_t(times))));
  }
  if (parameters != 1 || zeros == 0)
    return;
  place.step = uint64_t(1) << zeros;
  place.rest = uint64_t(sum.constant) & (place.step - 1);
}

/// Whether the two are different fields of one array of structures.
bool areOtherFields(const Place &a, const Place &b) {
  if (a.mayBeShared || b.mayBeShared || a.bytes == 0 || b.bytes == 0 || a.roots.size() != 1 ||
      a.roots != b.roots)
    return false;
  const uint64_t step = std::min(a.step, b.step), distance = (b.rest - a.rest) & (step - 1);
  return a.bytes <= distance && b.bytes <= step - distance;
}

bool isOrderedRead(const llvm::Instruction &i) {
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i))
    return load->isVolatile() || load->isAtomic();
  return llvm::isa<llvm::AtomicCmpXchgInst>(i) ||
         (llvm::isa<llvm::AtomicRMWInst>(i) && !i.use_empty());
}

bool isClock(const llvm::Instruction &i) {
  const Op op = wordAt(i).op;
  return op == Op::clock || op == Op::clockHi || op == Op::clock64 || op == Op::globaltimer;
}

bool isMbarrierTest(const llvm::Instruction &i) { return simt::isMbarrierTest(wordAt(i).op); }

/// Something in the loop says that others are expected to write meanwhile: fences, warp barriers,
/// naps.
bool givesOthersTime(const llvm::Loop &loop) {
  for (const llvm::BasicBlock *b : loop.blocks())
    for (const llvm::Instruction &i : *b) {
      const Op op = wordAt(i).op;
      if (llvm::isa<llvm::FenceInst>(i) || op == Op::barWarpSync || op == Op::nanosleep)
        return true;
    }
  return false;
}

/// A counter (by ones: it hits any bound) decides in each round whether the loop goes on. It ends
/// by itself, though it may end before that.
bool isCounted(const llvm::Loop &loop) {
  const llvm::BasicBlock *latch = loop.getLoopLatch();
  const auto counts = [&](const Value *v) {
    const LinearSum sum = sumOf(v);
    const bool isByOnes = sum.terms.size() == 1 && std::abs(sum.terms[0].second) == 1;
    return isByOnes && std::abs(stepPerRound(sum, loop).value_or(0)) == 1;
  };
  const auto decides = [&](const llvm::BasicBlock *b) {
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(b->getTerminator());
    if (!branch || !branch->isConditional() || !loop.isLoopExiting(b))
      return false;
    auto *compare = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
    return compare &&
           ((loop.isLoopInvariant(compare->getOperand(1)) && counts(compare->getOperand(0))) ||
            (loop.isLoopInvariant(compare->getOperand(0)) && counts(compare->getOperand(1))));
  };
  return latch && (decides(latch) || decides(loop.getHeader()));
}

/// The address of an access.
const Value *addressOf(const llvm::Instruction &i) {
  const Value *pointer = llvm::getLoadStorePointerOperand(&i);
  return pointer ? pointer : i.getOperand(0);
}

/// Whether the loop goes on only while what it reads is less (more) than what it read the round
/// before: it ends by itself, as where union-find walks up to a root.
bool goesOneWay(const llvm::LoadInst &read, const llvm::Loop &loop) {
  const llvm::BasicBlock *latch = loop.getLoopLatch();
  llvm::SmallVector<llvm::BasicBlock *> exiting;
  loop.getExitingBlocks(exiting);
  return latch && llvm::any_of(exiting, [&](const llvm::BasicBlock *b) {
           auto *branch = llvm::dyn_cast<llvm::BranchInst>(b->getTerminator());
           auto *compare = branch && branch->isConditional()
                               ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition())
                               : nullptr;
           if (!compare || (b != latch && b != loop.getHeader()))
             return false;
           const Value *x = compare->getOperand(0), *y = compare->getOperand(1);
           auto *before = llvm::dyn_cast<llvm::PHINode>(x == &read ? y : x);
           const auto goesOn = loop.contains(branch->getSuccessor(0))
                                   ? compare->getPredicate()
                                   : compare->getInversePredicate();
           return (x == &read || y == &read) && before && before->getParent() == loop.getHeader() &&
                  before->getIncomingValueForBlock(latch) == &read &&
                  (llvm::ICmpInst::isLT(goesOn) || llvm::ICmpInst::isGT(goesOn));
         });
}

/// An operation that changes nothing by itself, round after round, so that only somebody else ends
/// the loop. (A counter that is added to, or a value computed anew from what was read, gets on by
/// itself. So does a search through an array, as long as a counter bounds it.)
bool repeatsItself(const llvm::Instruction &i, const llvm::Loop &loop) {
  if (!loop.isLoopInvariant(addressOf(i)) && isCounted(loop))
    return false;
  if (auto *cas = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&i))
    return loop.isLoopInvariant(cas->getCompareOperand());
  auto *rmw = llvm::cast<llvm::AtomicRMWInst>(&i);
  const Value *v = rmw->getValOperand();
  auto *constant = llvm::dyn_cast<llvm::ConstantInt>(v);
  const auto op = rmw->getOperation();
  if (op == llvm::AtomicRMWInst::Add || op == llvm::AtomicRMWInst::Sub)
    return constant && constant->isZero();
  return loop.isLoopInvariant(v);
}

/// Whether who is in `from` and stays in the loop comes by the end of `by` before he comes there
/// again.
bool comesBy(const llvm::BasicBlock &from, const llvm::BasicBlock &by, const llvm::Loop &loop) {
  llvm::SmallPtrSet<const llvm::BasicBlock *, 8> seen;
  llvm::SmallVector<const llvm::BasicBlock *> stack{&from};
  while (!stack.empty()) {
    const llvm::BasicBlock *b = stack.pop_back_val();
    if (b == &by || !loop.contains(b) || !seen.insert(b).second)
      continue;
    if (llvm::any_of(llvm::successors(b), [&](const llvm::BasicBlock *next) {
          return next == &from || next == loop.getHeader();
        }))
      return false;
    stack.append(llvm::succ_begin(b), llvm::succ_end(b));
  }
  return true;
}

/// The constant that `read`, a compare-and-swap, leaves the loop at: a round in which it finds that
/// is the last. Null where there is none.
const llvm::Constant *leftAt(const llvm::Instruction *read, const llvm::Loop &loop) {
  auto *cas = llvm::dyn_cast_or_null<llvm::AtomicCmpXchgInst>(read);
  auto *k = cas ? llvm::dyn_cast<llvm::Constant>(cas->getCompareOperand()) : nullptr;
  llvm::SmallVector<llvm::BasicBlock *> exiting;
  loop.getExitingBlocks(exiting);
  const bool isLeft =
      k && llvm::any_of(exiting, [&](const llvm::BasicBlock *b) {
        auto *branch = llvm::dyn_cast<llvm::BranchInst>(b->getTerminator());
        if (!branch || !branch->isConditional() || !comesBy(*cas->getParent(), *b, loop))
          return false;
        const auto found = whereItSucceeds(branch->getCondition(), *cas);
        return found && !loop.contains(branch->getSuccessor(*found ? 0 : 1));
      });
  return isLeft ? k : nullptr;
}

Place anywhere() {
  Place p;
  p.mayBeShared = p.mayBeGlobal = p.isAny = true;
  return p;
}

uint64_t accessBytes(const llvm::Instruction &i) {
  const llvm::Type *t = i.getType();
  if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&i))
    t = store->getValueOperand()->getType();
  else if (auto *cas = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&i))
    t = cas->getCompareOperand()->getType();
  return (t->getPrimitiveSizeInBits() + 7) / 8;
}

Place placeOfAccess(const llvm::Instruction &i) { return placeOf(addressOf(i), accessBytes(i)); }

} // namespace

const Value *writtenPlace(const llvm::Instruction &i) {
  if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&i))
    return store->getPointerOperand();
  if (llvm::isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(i))
    return i.getOperand(0);
  return nullptr;
}

Place placeOf(const Value *pointer, uint64_t bytes) {
  Place p;
  p.bytes = bytes;
  const unsigned space = pointer->getType()->getPointerAddressSpace();
  p.mayBeShared = space == lower::kShared || space == lower::kGeneric;
  p.mayBeGlobal = space != lower::kShared;
  if (space == lower::kShared) {
    auto *constant = llvm::dyn_cast<llvm::ConstantExpr>(pointer);
    auto *i = llvm::dyn_cast<llvm::Instruction>(pointer);
    if (constant && constant->getOpcode() == llvm::Instruction::IntToPtr) {
      if (auto *c = llvm::dyn_cast<llvm::ConstantInt>(constant->getOperand(0))) {
        p.isExact = true;
        p.offset = c->getSExtValue();
      }
    } else if (const auto within =
                   i ? bytesWithin(sumOf(i), int64_t(bytes), i->getDataLayout()) : std::nullopt) {
      p.isExact = true;
      p.offset = within->begin;
      p.bytes = uint64_t(within->end - within->begin);
    }
    return p;
  }
  const llvm::Module *m = nullptr;
  if (auto *i = llvm::dyn_cast<llvm::Instruction>(pointer))
    m = i->getModule();
  if (!m) { // a variable, or a constant address
    if (llvm::isa<llvm::GlobalValue>(pointer))
      p.roots.push_back({pointer, 0});
    else
      p.isAny = true;
    return p;
  }
  AddressWalk walk(p, m->getDataLayout());
  walk.run(pointer);
  if (walk.startsFromShared()) {
    p.mayBeGlobal = !p.roots.empty() || p.isAny;
  } else if (p.roots.empty() && !p.isLocal) {
    p.isAny = true;
  }
  p.isLocal &= p.roots.empty() && !p.isAny && !walk.startsFromShared();
  p.mayBeShared =
      walk.startsFromShared() || p.isAny; // the host passes no pointers to shared memory
  noteField(pointer, m->getDataLayout(), p);
  return p;
}

bool mayOverlap(const Place &a, const Place &b) {
  const bool inShared = a.mayBeShared && b.mayBeShared, inGlobal = a.mayBeGlobal && b.mayBeGlobal;
  if (a.isLocal || b.isLocal || (!inShared && !inGlobal))
    return false;
  if (inShared && !inGlobal)
    return !a.isExact || !b.isExact ||
           (a.offset < b.offset + int64_t(b.bytes) && b.offset < a.offset + int64_t(a.bytes));
  if (a.isAny || b.isAny)
    return true;
  if (areOtherFields(a, b))
    return false;
  return llvm::any_of(a.roots, [&](const auto &r) { return llvm::is_contained(b.roots, r); });
}

std::optional<bool> whereItSucceeds(const Value *condition, const llvm::AtomicCmpXchgInst &cas) {
  using namespace llvm::PatternMatch;
  const auto isResult = [&](const Value *v, unsigned field) {
    auto *part = llvm::dyn_cast<llvm::ExtractValueInst>(v);
    return part && part->getAggregateOperand() == &cas && part->getIndices()[0] == field;
  };
  if (isResult(condition, 1))
    return true;
  const Value *x, *y;
  if (match(condition, m_Not(m_Value(x)))) {
    const auto inner = whereItSucceeds(x, cas);
    return inner ? std::optional(!*inner) : std::nullopt;
  }
  const bool isAnd = match(condition, m_LogicalAnd(m_Value(x), m_Value(y)));
  if (isAnd || match(condition, m_LogicalOr(m_Value(x), m_Value(y)))) {
    const auto a = whereItSucceeds(x, cas), b = whereItSucceeds(y, cas);
    if (a == !isAnd || b == !isAnd)
      return !isAnd;
    return a && b ? a : std::nullopt;
  }
  llvm::ICmpInst::Predicate predicate;
  if (!match(condition, m_ICmp(predicate, m_Value(x), m_Value(y))) ||
      !llvm::ICmpInst::isEquality(predicate))
    return std::nullopt;
  const Value *k = cas.getCompareOperand();
  if (!(isResult(x, 0) && y == k) && !(isResult(y, 0) && x == k))
    return std::nullopt;
  return predicate == llvm::ICmpInst::ICMP_EQ;
}

void markWhoWaitsForNobody(llvm::ArrayRef<llvm::Function *> functions) {
  llvm::SmallPtrSet<llvm::Function *, 8> patient(functions.begin(), functions.end());
  const auto isPatient = [&](const llvm::Instruction &i) {
    if (const llvm::Function *callee = definedCallee(i))
      return patient.contains(callee);
    return !waitsForOthers(i) && !isOrderedRead(i) && !isMbarrierTest(i);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (llvm::Function *f : functions)
      if (patient.contains(f) && !llvm::all_of(llvm::instructions(*f), isPatient))
        changed |= patient.erase(f);
  }
  for (llvm::Function *f : patient)
    f->addFnAttr(kWaitsForNobody);
}

Waits::Waits(const llvm::Module &m) {
  // Which functions read or write what others see; through calls, to a fixed point.
  llvm::DenseMap<const llvm::Function *, llvm::SmallPtrSet<const llvm::Function *, 4>> calls;
  for (const llvm::Function &f : m)
    for (const llvm::BasicBlock &b : f)
      for (const llvm::Instruction &i : b) {
        if (isOrderedRead(i) || isMbarrierTest(i))
          polls_.insert(&f);
        readsClocks_ |= isClock(i);
        if (i.mayWriteToMemory() && !definedCallee(i))
          writes_.insert(&f);
        if (const llvm::Function *callee = definedCallee(i))
          calls[&f].insert(callee);
      }
  for (bool changed = true; changed;) {
    changed = false;
    for (auto &[f, callees] : calls)
      for (const llvm::Function *callee :
           llvm::SmallVector<const llvm::Function *>(callees.begin(), callees.end())) {
        changed |= polls_.contains(callee) && polls_.insert(f).second;
        changed |= writes_.contains(callee) && writes_.insert(f).second;
        if (auto it = calls.find(callee); it != calls.end() && callee != f)
          for (const llvm::Function *further : it->second)
            changed |= callees.insert(further).second;
      }
  }
  for (const auto &[f, callees] : calls)
    if (callees.contains(f) && polls_.contains(f))
      recursivePolls_.insert(f);
  for (const llvm::Function &f : m)
    if (!f.isDeclaration())
      addLoops(f);
  if (!recursivePolls_.empty()) {
    all_.places.push_back(anywhere());
    all_.reads.push_back(nullptr);
    leftAt_.push_back(nullptr);
  }
}

void Waits::addLoops(const llvm::Function &f) {
  llvm::DominatorTree dominators(const_cast<llvm::Function &>(f));
  llvm::LoopInfo loops(dominators);
  for (const llvm::Loop *l : loops.getLoopsInPreorder()) {
    Polled one = polledBy(*l);
    all_.places.append(one.places.begin(), one.places.end());
    all_.reads.append(one.reads.begin(), one.reads.end());
    all_.mbarriers |= one.mbarriers;
    for (const llvm::Instruction *read : one.reads)
      leftAt_.push_back(leftAt(read, *l));
  }
}

bool Waits::mayEnd(const Place &written, const llvm::Instruction &write, size_t poll) const {
  // What is compared with a constant changes only where that is: whoever waits has left there.
  auto *cas = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&write);
  return mayOverlap(written, all_.places[poll]) &&
         !(cas && leftAt_[poll] && cas->getCompareOperand() == leftAt_[poll]);
}

/// Adds what `i`, on which a branch of the loop hangs, reads.
void Waits::collect(const llvm::Instruction &i, const llvm::Loop &loop, bool isPlainPolled,
                    Polled &polled) const {
  auto add = [&](Place p) {
    if (p.isLocal)
      return;
    polled.places.push_back(std::move(p));
    polled.reads.push_back(llvm::isa<llvm::CallBase>(i) ? nullptr : &i);
    polled.first = polled.first ? polled.first : &i;
  };
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i)) {
    if ((isOrderedRead(i) && !goesOneWay(*load, loop)) ||
        (isPlainPolled && !load->hasMetadata(llvm::LLVMContext::MD_invariant_load)))
      add(placeOfAccess(i));
  } else if (llvm::isa<llvm::AtomicCmpXchgInst, llvm::AtomicRMWInst>(i)) {
    if (repeatsItself(i, loop))
      add(placeOfAccess(i));
  } else if (isMbarrierTest(i)) {
    polled.mbarriers = true;
    polled.first = polled.first ? polled.first : &i;
  } else if (const llvm::Function *callee = definedCallee(i); callee && polls_.contains(callee)) {
    add(anywhere());
  }
}

namespace {

/// The values that decide when a loop is left: what its exits go by, and what decides whether they
/// are come to, from one round to the next.
class Deciders {
 public:
  explicit Deciders(const llvm::Loop &loop) : loop_(loop) {
    llvm::SmallVector<llvm::BasicBlock *> exiting;
    loop.getExitingBlocks(exiting);
    for (const llvm::BasicBlock *b : exiting) {
      addBranch(*b);
      addControl(*b);
    }
    while (!pending_.empty()) {
      const auto *i = llvm::dyn_cast<llvm::Instruction>(pending_.pop_back_val());
      if (!i || !loop.contains(i) || !values.insert(i))
        continue;
      pending_.append(i->value_op_begin(), i->value_op_end());
      if (auto *phi = llvm::dyn_cast<llvm::PHINode>(i); phi && phi->getParent() != loop.getHeader())
        for (const llvm::BasicBlock *in : phi->blocks()) {
          addBranch(*in);
          addControl(*in);
        }
    }
  }
  llvm::SmallSetVector<const llvm::Instruction *, 32> values;

 private:
  void addBranch(const llvm::BasicBlock &b) {
    for (const Value *operand : b.getTerminator()->operands())
      if (!llvm::isa<llvm::BasicBlock>(operand))
        pending_.push_back(operand);
  }

  /// The branches of the loop that may lead past the block within a round.
  void addControl(const llvm::BasicBlock &block) {
    if (!controlled_.insert(&block).second || &block == loop_.getHeader())
      return;
    const auto before = blocksThatLeadTo(block);
    for (const llvm::BasicBlock *b : loop_.blocks()) {
      auto *branch = llvm::dyn_cast<llvm::BranchInst>(b->getTerminator());
      if (!branch || !branch->isConditional())
        continue;
      if (before.contains(branch->getSuccessor(0)) != before.contains(branch->getSuccessor(1)))
        addBranch(*b);
    }
  }

  /// The blocks from which `to` is come to within a round: the header is where the next one begins.
  llvm::DenseSet<const llvm::BasicBlock *> blocksThatLeadTo(const llvm::BasicBlock &to) const {
    llvm::DenseSet<const llvm::BasicBlock *> found;
    llvm::SmallVector<const llvm::BasicBlock *> stack{&to};
    while (!stack.empty()) {
      const llvm::BasicBlock *b = stack.pop_back_val();
      if (b != loop_.getHeader() && loop_.contains(b) && found.insert(b).second)
        stack.append(llvm::pred_begin(b), llvm::pred_end(b));
    }
    return found;
  }

  const llvm::Loop &loop_;
  llvm::SmallVector<const Value *, 16> pending_;
  llvm::SmallPtrSet<const llvm::BasicBlock *, 8> controlled_;
};

} // namespace

// A loop that is left by values of its own (a counter) ends by itself, whatever it reads. Where it
// is left by something in the lane's own memory, what was read may have gone through it: then every
// read of the loop counts.
Polled Waits::polledBy(const llvm::Loop &loop) const {
  Polled polled;
  const bool isPlainPolled = givesOthersTime(loop);
  auto collectAll = [&] {
    polled = {};
    for (const llvm::BasicBlock *b : loop.blocks())
      for (const llvm::Instruction &i : *b)
        collect(i, loop, isPlainPolled, polled);
  };
  collectAll();
  if (!polled.isAny() || loop.hasNoExitBlocks()) // most loops read nothing that could be waited for
    return polled;
  polled = {};
  bool goesThroughLocalMemory = false;
  for (const llvm::Instruction *i : Deciders(loop).values) {
    collect(*i, loop, isPlainPolled, polled);
    if (auto *load = llvm::dyn_cast<llvm::LoadInst>(i); load && !isOrderedRead(*i))
      goesThroughLocalMemory |= placeOfAccess(*i).isLocal;
  }
  if (goesThroughLocalMemory)
    collectAll();
  return polled;
}

bool Waits::waitsForTime(const llvm::Loop &loop) const {
  if (!readsClocks_ || loop.hasNoExitBlocks())
    return false;
  return llvm::any_of(Deciders(loop).values,
                      [](const llvm::Instruction *i) { return isClock(*i); });
}

llvm::SmallVector<const llvm::Instruction *> Waits::endedBy(const llvm::Instruction &write) const {
  llvm::SmallVector<const llvm::Instruction *> reads;
  if (!writtenPlace(write))
    return reads;
  const Place place = placeOfAccess(write);
  for (size_t k = 0; k < all_.places.size(); ++k)
    if (mayEnd(place, write, k))
      reads.push_back(all_.reads[k]);
  return reads;
}

bool Waits::mayEndWait(const llvm::Instruction &i) const {
  if (!all_.isAny())
    return false;
  auto touches = [&](const Place &p) {
    for (size_t k = 0; k < all_.places.size(); ++k)
      if (mayEnd(p, i, k))
        return true;
    return false;
  };
  if (llvm::isa<llvm::StoreInst, llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(i))
    return touches(placeOfAccess(i));
  if (auto *memory = llvm::dyn_cast<llvm::MemIntrinsic>(&i))
    return touches(placeOf(memory->getDest(), ~0u));
  if (const llvm::Function *callee = definedCallee(i))
    return writes_.contains(callee);
  const Word word = wordAt(i);
  if (!word.runtime)
    return false;
  switch (word.op) {
  case Op::mbarrierTestWait:
  case Op::mbarrierTryWait:
  case Op::mbarrierPendingCount:
    return false;
  case Op::tcgen05Mma: // tensor memory is nothing that threads poll
  case Op::tcgen05Cp:
  case Op::tcgen05Shift:
    return false;
  case Op::tcgen05Commit: // arrives at an mbarrier
    return all_.mbarriers;
  default: // arrivals and copies; copies write memory as well
    return all_.mbarriers || !isOfMbarrier(word.op);
  }
}

} // namespace ptxrun::simt
