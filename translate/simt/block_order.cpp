// The order in which blocks are laid out: topological, loops contiguous, dominated regions
// contiguous.
#include <llvm/ADT/PostOrderIterator.h>

#include <algorithm>

#include "translate/simt/early_arrivals.h"
#include "translate/simt/shape.h"

namespace ptxrun::simt {
namespace {

/// Preorder over the dominator tree, children in reverse post-order, but first those that have to
/// be (a way that only their parent leads to). A child outside the loop of its parent waits until
/// that loop is complete.
class Layout {
 public:
  Layout(llvm::Function &function, const llvm::DominatorTree &dominators,
         const llvm::LoopInfo &loops)
      : dominators_(dominators), loops_(loops) {
    unsigned n = 0;
    for (llvm::BasicBlock *b : llvm::ReversePostOrderTraversal<llvm::Function *>(&function))
      rpo_[b] = n++;
    Pending pending;
    place(&function.getEntryBlock(), nullptr, pending);
  }
  std::vector<llvm::BasicBlock *> take() { return std::move(order_); }

 private:
  using Pending = std::vector<llvm::BasicBlock *>;

  void sort(Pending &blocks) {
    std::sort(blocks.begin(), blocks.end(), [&](llvm::BasicBlock *a, llvm::BasicBlock *b) {
      const bool isFirst = goesFirst(*a);
      return isFirst != goesFirst(*b) ? isFirst : rpo_[a] < rpo_[b];
    });
  }

  // Recursion depth is the depth of the dominator tree; an explicit stack keeps deep modules from
  // overflowing ours.
  struct Step {
    llvm::BasicBlock *block;
    const llvm::Loop *loop;
    Pending *pending; // blocks that have to wait for the end of `loop`
    Pending *owned;   // non-null: this step closes the loop that owns the list
  };

  void place(llvm::BasicBlock *entry, const llvm::Loop *loop, Pending &pending) {
    std::vector<Step> stack{{entry, loop, &pending, nullptr}};
    std::vector<std::unique_ptr<Pending>> lists;
    while (!stack.empty()) {
      Step step = stack.back();
      stack.pop_back();
      if (step.owned) {
        sort(*step.owned);
        schedule(*step.owned, step.loop, step.pending, stack);
        continue;
      }
      const llvm::Loop *mine = loops_.getLoopFor(step.block);
      if (mine != step.loop && mine && mine->getHeader() == step.block) {
        lists.push_back(std::make_unique<Pending>());
        stack.push_back({nullptr, step.loop, step.pending, lists.back().get()});
        step.loop = mine;
        step.pending = lists.back().get();
      }
      order_.push_back(step.block);
      Pending children;
      for (auto *child : dominators_.getNode(step.block)->children())
        children.push_back(child->getBlock());
      sort(children);
      schedule(children, step.loop, step.pending, stack);
    }
  }

  void schedule(const Pending &blocks, const llvm::Loop *loop, Pending *pending,
                std::vector<Step> &stack) {
    for (auto it = blocks.rbegin(); it != blocks.rend(); ++it) {
      if (!loop || loop->contains(*it))
        stack.push_back({*it, loop, pending, nullptr});
      else
        pending->push_back(*it);
    }
  }

  const llvm::DominatorTree &dominators_;
  const llvm::LoopInfo &loops_;
  llvm::DenseMap<llvm::BasicBlock *, unsigned> rpo_;
  std::vector<llvm::BasicBlock *> order_;
};

} // namespace

void ShapeAnalysis::computeOrder() {
  order_ = Layout(function_, dominators_, loops_).take();
  for (unsigned i = 0; i < order_.size(); ++i)
    index_[order_[i]] = i;
}

} // namespace ptxrun::simt
