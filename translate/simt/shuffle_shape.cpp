// What a shuffle makes of a value's shape.
#include <array>
#include <optional>

#include "translate/simt/cost.h"
#include "translate/simt/shape.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {

namespace {

constexpr unsigned kWarp = 32;
using Lanes = std::array<uint32_t, kWarp>;

/// What each lane of the warp has, where that is a constant: %laneid, numbers, and what is computed
/// of them. Only by the text: a shape of an operand of an operand may still change.
std::optional<Lanes> constantOf(const llvm::Value *v, unsigned depth = 0) {
  Lanes lanes;
  if (const auto *c = llvm::dyn_cast<llvm::ConstantInt>(v)) {
    lanes.fill(uint32_t(c->getZExtValue()));
    return lanes;
  }
  if (const auto *call = llvm::dyn_cast<llvm::CallBase>(v)) {
    if (wordAt(*call).op != Op::laneid)
      return std::nullopt;
    for (unsigned l = 0; l < kWarp; ++l)
      lanes[l] = l;
    return lanes;
  }
  const auto *op = llvm::dyn_cast<llvm::BinaryOperator>(v);
  if (!op || depth == kLimits.search.lanes || !op->getType()->isIntegerTy(32))
    return std::nullopt;
  const auto a = constantOf(op->getOperand(0), depth + 1),
             b = constantOf(op->getOperand(1), depth + 1);
  if (!a || !b)
    return std::nullopt;
  for (unsigned l = 0; l < kWarp; ++l) {
    const uint32_t x = (*a)[l], y = (*b)[l];
    const bool isShift = op->isShift();
    if (isShift && y >= 32)
      return std::nullopt;
    switch (op->getOpcode()) {
    case llvm::Instruction::Add:
      lanes[l] = x + y;
      break;
    case llvm::Instruction::Or:
      lanes[l] = x | y;
      break;
    case llvm::Instruction::Xor:
      lanes[l] = x ^ y;
      break;
    case llvm::Instruction::And:
      lanes[l] = x & y;
      break;
    case llvm::Instruction::Shl:
      lanes[l] = x << y;
      break;
    case llvm::Instruction::LShr:
      lanes[l] = x >> y;
      break;
    default:
      return std::nullopt;
    }
  }
  return lanes;
}

/// The lanes that an index of known offsets names.
std::optional<Lanes> lanesOf(const llvm::Value *index, const Shape &shape) {
  constexpr uint8_t kWholeWarps = 5; // the base is a multiple of 32
  if (!shape.hasOffsets() || shape.isConditional || shape.alignment < kWholeWarps)
    return constantOf(index);
  Lanes lanes;
  for (unsigned l = 0; l < kWarp; ++l)
    lanes[l] = uint32_t((*shape.offsets)[l]);
  return lanes;
}

bool isOnlyTakenApart(const llvm::CallBase &call) {
  return llvm::all_of(call.users(),
                      [](const llvm::User *u) { return llvm::isa<llvm::ExtractValueInst>(u); });
}

} // namespace

/// shfl.sync.idx (9.7.9.6) over the whole warp. From one lane, or of what all lanes hold: how
/// programs tell the compiler that a warp's number is one number. From lanes that are known: a
/// value with offsets has them in another order, from the same base; the call has the shape of its
/// value.
Shape ShapeAnalysis::evaluateShuffle(const llvm::CallBase &call) const {
  if (!isOfWholeWarps(call))
    return varying();
  const Shape value = shape(call.getArgOperand(0)), lane = shape(call.getArgOperand(1)),
              members = shape(call.getArgOperand(3));
  for (const Shape &s : {value, lane, members})
    if (s.kind == Shape::Kind::unknown)
      return s;
  const bool isSame = lane.isUniform() || (value.isUniform() && gang_.lanes == kWarp);
  if (isSame && members.isUniform())
    return uniform();
  const auto *all = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(3));
  const unsigned width = widthOf(call.getArgOperand(0));
  if (gang_.lanes != kWarp || !all || !all->isMinusOne() || !value.hasOffsets() ||
      value.isConditional || width == 0 || !isOnlyTakenApart(call))
    return varying();
  const auto from = lanesOf(call.getArgOperand(1), lane);
  if (!from)
    return varying();
  std::vector<int64_t> offsets(kWarp);
  for (unsigned l = 0; l < kWarp; ++l)
    offsets[l] = (*value.offsets)[(*from)[l] % kWarp];
  return make(std::move(offsets), value.alignment, width, false);
}

} // namespace ptxrun::simt
