#include "translate/jit/order.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "translate/simt/cost.h"

namespace ptxrun::jit {
namespace {

using llvm::Instruction;
using Order = std::vector<Instruction *>;

/// Instructions that may change places with each other: nothing that writes, calls, or is otherwise
/// observed.
bool isMovable(const Instruction &i) {
  if (llvm::isa<llvm::PHINode>(i) || i.isTerminator() || llvm::isa<llvm::AllocaInst>(i))
    return false;
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i))
    return load->isSimple();
  if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
      call && call->getIntrinsicID() == llvm::Intrinsic::prefetch)
    return true;
  return !i.mayHaveSideEffects() && !i.mayReadFromMemory();
}

/// Bytes of the function's first argument, the frame of a coroutine, that `i` loads or stores: from
/// the first to one behind the last. Nothing where it does neither, or may go elsewhere.
using Bytes = std::pair<int64_t, int64_t>;
std::optional<Bytes> bytesOfFrame(const Instruction &i) {
  const llvm::Value *pointer = llvm::getLoadStorePointerOperand(&i);
  if (!pointer || i.isAtomic() || i.isVolatile())
    return std::nullopt;
  llvm::APInt offset(64, 0);
  const llvm::Value *root = pointer->stripAndAccumulateConstantOffsets(i.getDataLayout(), offset,
                                                                       /*AllowNonInbounds=*/true);
  if (!llvm::isa<llvm::Argument>(root) || llvm::cast<llvm::Argument>(root)->getArgNo() != 0)
    return std::nullopt;
  auto *store = llvm::dyn_cast<llvm::StoreInst>(&i);
  llvm::Type *type = store ? store->getValueOperand()->getType() : i.getType();
  const int64_t size = int64_t(i.getDataLayout().getTypeStoreSize(type).getFixedValue());
  return Bytes{offset.getSExtValue(), offset.getSExtValue() + size};
}

bool overlap(const Bytes &a, const Bytes &b) { return a.first < b.second && b.first < a.second; }

/// Instructions on end that may change places, as long as each comes behind what it needs: loads
/// may pass each other, and a store to the frame everything but loads that stood before it.
class Stretch {
 public:
  Stretch(Order instructions, unsigned vectorBytes, unsigned registers)
      : written_(std::move(instructions)), operands_(written_.size()), earlier_(written_.size()),
        vectorBytes_(vectorBytes), registers_(registers) {
    for (size_t n = 0; n < written_.size(); ++n)
      place_[written_[n]] = n;
    // Stores stay in their order: what stays before one of them stays before the next.
    std::vector<size_t> elsewhere;                 // loads since the last store that may meet it
    std::vector<std::pair<size_t, Bytes>> inFrame; // loads
    std::optional<size_t> lastStore;
    for (size_t n = 0; n < written_.size(); ++n) {
      for (const llvm::Value *op : written_[n]->operands())
        if (isHere(op))
          operands_[n].push_back(place_.lookup(op));
      const std::optional<Bytes> bytes = bytesOfFrame(*written_[n]);
      if (llvm::isa<llvm::LoadInst>(written_[n])) {
        if (bytes)
          inFrame.emplace_back(n, *bytes);
        else
          elsewhere.push_back(n);
      } else if (bytes) {
        earlier_[n] = std::exchange(elsewhere, {});
        if (lastStore)
          earlier_[n].push_back(*lastStore);
        for (const auto &[load, loaded] : inFrame)
          if (overlap(loaded, *bytes))
            earlier_[n].push_back(load);
        lastStore = n;
      }
    }
  }

  bool improve() {
    const uint64_t before = spills(written_);
    if (before < simt::kLimits.code.fewSpills)
      return false;
    Order better = byResults();
    uint64_t least = spills(better);
    for (unsigned eighths = 1; eighths <= 6; ++eighths) {
      Order grouped = byGroups(std::max(1u, registers_ * eighths / 8));
      if (const uint64_t cost = spills(grouped); cost < least) {
        least = cost;
        better = std::move(grouped);
      }
    }
    if (least * 4 > before * 3)
      return false;
    Instruction *end = written_.back()->getNextNode();
    for (Instruction *i : better)
      i->moveBefore(end);
    return true;
  }

 private:
  bool isHere(const llvm::Value *v) const {
    auto *i = llvm::dyn_cast<Instruction>(v);
    return i && place_.contains(i);
  }

  unsigned width(const llvm::Value *v) const {
    llvm::Type *t = v->getType();
    if (!t->isVectorTy())
      return 0;
    const uint64_t bits = t->getPrimitiveSizeInBits().getFixedValue();
    return unsigned((bits + vectorBytes_ * 8 - 1) / (vectorBytes_ * 8));
  }

  /// Spills and reloads to expect of an allocator that always gives up the vector whose next use is
  /// furthest away.
  uint64_t spills(const Order &order) const {
    constexpr size_t kNever = ~size_t{0};
    // Places of the uses of each vector, the next one last.
    llvm::DenseMap<const llvm::Value *, llvm::SmallVector<size_t, 4>> uses;
    for (size_t n = order.size(); n-- > 0;)
      for (const llvm::Value *op : order[n]->operands())
        if (isVector(op))
          uses[op].push_back(n);
    struct Held {
      const llvm::Value *value;
      size_t nextUse;
    };
    std::vector<Held> held;
    llvm::DenseSet<const llvm::Value *> stored;
    uint64_t inUse = 0, cost = 0;
    auto nextUse = [&](const llvm::Value *v) {
      auto it = uses.find(v);
      return it == uses.end() || it->second.empty() ? kNever : it->second.back();
    };
    auto hold = [&](const llvm::Value *v) {
      inUse += width(v);
      held.push_back({v, nextUse(v)});
    };
    for (size_t n = 0; n < order.size(); ++n) {
      for (const llvm::Value *op : order[n]->operands()) {
        if (!isVector(op) || uses[op].empty() || uses[op].back() != n)
          continue; // also where an instruction names a vector twice
        while (!uses[op].empty() && uses[op].back() == n)
          uses[op].pop_back();
        auto at = llvm::find_if(held, [&](const Held &h) { return h.value == op; });
        if (at == held.end()) {
          cost += width(op);
          hold(op);
        } else {
          at->nextUse = nextUse(op);
        }
      }
      if (isVector(order[n]))
        hold(order[n]);
      // What nobody here needs any more leaves; results that are needed elsewhere stay while there
      // is room.
      llvm::erase_if(held, [&](const Held &h) {
        const bool isDone = h.nextUse == kNever && !isNeededElsewhere(h.value);
        inUse -= isDone ? width(h.value) : 0;
        return isDone;
      });
      while (inUse > registers_ && !held.empty()) {
        auto last = std::max_element(held.begin(), held.end(), [](const Held &x, const Held &y) {
          return x.nextUse < y.nextUse;
        });
        if (stored.insert(last->value).second && isHere(last->value))
          cost += width(last->value);
        inUse -= width(last->value);
        held.erase(last);
      }
    }
    return cost;
  }

  /// Links of the longest chain of operands that ends at each instruction.
  std::vector<unsigned> heights() const {
    std::vector<unsigned> height(written_.size(), 1);
    for (size_t n = 0; n < written_.size(); ++n)
      for (const size_t m : operands_[n])
        height[n] = std::max(height[n], height[m] + 1);
    return height;
  }

  /// An order in the making.
  class Placing {
   public:
    Placing(const Stretch &stretch, const std::vector<unsigned> &height)
        : stretch_(stretch), height_(height), isPlaced_(stretch.written_.size(), false) {}

    /// What `root` needs, the longest chain first, then itself.
    void place(size_t root) {
      const Order &written = stretch_.written_;
      std::vector<size_t> stack{root};
      while (!stack.empty()) {
        const size_t n = stack.back();
        size_t next = written.size();
        for (const size_t m :
             llvm::concat<const size_t>(stretch_.operands_[n], stretch_.earlier_[n]))
          if (!isPlaced_[m] && (next == written.size() || height_[m] > height_[next]))
            next = m;
        if (next != written.size()) {
          stack.push_back(next);
          continue;
        }
        stack.pop_back();
        if (!isPlaced_[n]) {
          isPlaced_[n] = true;
          order_.push_back(written[n]);
        }
      }
    }
    /// With what no result needs.
    Order finish() {
      for (size_t n = 0; n < isPlaced_.size(); ++n)
        if (!isPlaced_[n])
          place(n);
      return std::move(order_);
    }

   private:
    const Stretch &stretch_;
    const std::vector<unsigned> &height_;
    std::vector<bool> isPlaced_;
    Order order_;
  };

  /// Results in their written order; before each what it needs, the longest chain first.
  Order byResults() const {
    const std::vector<unsigned> height = heights();
    Placing placing(*this, height);
    for (size_t n = 0; n < written_.size(); ++n)
      if (isResult(*written_[n]))
        placing.place(n);
    return placing.finish();
  }

  bool isResult(const Instruction &i) const {
    return i.use_empty() ||
           !llvm::all_of(i.users(), [&](const llvm::User *u) { return isHere(u); });
  }
  bool isVector(const llvm::Value *v) const { return width(v) && !llvm::isa<llvm::Constant>(v); }
  bool isNeededElsewhere(const llvm::Value *v) const {
    return !isHere(v) || isResult(*llvm::cast<Instruction>(v));
  }

  /// As many results at a time as fit into `room` registers, step by step: of each the first link
  /// of its longest chain with what that needs, of each the second, ... Operands that results of
  /// one group share (a row and a column of a matrix product) are then loaded once per group.
  Order byGroups(unsigned room) const {
    const std::vector<unsigned> height = heights();
    Placing placing(*this, height);
    std::vector<std::vector<size_t>> chains; // of the group: from the result to its first link
    unsigned taken = 0;
    auto placeGroup = [&] {
      size_t longest = 0;
      for (const auto &chain : chains)
        longest = std::max(longest, chain.size());
      for (size_t step = longest; step-- > 0;)
        for (const auto &chain : chains)
          if (step < chain.size())
            placing.place(chain[step]);
      chains.clear();
      taken = 0;
    };
    for (size_t n = 0; n < written_.size(); ++n) {
      if (!isResult(*written_[n]))
        continue;
      auto *store = llvm::dyn_cast<llvm::StoreInst>(written_[n]);
      const unsigned w = width(store ? store->getValueOperand() : written_[n]);
      if (taken && taken + w > room)
        placeGroup();
      taken += w;
      chains.push_back(chainOf(n, height));
    }
    placeGroup();
    return placing.finish();
  }

  std::vector<size_t> chainOf(size_t n, const std::vector<unsigned> &height) const {
    std::vector<size_t> chain;
    for (bool goesOn = true; goesOn;) {
      chain.push_back(n);
      goesOn = false;
      size_t next = n;
      for (const size_t m : operands_[n])
        if (!goesOn || height[m] > height[next])
          next = m, goesOn = true;
      n = next;
    }
    return chain;
  }

  Order written_;
  llvm::DenseMap<const llvm::Value *, size_t> place_;
  std::vector<llvm::SmallVector<size_t, 3>> operands_; ///< their places
  std::vector<std::vector<size_t>> earlier_; ///< what else stays before each store to the frame
  const unsigned vectorBytes_, registers_;
};

/// Stretches of a block, each as long as may be.
std::vector<Order> stretchesOf(llvm::BasicBlock &block) {
  std::vector<Order> stretches;
  Order stretch;
  llvm::SmallVector<Bytes> stored; // of the frame, in this stretch
  const auto end = [&] {
    if (stretch.size() >= simt::kLimits.code.shortStretch)
      stretches.push_back(std::move(stretch));
    stretch.clear();
    stored.clear();
  };
  for (Instruction &i : block) {
    const std::optional<Bytes> bytes = bytesOfFrame(i);
    const auto meets = [&](const Bytes &other) { return !bytes || overlap(*bytes, other); };
    if (llvm::isa<llvm::LoadInst, llvm::StoreInst>(i) && llvm::any_of(stored, meets))
      end();
    const bool isSlot = bytes && llvm::isa<llvm::StoreInst>(i);
    if (!isSlot && !isMovable(i)) {
      end();
      continue;
    }
    stretch.push_back(&i);
    if (isSlot)
      stored.push_back(*bytes);
  }
  end();
  return stretches;
}

} // namespace

bool orderForRegisters(llvm::Function &function, unsigned vectorBytes, unsigned registers) {
  bool isAny = false;
  for (llvm::BasicBlock &block : function)
    if (block.size() >= simt::kLimits.code.shortStretch)
      for (Order &s : stretchesOf(block))
        isAny |= Stretch(std::move(s), vectorBytes, registers).improve();
  return isAny;
}

} // namespace ptxrun::jit
