#include "translate/simt/lockstep.h"

#include <llvm/Analysis/ValueTracking.h>

#include <algorithm>

#include "translate/simt/cost.h"
#include "translate/simt/linear_sum.h"
#include "translate/simt/prepare.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {

namespace {

struct SharedAccess {
  const llvm::Instruction *at;
  bool isStore;
  size_t next; ///< of the events of its block
  int64_t bytes;
  int64_t constant; ///< of the address
  LinearSum::Terms key;
  Shape shape;
  std::optional<Bytes> within; ///< where all lanes' accesses lie, as far as that is known
};

/// The edges of branches through which at most one lane comes.
llvm::SmallVector<llvm::BasicBlockEdge> edgesOfOneLane(const llvm::Function &f,
                                                       const ShapeAnalysis &shapes) {
  llvm::SmallVector<llvm::BasicBlockEdge> edges;
  for (const llvm::BasicBlock &b : f) {
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(b.getTerminator());
    for (const unsigned way : {0u, 1u})
      if (branch && branch->isConditional() &&
          holdsForOneLane(branch->getCondition(), way == 0, shapes))
        edges.emplace_back(&b, branch->getSuccessor(way));
  }
  return edges;
}

class Exchanges {
 public:
  Exchanges(const llvm::Function &f, const ShapeAnalysis &shapes)
      : shapes_(shapes), ofOneLane_(edgesOfOneLane(f, shapes)) {
    for (const llvm::BasicBlock &b : f)
      for (const llvm::Instruction &i : b) {
        if (isBarrierWord(i))
          events_[&b].push_back(kBarrier);
        else if (llvm::isa<llvm::LoadInst, llvm::StoreInst>(i) && !i.isAtomic())
          add(i); // atomic ones do not ask for an order
      }
  }

  bool areAny() {
    return (volatileLoads_ > 0 && volatileStores_ > 0) ||
           llvm::any_of(all_, [&](const SharedAccess &a) { return meetsOther(a); });
  }

 private:
  static constexpr size_t kBarrier = ~size_t(0);

  void add(const llvm::Instruction &i) {
    const bool isStore = llvm::isa<llvm::StoreInst>(i);
    (isStore ? volatileStores_ : volatileLoads_) += i.isVolatile();
    const llvm::Value *pointer = llvm::getLoadStorePointerOperand(&i);
    if (pointer->getType()->getPointerAddressSpace() != lower::kShared)
      return;
    llvm::Type *type = isStore ? i.getOperand(0)->getType() : i.getType();
    const auto bytes = i.getDataLayout().getTypeStoreSize(type).getFixedValue();
    const LinearSum address = sumOf(pointer);
    std::vector<size_t> &events = events_[i.getParent()];
    events.push_back(all_.size());
    all_.push_back({&i, isStore, events.size(), int64_t(bytes), address.constant, address.key(),
                    shapes_.shape(pointer),
                    bytesWithin(address, int64_t(bytes), i.getDataLayout(), shapes_.block())});
  }

  /// Whether behind `first`, and before a barrier, there is an access that exchanges with it.
  bool meetsOther(const SharedAccess &first) {
    if (!first.isStore && !first.shape.isUniform())
      return false;
    llvm::SmallVector<std::pair<const llvm::BasicBlock *, size_t>> starts{
        {first.at->getParent(), first.next}};
    llvm::DenseSet<const llvm::BasicBlock *> seen;
    while (!starts.empty()) {
      auto [b, next] = starts.pop_back_val();
      const std::vector<size_t> &events = events_[b];
      for (; next < events.size() && events[next] != kBarrier; ++next)
        if (++steps_ > kLimits.search.sharedAccesses || exchange(first, all_[events[next]]))
          return true;
      if (next == events.size())
        for (const llvm::BasicBlock *after : llvm::successors(b))
          if (seen.insert(after).second)
            starts.emplace_back(after, 0);
    }
    return false;
  }

  /// Whether one lane may store what another one loads, `second` behind `first`. A load of a
  /// neighbour's element before each lane stores its own is no such thing: mostly (trees that sum)
  /// those who are read from do not store.
  bool exchange(const SharedAccess &first, const SharedAccess &second) const {
    if (first.isStore == second.isStore || areOfOneLane(first, second))
      return false;
    const int64_t apart = minus(first.constant, second.constant);
    const auto overlap = [&](int64_t distance) {
      return -first.bytes < distance && distance < second.bytes;
    };
    const bool isOnePlace = first.shape.isUniform() && second.shape.isUniform();
    const SharedAccess &load = first.isStore ? second : first;
    if (!first.isStore)
      return isOnePlace && first.key == second.key && overlap(apart) &&
             !shapes_.isInDivergentRegion(load.at->getParent());
    if (first.key != second.key && areInOwnColumns(first, second))
      return false;
    if (first.key != second.key) // of one array, or of two
      return !first.within || !second.within ||
             (first.within->begin < second.within->end && second.within->begin < first.within->end);
    if (isOnePlace)
      return overlap(apart);
    if (!first.shape.hasOffsets()) // one lane's other elements, or another one's
      return !overlap(apart);
    const std::vector<int64_t> &offsets = *first.shape.offsets;
    for (size_t i = 0; i < offsets.size(); ++i)
      for (size_t k = 0; k < offsets.size(); ++k)
        if (i != k && overlap(minus(apart, minus(offsets[k], offsets[i]))))
          return true;
    return false;
  }

  /// How many low bits of it are zeros (`(x << 7) & 1920`), whatever it is.
  unsigned leastZeros(const llvm::Value &value) const {
    if (!value.getType()->isIntegerTy())
      return 0;
    const llvm::DataLayout &layout = all_.front().at->getDataLayout();
    return std::min(llvm::computeKnownBits(&value, layout).countMinTrailingZeros(), 63U);
  }

  /// Whether each lane stays in a column of its own: whatever rows it is in, which are 2^n bytes
  /// long, places within a row follow from the thread's numbers alone (`counts[value][thread]`).
  bool areInOwnColumns(const SharedAccess &first, const SharedAccess &second) const {
    LinearSum::Terms threads[2];
    uint64_t rows = 0; // its lowest bit: what all that is no thread's number is a multiple of
    for (const unsigned which : {0u, 1u})
      for (const auto &[value, times] : (which == 0 ? first : second).key) {
        auto *i = llvm::dyn_cast<llvm::Instruction>(value);
        if (i && wordAt(*i).kind == Word::Kind::threadIndex && !shapes_.shape(i).isVarying())
          threads[which].emplace_back(value, times);
        else
          rows |= uint64_t(times) << leastZeros(*value);
      }
    if (threads[0] != threads[1] || rows == 0)
      return false;
    const auto row = int64_t(std::min(rows & -rows, uint64_t(1) << 32)); // where addresses wrap
    const auto offsetOf = [&](unsigned lane) {
      int64_t sum = 0;
      for (const auto &[value, times] : threads[0])
        if (const Shape shape = shapes_.shape(value); shape.hasOffsets())
          sum = total(sum, product((*shape.offsets)[lane], times));
      return sum;
    };
    const int64_t apart = minus(first.constant, second.constant);
    for (unsigned i = 0; i < shapes_.lanes(); ++i)
      for (unsigned k = 0; k < shapes_.lanes(); ++k) {
        const int64_t distance = minus(apart, minus(offsetOf(k), offsetOf(i))) & (row - 1);
        if (i != k && (distance < second.bytes || row - distance < first.bytes))
          return false;
      }
    return true;
  }

  bool areOfOneLane(const SharedAccess &a, const SharedAccess &b) const {
    return llvm::any_of(ofOneLane_, [&](const llvm::BasicBlockEdge &edge) {
      return shapes_.dominators().dominates(edge, a.at->getParent()) &&
             shapes_.dominators().dominates(edge, b.at->getParent());
    });
  }

  const ShapeAnalysis &shapes_;
  const llvm::SmallVector<llvm::BasicBlockEdge> ofOneLane_;
  std::vector<SharedAccess> all_;
  /// Of each block: accesses by number, and barriers.
  llvm::DenseMap<const llvm::BasicBlock *, std::vector<size_t>> events_;
  unsigned volatileStores_ = 0, volatileLoads_ = 0;
  uint64_t steps_ = 0;
};

} // namespace

bool relyOnLockstep(const llvm::Function &f, const ShapeAnalysis &shapes) {
  return Exchanges(f, shapes).areAny();
}

} // namespace ptxrun::simt
