#include "translate/jit/order.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <vector>

namespace ptxrun::jit {
namespace {

using llvm::Instruction;
using Order = std::vector<Instruction *>;

constexpr uint64_t kFewSpills = 32;
constexpr size_t kShortest = 128;  // stretches of fewer instructions stay as they are

/// Instructions that may change places with each other: nothing that writes, calls, or is otherwise observed.
bool isMovable(const Instruction &i) {
  if (llvm::isa<llvm::PHINode>(i) || i.isTerminator() || llvm::isa<llvm::AllocaInst>(i))
    return false;
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i))
    return load->isSimple();
  return !i.mayHaveSideEffects() && !i.mayReadFromMemory();
}

class Stretch {
 public:
  Stretch(Order instructions, unsigned vectorBytes, unsigned registers)
      : written_(std::move(instructions)), vectorBytes_(vectorBytes), registers_(registers) {
    for (size_t n = 0; n < written_.size(); ++n)
      place_[written_[n]] = n;
  }

  bool improve() {
    const uint64_t before = spills(written_);
    if (before < kFewSpills)
      return false;
    Order better = byResults();
    if (spills(better) * 4 > before * 3)
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

  /// Spills and reloads to expect: a vector that waits for its next use while more vectors are made than there are registers
  /// leaves its register; it is stored once and loaded for each such use.
  uint64_t spills(const Order &order) const {
    llvm::DenseMap<const llvm::Value *, uint64_t> lastTouch;  // in vectors made before
    llvm::DenseSet<const llvm::Value *> stored;
    uint64_t made = 0, cost = 0;
    auto touch = [&](const llvm::Value *v) {
      auto [it, isNew] = lastTouch.try_emplace(v, made);
      if (isNew)
        return;
      if (made - it->second > registers_) {
        cost += width(v);
        if (isHere(v) && !llvm::isa<llvm::LoadInst>(v) && stored.insert(v).second)
          cost += width(v);
      }
      it->second = made;
    };
    for (const Instruction *i : order) {
      for (const llvm::Value *op : i->operands())
        if (width(op) && !llvm::isa<llvm::Constant>(op))
          touch(op);
      if (const unsigned w = width(i)) {
        made += w;
        touch(i);
      }
    }
    return cost;
  }

  /// Results in their written order; before each what it needs, the longest chain first.
  Order byResults() const {
    std::vector<unsigned> height(written_.size(), 1);
    for (size_t n = 0; n < written_.size(); ++n)
      for (const llvm::Value *op : written_[n]->operands())
        if (isHere(op))
          height[n] = std::max(height[n], height[place_.lookup(op)] + 1);
    Order order;
    std::vector<bool> isPlaced(written_.size(), false);
    auto place = [&](size_t root) {
      std::vector<size_t> stack{root};
      while (!stack.empty()) {
        const size_t n = stack.back();
        size_t next = written_.size();
        for (const llvm::Value *op : written_[n]->operands())
          if (isHere(op)) {
            const size_t m = place_.lookup(op);
            if (!isPlaced[m] && (next == written_.size() || height[m] > height[next]))
              next = m;
          }
        if (next != written_.size()) {
          stack.push_back(next);
          continue;
        }
        stack.pop_back();
        if (!isPlaced[n]) {
          isPlaced[n] = true;
          order.push_back(written_[n]);
        }
      }
    };
    for (size_t n = 0; n < written_.size(); ++n)
      if (!llvm::all_of(written_[n]->users(), [&](const llvm::User *u) { return isHere(u); }))
        place(n);
    for (size_t n = 0; n < written_.size(); ++n)
      if (!isPlaced[n])
        place(n);
    return order;
  }

  Order written_;
  llvm::DenseMap<const llvm::Value *, size_t> place_;
  const unsigned vectorBytes_, registers_;
};

}  // namespace

bool orderForRegisters(llvm::Function &function, unsigned vectorBytes, unsigned registers) {
  bool isAny = false;
  for (llvm::BasicBlock &block : function) {
    if (block.size() < kShortest)
      continue;
    Order stretch;
    std::vector<Order> stretches;
    for (Instruction &i : block) {
      if (isMovable(i)) {
        stretch.push_back(&i);
        continue;
      }
      if (stretch.size() >= kShortest)
        stretches.push_back(std::move(stretch));
      stretch.clear();
    }
    for (Order &s : stretches)
      isAny |= Stretch(std::move(s), vectorBytes, registers).improve();
  }
  return isAny;
}

}  // namespace ptxrun::jit
