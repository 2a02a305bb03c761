#include "translate/simt/promote.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/InstructionSimplify.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Module.h>

#include <vector>

namespace ptxrun::simt {
namespace {

using Block = llvm::BasicBlock;
using llvm::Value;

/// Blocks that can be reached, numbered in preorder of the dominator tree: those that a block
/// dominates follow it without a gap.
class Blocks {
 public:
  explicit Blocks(const llvm::DominatorTree &);

  unsigned count() const { return unsigned(blocks_.size()); }
  Block *operator[](unsigned n) const { return blocks_[n]; }
  bool isReachable(const Block *b) const { return numbers_.contains(b); }
  unsigned number(const Block *b) const { return numbers_.lookup(b); }
  /// Behind the last block that block n dominates.
  unsigned end(unsigned n) const { return ends_[n]; }
  bool dominates(unsigned n, unsigned other) const { return n <= other && other < ends_[n]; }
  llvm::ArrayRef<unsigned> predecessors(unsigned n) const {
    return llvm::ArrayRef(predecessors_)
        .slice(firstPredecessor_[n], firstPredecessor_[n + 1] - firstPredecessor_[n]);
  }
  /// Blocks where ways from those that block n dominates meet others: its dominance frontier, some
  /// of it more than once.
  void frontier(unsigned n, llvm::SmallVectorImpl<unsigned> &) const;

 private:
  void number(const llvm::DomTreeNode &root);
  void findMeetings();

  std::vector<Block *> blocks_;
  llvm::DenseMap<const Block *, unsigned> numbers_;
  std::vector<unsigned> ends_, levels_, firstPredecessor_, predecessors_;
  // Edges to blocks that their own block does not dominate as the closest, by their own block:
  // where they lead, and the least level of that in a binary tree above them.
  std::vector<unsigned> firstMeeting_, meetings_, least_;
  unsigned leaves_ = 1;
};

Blocks::Blocks(const llvm::DominatorTree &dominators) {
  number(*dominators.getRootNode());
  firstPredecessor_.push_back(0);
  for (const Block *b : blocks_) {
    for (const Block *p : llvm::predecessors(b))
      if (isReachable(p))
        predecessors_.push_back(number(p));
    firstPredecessor_.push_back(unsigned(predecessors_.size()));
  }
  findMeetings();
}

void Blocks::number(const llvm::DomTreeNode &root) {
  struct Open {
    const llvm::DomTreeNode *node;
    llvm::DomTreeNode::const_iterator next;
  };
  llvm::SmallVector<Open> open;
  auto begin = [&](const llvm::DomTreeNode *node) {
    numbers_[node->getBlock()] = count();
    blocks_.push_back(node->getBlock());
    levels_.push_back(node->getLevel());
    ends_.push_back(0);
    open.push_back({node, node->begin()});
  };
  begin(&root);
  while (!open.empty()) {
    Open &top = open.back();
    if (top.next != top.node->end()) {
      begin(*top.next++);
    } else {
      ends_[number(top.node->getBlock())] = count();
      open.pop_back();
    }
  }
}

void Blocks::findMeetings() {
  for (unsigned n = 0; n < count(); ++n) {
    firstMeeting_.push_back(unsigned(meetings_.size()));
    for (const Block *s : llvm::successors(blocks_[n])) {
      unsigned to = number(s);
      if (levels_[to] != levels_[n] + 1 || !dominates(n, to))
        meetings_.push_back(to);
    }
  }
  firstMeeting_.push_back(unsigned(meetings_.size()));
  while (leaves_ < meetings_.size())
    leaves_ *= 2;
  least_.assign(2 * leaves_, ~0u);
  for (unsigned m = 0; m < meetings_.size(); ++m)
    least_[leaves_ + m] = levels_[meetings_[m]];
  for (unsigned m = leaves_ - 1; m > 0; --m)
    least_[m] = std::min(least_[2 * m], least_[2 * m + 1]);
}

void Blocks::frontier(unsigned n, llvm::SmallVectorImpl<unsigned> &found) const {
  const unsigned level = levels_[n];
  llvm::SmallVector<unsigned, 64> below;
  // The trees that cover the edges of the blocks below.
  unsigned from = leaves_ + firstMeeting_[n], to = leaves_ + firstMeeting_[ends_[n]];
  for (; from < to; from /= 2, to /= 2) {
    if (from & 1)
      below.push_back(from++);
    if (to & 1)
      below.push_back(--to);
  }
  while (!below.empty()) {
    unsigned m = below.pop_back_val();
    if (least_[m] > level)
      continue;
    if (m >= leaves_)
      found.push_back(meetings_[m - leaves_]);
    else
      below.append({2 * m, 2 * m + 1});
  }
}

class Promotion {
 public:
  Promotion(llvm::Function &f, llvm::ArrayRef<llvm::AllocaInst *> slots)
      : f_(f), slots_(slots), dominators_(f), blocks_(dominators_), phisOf_(blocks_.count()),
        liveIn_(blocks_.count(), ~0u), stored_(blocks_.count(), ~0u), placed_(blocks_.count(), ~0u),
        current_(slots.size()) {}
  void run();

 private:
  struct Phi {
    llvm::PHINode *phi;
    unsigned slot;
  };

  void findUses(unsigned slot);
  void findWhereLive(unsigned slot);
  void placePhis(unsigned slot);
  void rename();
  void renameIn(Block &);
  void set(unsigned slot, Value *v);
  Value *get(unsigned slot) const;
  void completePhis();
  void eraseSlots();
  void simplifyPhis();

  llvm::Function &f_;
  llvm::ArrayRef<llvm::AllocaInst *> slots_;
  llvm::DominatorTree dominators_;
  Blocks blocks_;
  llvm::DenseMap<const Value *, unsigned> slotNumbers_;
  std::vector<llvm::SmallVector<Phi, 0>> phisOf_; // of each block
  // Of the slot at hand: blocks with a store, and those that read what was stored before them.
  llvm::SmallVector<unsigned> stores_, readers_;
  std::vector<unsigned> liveIn_, stored_,
      placed_;                   // of each block: the last slot for which it is so
  std::vector<Value *> current_; // of each slot, while renaming
  std::vector<std::pair<unsigned, Value *>> undo_;
  llvm::DenseMap<const Block *, unsigned> order_; // of blocks in the text
};

/// Where the slot is stored, and where it is read before a store of the same block.
void Promotion::findUses(unsigned slot) {
  stores_.clear();
  readers_.clear();
  llvm::SmallDenseMap<const Block *, const llvm::Instruction *, 8> firstStore;
  for (const llvm::User *u : slots_[slot]->users()) {
    auto *store = llvm::dyn_cast<llvm::StoreInst>(u);
    if (!store || !blocks_.isReachable(store->getParent()))
      continue;
    const llvm::Instruction *&first = firstStore[store->getParent()];
    if (!first || store->comesBefore(first))
      first = store;
    unsigned n = blocks_.number(store->getParent());
    if (stored_[n] != slot)
      stores_.push_back(n);
    stored_[n] = slot;
  }
  for (const llvm::User *u : slots_[slot]->users()) {
    auto *load = llvm::dyn_cast<llvm::LoadInst>(u);
    if (!load || !blocks_.isReachable(load->getParent()))
      continue;
    const llvm::Instruction *first = firstStore.lookup(load->getParent());
    if (!first || load->comesBefore(first))
      readers_.push_back(blocks_.number(load->getParent()));
  }
}

void Promotion::findWhereLive(unsigned slot) {
  llvm::SmallVector<unsigned> todo(readers_);
  while (!todo.empty()) {
    unsigned n = todo.pop_back_val();
    if (liveIn_[n] == slot)
      continue;
    liveIn_[n] = slot;
    for (unsigned p : blocks_.predecessors(n))
      if (stored_[p] != slot && liveIn_[p] != slot)
        todo.push_back(p);
  }
}

void Promotion::placePhis(unsigned slot) {
  const bool isSetOnce = stores_.size() == 1 && llvm::all_of(readers_, [&](unsigned n) {
                           return n != stores_[0] && blocks_.dominates(stores_[0], n);
                         });
  if (readers_.empty() || isSetOnce)
    return; // what a load gives was stored in its block or in the only one with a store
  findWhereLive(slot);
  llvm::SmallVector<unsigned> todo(stores_), frontier, found;
  while (!todo.empty()) {
    frontier.clear();
    blocks_.frontier(todo.pop_back_val(), frontier);
    for (unsigned n : frontier)
      if (liveIn_[n] == slot && placed_[n] != slot) {
        placed_[n] = slot;
        found.push_back(n);
        todo.push_back(n);
      }
  }
  llvm::sort(found, [&](unsigned a, unsigned b) {
    return order_.lookup(blocks_[a]) < order_.lookup(blocks_[b]);
  });
  for (unsigned version = 0; unsigned n : found) {
    Block *b = blocks_[n];
    auto *phi = llvm::PHINode::Create(slots_[slot]->getAllocatedType(), llvm::pred_size(b),
                                      slots_[slot]->getName() + "." + llvm::Twine(version++));
    phi->insertBefore(b->begin());
    phisOf_[n].push_back({phi, slot});
  }
}

void Promotion::set(unsigned slot, Value *v) {
  undo_.push_back({slot, current_[slot]});
  current_[slot] = v;
}

Value *Promotion::get(unsigned slot) const {
  return current_[slot] ? current_[slot] : llvm::UndefValue::get(slots_[slot]->getAllocatedType());
}

void Promotion::renameIn(Block &b) {
  for (const Phi &p : phisOf_[blocks_.number(&b)])
    set(p.slot, p.phi);
  for (llvm::Instruction &i : llvm::make_early_inc_range(b)) {
    auto *load = llvm::dyn_cast<llvm::LoadInst>(&i);
    auto *store = llvm::dyn_cast<llvm::StoreInst>(&i);
    if (!load && !store)
      continue;
    auto slot = slotNumbers_.find(load ? load->getPointerOperand() : store->getPointerOperand());
    if (slot == slotNumbers_.end())
      continue;
    if (load)
      load->replaceAllUsesWith(get(slot->second));
    else
      set(slot->second, store->getValueOperand());
    i.eraseFromParent();
  }
  for (const Block *s : llvm::successors(&b))
    for (const Phi &p : phisOf_[blocks_.number(s)])
      p.phi->addIncoming(get(p.slot), &b);
}

/// Along the dominator tree: what a block sets holds in those that it dominates.
void Promotion::rename() {
  struct Open {
    unsigned end; // where the block's tree ends
    size_t undo;
  };
  llvm::SmallVector<Open> open;
  for (unsigned n = 0; n < blocks_.count(); ++n) {
    for (; !open.empty() && open.back().end <= n; open.pop_back())
      for (; undo_.size() > open.back().undo; undo_.pop_back())
        current_[undo_.back().first] = undo_.back().second;
    open.push_back({blocks_.end(n), undo_.size()});
    renameIn(*blocks_[n]);
  }
}

/// What comes from blocks that cannot be reached.
void Promotion::completePhis() {
  if (blocks_.count() == f_.size())
    return;
  for (const auto &phis : phisOf_)
    for (const Phi &p : phis)
      for (Block *from : llvm::predecessors(p.phi->getParent()))
        if (!blocks_.isReachable(from))
          p.phi->addIncoming(llvm::UndefValue::get(p.phi->getType()), from);
}

void Promotion::eraseSlots() {
  for (llvm::AllocaInst *slot : slots_) {
    for (llvm::User *u : llvm::make_early_inc_range(slot->users())) {
      auto *i = llvm::cast<llvm::Instruction>(u);
      if (!i->getType()->isVoidTy())
        i->replaceAllUsesWith(llvm::UndefValue::get(i->getType()));
      i->eraseFromParent();
    }
    slot->eraseFromParent();
  }
}

void Promotion::simplifyPhis() {
  llvm::SetVector<llvm::PHINode *> todo;
  for (const auto &phis : phisOf_)
    for (const Phi &p : phis)
      todo.insert(p.phi);
  const llvm::SimplifyQuery query(f_.getDataLayout(), nullptr, &dominators_);
  llvm::SmallPtrSet<const llvm::PHINode *, 16> own(todo.begin(), todo.end());
  while (!todo.empty()) {
    llvm::PHINode *phi = todo.pop_back_val();
    Value *same = llvm::simplifyInstruction(phi, query);
    if (!same)
      continue;
    for (llvm::User *u : phi->users())
      if (auto *user = llvm::dyn_cast<llvm::PHINode>(u); user && user != phi && own.contains(user))
        todo.insert(user);
    phi->replaceAllUsesWith(same);
    phi->eraseFromParent();
  }
}

void Promotion::run() {
  for (const Block &b : f_)
    order_[&b] = unsigned(order_.size());
  for (unsigned slot = 0; slot < slots_.size(); ++slot) {
    slotNumbers_[slots_[slot]] = slot;
    findUses(slot);
    placePhis(slot);
  }
  rename();
  completePhis();
  eraseSlots();
  simplifyPhis();
}

} // namespace

void promoteSlots(llvm::Function &f, llvm::ArrayRef<llvm::AllocaInst *> slots) {
  if (!slots.empty())
    Promotion(f, slots).run();
}

} // namespace ptxrun::simt
