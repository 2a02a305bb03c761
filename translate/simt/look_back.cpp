#include "translate/simt/look_back.h"

#include "translate/simt/cost.h"
#include "translate/simt/linear_sum.h"
#include "translate/simt/words.h"

#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/Instructions.h>

#include <map>

namespace ptxrun::simt {
namespace {

using llvm::Value;

/// A sum in which what is the same wherever it is read (parameters, %tid) counts as one value.
struct Sum {
  std::map<std::pair<const Value *, int64_t>, int64_t> terms;
  int64_t constant = 0;
  bool isUpperBound = false; ///< the address is this, or lower

  void add(std::pair<const Value *, int64_t> key, int64_t times) {
    int64_t &all = terms[key];
    if ((all = total(all, times)) == 0)
      terms.erase(key);
  }
  Sum operator-(const Sum &other) const {
    Sum r = *this;
    r.constant = minus(r.constant, other.constant);
    for (const auto &[key, times] : other.terms)
      r.add(key, minus(0, times));
    return r;
  }
};

/// What a phi starts with whose loops only lower it `times` as often; null where it is otherwise.
const Value *startOf(const llvm::PHINode &phi, int64_t times, bool &isUpperBound) {
  const Value *start = nullptr;
  bool isLowered = false;
  for (const Value *in : phi.incoming_values()) {
    LinearSum moved = sumOf(in);
    moved.add(&phi, -1);
    if (moved.terms.empty() && (moved.constant == 0 || (moved.constant < 0) == (times > 0))) {
      isLowered |= moved.constant != 0;
    } else if (in != start) {
      if (start)
        return nullptr;
      start = in;
    }
  }
  isUpperBound |= start && isLowered;
  return start;
}

/// Parameters by their place, special registers by their name, all else by itself.
std::pair<const Value *, int64_t> keyOf(const Value *v, const llvm::DataLayout &layout) {
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(v)) {
    llvm::APInt offset(layout.getIndexTypeSizeInBits(load->getPointerOperandType()), 0);
    const Value *base =
        load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, true);
    if (llvm::isa<llvm::Argument>(base) && load->hasMetadata(llvm::LLVMContext::MD_invariant_load))
      return {base, offset.getSExtValue()};
  }
  if (auto *call = llvm::dyn_cast<llvm::CallBase>(v))
    if (const llvm::Function *f = call->getCalledFunction(); f && wordOf(*f).op == Op::tid)
      return {f, 0};
  return {v, 0};
}

Sum placeSum(const Value *pointer, const llvm::DataLayout &layout) {
  Sum sum;
  LinearSum open = sumOf(pointer, Extensions::through);
  for (unsigned phis = 0; !open.terms.empty();) {
    const auto [v, times] = open.terms.back();
    open.terms.pop_back();
    auto *phi = llvm::dyn_cast<llvm::PHINode>(v);
    const Value *start =
        phi && phis++ < kLimits.search.sums ? startOf(*phi, times, sum.isUpperBound) : nullptr;
    if (start)
      open.add(sumOf(start, Extensions::through), times);
    else
      sum.add(keyOf(v, layout), times);
  }
  sum.constant = open.constant;
  return sum;
}

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
  const Sum own = placeSum(pointer, layout);
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
      const Sum difference = placeSum(place, layout) - own;
      if (!difference.terms.empty() || difference.constant != 0 || difference.isUpperBound)
        return false;
      writers.push_back(&b);
    }
  for (const llvm::Instruction *read : reads) {
    const Value *place = read ? llvm::getLoadStorePointerOperand(read) : nullptr;
    if (!place)
      return false;
    const Sum below = placeSum(place, layout) - own;
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
        const int64_t apart =
            times > 0 ? value(polling.getUnsignedMax()) - value(writing.getUnsignedMin())
                      : value(polling.getUnsignedMin()) - value(writing.getUnsignedMax());
        int64_t bytes = 0;
        if (llvm::MulOverflow(times, apart, bytes) || llvm::AddOverflow(span, bytes, span))
          return false;
      } else if (auto *value = llvm::dyn_cast<llvm::Instruction>(key.first);
                 value && !shapes_.isUniform(value)) {
        return false;
      }
    }
    const auto bytes = int64_t(layout.getTypeStoreSize(read->getType()).getFixedValue());
    if (llvm::AddOverflow(span, bytes, span) || span == INT64_MIN || below.constant > -span)
      return false;
  }
  return !reads.empty();
}

} // namespace ptxrun::simt
