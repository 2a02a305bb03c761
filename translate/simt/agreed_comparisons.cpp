// Lanes that agree on how many rounds are left, agree on what is computed of it:
//
//     q = (n - 1 - lane) >> 5                      all lanes' (they agree on it)
//     do ... k += 128; while (k < n)          =>   while (ptx.first(k < n))      k: lane, in the
//     first round
//
// Compilers count rounds once, for those that are left over of a multiple of four, and end loops
// by comparing the index, which differs between lanes.
//
// Why. All is modulo the width of the numbers, and 2^s divides it. Let q = (u - l) >> s, where u is
// the same in all lanes and each lane's own l is in [0, 2^s): by one of two values, and which of
// them, tells whether l <= u mod 2^s. Then
//   k < n    where k = 2^s * m + l and n = u + 1 (mod 2^s): holds if m < n >> s, does not if
//            m > n >> s, and in between if l < n mod 2^s, which is l <= u mod 2^s or never;
//   k <= n   where n = u (mod 2^s): the same with l <= n mod 2^s;
//   x < 2^s * z, x <= 2^s * z - 1   where x = v - l and v = u (mod 2^s): x >> s is one number.
// Signed or not: the ends of either range are multiples of 2^s.
#include "translate/simt/agreed_comparisons.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/Support/MathExtras.h>

#include "translate/simt/linear_sum.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

using llvm::Value;
using P = llvm::CmpInst;

class Agreement {
 public:
  /// Nothing is known where `rounds` is something else.
  Agreement(const llvm::Instruction &rounds, const ShapeAnalysis &shapes) : shapes_(shapes) {
    const unsigned op = rounds.getOpcode();
    auto *by = llvm::dyn_cast<llvm::ConstantInt>(rounds.getOperand(rounds.getNumOperands() - 1));
    if ((op != llvm::Instruction::LShr && op != llvm::Instruction::AShr) || !by ||
        by->getValue().uge(std::min(widthOf(&rounds), 32U)))
      return;
    bits_ = unsigned(by->getZExtValue());
    type_ = rounds.getType();
    if (const std::optional<Falling> left = falling(rounds.getOperand(0)))
      left_ = *left;
  }
  bool isKnown() const { return left_.lanes != nullptr; }

  bool isAlike(const llvm::ICmpInst &comparison) const {
    Value *x = comparison.getOperand(0), *y = comparison.getOperand(1);
    P::Predicate predicate = comparison.getPredicate();
    if (shapes_.isUniform(x)) {
      std::swap(x, y);
      predicate = P::getSwappedPredicate(predicate);
    }
    if (x->getType() != type_ || shapes_.isUniform(x) || !shapes_.isUniform(y) ||
        comparison.isEquality())
      return false;
    // x < y and its opposite; else x <= y and its opposite.
    const bool isStrict = predicate == P::ICMP_SLT || predicate == P::ICMP_ULT ||
                          predicate == P::ICMP_SGE || predicate == P::ICMP_UGE;
    const Shape shape = shapes_.shape(x);
    if (shape.hasOffsets() && !shape.isConditional && shape.offsets == left_.lanes &&
        shape.alignment >= bits_)
      return isMultiple(difference(sumOf(y), left_.uniform), isStrict ? 1 : 0);
    auto *end = llvm::dyn_cast<llvm::ConstantInt>(y);
    const std::optional<Falling> f = end ? falling(x) : std::nullopt;
    return f && f->lanes == left_.lanes && isMultiple(difference(f->uniform, left_.uniform), 0) &&
           isMultiple(sumOf(end), isStrict ? 0 : -1);
  }

 private:
  /// uniform - lane's own
  struct Falling {
    LinearSum uniform;
    const std::vector<int64_t> *lanes = nullptr;
  };

  std::optional<Falling> falling(const Value *v) const {
    Falling f;
    const LinearSum sum = sumOf(v);
    f.uniform.constant = sum.constant;
    for (const auto &[term, times] : sum.terms) {
      if (shapes_.isUniform(term)) {
        f.uniform.add(term, times);
        continue;
      }
      const Shape shape = shapes_.shape(term);
      if (f.lanes || times != -1 || !shape.hasOffsets() || shape.isConditional ||
          shape.alignment < bits_ || widthOf(term) != widthOf(v) ||
          llvm::any_of(*shape.offsets, [&](int64_t o) { return o < 0 || o >> bits_ != 0; }))
        return std::nullopt;
      f.lanes = shape.offsets;
    }
    return f.lanes ? std::optional(f) : std::nullopt;
  }

  static LinearSum difference(LinearSum x, const LinearSum &y) {
    x.add(y, -1);
    return x;
  }

  /// Whether the sum is `rest` more than a multiple of 2^bits.
  bool isMultiple(const LinearSum &sum, int64_t rest) const {
    const auto isOne = [&](int64_t n) {
      return (uint64_t(n) & llvm::maskTrailingOnes<uint64_t>(bits_)) == 0;
    };
    return isOne(minus(sum.constant, rest)) &&
           llvm::all_of(sum.terms, [&](const auto &term) { return isOne(term.second); });
  }

  const ShapeAnalysis &shapes_;
  unsigned bits_ = 0;
  const llvm::Type *type_ = nullptr;
  Falling left_;
};

} // namespace

void settleComparisons(llvm::Instruction &rounds, llvm::ArrayRef<llvm::BasicBlock *> blocks,
                       const GangShape &gang) {
  const ShapeAnalysis shapes(*rounds.getFunction(), gang, false);
  const Agreement agreement(rounds, shapes);
  if (!agreement.isKnown())
    return;
  llvm::SmallVector<llvm::ICmpInst *> alike;
  for (llvm::BasicBlock *block : blocks)
    for (llvm::Instruction &i : *block)
      if (auto *c = llvm::dyn_cast<llvm::ICmpInst>(&i); c && agreement.isAlike(*c))
        alike.push_back(c);
  for (llvm::ICmpInst *c : alike) {
    llvm::IRBuilder<> b(c->getNextNode());
    b.SetCurrentDebugLocation(c->getDebugLoc());
    Value *ofAll = callWord(b, Op::first, c->getType(), c);
    c->replaceUsesWithIf(ofAll, [&](const llvm::Use &u) { return u.getUser() != ofAll; });
  }
}

} // namespace ptxrun::simt
