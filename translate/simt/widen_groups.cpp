// Lanes that read or write in a row in groups, wherever the groups are (lane_groups.h): four lanes
// for each row of a tile, whose pitch only the launch knows.
#include <llvm/ADT/Sequence.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>

#include "translate/simt/accesses.h"
#include "translate/simt/linear_sum.h"
#include "translate/simt/transposes.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

/// An integer of 64 bits, of the first lane of each group: a scalar, a constant for each group, and
/// constants for each times a scalar.
///
///     base + (row + lane / 4) * pitch + lane % 4 * 16  =>  base + row * pitch, {0, 1, 2, ...} *
///     pitch
class LinearStarts {
 public:
  using Scalar = llvm::function_ref<llvm::Value *(const llvm::Value *)>;
  LinearStarts(const ShapeAnalysis &shapes, unsigned lanes, unsigned group, llvm::IRBuilder<> &b,
               Scalar scalarOf)
      : shapes_(shapes), lanes_(lanes), group_(group), b_(b), scalarOf_(scalarOf) {}

  /// One for each group; none where the value is not of this form.
  llvm::SmallVector<llvm::Value *> of(const llvm::Value *v) {
    std::optional<Sum> sum = evaluate(v, 0);
    llvm::SmallVector<llvm::Value *> starts;
    if (!sum)
      return starts;
    llvm::Value *first = offset(*sum, sum->scalar, {});
    for (unsigned g = 0; g < lanes_ / group_; ++g)
      starts.push_back(g == 0 ? first : offset(*sum, first, g));
    return starts;
  }

 private:
  using Constants = llvm::SmallVector<int64_t, 16>;
  struct Sum {
    llvm::Value *scalar = nullptr;
    Constants constants{};
    llvm::SmallVector<std::pair<llvm::Value *, Constants>, 2> products{};
  };

  /// The first group's, or how far another group's lies behind it.
  llvm::Value *offset(const Sum &sum, llvm::Value *from, std::optional<unsigned> group) {
    const auto of = [&](const Constants &c) {
      return group ? uint64_t(c[*group]) - uint64_t(c[0]) : uint64_t(c[0]);
    };
    for (const auto &[factor, constants] : sum.products)
      if (const uint64_t times = of(constants))
        from = b_.CreateAdd(from, b_.CreateMul(factor, b_.getInt64(times)));
    const uint64_t bytes = of(sum.constants);
    return bytes ? b_.CreateAdd(from, b_.getInt64(bytes)) : from;
  }

  std::optional<Sum> evaluate(const llvm::Value *v, unsigned depth) {
    if (widthOf(v) != 64 || ++depth > kLimits.search.operands)
      return std::nullopt;
    const Shape shape = shapes_.shape(v);
    if (shape.kind == Shape::Kind::offsets && !shape.isConditional) {
      Sum sum{scalarOf_(v), Constants(lanes_ / group_, 0)};
      for (unsigned g = 0; shape.offsets && g < lanes_ / group_; ++g)
        sum.constants[g] = (*shape.offsets)[size_t(g) * group_];
      return v->getType()->isIntegerTy() ? std::optional(sum) : std::nullopt;
    }
    if (auto *cast = llvm::dyn_cast<llvm::IntToPtrInst>(v))
      return evaluate(cast->getOperand(0), depth);
    auto *binary = llvm::dyn_cast<llvm::BinaryOperator>(v);
    if (!binary)
      return std::nullopt;
    auto *disjoint = llvm::dyn_cast<llvm::PossiblyDisjointInst>(binary);
    if (binary->getOpcode() == llvm::Instruction::Add || (disjoint && disjoint->isDisjoint()))
      return sumOf(*binary, depth);
    if (binary->getOpcode() == llvm::Instruction::Mul)
      return productOf(*binary, depth);
    return std::nullopt;
  }

  std::optional<Sum> sumOf(const llvm::BinaryOperator &add, unsigned depth) {
    std::optional<Sum> x = evaluate(add.getOperand(0), depth);
    const std::optional<Sum> y = x ? evaluate(add.getOperand(1), depth) : std::nullopt;
    if (!y)
      return std::nullopt;
    x->scalar = b_.CreateAdd(x->scalar, y->scalar);
    for (auto [to, from] : llvm::zip(x->constants, y->constants))
      to = total(to, from);
    x->products.append(y->products);
    return x;
  }

  /// Of what has no products and a scalar.
  std::optional<Sum> productOf(const llvm::BinaryOperator &product, unsigned depth) {
    const unsigned k = shapes_.isUniform(product.getOperand(0)) ? 0 : 1;
    if (!shapes_.isUniform(product.getOperand(k)))
      return std::nullopt;
    std::optional<Sum> x = evaluate(product.getOperand(1 - k), depth);
    if (!x || !x->products.empty())
      return std::nullopt;
    llvm::Value *factor = scalarOf_(product.getOperand(k));
    return Sum{b_.CreateMul(x->scalar, factor),
               Constants(x->constants.size(), 0),
               {{factor, x->constants}}};
  }

  const ShapeAnalysis &shapes_;
  unsigned lanes_, group_;
  llvm::IRBuilder<> &b_;
  Scalar scalarOf_;
};

} // namespace

/// In groups of how many lanes elements of `size` bytes follow each other, so that one access for
/// each group is worth more than a gather.
std::optional<unsigned> Accesses::groupsInRow(const Value *pointer, int64_t size,
                                              LaneGroups::Kind kind) {
  for (unsigned group = lanes_ / 2; group > 1; group /= 2) {
    if (group * size < (kind == LaneGroups::Kind::columns ? kLimits.accesses.leastColumn
                                                          : kLimits.accesses.leastPiece))
      return std::nullopt;
    auto known = laneGroups_.try_emplace({group, kind}, shapes_, group, kind).first;
    const LaneGroups::Offsets offsets = known->second.offsetsOf(pointer);
    const auto placeOf = [&](unsigned lane) {
      return kind == LaneGroups::Kind::columns ? lane / (lanes_ / group) : lane % group;
    };
    bool isRow = offsets.has_value();
    for (unsigned l = 0; isRow && l < lanes_; ++l)
      isRow = (*offsets)[l] == int64_t(placeOf(l)) * size;
    if (isRow)
      return group;
  }
  return std::nullopt;
}

/// The first address of each group: a constant distance from those of an access before, where that
/// is known, so that they are taken out of vectors once.
llvm::SmallVector<llvm::Value *> Accesses::startsOfGroups(const Value *pointer, const Address &a,
                                                          unsigned group) {
  const LinearSum sum = sumOf(pointer);
  const bool isKept = !isOffMainLine_ && widthOf(pointer) == 64;
  llvm::SmallVector<Value *> starts;
  if (auto known = groupStarts_.find({sum.key(), group}); isKept && known != groupStarts_.end()) {
    for (Value *start : known->second.pointers)
      starts.push_back(b_.CreateConstGEP1_64(b_.getInt8Ty(), start,
                                             uint64_t(minus(sum.constant, known->second.bytes))));
    return starts;
  }
  starts =
      LinearStarts(shapes_, lanes_, group, b_, [&](const Value *v) { return base(v); }).of(pointer);
  for (Value *&start : starts)
    start = b_.CreateIntToPtr(start, b_.getPtrTy());
  if (starts.empty()) {
    Value *each = pointers(a);
    for (unsigned first = 0; first < lanes_; first += group)
      starts.push_back(b_.CreateExtractElement(each, first));
  }
  if (isKept)
    groupStarts_[{sum.key(), group}] = {sum.constant, starts};
  return starts;
}

/// Bytes to where the next round of a loop reads; 0 where nobody knows, or nothing is fetched.
int64_t Accesses::stepOfGroups(const llvm::LoadInst &load) const {
  const llvm::Loop *loop = shapes_.loops().getLoopFor(load.getParent());
  if (!loop || load.getPointerAddressSpace() == lower::kShared)
    return 0;
  return stepPerRound(sumOf(load.getPointerOperand(), Extensions::through), *loop).value_or(0);
}

/// Lanes that read neighbouring elements in groups, wherever the groups are: one load for each
/// group, ahead for the next round too, whose addresses no CPU guesses where gangs take turns. Null
/// where that is not so.
llvm::Value *Accesses::loadGroups(const llvm::LoadInst &load, const Address &a) {
  auto *wideType = llvm::cast<llvm::FixedVectorType>(wide(&load));
  llvm::Type *element = wideType->getElementType();
  const unsigned perLane = wideType->getNumElements() / lanes_;
  const int64_t size = int64_t(load.getDataLayout().getTypeStoreSize(plain(&load)).getFixedValue());
  if (mask() || !load.isSimple() || element->isPointerTy() ||
      int64_t(element->getScalarSizeInBits()) * perLane != size * 8)
    return nullptr;
  const std::optional<unsigned> group = groupsInRow(load.getPointerOperand(), size);
  if (!group)
    return nullptr;
  const int64_t ahead = stepOfGroups(load);
  llvm::SmallVector<Value *> pieces;
  for (Value *at : startsOfGroups(load.getPointerOperand(), a, *group)) {
    if (ahead)
      fetchAhead(b_, at, ahead, Fetch::toReadLater);
    llvm::LoadInst *l = b_.CreateAlignedLoad(vec(element, *group * perLane), at, load.getAlign());
    copyAccessTraits(l, load);
    pieces.push_back(l);
  }
  return concatenate(pieces);
}

/// Every n-th lane reads in a row of its group's: one load for each row, and lanes take turns.
llvm::Value *Accesses::loadColumns(const llvm::LoadInst &load, const Address &a) {
  llvm::Type *type = plain(&load);
  const unsigned bits = unsigned(type->getPrimitiveSizeInBits().getFixedValue());
  if (mask() || !load.isSimple() || isBaseline() || type->isVectorTy() || type->isPointerTy() ||
      bits < 8 || bits > 32 || !llvm::isPowerOf2_32(bits))
    return nullptr;
  const std::optional<unsigned> inRow =
      groupsInRow(load.getPointerOperand(), bits / 8, LaneGroups::Kind::columns);
  constexpr unsigned kFewest = 4; // fewer are no better than a gather
  if (!inRow || *inRow < kFewest)
    return nullptr;
  const unsigned rows = lanes_ / *inRow;
  Value *each = pointers(a);
  llvm::SmallVector<Value *> pieces;
  for (unsigned row = 0; row < rows; ++row) {
    llvm::LoadInst *l = b_.CreateAlignedLoad(vec(type, *inRow), b_.CreateExtractElement(each, row),
                                             load.getAlign());
    copyAccessTraits(l, load);
    pieces.push_back(l);
  }
  llvm::SmallVector<int> order;
  for (unsigned l = 0; l < lanes_; ++l)
    order.push_back(int(l % rows * *inRow + l / rows));
  Value *result = concatenate(pieces);
  const unsigned perRegister = context_.target.vectorBits / bits;
  if (bits != 32 || lanes_ < perRegister)
    return b_.CreateShuffleVector(result, order);
  for (llvm::ArrayRef<int> step : inSteps(order, perRegister))
    result = b_.CreateShuffleVector(result, step);
  return result;
}

/// The same where the groups' beginnings are guessed, and where lanes are missing:
///     if (all active lanes: address == address[first lane of the group] + distance from it)
///       one load for each group
///     else
///       a gather, lane by lane below AVX-512
/// Null where that is unlikely. (A load under a mask never begins outside `.shared` memory.)
llvm::Value *Accesses::loadGuessedGroups(const llvm::LoadInst &load, const Address &a) {
  llvm::Type *type = plain(&load);
  const unsigned bits = unsigned(type->getPrimitiveSizeInBits().getFixedValue());
  if (!context_.passes.isOn(Pass::guesses) || isBaseline() || isOffMainLine_ || !load.isSimple() ||
      type->isVectorTy() || !context_.target.hasMaskedAccess(bits) ||
      load.getPointerAddressSpace() == lower::kShared)
    return nullptr;
  const std::optional<unsigned> group =
      groupsInRow(load.getPointerOperand(), bits / 8, LaneGroups::Kind::guessed);
  if (!group)
    return nullptr;
  auto *addresses = vec(b_.getInt64Ty(), lanes_);
  Value *each = pointers(a), *at = b_.CreateFreeze(b_.CreatePtrToInt(each, addresses));
  llvm::SmallVector<int> firsts;
  llvm::SmallVector<llvm::Constant *> distances;
  for (unsigned l = 0; l < lanes_; ++l) {
    firsts.push_back(int(l / *group * *group));
    distances.push_back(b_.getInt64(l % *group * (bits / 8)));
  }
  Value *differs = b_.CreateICmpNE(
      at, b_.CreateAdd(b_.CreateShuffleVector(at, firsts), llvm::ConstantVector::get(distances)));
  Block *inGroups = newBlock("load.groups"), *slow = newBlock("load.each"),
        *done = newBlock("load.end");
  b_.CreateCondBr(anyLane(mask() ? b_.CreateAnd(differs, mask()) : differs), slow, inGroups,
                  llvm::MDBuilder(b_.getContext()).createBranchWeights(1, 1 << 20));
  const auto loadEachGroup = [&] {
    llvm::SmallVector<Value *> pieces;
    for (unsigned first = 0; first < lanes_; first += *group) {
      const auto lanes = llvm::to_vector(llvm::seq(int(first), int(first + *group)));
      Value *start = b_.CreateIntToPtr(b_.CreateExtractElement(at, first), b_.getPtrTy());
      pieces.push_back(b_.CreateMaskedLoad(vec(type, *group), start, load.getAlign(),
                                           b_.CreateShuffleVector(fullMask(), lanes)));
    }
    return concatenate(pieces);
  };
  return joined({slow, [&] { return loadEach(load, each); }}, {inGroups, loadEachGroup}, done,
                load.getName());
}

/// Lanes that write neighbouring elements in groups: one store for each group, in the order of the
/// lanes. False where that is not so.
bool Accesses::storeGroups(const llvm::StoreInst &store, const Address &a, Value *v) {
  auto *wideType = llvm::cast<llvm::FixedVectorType>(v->getType());
  llvm::Type *element = wideType->getElementType();
  const unsigned perLane = wideType->getNumElements() / lanes_;
  const llvm::TypeSize stored =
      store.getDataLayout().getTypeStoreSize(store.getValueOperand()->getType());
  const int64_t size = int64_t(stored.getFixedValue());
  if (mask() || !store.isSimple() || element->isPointerTy() ||
      int64_t(element->getScalarSizeInBits()) * perLane != size * 8)
    return false;
  const std::optional<unsigned> group = groupsInRow(store.getPointerOperand(), size);
  if (!group)
    return false;
  int first = 0;
  for (Value *at : startsOfGroups(store.getPointerOperand(), a, *group)) {
    const auto order = llvm::to_vector(llvm::seq(first, first + int(*group * perLane)));
    b_.CreateAlignedStore(b_.CreateShuffleVector(v, order), at, store.getAlign());
    first += int(order.size());
  }
  return true;
}

} // namespace ptxrun::simt
