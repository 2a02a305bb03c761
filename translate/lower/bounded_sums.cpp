#include "translate/lower/bounded_sums.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

#include <cmath>
#include <limits>
#include <optional>

#include "translate/lower/canonical_nan.h"
#include "translate/lower/library_calls.h"

namespace ptxrun::lower {

namespace {

using llvm::Value;
using namespace llvm::PatternMatch;

/// Of the numbers that a float may be: it is no NaN.
struct Interval {
  double low, high;
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Clamps that stand behind each other: two, and what else compilers come to write.
constexpr unsigned kClamps = 4;

/// Nothing where it may be NaN: `x < limit ? x : limit` is the limit then.
std::optional<Interval> intervalOf(Value *value, unsigned depth = kClamps) {
  const llvm::APFloat *number;
  if (match(value, m_APFloat(number)) && !number->isNaN())
    return Interval{number->convertToDouble(), number->convertToDouble()};
  if (match(value, m_Intrinsic<llvm::Intrinsic::copysign>(m_APFloat(number), m_Value())) &&
      !number->isNaN()) {
    const double magnitude = std::abs(number->convertToDouble());
    return Interval{-magnitude, magnitude};
  }
  llvm::CmpInst::Predicate predicate;
  Value *x, *limit;
  const auto isClamp =
      m_Select(m_FCmp(predicate, m_Value(x), m_Value(limit)), m_Deferred(x), m_Deferred(limit));
  if (depth == 0 || !match(value, isClamp))
    return std::nullopt;
  const std::optional<Interval> end = intervalOf(limit, depth - 1);
  if (!end)
    return std::nullopt;
  const Interval of = intervalOf(x, depth - 1).value_or(Interval{-kInfinity, kInfinity});
  switch (predicate) {
  case llvm::CmpInst::FCMP_OLT:
  case llvm::CmpInst::FCMP_OLE:
    return Interval{std::min(of.low, end->low), std::min(of.high, end->high)};
  case llvm::CmpInst::FCMP_OGT:
  case llvm::CmpInst::FCMP_OGE:
    return Interval{std::max(of.low, end->low), std::max(of.high, end->high)};
  default:
    return std::nullopt;
  }
}

/// The largest magnitude; infinite where nothing is known.
double magnitudeOf(Value *value) {
  const std::optional<Interval> interval = intervalOf(value);
  return interval ? std::max(std::abs(interval->low), std::abs(interval->high)) : kInfinity;
}

enum class Direction { zero, down, up };

/// s, the sum to nearest, lies within a quarter of c, so that c - s is exact, and a * b + (c - s)
/// has the sign of what s lacks: where s is c, it is a * b rounded, which is no smaller than a;
/// else it is a multiple of 2^-48 of c's last bit.
Value *fmaWritten(llvm::CallInst &fma, Direction direction) {
  Value *a = fma.getArgOperand(0), *b = fma.getArgOperand(1), *c = fma.getArgOperand(2);
  const llvm::APFloat *factor, *addend;
  if (!match(b, m_APFloat(factor)))
    std::swap(a, b);
  if (!match(b, m_APFloat(factor)) || !match(c, m_APFloat(addend)))
    return nullptr;
  const double times = std::abs(factor->convertToDouble()),
               beside = std::abs(addend->convertToDouble());
  if (!(times >= 1) || !(beside >= 1) || !std::isfinite(beside) ||
      !(magnitudeOf(a) * times <= beside / 4))
    return nullptr;
  llvm::IRBuilder<> ir(&fma);
  const auto sum = [&](Value *with) {
    return ir.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, with});
  };
  Value *s = sum(c), *lacks = sum(ir.CreateFSub(c, s)),
        *zero = llvm::ConstantFP::get(a->getType(), 0);
  const bool isNegative = addend->isNegative(),
             isDown = direction == Direction::down || (direction == Direction::zero && !isNegative);
  Value *isBeyond = isDown ? ir.CreateFCmpOLT(lacks, zero) : ir.CreateFCmpOGT(lacks, zero);
  // The next float towards zero has the next smaller bits.
  Value *bits = ir.CreateBitCast(s, ir.getInt32Ty());
  Value *next = ir.CreateAdd(bits, ir.getInt32(isDown == isNegative ? 1 : uint32_t(-1)));
  return ir.CreateBitCast(ir.CreateSelect(isBeyond, next, bits), a->getType());
}

/// Half of the largest float's last bit is 2^103: what is smaller does not make it infinite.
constexpr double kNoOverflow = 0x1p102;

/// s, the sum to nearest, and exactly what it lacks (Knuth's TwoSum). Where that has another sign
/// than s, s lies beyond. Of infinity and NaN it is NaN.
Value *addTowardsZeroWritten(llvm::CallInst &add) {
  Value *a = add.getArgOperand(0), *b = add.getArgOperand(1);
  if (std::min(magnitudeOf(a), magnitudeOf(b)) > kNoOverflow)
    return nullptr;
  llvm::IRBuilder<> ir(&add);
  llvm::Type *type = a->getType(), *i32 = ir.getInt32Ty();
  Value *s = ir.CreateFAdd(a, b), *partOfB = ir.CreateFSub(s, a);
  Value *lacks =
      ir.CreateFAdd(ir.CreateFSub(a, ir.CreateFSub(s, partOfB)), ir.CreateFSub(b, partOfB));
  Value *bits = ir.CreateBitCast(s, i32), *sign = ir.CreateAnd(bits, uint64_t(1) << 31);
  Value *outwards = ir.CreateBitCast(ir.CreateXor(ir.CreateBitCast(lacks, i32), sign), type);
  Value *isBeyond = ir.CreateFCmpOLT(outwards, llvm::ConstantFP::get(type, 0));
  Value *result = ir.CreateSelect(isBeyond, ir.CreateSub(bits, ir.getInt32(1)), bits);
  Value *canonical = ir.getInt(canonicalNanBits(32));
  return ir.CreateBitCast(ir.CreateSelect(ir.CreateFCmpUNO(s, s), canonical, result), type);
}

} // namespace

llvm::PreservedAnalyses BoundedSumsPass::run(llvm::Function &function,
                                             llvm::FunctionAnalysisManager &) {
  bool isChanged = false;
  for (auto [name, direction] :
       {std::pair("ptx_fma_rz_f32", Direction::zero), std::pair("ptx_fma_rm_f32", Direction::down),
        std::pair("ptx_fma_rp_f32", Direction::up)})
    isChanged |= replaceCalls(function, name,
                              [&](llvm::CallInst &call) { return fmaWritten(call, direction); });
  isChanged |= replaceCalls(function, "ptx_add_rz_f32", addTowardsZeroWritten);
  if (!isChanged)
    return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

} // namespace ptxrun::lower
