#include "translate/simt/lockstep.h"

#include <numeric>

#include "translate/simt/cost.h"
#include "translate/simt/linear_sum.h"
#include "translate/simt/prepare.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {

namespace {

struct SharedAccess {
  const llvm::Instruction *at;
  bool isStore;
  int64_t bytes;
  LinearSum address;
  LinearSum::Terms key;
  Shape shape;
};

/// A load or store of `.shared` memory, by its pointer; null for anything else. Atomic ones do not
/// ask for an order.
const llvm::Value *sharedPlaceOf(const llvm::Instruction &i) {
  const llvm::Value *pointer = nullptr;
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i); load && !load->isAtomic())
    pointer = load->getPointerOperand();
  else if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&i); store && !store->isAtomic())
    pointer = store->getPointerOperand();
  return pointer && pointer->getType()->getPointerAddressSpace() == lower::kShared ? pointer
                                                                                   : nullptr;
}

bool isBarrier(const llvm::Instruction &i) { return wordAt(i).kind == Word::Kind::barrier; }

class Exchanges {
 public:
  Exchanges(const llvm::Function &f, const ShapeAnalysis &shapes) : shapes_(shapes) {
    const llvm::DataLayout &layout = f.getParent()->getDataLayout();
    for (const llvm::BasicBlock &b : f)
      for (const llvm::Instruction &i : b)
        if (const llvm::Value *pointer = sharedPlaceOf(i)) {
          const bool isStore = llvm::isa<llvm::StoreInst>(i);
          const llvm::Type *type = isStore ? i.getOperand(0)->getType() : i.getType();
          const auto bytes =
              layout.getTypeStoreSize(const_cast<llvm::Type *>(type)).getFixedValue();
          LinearSum address = sumOf(pointer);
          index_[&i] = all_.size();
          (isStore ? stores_ : loads_) += 1;
          (isStore ? volatileStores_ : volatileLoads_) += i.isVolatile();
          all_.push_back(
              {&i, isStore, int64_t(bytes), address, address.key(), shapes.shape(pointer)});
        }
  }

  bool areAny() const {
    if (volatileLoads_ > 0 && volatileStores_ > 0)
      return true;
    return stores_ > 0 && loads_ > 0 && all_.size() <= kLimits.search.sharedAccesses &&
           llvm::any_of(all_, [&](const SharedAccess &a) { return meetsOther(a); });
  }

 private:
  /// Whether behind `first`, and before a barrier, there is an access that exchanges with it. A
  /// load of a neighbour's element, before each lane stores its own, is no such thing: mostly
  /// (trees that sum) those who are read from do not store.
  bool meetsOther(const SharedAccess &first) const {
    llvm::SmallVector<llvm::BasicBlock::const_iterator> starts{std::next(first.at->getIterator())};
    llvm::DenseSet<const llvm::BasicBlock *> seen;
    while (!starts.empty()) {
      auto i = starts.pop_back_val();
      const llvm::BasicBlock *b = i->getParent();
      for (; i != b->end() && !isBarrier(*i); ++i)
        if (auto found = index_.find(&*i);
            found != index_.end() && exchange(first, all_[found->second]))
          return true;
      if (i == b->end())
        for (const llvm::BasicBlock *next : llvm::successors(b))
          if (seen.insert(next).second)
            starts.push_back(next->begin());
    }
    return false;
  }

  /// What any two values of the terms are a multiple of apart.
  static uint64_t commonTimes(const LinearSum::Terms &terms) {
    uint64_t common = 0;
    for (const auto &[value, times] : terms)
      common = std::gcd(common, uint64_t(times < 0 ? -times : times));
    return std::max<uint64_t>(common, 1);
  }

  /// Whether one lane stores what another one accesses; where nothing is known of the lanes'
  /// places, whether elements of one array at different distances from them may be the same.
  bool exchange(const SharedAccess &a, const SharedAccess &b) const {
    if (a.isStore == b.isStore || a.key != b.key)
      return false;
    const auto overlap = [&](int64_t apart) { return -a.bytes < apart && apart < b.bytes; };
    const int64_t apart = a.address.constant - b.address.constant;
    const SharedAccess &load = a.isStore ? b : a;
    if (a.shape.isUniform()) // one lane may do it all
      return overlap(apart) && !shapes_.isInDivergentRegion(load.at->getParent());
    if (!a.isStore)
      return false;
    if (!a.shape.hasOffsets())
      return !overlap(apart) && overlap(apart % int64_t(commonTimes(a.key)));
    const std::vector<int64_t> &offsets = *a.shape.offsets;
    for (size_t i = 0; i < offsets.size(); ++i)
      for (size_t k = 0; k < offsets.size(); ++k)
        if (i != k && overlap(apart + offsets[i] - offsets[k]))
          return true;
    return false;
  }

  const ShapeAnalysis &shapes_;
  std::vector<SharedAccess> all_;
  llvm::DenseMap<const llvm::Instruction *, size_t> index_;
  unsigned stores_ = 0, loads_ = 0, volatileStores_ = 0, volatileLoads_ = 0;
};

} // namespace

bool relyOnLockstep(const llvm::Function &f, const ShapeAnalysis &shapes) {
  return Exchanges(f, shapes).areAny();
}

} // namespace ptxrun::simt
