#include "translate/simt/look_back.h"

#include "translate/simt/cost.h"
#include "translate/simt/words.h"

#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

#include <map>

namespace ptxrun::simt {
namespace {

using llvm::Value;

/// A sum of values, each times a number. What is the same wherever it is read (parameters, %tid)
/// counts as one value.
struct Sum {
  std::map<std::pair<const Value *, int64_t>, int64_t> terms;
  int64_t constant = 0;
  bool isUpperBound = false; ///< the address is this, or lower

  Sum operator-(const Sum &other) const {
    Sum r = *this;
    r.constant -= other.constant;
    for (const auto &[value, times] : other.terms)
      if ((r.terms[value] -= times) == 0)
        r.terms.erase(value);
    return r;
  }
};

class Summing {
 public:
  explicit Summing(const llvm::DataLayout &layout) : layout_(layout) {}

  Sum of(const Value *pointer) {
    add(pointer, 1, 0);
    std::erase_if(sum_.terms, [](const auto &t) { return t.second == 0; });
    return sum_;
  }

 private:
  void add(const Value *v, int64_t times, unsigned depth) {
    if (depth > kLimits.search.sums || !addPart(v, times, depth + 1))
      sum_.terms[keyOf(v)] += times;
  }

  /// False where the value is to be taken as it is.
  bool addPart(const Value *v, int64_t times, unsigned depth) {
    if (auto *c = llvm::dyn_cast<llvm::ConstantInt>(v)) {
      if (c->getBitWidth() > 64)
        return false;
      sum_.constant += times * c->getSExtValue();
      return true;
    }
    if (auto *phi = llvm::dyn_cast<llvm::PHINode>(v))
      return addPhi(*phi, times, depth);
    auto *i = llvm::dyn_cast<llvm::Operator>(v);
    if (!i)
      return false;
    auto *c =
        i->getNumOperands() == 2 ? llvm::dyn_cast<llvm::ConstantInt>(i->getOperand(1)) : nullptr;
    switch (i->getOpcode()) {
    case llvm::Instruction::Or:
      if (!llvm::cast<llvm::PossiblyDisjointInst>(i)->isDisjoint())
        return false;
      [[fallthrough]];
    case llvm::Instruction::Add:
      add(i->getOperand(0), times, depth);
      add(i->getOperand(1), times, depth);
      return true;
    case llvm::Instruction::Sub:
      add(i->getOperand(0), times, depth);
      add(i->getOperand(1), -times, depth);
      return true;
    case llvm::Instruction::Mul:
      if (c)
        add(i->getOperand(0), times * c->getSExtValue(), depth);
      return c;
    case llvm::Instruction::Shl:
      if (c)
        add(i->getOperand(0), int64_t(uint64_t(times) << (c->getZExtValue() & 63)), depth);
      return c;
    case llvm::Instruction::SExt:
    case llvm::Instruction::ZExt:
    case llvm::Instruction::IntToPtr:
    case llvm::Instruction::PtrToInt:
    case llvm::Instruction::AddrSpaceCast:
    case llvm::Instruction::Freeze:
      add(i->getOperand(0), times, depth);
      return true;
    case llvm::Instruction::GetElementPtr: {
      llvm::MapVector<Value *, llvm::APInt> variable;
      llvm::APInt constant(64, 0);
      auto *gep = llvm::cast<llvm::GEPOperator>(i);
      if (!gep->collectOffset(layout_, 64, variable, constant))
        return false;
      add(gep->getPointerOperand(), times, depth);
      sum_.constant += times * constant.getSExtValue();
      for (const auto &[value, scale] : variable)
        add(value, times * scale.getSExtValue(), depth);
      return true;
    }
    default:
      return false;
    }
  }

  /// What a loop only lowers is at most what it starts with.
  bool addPhi(const llvm::PHINode &phi, int64_t times, unsigned depth) {
    const Value *start = nullptr;
    for (const Value *in : phi.incoming_values()) {
      auto *step = llvm::dyn_cast<llvm::BinaryOperator>(in);
      auto *c = step && step->getOperand(0) == &phi
                    ? llvm::dyn_cast<llvm::ConstantInt>(step->getOperand(1))
                    : nullptr;
      if (c && step->getOpcode() == llvm::Instruction::Add && c->getSExtValue() * times <= 0) {
        sum_.isUpperBound = true;
        continue;
      }
      if (in == &phi || in == start)
        continue;
      if (start)
        return false;
      start = in;
    }
    if (!start)
      return false;
    add(start, times, depth);
    return true;
  }

  /// Parameters by their place, special registers by their name, all else by itself.
  std::pair<const Value *, int64_t> keyOf(const Value *v) const {
    if (auto *load = llvm::dyn_cast<llvm::LoadInst>(v)) {
      llvm::APInt offset(layout_.getIndexTypeSizeInBits(load->getPointerOperandType()), 0);
      const Value *base =
          load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout_, offset, true);
      if (llvm::isa<llvm::Argument>(base) &&
          load->hasMetadata(llvm::LLVMContext::MD_invariant_load))
        return {base, offset.getSExtValue()};
    }
    if (auto *call = llvm::dyn_cast<llvm::CallBase>(v))
      if (const llvm::Function *f = call->getCalledFunction(); f && wordOf(*f).op == Op::tid)
        return {f, 0};
    return {v, 0};
  }

  const llvm::DataLayout &layout_;
  Sum sum_;
};

std::optional<unsigned> axisOf(const Value *key) {
  auto *f = llvm::dyn_cast<llvm::Function>(key);
  const Word word = f ? wordOf(*f) : Word{};
  return word.op == Op::tid ? std::optional<unsigned>(word.axis) : std::nullopt;
}

/// The values of %tid that come to the block.
llvm::ConstantRange rangeOf(const llvm::Function &tid, uint32_t blockSize,
                            const llvm::BasicBlock *at, const ShapeAnalysis &shapes) {
  llvm::ConstantRange range(llvm::APInt(32, 0), llvm::APInt(32, blockSize));
  for (auto *node = shapes.dominators().getNode(at); node && node->getIDom();
       node = node->getIDom()) {
    const llvm::BasicBlock *d = node->getIDom()->getBlock();
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(d->getTerminator());
    auto *compare = branch && branch->isConditional()
                        ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition())
                        : nullptr;
    auto *bound = compare ? llvm::dyn_cast<llvm::ConstantInt>(compare->getOperand(1)) : nullptr;
    auto *call = compare ? llvm::dyn_cast<llvm::CallBase>(compare->getOperand(0)) : nullptr;
    if (!bound || bound->getBitWidth() != 32 || !call || call->getCalledFunction() != &tid)
      continue;
    for (unsigned k = 0; k < 2; ++k)
      if (shapes.dominators().dominates(llvm::BasicBlockEdge(d, branch->getSuccessor(k)), at))
        range = range.intersectWith(llvm::ConstantRange::makeExactICmpRegion(
            k == 0 ? compare->getPredicate() : compare->getInversePredicate(), bound->getValue()));
  }
  return range;
}

} // namespace

bool LookBack::endsOnlyLookBack(const llvm::Instruction &write) const {
  const llvm::DataLayout &layout = function_.getDataLayout();
  const Value *pointer = writtenPlace(write);
  if (!pointer)
    return false;
  const Sum own = Summing(layout).of(pointer);
  if (own.isUpperBound)
    return false;
  // Every write where these waits look is at the writer's own place.
  const auto reads = waits_.endedBy(write);
  llvm::SmallVector<const llvm::BasicBlock *> writers;
  for (const llvm::BasicBlock &b : function_)
    for (const llvm::Instruction &i : b) {
      if (!waits_.mayEndWait(i))
        continue;
      const auto other = waits_.endedBy(i);
      const bool isOfThese = llvm::any_of(
          other, [&](const llvm::Instruction *r) { return !r || llvm::is_contained(reads, r); });
      if (!isOfThese && !other.empty())
        continue;
      const Value *place = writtenPlace(i);
      if (!place)
        return false;
      const Sum difference = Summing(layout).of(place) - own;
      if (!difference.terms.empty() || difference.constant != 0 || difference.isUpperBound)
        return false;
      writers.push_back(&b);
    }
  for (const llvm::Instruction *read : reads) {
    const Value *place = read ? llvm::getLoadStorePointerOperand(read) : nullptr;
    if (!place)
      return false;
    const Sum below = Summing(layout).of(place) - own;
    if (!below.terms.empty())
      return false;
    // From the lowest place that a thread of the block writes to the highest of one that polls.
    int64_t span = 0;
    for (const auto &[key, times] : own.terms) {
      if (auto axis = axisOf(key.first)) {
        const auto &tid = *llvm::cast<llvm::Function>(key.first);
        const uint32_t threads = shapes_.block()[*axis];
        if (threads == 0)
          return false;
        const llvm::ConstantRange polling = rangeOf(tid, threads, read->getParent(), shapes_);
        llvm::ConstantRange writing = llvm::ConstantRange::getEmpty(32);
        for (const llvm::BasicBlock *b : writers)
          writing = writing.unionWith(rangeOf(tid, threads, b, shapes_));
        if (polling.isEmptySet() || writing.isEmptySet())
          return false;
        auto value = [](const llvm::APInt &n) { return int64_t(n.getZExtValue()); };
        span += times > 0
                    ? times * (value(polling.getUnsignedMax()) - value(writing.getUnsignedMin()))
                    : times * (value(polling.getUnsignedMin()) - value(writing.getUnsignedMax()));
      } else if (auto *value = llvm::dyn_cast<llvm::Instruction>(key.first);
                 value && !shapes_.isUniform(value)) {
        return false;
      }
    }
    const uint64_t bytes = layout.getTypeStoreSize(read->getType());
    if (below.constant > -(span + int64_t(bytes)))
      return false;
  }
  return !reads.empty();
}

} // namespace ptxrun::simt
