// A block fills a tile with a border of other threads' elements:
//
//     for (k = tid; k < 18 * 18; k += 256)            if (tid < W)
//       tile[k] = isInside(k / 18, k % 18)      =>      for (row : rows of the tile)
//                   ? in[.. k / 18 .. k % 18] : 0;         tile[row + tid] = isInside(row, tid)
//                                                            ? in[.. row .. tid] : 0;
//     barrier;                                         barrier;
//
// Lanes of a gang lie across two rows or three, each with a test of its own: what is one vector
// access in a row is many. Which thread stores what nobody sees before the barrier, so the first
// gang stores it all, in rows.
//
// All that the thread's number decides is evaluated here, for each thread and each round of the
// loops: the numbers that the rest is computed from (`leaves`). Where they go up in even steps from
// one element to the next is a row; rows are a table of where the numbers begin. The rest is
// computed anew from them. Copies of one loop (nvcc unrolls) that compute the same are joined.
#include "translate/simt/staging.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "translate/lower/analyses.h"
#include "translate/simt/cost.h"
#include "translate/simt/staged_rows.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

/// Whether gangs have the places of the store or of what is loaded for it in a row as it is.
bool isInRows(const Staged &s, const ShapeAnalysis &shapes, const Nodes &nodes) {
  if (shapes.shape(s.store->getPointerOperand()).isVarying())
    return false;
  llvm::SmallVector<unsigned> stack{s.value};
  llvm::DenseSet<unsigned> seen;
  while (!stack.empty()) {
    const unsigned id = stack.pop_back_val();
    if (id == kAlways || !seen.insert(id).second)
      continue;
    const Node &n = nodes[id];
    if (n.kind == Node::Kind::load &&
        shapes.shape(llvm::cast<llvm::LoadInst>(n.value)->getPointerOperand()).isVarying())
      return false;
    stack.append(n.operands.begin(), n.operands.end());
  }
  return true;
}

/// Whether each instance of all groups has a place of its own.
bool areApart(llvm::ArrayRef<Group> groups) {
  std::vector<std::pair<uint64_t, uint64_t>> places; // and bytes
  for (const Group &g : groups) {
    const llvm::StoreInst *store = g.stores.front()->store;
    const uint64_t bytes =
        store->getDataLayout().getTypeStoreSize(store->getValueOperand()->getType());
    for (const Instance &i : g.instances)
      places.emplace_back(i.place, bytes);
  }
  llvm::sort(places);
  for (size_t k = 1; k < places.size(); ++k)
    if (places[k].first < places[k - 1].first + places[k - 1].second)
      return false;
  return true;
}

/// Blocks on end are one, and loops in their form. (SimplifyCFG would join the test of a row and
/// that of its lanes.)
void tidy(llvm::Function &f) {
  llvm::EliminateUnreachableBlocks(f);
  for (BasicBlock &b : llvm::make_early_inc_range(f))
    llvm::MergeBlockIntoPredecessor(&b);
  normaliseLoops(f);
}

/// Removes loops of which nothing is left but their rounds.
void removeIdleLoops(llvm::Function &f, const llvm::SmallPtrSetImpl<BasicBlock *> &headers) {
  llvm::DominatorTree dominators(f);
  llvm::LoopInfo loops(dominators);
  llvm::SmallVector<llvm::Loop *> innerFirst = loops.getLoopsInPreorder();
  std::reverse(innerFirst.begin(), innerFirst.end());
  for (llvm::Loop *loop : innerFirst) {
    const bool isIdle =
        headers.contains(loop->getHeader()) && loop->isInnermost() && loop->getLoopPreheader() &&
        loop->getUniqueExitBlock() && llvm::none_of(loop->blocks(), [&](const BasicBlock *b) {
          return llvm::any_of(*b, [&](const Instruction &i) {
            return i.mayHaveSideEffects() || llvm::any_of(i.users(), [&](const llvm::User *u) {
                     return !loop->contains(llvm::cast<Instruction>(u));
                   });
          });
        });
    if (isIdle)
      llvm::deleteDeadLoop(loop, &dominators, nullptr, &loops);
  }
}

/// What is stored before one barrier; false where it stays.
bool walkRowsBefore(Instruction &barrier, llvm::Function &f, const GangShape &gang) {
  const std::optional<Window> window = windowBefore(barrier);
  if (!window || window->stores.empty())
    return false;
  const ShapeAnalysis shapes(f, gang, false);
  if (llvm::none_of(window->stores, [&](const llvm::StoreInst *s) {
        return shapes.shape(s->getPointerOperand()).isVarying() ||
               shapes.shape(s->getValueOperand()).isVarying();
      }))
    return false;
  StagedStores finder(f, gang, *window);
  std::vector<Staged> stores;
  if (!finder.find(stores))
    return false;
  llvm::MapVector<std::tuple<unsigned, unsigned, unsigned, uint64_t>, Group> byKind;
  for (size_t k = 0; k < stores.size(); ++k) {
    const Staged &s = stores[k];
    Group &g = byKind[{s.address, s.value, s.guard, s.store->getAlign().value()}];
    g.stores.push_back(&s);
    if (!finder.simulate(s, k, g.instances))
      return false;
  }
  std::vector<Group> groups;
  for (auto &[key, group] : byKind)
    groups.push_back(std::move(group));
  if (!areApart(groups))
    return false;
  llvm::erase_if(groups, [&](Group &g) {
    if (g.instances.empty())
      return false; // no thread comes by
    if (llvm::all_of(g.stores,
                     [&](const Staged *s) { return isInRows(*s, shapes, finder.nodes()); }))
      return true;
    const float cost = costAcrossRows(g);
    findRows(g, gang.threadsPerGang());
    return float(g.rows.size()) >= cost;
  });
  if (groups.empty())
    return false;

  std::map<llvm::PHINode *, llvm::PHINode *> moved;
  for (const Group &g : groups) {
    if (g.instances.empty())
      continue;
    llvm::SplitBlock(barrier.getParent(), barrier.getIterator());
    storeRows(barrier, gang, finder.nodes(), g, moved);
  }
  llvm::SmallPtrSet<BasicBlock *, 4> headers;
  for (const Group &g : groups)
    for (const Staged *s : g.stores) {
      for (const llvm::Loop *l : s->loops)
        headers.insert(l->getHeader());
      s->store->eraseFromParent();
    }
  lower::Analyses analyses;
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::ADCEPass());
  passes.run(f, analyses.functions);
  tidy(f);
  removeIdleLoops(f, headers);
  lower::Analyses fresh;
  passes.run(f, fresh.functions);
  tidy(f);
  return true;
}

/// Compilers unroll loops over a tile for blocks of any size: rounds that no thread of this one
/// comes to.
void removeRoundsWithoutThreads(llvm::Function &f, const GangShape &gang) {
  ThreadNumbers numbers(f, gang.block, [](const BasicBlock &) { return false; });
  std::vector<llvm::BranchInst *> branches;
  for (BasicBlock &b : f)
    if (auto *branch = llvm::dyn_cast<llvm::BranchInst>(b.getTerminator());
        branch && branch->isConditional() && numbers.isKnown(branch->getCondition()) &&
        !llvm::isa<llvm::Constant>(branch->getCondition()))
      branches.push_back(branch);
  if (branches.empty())
    return;
  llvm::DenseMap<llvm::BranchInst *, std::array<bool, 2>> ways; // that some thread goes
  for (uint32_t t = 0; t < gang.threads(); ++t) {
    numbers.setThread(t);
    for (llvm::BranchInst *branch : branches)
      ways[branch][numbers.valueOf(branch->getCondition()) & 1] = true;
    llvm::erase_if(branches, [&](auto *branch) { return ways[branch][0] && ways[branch][1]; });
    if (branches.empty() || numbers.evaluations() > kLimits.staging.evaluations)
      return;
  }
  for (llvm::BranchInst *branch : branches)
    branch->setCondition(llvm::ConstantInt::getBool(f.getContext(), ways[branch][1]));
  for (llvm::BranchInst *branch : branches)
    llvm::ConstantFoldTerminator(branch->getParent());
  tidy(f);
}

} // namespace

bool walkStagedRows(llvm::Function &f, const GangShape &gang) {
  if (gang.threads() <= gang.threadsPerGang() ||
      llvm::none_of(llvm::instructions(f), [](const Instruction &i) { return isWholeBarrier(i); }))
    return false;
  removeRoundsWithoutThreads(f, gang);
  std::vector<Instruction *> barriers;
  for (Instruction &i : llvm::instructions(f)) {
    if (wordAt(i).op == Op::sharedBase || wordAt(i).op == Op::sharedWindow)
      return false; // other pointers lead to `.shared` memory, too
    if (isWholeBarrier(i))
      barriers.push_back(&i);
  }
  bool isChanged = false;
  for (Instruction *barrier : barriers)
    isChanged |= walkRowsBefore(*barrier, f, gang);
  return isChanged;
}

} // namespace ptxrun::simt
