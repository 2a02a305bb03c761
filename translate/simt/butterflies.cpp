// A warp sums up by exchanging values over the distances 16, 8, 4, 2 and 1:
//
//   v = v + shfl.bfly(v, 16); ... v = v + shfl.bfly(v, 1)    =>    ...; v = ptx.first(v)
//
// Let v be the same in lanes l and l ^ m for all m of a set S that is closed under ^. Where `op`
// takes its operands in either order, u = v op shfl.bfly(v, k) is the same in l and l ^ k, which
// compute v[l] op v[l ^ k] and v[l ^ k] op v[l], and in l and l ^ m for all m in S. So it is for
// all m in the set that S and k make; where that is every distance, u is the same in all lanes.
// What S is at first: all distances for what is the same in all lanes; those over which the lanes'
// offsets repeat (`tid % 4`), also for what is loaded from such addresses, as by the one access
// that CPUs make of it: kernels keep a number for each warp, and every warp sums these up. All
// lanes of the warp take part, or what comes out is undefined in all (PTX ISA 9.7.9.6: a lane reads
// those that do not, and passes on what it read).
#include "translate/simt/butterflies.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

#include "intrinsics/abi.h"
#include "translate/lower/bits_of.h"
#include "translate/lower/min_max.h"
#include "translate/simt/pieces.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

using llvm::Instruction;
using llvm::Value;
using lower::bitsOf;
using namespace llvm::PatternMatch;

/// Distances m for which a value is the same in lanes l and l ^ m: bit m. Closed under ^.
using Distances = uint32_t;
constexpr Distances kNone = 1, kAll = ~0U; // 0 always is one

Distances with(Distances all, unsigned distance) {
  for (unsigned m = 0; m < 32; ++m)
    if (all >> m & 1)
      all |= 1U << (m ^ distance);
  return all;
}

/// Over which numbers that lanes have, in their order, repeat.
Distances repeated(const std::vector<int64_t> &numbers) {
  Distances all = kNone;
  for (unsigned m = 1; m < 32; ++m) {
    bool repeat = true;
    for (unsigned lane = 0; lane < numbers.size() && repeat; ++lane)
      repeat = numbers[lane] == numbers[lane ^ m];
    all |= unsigned(repeat) << m;
  }
  return all;
}

/// shfl.bfly of a whole warp over a constant distance.
struct Exchange {
  Value *of; ///< bits
  unsigned distance;
};

std::optional<Exchange> exchangeAt(const Value *v) {
  const llvm::CallInst *call = shuffleOfWarpAt(*v, Op::shflBfly);
  if (!call)
    return std::nullopt;
  auto *distance = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(1)),
       *members = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(3));
  if (!distance || !members || !members->isMinusOne())
    return std::nullopt;
  return Exchange{call->getArgOperand(0), unsigned(distance->getZExtValue() & 31)};
}

/// If `theirs` is what lanes at some distance have of `mine`, in one word or in two: the distance.
std::optional<unsigned> distanceBetween(Value *mine, Value *theirs) {
  mine = bitsOf(mine);
  theirs = bitsOf(theirs);
  if (const auto e = exchangeAt(theirs))
    return bitsOf(e->of) == mine ? std::optional(e->distance) : std::nullopt;
  Value *low, *high, *whole;
  if (!match(theirs, m_c_Or(m_ZExt(m_Value(low)), m_Shl(m_ZExt(m_Value(high)), m_SpecificInt(32)))))
    return std::nullopt;
  const auto a = exchangeAt(low), b = exchangeAt(high);
  if (!a || !b || a->distance != b->distance || !match(a->of, m_Trunc(m_Value(whole))) ||
      bitsOf(whole) != mine || !match(b->of, m_Trunc(m_LShr(m_Value(whole), m_SpecificInt(32)))) ||
      bitsOf(whole) != mine)
    return std::nullopt;
  return a->distance;
}

class Butterflies {
 public:
  Butterflies(llvm::Function &f, const GangShape &gang) : shapes_(f, gang, false) {}

  Distances of(Value *v) {
    auto *i = llvm::dyn_cast<Instruction>(v);
    const Shape &shape = shapes_.shape(v);
    if (shape.isUniform())
      return kAll;
    if (shape.hasOffsets() && !shape.isConditional)
      return repeated(*shape.offsets);
    if (!i)
      return kNone;
    auto [it, isNew] = known_.try_emplace(i, kNone); // what a loop brings around is not known
    if (!isNew)
      return it->second;
    const Distances found = compute(*i);
    return known_[i] = found;
  }

  /// Whether `i` puts together what lanes have and what others have of the same.
  bool isSum(Instruction &i) { return exchanged(i).has_value(); }

 private:
  Distances compute(Instruction &i) {
    if (const auto e = exchangeAt(&i))
      return of(e->of);
    if (const auto sum = exchanged(i))
      return with(of(sum->of), sum->distance);
    if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i))
      return load->isSimple() ? of(load->getPointerOperand()) : kNone;
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
    if (!isElementwise(i))
      return kNone;
    Distances all = kAll;
    for (Value *operand : call ? call->args() : i.operands())
      if (all != kNone)
        all &= of(operand);
    return all;
  }

  std::optional<Exchange> exchanged(Instruction &i) const {
    Value *x = nullptr, *y = nullptr;
    if (const auto m = lower::minMaxOf(i)) {
      x = m->x;
      y = m->y;
    } else if (i.isCommutative() && isOfTwo(i)) {
      x = i.getOperand(0);
      y = i.getOperand(1);
    }
    if (!x)
      return std::nullopt;
    if (const auto distance = distanceBetween(x, y))
      return Exchange{x, *distance};
    if (const auto distance = distanceBetween(y, x))
      return Exchange{y, *distance};
    return std::nullopt;
  }

  /// fma commutes, too, but adds something else; an addition that tells of overflow is no number.
  static bool isOfTwo(const Instruction &i) {
    auto *call = llvm::dyn_cast<llvm::CallBase>(&i);
    return i.getType()->isSingleValueType() && (!call || call->arg_size() == 2);
  }

  ShapeAnalysis shapes_;
  llvm::DenseMap<Instruction *, Distances> known_;
};

} // namespace

void shareButterflies(llvm::Function &f, const GangShape &gang) {
  if (gang.lanes != abi::kWarpSize ||
      llvm::none_of(llvm::instructions(f),
                    [](const Instruction &i) { return wordAt(i).op == Op::shflBfly; }))
    return;
  std::vector<Instruction *> alike;
  {
    Butterflies butterflies(f, gang);
    for (Instruction &i : llvm::instructions(f))
      if (butterflies.isSum(i) && butterflies.of(&i) == kAll)
        alike.push_back(&i);
  }
  for (Instruction *sum : alike) {
    llvm::IRBuilder<> b(sum->getNextNode());
    llvm::SmallVector<llvm::Use *> uses;
    for (llvm::Use &use : sum->uses())
      uses.push_back(&use);
    llvm::Type *bits = b.getIntNTy(unsigned(sum->getType()->getPrimitiveSizeInBits()));
    Value *one =
        b.CreateBitCast(callWord(b, Op::first, bits, b.CreateBitCast(sum, bits)), sum->getType());
    for (llvm::Use *use : uses)
      use->set(one);
  }
}

} // namespace ptxrun::simt
