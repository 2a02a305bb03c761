// Data flow of shapes: transfer functions of instructions. Control dependence is in divergence.cpp.
#include "translate/simt/shape.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "translate/lower/lane_module.h"
#include "translate/simt/cost.h"
#include "translate/simt/linear_sum.h"
#include "translate/simt/local_rows.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {

Shape ShapeAnalysis::uniform(unsigned alignment) {
  return {Shape::Kind::offsets, uint8_t(std::min<unsigned>(alignment, kMaxAlignment)), nullptr,
          false};
}
Shape ShapeAnalysis::varying() { return {Shape::Kind::varying, 0, nullptr, false}; }
namespace {

int64_t truncateTo(int64_t value, unsigned width) {
  if (width >= 64 || width == 0)
    return value;
  return int64_t(uint64_t(value) << (64 - width)) >> (64 - width);
}

uint8_t alignmentOf(const llvm::ConstantInt *c) {
  if (c->isZero())
    return kMaxAlignment;
  return uint8_t(std::min<unsigned>(c->getValue().countr_zero(), kMaxAlignment));
}

int64_t at(const Shape &s, unsigned lane) { return s.offsets ? (*s.offsets)[lane] : 0; }

/// The constant operand of a commutative or shift instruction, as the right-hand side; null if
/// there is none of 64 bits or fewer.
const llvm::ConstantInt *constantRight(const llvm::Instruction &i) {
  auto *c = llvm::dyn_cast<llvm::ConstantInt>(i.getOperand(1));
  return c && c->getBitWidth() <= 64 ? c : nullptr;
}

} // namespace

unsigned widthOf(const llvm::Value *v) {
  const llvm::Type *t = v->getType();
  if (t->isIntegerTy())
    return t->getIntegerBitWidth();
  if (t->isPointerTy())
    return t->getPointerAddressSpace() == lower::kShared ? 32 : 64;
  return 0;
}

const std::vector<int64_t> *ShapeAnalysis::intern(std::vector<int64_t> offsets) const {
  if (std::all_of(offsets.begin(), offsets.end(), [](int64_t o) { return o == 0; }))
    return nullptr;
  return &*pool_.insert(std::move(offsets)).first;
}

Shape ShapeAnalysis::make(std::vector<int64_t> offsets, unsigned alignment, unsigned width,
                          bool isConditional) const {
  for (int64_t &o : offsets)
    o = truncateTo(o, width);
  Shape s{Shape::Kind::offsets, uint8_t(std::min<unsigned>(alignment, kMaxAlignment)),
          intern(std::move(offsets)), false};
  s.isConditional = isConditional;
  return s;
}

bool ShapeAnalysis::isDisjoint(const Shape &s) const {
  if (s.kind != Shape::Kind::offsets || s.isConditional)
    return false;
  if (!s.offsets)
    return true;
  int64_t limit = s.alignment >= kMaxAlignment ? INT64_MAX : int64_t(1) << s.alignment;
  return std::all_of(s.offsets->begin(), s.offsets->end(),
                     [&](int64_t o) { return o >= 0 && o < limit; });
}

Shape ShapeAnalysis::shape(const llvm::Value *v) const {
  if (gang_.lanes == 1)
    return uniform();
  if (auto *c = llvm::dyn_cast<llvm::ConstantInt>(v))
    return uniform(alignmentOf(c));
  if (llvm::isa<llvm::Constant>(v))
    return uniform();
  if (llvm::isa<llvm::Argument>(v))
    return varyingArguments_ ? varying() : uniform();
  auto it = shapes_.find(v);
  return it == shapes_.end() ? Shape{} : it->second;
}

std::optional<int64_t> ShapeAnalysis::step(const llvm::Value *v) const {
  const Shape of = shape(v);
  if (!of.hasOffsets() || of.isConditional || gang_.lanes < 2)
    return std::nullopt;
  const int64_t step = (*of.offsets)[1];
  for (unsigned l = 0; l < gang_.lanes; ++l)
    if (uint64_t((*of.offsets)[l]) != l * uint64_t(step))
      return std::nullopt;
  return step;
}

/// %tid: of gangs that are rows, the lane. Else the linear thread number is firstThread + lane with
/// firstThread a multiple of W; where the block's rows and the gang's lanes divide each other the
/// three coordinates have constant offsets too.
Shape ShapeAnalysis::threadIndex(unsigned axis) const {
  auto [x, y, z] = gang_.block;
  const unsigned w = gang_.lanes;
  if (x == 0)
    return varying();
  if (gang_.row) {
    if (axis != 0)
      return uniform();
    std::vector<int64_t> lanes(w);
    std::iota(lanes.begin(), lanes.end(), 0);
    return make(std::move(lanes), kMaxAlignment, 32, false);
  }
  uint64_t below = axis == 0 ? 1 : axis == 1 ? x : uint64_t(x) * y; // threads per step of this axis
  uint64_t extent = axis == 0 ? x : axis == 1 ? y : z;
  uint64_t period = below * extent; // threads until it starts over
  bool isLast = (axis == 0 && y * z == 1) || (axis == 1 && z == 1) || axis == 2;
  if (extent == 1)
    return uniform(kMaxAlignment);
  if (below % w == 0)
    return uniform(); // constant within a gang
  if (w % below != 0)
    return varying();
  if (!isLast && period % w != 0 && w % period != 0)
    return varying();
  std::vector<int64_t> offsets(w);
  const bool startsOver = w % period == 0 && !isLast; // whole periods inside a gang: the base is 0
  for (unsigned lane = 0; lane < w; ++lane)
    offsets[lane] = startsOver ? lane / below % extent : lane / below;
  unsigned alignment = startsOver ? kMaxAlignment : std::countr_zero(w / below);
  return make(std::move(offsets), alignment, 32, false);
}

Shape ShapeAnalysis::meetAll(const llvm::User &u) const {
  bool isUnknown = false;
  for (const llvm::Value *op : u.operands()) {
    if (llvm::isa<llvm::BasicBlock>(op))
      continue;
    Shape s = shape(op);
    if (s.kind == Shape::Kind::unknown)
      isUnknown = true;
    else if (!s.isUniform())
      return varying();
  }
  return isUnknown ? Shape{} : uniform();
}

Shape ShapeAnalysis::evaluateBits(const llvm::Instruction &i, const Shape &s, uint64_t c) const {
  if (s.kind != Shape::Kind::offsets || !isDisjoint(s))
    return s.isUniform() ? uniform() : varying();
  unsigned a = s.alignment;
  uint64_t low = bitsOfOffsets(s);
  std::vector<int64_t> offsets(gang_.lanes);
  for (unsigned l = 0; l < gang_.lanes; ++l) {
    uint64_t o = uint64_t(at(s, l));
    switch (i.getOpcode()) {
    case llvm::Instruction::And:
      offsets[l] = int64_t(o & c & low);
      break;
    case llvm::Instruction::Or:
      offsets[l] = int64_t((o | c) & low);
      break;
    default:
      offsets[l] = int64_t((o ^ c) & low);
      break;
    }
  }
  unsigned alignment = a;
  if (i.getOpcode() == llvm::Instruction::And)
    alignment = std::max<unsigned>(a, c ? std::countr_zero(c) : kMaxAlignment);
  return make(std::move(offsets), alignment, widthOf(&i), false);
}

Shape ShapeAnalysis::evaluateBinary(const llvm::Instruction &i) const {
  using I = llvm::Instruction;
  Shape a = shape(i.getOperand(0)), b = shape(i.getOperand(1));
  if (a.kind == Shape::Kind::unknown || b.kind == Shape::Kind::unknown)
    return {};
  const unsigned width = widthOf(&i);
  if (width == 0 || width > 64)
    return a.isUniform() && b.isUniform() ? uniform() : varying();
  const llvm::ConstantInt *c = constantRight(i);
  const bool isConditional = a.isConditional || b.isConditional;
  std::vector<int64_t> offsets(gang_.lanes);
  auto each = [&](auto f) {
    for (unsigned l = 0; l < gang_.lanes; ++l)
      offsets[l] = f(uint64_t(at(a, l)), uint64_t(at(b, l)));
  };
  switch (i.getOpcode()) {
  case I::Or:
    if (!llvm::cast<llvm::PossiblyDisjointInst>(&i)->isDisjoint() || a.isVarying() || b.isVarying())
      break;
    [[fallthrough]];
  case I::Add:
  case I::Sub:
    if (a.isVarying() || b.isVarying())
      return varying();
    if (i.getOpcode() == I::Sub)
      each([](uint64_t x, uint64_t y) { return int64_t(x - y); });
    else
      each([](uint64_t x, uint64_t y) { return int64_t(x + y); });
    return make(offsets, std::min(a.alignment, b.alignment), width, isConditional);
  case I::Mul:
    if (a.isVarying() || b.isVarying())
      return varying();
    if (!c)
      return a.isUniform() && b.isUniform() ? uniform(a.alignment + b.alignment) : varying();
    each([&](uint64_t x, uint64_t) { return int64_t(x * c->getZExtValue()); });
    return make(offsets, a.alignment + b.alignment, width, isConditional);
  case I::Shl:
    if (a.isVarying() || b.isVarying() || !c)
      break;
    if (c->getZExtValue() >= width)
      break;
    each([&](uint64_t x, uint64_t) { return int64_t(x << c->getZExtValue()); });
    return make(offsets, a.alignment + unsigned(c->getZExtValue()), width, isConditional);
  case I::LShr:
  case I::AShr:
    if (!c || c->getZExtValue() >= width || a.isVarying() || !isDisjoint(a))
      break;
    if (i.getOpcode() == I::AShr && a.offsets && a.alignment >= width - 1 &&
        a.alignment < kMaxAlignment)
      break;
    each([&](uint64_t x, uint64_t) { return int64_t(x >> c->getZExtValue()); });
    return make(offsets, std::max<int>(0, int(a.alignment) - int(c->getZExtValue())), width, false);
  case I::Xor:
    if (!c || !c->isMinusOne() || a.isVarying() || isDisjoint(a))
      break;
    each([](uint64_t x, uint64_t) { return int64_t(0 - x); }); // -1 - x
    return make(offsets, 0, width, isConditional);
  case I::UDiv:
    if (c && c->getValue().isPowerOf2() && !a.isVarying() && isDisjoint(a)) {
      unsigned k = c->getValue().logBase2();
      each([&](uint64_t x, uint64_t) { return int64_t(x >> k); });
      return make(offsets, std::max<int>(0, int(a.alignment) - int(k)), width, false);
    }
    break;
  default:
    break;
  }
  return evaluateLogic(i, a, b);
}

/// Of operands whose bits do not add up: what is known of uniform ones, and of bits beside those
/// that differ between lanes.
Shape ShapeAnalysis::evaluateLogic(const llvm::Instruction &i, const Shape &a,
                                   const Shape &b) const {
  using I = llvm::Instruction;
  const llvm::ConstantInt *c = constantRight(i);
  const unsigned op = i.getOpcode();
  if (c && (op == I::And || op == I::Or || op == I::Xor) && !a.isVarying()) {
    if (a.isUniform()) {
      unsigned alignment =
          op == I::And ? std::max(a.alignment, b.alignment) : std::min(a.alignment, b.alignment);
      return uniform(alignment);
    }
    return evaluateBits(i, a, c->getZExtValue());
  }
  if (!a.isUniform() || !b.isUniform())
    return varying();
  if (op == I::And)
    return uniform(std::max(a.alignment, b.alignment));
  if (op == I::Or || op == I::Xor || op == I::URem || op == I::SRem)
    return uniform(std::min(a.alignment, b.alignment));
  if (op == I::Shl)
    return uniform(a.alignment);
  return uniform();
}

/// Comparing an aligned gang with a bound on the same grid has one answer for all lanes.
Shape ShapeAnalysis::evaluateCompare(const llvm::Instruction &i) const {
  auto &cmp = llvm::cast<llvm::CmpInst>(i);
  Shape a = shape(i.getOperand(0)), b = shape(i.getOperand(1));
  if (a.kind == Shape::Kind::unknown || b.kind == Shape::Kind::unknown)
    return {};
  if (a.isUniform() && b.isUniform())
    return uniform();
  if (a.isVarying() || b.isVarying() || a.isConditional || b.isConditional)
    return varying();
  if (a.offsets == b.offsets && cmp.isEquality())
    return uniform();
  const unsigned width = widthOf(i.getOperand(0));
  if (width > 64 || !b.isUniform() || !isDisjoint(a) || a.alignment >= width - 1)
    return varying();
  switch (cmp.getPredicate()) {
  case llvm::CmpInst::ICMP_ULT:
  case llvm::CmpInst::ICMP_UGE:
  case llvm::CmpInst::ICMP_SLT:
  case llvm::CmpInst::ICMP_SGE:
    return b.alignment >= a.alignment ? uniform() : varying();
  case llvm::CmpInst::ICMP_UGT:
  case llvm::CmpInst::ICMP_ULE:
  case llvm::CmpInst::ICMP_SGT:
  case llvm::CmpInst::ICMP_SLE: {
    auto *c = llvm::dyn_cast<llvm::ConstantInt>(i.getOperand(1));
    if (c && (c->getValue() + 1).countr_zero() >= a.alignment && !(c->getValue() + 1).isZero())
      return uniform();
    return varying();
  }
  default:
    return varying();
  }
}

Shape ShapeAnalysis::evaluateGep(const llvm::Instruction &i) const {
  auto &gep = llvm::cast<llvm::GEPOperator>(i);
  const llvm::DataLayout &layout = function_.getParent()->getDataLayout();
  llvm::MapVector<llvm::Value *, llvm::APInt> variable;
  llvm::APInt constant(layout.getIndexTypeSizeInBits(gep.getType()), 0);
  Shape base = shape(gep.getPointerOperand());
  if (base.kind == Shape::Kind::unknown)
    return {};
  if (base.isVarying() || !gep.collectOffset(layout, constant.getBitWidth(), variable, constant))
    return base.isVarying() ? varying() : meetAll(i);
  std::vector<int64_t> offsets(gang_.lanes);
  for (unsigned l = 0; l < gang_.lanes; ++l)
    offsets[l] = at(base, l);
  bool isConditional = base.isConditional;
  for (auto &[index, scale] : variable) {
    Shape s = shape(index);
    if (s.kind == Shape::Kind::unknown)
      return {};
    if (s.isVarying())
      return varying();
    if (!s.isUniform() && index->getType()->getScalarSizeInBits() < constant.getBitWidth() &&
        !isExtensionExact(index, true))
      return varying();
    isConditional |= s.isConditional;
    for (unsigned l = 0; l < gang_.lanes; ++l)
      offsets[l] = total(offsets[l], product(at(s, l), scale.getSExtValue()));
  }
  return makePlaces(std::move(offsets), 0, widthOf(&i), isConditional);
}

/// Lanes of which no two could be in one object are at places of their own, of which nothing is
/// known: so that all that compares places may compute with their distances.
Shape ShapeAnalysis::makePlaces(std::vector<int64_t> offsets, unsigned alignment, unsigned width,
                                bool isConditional) const {
  constexpr int64_t kFar = int64_t(1) << 47; // half of what addresses reach
  const bool areFar = width == 64 && std::any_of(offsets.begin(), offsets.end(),
                                                 [](int64_t o) { return o >= kFar || o <= -kFar; });
  return areFar ? varying() : make(std::move(offsets), alignment, width, isConditional);
}

Shape ShapeAnalysis::evaluatePhi(const llvm::PHINode &phi) const {
  const llvm::BasicBlock *block = phi.getParent();
  auto joins = joins_.find(block);
  const bool isJoin =
      joins != joins_.end() && llvm::any_of(joins->second, [&](const auto &edges) {
        return llvm::any_of(edges, [&](const llvm::BasicBlock *from) {
          return phi.getIncomingValueForBlock(from) != phi.getIncomingValueForBlock(edges[0]);
        });
      });
  if (const llvm::Value *same = phi.hasConstantValue()) {
    bool leavesDivergentLoop = false;
    for (const llvm::BasicBlock *in : phi.blocks())
      for (const llvm::Loop *l = loops_.getLoopFor(in); l; l = l->getParentLoop())
        leavesDivergentLoop |= divergentLoops_.contains(l) && !l->contains(block);
    auto *definition = llvm::dyn_cast<llvm::Instruction>(same);
    if (!leavesDivergentLoop || !definition)
      return shape(same);
    // Defined outside every divergent loop that the edges leave: the same in all iterations.
    for (const llvm::Loop *l = loops_.getLoopFor(definition->getParent()); l;
         l = l->getParentLoop())
      if (divergentLoops_.contains(l) && !l->contains(block))
        return varying();
    return shape(same);
  }
  if (isJoin)
    return varying();
  Shape result;
  for (unsigned k = 0; k < phi.getNumIncomingValues(); ++k) {
    for (const llvm::Loop *l = loops_.getLoopFor(phi.getIncomingBlock(k)); l;
         l = l->getParentLoop())
      if (divergentLoops_.contains(l) && !l->contains(block))
        return varying();
    const llvm::Value *in = phi.getIncomingValue(k);
    if (llvm::isa<llvm::UndefValue>(in) || in == &phi)
      continue;
    Shape s = shape(in);
    if (s.kind == Shape::Kind::unknown)
      continue;
    if (s.isVarying())
      return varying();
    if (result.kind == Shape::Kind::unknown)
      result = s;
    else if (result.offsets != s.offsets)
      return varying();
    result.alignment = std::min(result.alignment, s.alignment);
    result.isConditional |= s.isConditional;
  }
  // A conditional shape must not cross a phi: the test belongs to the block that computes the
  // index.
  return result.isConditional ? varying() : result;
}

/// The state that lanes got where they arrived together at one mbarrier: of one phase, since no
/// phase ends and lets others arrive before somebody has waited for it (9.7.13.15.4).
bool ShapeAnalysis::isStateOfOnePhase(const llvm::Value *v) const {
  while (auto *phi = llvm::dyn_cast<llvm::PHINode>(v)) {
    if (phi->getNumIncomingValues() != 1)
      return false;
    v = phi->getIncomingValue(0);
  }
  auto *call = llvm::dyn_cast<llvm::CallBase>(v);
  if (!call)
    return false;
  const Op op = wordAt(*call).op;
  return (isArrival(op) || op == Op::mbarrierArriveNoComplete) && isUniform(call->getArgOperand(0));
}

Shape ShapeAnalysis::evaluateCall(const llvm::CallBase &call) const {
  const llvm::Function *callee = call.getCalledFunction();
  if (!callee)
    return varying();
  // What is the same for all lanes that agree on `v`.
  auto sameFor = [&](const llvm::Value *v) {
    Shape s = shape(v);
    return s.kind == Shape::Kind::unknown ? s : s.isUniform() ? uniform() : varying();
  };
  if (callee->isIntrinsic())
    return meetAll(call);
  const Word word = wordOf(*callee);
  switch (word.shape) {
  case ShapeRule::varying:
    return varying();
  case ShapeRule::uniform:
    return uniform();
  case ShapeRule::threadIndex:
    return threadIndex(word.axis);
  case ShapeRule::laneNumber: {
    std::vector<int64_t> offsets(gang_.lanes);
    for (unsigned l = 0; l < gang_.lanes; ++l)
      offsets[l] = l;
    return make(std::move(offsets),
                gang_.lanes == 32 ? kMaxAlignment : std::countr_zero(gang_.lanes), 32, false);
  }
  case ShapeRule::blockExtent:
    return gang_.block[0] ? uniform(std::countr_zero(gang_.block[word.axis])) : uniform();
  case ShapeRule::ofMembers:
    return call.arg_size() ? sameFor(call.getArgOperand(call.arg_size() - 1)) : uniform();
  case ShapeRule::shuffle:
    return evaluateShuffle(call);
  case ShapeRule::elementwise:
    return meetAll(call);
  case ShapeRule::answer:
    break;
  }
  // Tests of an mbarrier, and arrivals: what lanes that arrive together get is the state before the
  // first of them.
  if (word.kind == Word::Kind::runtime && !call.getType()->isIntegerTy(1) && !isArrival(word.op))
    return varying();
  Shape result = uniform();
  for (const llvm::Value *a : call.args())
    if (Shape s = isStateOfOnePhase(a) ? uniform() : sameFor(a); !s.isUniform()) {
      result = s;
      if (s.isVarying())
        break;
    }
  return result;
}

/// Each lane's own memory: one behind the other, or element by element (local_rows.h).
Shape ShapeAnalysis::evaluateAlloca(const llvm::AllocaInst &alloca) const {
  auto size = alloca.getAllocationSize(function_.getParent()->getDataLayout());
  if (!size || alloca.getParent() != &function_.getEntryBlock())
    return varying();
  const uint64_t stride = localLayout(alloca, gang_.lanes).stride;
  std::vector<int64_t> offsets(gang_.lanes);
  for (unsigned l = 0; l < gang_.lanes; ++l)
    offsets[l] = int64_t(l * stride);
  return make(std::move(offsets), 0, 64, false);
}

Shape ShapeAnalysis::evaluateExtension(const llvm::Instruction &i) const {
  Shape s = shape(i.getOperand(0));
  const unsigned from = widthOf(i.getOperand(0)), to = widthOf(&i);
  if (s.kind != Shape::Kind::offsets)
    return s;
  if (s.isUniform())
    return uniform(s.alignment >= from ? kMaxAlignment : s.alignment);
  if (from < 16 || to > 64 || i.hasMetadata(kWrapping))
    return varying();
  bool isExact = i.hasMetadata(kExact) ||
                 isExtensionExact(i.getOperand(0), i.getOpcode() == llvm::Instruction::SExt);
  unsigned alignment = s.alignment >= from && s.alignment < kMaxAlignment ? 0 : s.alignment;
  return make(*s.offsets, alignment, to, !isExact || s.isConditional);
}

Shape ShapeAnalysis::evaluate(const llvm::Instruction &i) const {
  using I = llvm::Instruction;
  if (taken_.contains(&i))
    return uniform();
  if (i.isBinaryOp())
    return evaluateBinary(i);
  switch (i.getOpcode()) {
  case I::PHI:
    return evaluatePhi(llvm::cast<llvm::PHINode>(i));
  case I::ICmp:
    return evaluateCompare(i);
  case I::Call:
    return evaluateCall(llvm::cast<llvm::CallBase>(i));
  case I::GetElementPtr:
    return evaluateGep(i);
  case I::AtomicRMW:
  case I::AtomicCmpXchg:
    return varying();
  case I::Load: {
    Shape s = shape(i.getOperand(0));
    return s.kind == Shape::Kind::unknown ? s : s.isUniform() ? uniform() : varying();
  }
  case I::Alloca:
    return evaluateAlloca(llvm::cast<llvm::AllocaInst>(i));
  case I::ExtractValue: { // of a shuffle with offsets: the value has them, the predicate is true
    const Shape s = shape(i.getOperand(0));
    return s.hasOffsets() && llvm::cast<llvm::ExtractValueInst>(i).getIndices()[0] != 0 ? uniform()
                                                                                        : s;
  }
  case I::Trunc:
  case I::IntToPtr:
  case I::PtrToInt:
  case I::Freeze: {
    Shape s = shape(i.getOperand(0));
    const unsigned width = widthOf(&i);
    if (s.kind != Shape::Kind::offsets || s.isUniform())
      return s.isUniform() ? uniform(width ? s.alignment : 0) : s;
    if (width == 0 || width > 64 ||
        (i.getOpcode() != I::Trunc && widthOf(i.getOperand(0)) != width))
      return varying();
    return i.getType()->isPointerTy() ? makePlaces(*s.offsets, s.alignment, width, s.isConditional)
                                      : make(*s.offsets, s.alignment, width, s.isConditional);
  }
  case I::SExt:
  case I::ZExt:
    return evaluateExtension(i);
  case I::Select: {
    Shape c = shape(i.getOperand(0)), a = shape(i.getOperand(1)), b = shape(i.getOperand(2));
    if (c.kind == Shape::Kind::unknown || a.kind == Shape::Kind::unknown ||
        b.kind == Shape::Kind::unknown)
      return {};
    if (!c.isUniform() || a.isVarying() || b.isVarying() || a.offsets != b.offsets ||
        a.isConditional || b.isConditional)
      return varying();
    a.alignment = std::min(a.alignment, b.alignment);
    return a;
  }
  default:
    return meetAll(i);
  }
}

} // namespace ptxrun::simt
