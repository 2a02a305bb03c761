#include "translate/simt/alone.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>
#include <cmath>

#include "translate/simt/cost.h"
#include "translate/simt/prepare.h"

namespace ptxrun::simt {
namespace {

using llvm::Instruction;
using llvm::Value;

/// Bits of what an operation works on.
unsigned widthOfNumbers(const Instruction &i) {
  const auto *type =
      llvm::isa<llvm::CmpInst, llvm::TruncInst>(i) ? i.getOperand(0)->getType() : i.getType();
  return type->isIntegerTy() ? type->getIntegerBitWidth() : 0;
}

/// Whether a sum of words has left their range.
bool isCarry(const Value *v) {
  using namespace llvm::PatternMatch;
  const Value *x;
  return match(v, m_UAddWithOverflow(m_Value(x), m_Value(), m_Value())) &&
         x->getType()->isIntegerTy(64);
}
/// A carry as a number to be added.
bool isCarriedIn(const Value *v) {
  auto *cast = llvm::dyn_cast<llvm::ZExtInst>(v);
  return cast && isCarry(cast->getOperand(0));
}

/// Memory that a lane alone reads and writes at the places where it does in a gang.
bool isPlainPlace(const Value *pointer, bool isWithArrays) {
  llvm::SmallVector<const Value *> objects;
  llvm::getUnderlyingObjects(pointer, objects);
  return llvm::none_of(objects, [&](const Value *object) {
    return llvm::isa<llvm::PHINode, llvm::SelectInst>(object) ||
           (!isWithArrays && llvm::isa<llvm::AllocaInst>(object));
  });
}

llvm::Type *handedAs(llvm::Type *type, const llvm::Function &in) {
  return type->isPointerTy() ? in.getDataLayout().getIntPtrType(type) : type;
}

Value *convert(llvm::IRBuilder<> &b, Value *v, llvm::Type *to) {
  if (v->getType() == to)
    return v;
  return to->isPointerTy() ? b.CreateIntToPtr(v, to) : b.CreatePtrToInt(v, to);
}

class CarriedChain {
 public:
  CarriedChain(const llvm::Loop &loop, const AloneCost &cost, bool isGang)
      : loop_(loop), cost_(cost), isGang_(isGang) {}

  float length() {
    float most = 0;
    for (const llvm::PHINode &phi : loop_.getHeader()->phis())
      most = std::max(most, before(phi.getIncomingValueForBlock(loop_.getLoopLatch())));
    return most;
  }

 private:
  /// Until `v` is there; nothing where it does not wait for the round before.
  float before(const Value *v) {
    auto *i = llvm::dyn_cast<Instruction>(v);
    if (!i || !loop_.contains(i))
      return kNever;
    if (llvm::isa<llvm::PHINode>(i) && i->getParent() == loop_.getHeader())
      return 0;
    auto [it, isNew] = lengths_.try_emplace(i, kNever);
    if (!isNew)
      return it->second;
    float most = kNever;
    for (const Value *operand : i->operands())
      most = std::max(most, before(operand));
    return lengths_[i] = most == kNever ? kNever : most + cost_.latency(*i, isGang_);
  }
  static constexpr float kNever = -1;
  const llvm::Loop &loop_;
  const AloneCost &cost_;
  const bool isGang_;
  llvm::DenseMap<const Instruction *, float> lengths_;
};

llvm::DebugLoc lineIn(llvm::DISubprogram *function, unsigned line) {
  return function ? llvm::DebugLoc(llvm::DILocation::get(function->getContext(), line, 0, function))
                  : llvm::DebugLoc();
}

} // namespace

bool isUpdateInAnyOrder(const llvm::AtomicRMWInst &i) {
  using A = llvm::AtomicRMWInst;
  constexpr A::BinOp kCommutative[] = {A::Add, A::Sub, A::And,  A::Or,  A::Xor,
                                       A::Max, A::Min, A::UMax, A::UMin};
  return i.use_empty() && i.getOrdering() == llvm::AtomicOrdering::Monotonic && !i.isVolatile() &&
         llvm::is_contained(kCommutative, i.getOperation());
}

bool mayRunAlone(const Instruction &i, bool isWithArrays) {
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i))
    return load->isSimple() && isPlainPlace(load->getPointerOperand(), isWithArrays);
  if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&i))
    return store->isSimple() && isPlainPlace(store->getPointerOperand(), isWithArrays);
  if (auto *update = llvm::dyn_cast<llvm::AtomicRMWInst>(&i))
    return isUpdateInAnyOrder(*update) && isPlainPlace(update->getPointerOperand(), isWithArrays);
  if (auto *call = llvm::dyn_cast<llvm::CallBase>(&i))
    return llvm::isa<llvm::IntrinsicInst>(i) && !llvm::isa<llvm::DbgInfoIntrinsic>(i) &&
           !call->isConvergent() && !call->mayWriteToMemory();
  return !i.mayReadOrWriteMemory();
}

void walkSources(const Value *v, const ShapeAnalysis &shapes,
                 llvm::function_ref<bool(const Instruction &)> goesOn) {
  llvm::DenseSet<const Instruction *> seen;
  llvm::SmallVector<const Value *> stack{v};
  while (!stack.empty() && seen.size() < kLimits.search.numbers) {
    auto *i = llvm::dyn_cast<Instruction>(stack.pop_back_val());
    if (i && shapes.shape(i).isVarying() && seen.insert(i).second && goesOn(*i))
      stack.append(i->value_op_begin(), i->value_op_end());
  }
}

llvm::DenseSet<const Instruction *> sourcesOf(const Value *v, const ShapeAnalysis &shapes) {
  llvm::DenseSet<const Instruction *> sources;
  walkSources(v, shapes, [&](const Instruction &i) {
    const bool isSource =
        llvm::isa<llvm::LoadInst>(i) || llvm::none_of(i.operand_values(), [&](const Value *x) {
          return llvm::isa<Instruction>(x) && shapes.shape(x).isVarying();
        });
    if (isSource)
      sources.insert(&i);
    return !isSource;
  });
  return sources;
}

bool comesFromMemory(const Value *v, const ShapeAnalysis &shapes) {
  bool isRead = false;
  walkSources(v, shapes, [&](const Instruction &i) {
    isRead |= llvm::isa<llvm::LoadInst>(i);
    return !isRead;
  });
  return isRead;
}

bool isHandedAlone(const llvm::Type *type) {
  return type->isIntegerTy() || type->isFloatingPointTy() || type->isPointerTy();
}

AloneCosts AloneCost::of(const Instruction &i) const {
  const auto lanes = float(shapes_.lanes());
  const OperationCosts &costs = target_.costs;
  if (llvm::isa<llvm::PHINode>(i) || i.isTerminator())
    return {};
  if (llvm::getLoadStorePointerOperand(&i)) {
    const bool isStore = llvm::isa<llvm::StoreInst>(i);
    const llvm::Type *type = isStore ? i.getOperand(0)->getType() : i.getType();
    if (isApart(i) && target_.gathersInWords(type->getScalarSizeInBits()) && !isStore)
      return {lanes * costs.gather + 3.F * float(target_.registersFor(32 * uint64_t(lanes))), 1};
    if (isApart(i) && target_.hasMaskedGather() && !target_.gathers(type->getScalarSizeInBits()))
      return {lanes * 2 * costs.laneExtraction, 1}; // the address, and the element
    if (isApart(i)) {
      const float each = isStore ? costs.scatter : costs.gather;
      const bool isAsked = !target_.hasMaskedGather() && shapes_.isInDivergentRegion(i.getParent());
      return {lanes * (isAsked ? std::max(each, kLimits.alone.askedLane) : each), 1};
    }
    return {registers(i) * (isStore ? costs.maskedStore : costs.maskedLoad), 1};
  }
  if (llvm::isa<llvm::AtomicRMWInst>(i)) // each lane is asked, and serves itself
    return {lanes * costs.scatter, 1};
  if (!shapes_.shape(&i).isVarying())
    return {1, 1};
  if (i.isIntDivRem()) {
    const float one = i.getType()->getScalarSizeInBits() > 32 ? costs.division64 : costs.division32;
    return {lanes * one / 4, one};
  }
  if (isDivision(i)) {
    const float one =
        i.getType()->getScalarSizeInBits() > 32 ? costs.doubleDivision : costs.floatDivision;
    return {registers(i) * one, 2 * one};
  }
  return ofWords(i).value_or(AloneCosts{registers(i) / 2, 1});
}

/// Products and sums of several words: numbers of 64 bits and more. Products, and comparisons for
/// carries, are several instructions for a register; one lane's carries are flags, and nothing else
/// keeps it from doing two in a cycle.
std::optional<AloneCosts> AloneCost::ofWords(const Instruction &i) const {
  const auto &limits = kLimits.alone;
  if (widthOfNumbers(i) > 64) // the other operations on these are no instructions
    return i.getOpcode() == Instruction::Mul
               ? AloneCosts{registers(i) / 2 * limits.product128 / 2, limits.wordLane}
               : AloneCosts{};
  if (widthOfNumbers(i) < 64)
    return std::nullopt;
  if (i.getOpcode() == Instruction::Mul)
    return AloneCosts{registers(i) * limits.product64 / 2, limits.wordLane};
  if (isCarry(&i))
    return AloneCosts{registers(i) * limits.carry / 2, 0};
  if (isCarriedIn(&i) || llvm::any_of(i.operand_values(), isCarriedIn)) // with the sum before it
    return AloneCosts{registers(i) / 2, 0};
  if (i.getOpcode() == Instruction::Add && llvm::any_of(i.users(), isCarry))
    return AloneCosts{registers(i) / 2, limits.wordLane};
  return std::nullopt;
}

float AloneCost::ofAccess(const Instruction &i) const {
  const Shape shape = shapes_.shape(llvm::getLoadStorePointerOperand(&i));
  if (shape.isUniform())
    return 1;
  if (!shape.hasOffsets())
    return of(i).gang;
  const float whole = std::ceil(float(span(shape)) / float(target_.vectorBytes()));
  return std::clamp(whole, registers(i), std::max(registers(i), of(i).gang));
}

float AloneCost::latency(const Instruction &i, bool isGang) const {
  if (isDivision(i) || i.isIntDivRem())
    return isGang ? of(i).gang : of(i).lane;
  if (llvm::isa<llvm::PHINode, llvm::CastInst>(i))
    return 0;
  if (isGang && llvm::isa<llvm::LoadInst>(i) && isApart(i))
    return target_.costs.gatherLatency;
  if (i.getType()->isFPOrFPVectorTy() || llvm::isa<llvm::LoadInst>(i))
    return kLimits.stragglers.floatLatency;
  if (i.getOpcode() != Instruction::Mul)
    return 1;
  const bool isInSteps = isGang && shapes_.shape(&i).isVarying() && widthOfNumbers(i) == 64;
  return kLimits.stragglers.productLatency * (isInSteps ? kLimits.alone.product64 / 2 : 1);
}

int64_t AloneCost::span(const Shape &shape) {
  const auto [least, most] = std::minmax_element(shape.offsets->begin(), shape.offsets->end());
  return *most - *least;
}

bool AloneCost::isApart(const Instruction &access) const {
  const llvm::Value *pointer = llvm::getLoadStorePointerOperand(&access);
  const Shape shape = shapes_.shape(pointer);
  if (!shape.hasOffsets())
    return shape.isVarying();
  if (llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer)))
    return false; // one element of all lanes' arrays: a row (local_rows.h)
  return float(span(shape)) > 2 * registers(access) * float(target_.vectorBytes());
}

float AloneCost::registers(const Instruction &i) const {
  const llvm::Type *type = i.getType();
  if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&i))
    type = store->getValueOperand()->getType();
  else if (auto *compare = llvm::dyn_cast<llvm::CmpInst>(&i))
    type = compare->getOperand(0)->getType();
  const uint64_t bits = type->isPointerTy() ? 64 : type->getScalarSizeInBits();
  return float(target_.registersFor(bits * shapes_.lanes()));
}

float carriedChain(const llvm::Loop &loop, const AloneCost &cost, bool isGang) {
  return CarriedChain(loop, cost, isGang).length();
}

AloneFunction::AloneFunction(llvm::Function &kernel, llvm::ArrayRef<Value *> inputs,
                             llvm::ArrayRef<llvm::Type *> results, const llvm::Twine &suffix)
    : inputs_(inputs) {
  llvm::LLVMContext &context = kernel.getContext();
  llvm::SmallVector<llvm::Type *> in, out;
  for (Value *v : inputs)
    in.push_back(handedAs(v->getType(), kernel));
  for (llvm::Type *type : results)
    out.push_back(handedAs(type, kernel));
  llvm::Type *result = out.empty() ? llvm::Type::getVoidTy(context)
                                   : static_cast<llvm::Type *>(llvm::StructType::get(context, out));
  function_ = llvm::Function::Create(llvm::FunctionType::get(result, in, false),
                                     llvm::GlobalValue::InternalLinkage, kernel.getName() + suffix,
                                     kernel.getParent());
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  function_->addFnAttr(kWaitsForNobody);
  describeAs(kernel, *function_);
}

Value *AloneFunction::input(llvm::IRBuilder<> &b, unsigned k) const {
  return convert(b, function_->getArg(k), inputs_[k]->getType());
}

Value *AloneFunction::handed(llvm::IRBuilder<> &b, Value *v) {
  return convert(b, v, handedAs(v->getType(), *b.GetInsertBlock()->getParent()));
}

llvm::CallInst *AloneFunction::call(llvm::IRBuilder<> &b) const {
  llvm::SmallVector<Value *> arguments;
  for (Value *v : inputs_)
    arguments.push_back(handed(b, v));
  return b.CreateCall(function_, arguments);
}

Value *AloneFunction::result(llvm::IRBuilder<> &b, Value *call, unsigned k, llvm::Type *type) {
  return convert(b, b.CreateExtractValue(call, k), type);
}

void AloneFunction::takeLines() {
  for (llvm::BasicBlock &b : *function_)
    for (Instruction &i : b)
      if (const llvm::DebugLoc line = i.getDebugLoc())
        i.setDebugLoc(lineIn(function_->getSubprogram(), line.getLine()));
}

llvm::DebugLoc AloneFunction::lineOf(const llvm::BasicBlock &block) {
  for (const Instruction &i : block)
    if (i.getDebugLoc())
      return i.getDebugLoc();
  llvm::DISubprogram *of = block.getParent()->getSubprogram();
  return lineIn(of, of ? of->getLine() : 0);
}

} // namespace ptxrun::simt
