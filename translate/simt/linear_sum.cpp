#include "translate/simt/linear_sum.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

#include <algorithm>

#include "translate/simt/cost.h"
#include "translate/simt/shape.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

using llvm::Value;
using I = llvm::Instruction;

class Summing {
 public:
  Summing(Extensions extensions, llvm::function_ref<bool(const Value *)> isTerm)
      : isTerm_(isTerm), areExtensionsTerms_(extensions == Extensions::terms) {}

  void add(const Value *v, int64_t times) {
    if (++steps_ > kLimits.search.sums || (isTerm_ && isTerm_(v)) || !addParts(v, times))
      sum.add(v, times);
  }
  LinearSum sum;

 private:
  /// False where the value is to be taken as it is.
  bool addParts(const Value *v, int64_t times) {
    if (auto *c = llvm::dyn_cast<llvm::ConstantInt>(v)) {
      if (c->getBitWidth() > 64)
        return false;
      sum.constant = total(sum.constant, product(times, c->getSExtValue()));
      return true;
    }
    auto *i = llvm::dyn_cast<llvm::Operator>(v);
    if (!i || i->getType()->isVectorTy())
      return false;
    const auto operand = [&](unsigned k, int64_t factor) {
      add(i->getOperand(k), product(times, factor));
      return true;
    };
    auto *c =
        i->getNumOperands() == 2 ? llvm::dyn_cast<llvm::ConstantInt>(i->getOperand(1)) : nullptr;
    if (c && c->getBitWidth() > 64)
      return false;
    switch (i->getOpcode()) {
    case I::Or:
      if (!llvm::cast<llvm::PossiblyDisjointInst>(i)->isDisjoint())
        return false;
      [[fallthrough]];
    case I::Add:
      return operand(0, 1) && operand(1, 1);
    case I::Sub:
      return operand(0, 1) && operand(1, -1);
    case I::Xor: // -1 - x, which is no negative number where it is extended by zeros
      if (!c || !c->isMinusOne() || !areExtensionsTerms_)
        return false;
      sum.constant = total(sum.constant, product(times, -1));
      return operand(0, -1);
    case I::Mul:
      return c && operand(0, c->getSExtValue());
    case I::Shl:
      return c && c->getZExtValue() < 64 && operand(0, int64_t(uint64_t(1) << c->getZExtValue()));
    case I::SExt:
    case I::ZExt:
    case I::IntToPtr:
    case I::PtrToInt:
    case I::AddrSpaceCast:
    case I::Freeze:
      return (!areExtensionsTerms_ || widthOf(i) <= widthOf(i->getOperand(0))) && operand(0, 1);
    case I::GetElementPtr:
      return addElement(*i, times);
    default:
      return false;
    }
  }

  bool addElement(const llvm::Operator &element, int64_t times) {
    auto *i = llvm::dyn_cast<llvm::GetElementPtrInst>(&element);
    if (!i)
      return false;
    const llvm::DataLayout &layout = i->getDataLayout();
    const unsigned width = layout.getIndexTypeSizeInBits(i->getType());
    llvm::MapVector<Value *, llvm::APInt> variable;
    llvm::APInt constant(width, 0);
    if (!llvm::cast<llvm::GEPOperator>(i)->collectOffset(layout, width, variable, constant) ||
        (areExtensionsTerms_ && llvm::any_of(variable, [&](const auto &index) {
           return index.first->getType()->getScalarSizeInBits() != width;
         })))
      return false;
    add(i->getPointerOperand(), times);
    sum.constant = total(sum.constant, product(times, constant.getSExtValue()));
    for (const auto &[index, scale] : variable)
      add(index, product(times, scale.getSExtValue()));
    return true;
  }

  const llvm::function_ref<bool(const Value *)> isTerm_;
  const bool areExtensionsTerms_;
  unsigned steps_ = 0;
};

/// What integers may be, unsigned: of what goes round loops, or comes from several places, what
/// comes from elsewhere.
class Ranges {
 public:
  explicit Ranges(const llvm::DataLayout &layout) : layout_(layout) {}

  llvm::ConstantRange of(const Value &value) {
    const unsigned bits = value.getType()->getIntegerBitWidth();
    llvm::SmallSetVector<const Value *, 8> sources;
    sources.insert(&value);
    llvm::ConstantRange all = llvm::ConstantRange::getEmpty(bits);
    for (size_t k = 0; k < sources.size(); ++k) {
      if (++looked_ > kLimits.search.numbers)
        return llvm::ConstantRange::getFull(bits);
      if (auto *phi = llvm::dyn_cast<llvm::PHINode>(sources[k]))
        sources.insert(phi->value_op_begin(), phi->value_op_end());
      else
        all = all.unionWith(ofSource(*sources[k]));
    }
    return all;
  }

 private:
  llvm::ConstantRange ofSource(const Value &source) {
    const llvm::ConstantRange known = llvm::computeConstantRangeIncludingKnownBits(
        &source, /*ForSigned=*/false, llvm::SimplifyQuery(layout_));
    auto *op = llvm::dyn_cast<llvm::BinaryOperator>(&source);
    if (!op || !known.getUnsignedMax().isSignBitSet())
      return known;
    return known.intersectWith(
        of(*op->getOperand(0)).binaryOp(op->getOpcode(), of(*op->getOperand(1))));
  }

  const llvm::DataLayout &layout_;
  unsigned looked_ = 0;
};

} // namespace

void LinearSum::add(const Value *value, int64_t times) {
  auto place = llvm::find_if(terms, [&](const auto &term) { return term.first == value; });
  if (place == terms.end())
    place = terms.insert(place, {value, 0});
  place->second = total(place->second, times);
  if (place->second == 0) {
    terms.erase(place);
    ++cancelled;
  }
}

LinearSum::Terms LinearSum::key() const {
  Terms sorted = terms;
  llvm::sort(sorted);
  return sorted;
}

void LinearSum::add(const LinearSum &other, int64_t times) {
  for (const auto &[value, n] : other.terms)
    add(value, product(n, times));
  constant = total(constant, product(other.constant, times));
}

LinearSum sumOf(const Value *v, Extensions extensions,
                llvm::function_ref<bool(const Value *)> isTerm) {
  Summing summing(extensions, isTerm);
  summing.add(v, 1);
  return std::move(summing.sum);
}

/// Whether the value is the same in each round: of what the loop has been given, though it may be
/// computed in the loop.
static bool staysTheSame(const Value *v, const llvm::Loop &loop) {
  llvm::SmallVector<const Value *> stack{v};
  for (unsigned n = 0; !stack.empty(); ++n) {
    auto *i = llvm::dyn_cast<I>(stack.pop_back_val());
    if (!i || !loop.contains(i))
      continue;
    if (n == kLimits.search.operands || !llvm::isa<llvm::BinaryOperator, llvm::CastInst>(i))
      return false;
    stack.append(i->value_op_begin(), i->value_op_end());
  }
  return true;
}

std::optional<LinearSum> movePerRound(const LinearSum &sum, const llvm::Loop &loop) {
  LinearSum move;
  for (const auto &[v, times] : sum.terms) {
    if (staysTheSame(v, loop))
      continue;
    auto *phi = llvm::dyn_cast<llvm::PHINode>(v);
    if (!phi || phi->getParent() != loop.getHeader() || !loop.getLoopLatch())
      return std::nullopt;
    LinearSum next = sumOf(phi->getIncomingValueForBlock(loop.getLoopLatch()));
    next.add(phi, -1);
    move.add(next, times);
  }
  const bool isFixed =
      llvm::all_of(move.terms, [&](const auto &term) { return loop.isLoopInvariant(term.first); });
  return isFixed ? std::optional(std::move(move)) : std::nullopt;
}

std::optional<int64_t> stepPerRound(const LinearSum &sum, const llvm::Loop &loop) {
  const std::optional<LinearSum> move = movePerRound(sum, loop);
  return move && move->terms.empty() ? std::optional(move->constant) : std::nullopt;
}

std::optional<Bytes> bytesWithin(const LinearSum &address, int64_t bytes,
                                 const llvm::DataLayout &layout,
                                 const std::array<uint32_t, 3> &block) {
  constexpr int64_t kMost = int64_t(1) << 24; // more than any block has
  Bytes all{address.constant, address.constant};
  for (const auto &[value, times] : address.terms) {
    if (!value->getType()->isIntegerTy() || times < -kMost || times > kMost)
      return std::nullopt;
    auto *i = llvm::dyn_cast<llvm::Instruction>(value);
    const Word word = i ? wordAt(*i) : Word();
    const uint32_t threads = word.kind == Word::Kind::threadIndex ? block[word.axis] : 0;
    const llvm::ConstantRange range =
        threads ? llvm::ConstantRange(llvm::APInt(32, 0), llvm::APInt(32, threads))
                : Ranges(layout).of(*value);
    const llvm::APInt most = range.getUnsignedMax();
    if (range.isEmptySet() || most.ugt(uint64_t(kMost)))
      return std::nullopt;
    const int64_t low = times * int64_t(range.getUnsignedMin().getZExtValue()),
                  high = times * int64_t(most.getZExtValue());
    all = {all.begin + std::min(low, high), all.end + std::max(low, high)};
  }
  if (all.begin < 0 || all.end > kMost)
    return std::nullopt;
  return Bytes{all.begin, all.end + bytes};
}

} // namespace ptxrun::simt
