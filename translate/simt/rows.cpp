// Loops in which each lane reads a row of its own, on and on: all that a lane reads of a line of
// the cache is read at once, also where conditions lie between. Rows whose distance is a large
// power of two share the places of a cache; of the lines of 32 such rows only a few are still there
// one round later.
#include <llvm/Analysis/PostDominators.h>

#include <map>
#include <set>

#include "translate/lower/analyses.h"
#include "translate/simt/cost.h"
#include "translate/simt/linear_sum.h"
#include "translate/simt/prepare.h"
#include "translate/simt/rounds.h"
#include "translate/simt/rows.h"

namespace ptxrun::simt {

namespace {

/// The bytes of its own that each lane reads in a round, on end, where that is just as far as the
/// loop moves on; the fewest where there are several such rows, 0 where there is none.
uint64_t bytesOfRows(const llvm::Loop &loop, const ShapeAnalysis &shapes) {
  std::map<LinearSum::Terms, std::set<int64_t>> rows;
  std::map<LinearSum::Terms, uint64_t> sizes;
  for (const llvm::BasicBlock *b : loop.blocks())
    for (const llvm::Instruction &i : *b)
      if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i);
          load && load->isSimple() && shapes.shape(load->getPointerOperand()).isVarying()) {
        const LinearSum address = sumOf(load->getPointerOperand());
        const uint64_t size = load->getDataLayout().getTypeStoreSize(load->getType());
        if (sizes.try_emplace(address.key(), size).first->second == size)
          rows[address.key()].insert(address.constant);
      }
  uint64_t least = 0;
  for (auto &[terms, starts] : rows) {
    const uint64_t size = sizes[terms], bytes = starts.size() * size;
    const int64_t step = stepPerRound({terms, 0}, loop).value_or(0);
    if (std::abs(step) == int64_t(bytes) &&
        *starts.rbegin() - *starts.begin() == int64_t(bytes - size))
      least = least ? std::min(least, bytes) : bytes;
  }
  return least;
}

/// How many instructions an innermost loop of a form that can be unrolled without a second thought
/// has; 0 for other loops.
uint64_t sizeOfSimpleLoop(const llvm::Loop &loop) {
  if (!loop.isInnermost() || !loop.getLoopLatch() || loop.getExitingBlock() != loop.getLoopLatch())
    return 0;
  uint64_t size = 0;
  for (const llvm::BasicBlock *b : loop.blocks())
    for (const llvm::Instruction &i : *b) {
      if (i.mayHaveSideEffects() ||
          (llvm::isa<llvm::CallBase>(i) && !llvm::isa<llvm::IntrinsicInst>(i)))
        return 0;
      ++size;
    }
  return size;
}

/// How often the loop has to run for a line of `line` bytes; 1 if it reads no rows.
unsigned roundsPerLine(const llvm::Loop &loop, const ShapeAnalysis &shapes, uint64_t line,
                       uint64_t size) {
  if (shapes.isDivergentLoop(&loop))
    return 1;
  const uint64_t bytes = bytesOfRows(loop, shapes);
  uint64_t rounds = bytes && line % bytes == 0 ? line / bytes : 1;
  while (rounds * size > kLimits.rows.unrolled)
    rounds /= 2;
  return unsigned(std::max<uint64_t>(rounds, 1));
}

/// Moves what `v` is computed from, and `v`, to the end of `to`, as far as it is not there before;
/// false if it stays where it is.
bool moveTo(llvm::BasicBlock &to, llvm::Value *v, const llvm::DominatorTree &dominators) {
  auto *i = llvm::dyn_cast<llvm::Instruction>(v);
  if (!i || dominators.dominates(i, to.getTerminator()))
    return true;
  if (!isSpeculatable(*i))
    return false;
  for (llvm::Value *operand : i->operands())
    if (!moveTo(to, operand, dominators))
      return false;
  i->moveBefore(to.getTerminator());
  return true;
}

/// Elements of a row that a loop reads in each round, but with conditions between them, are all
/// read where it reads the first.
///
///     if (row[k]) s += f(k);  if (row[k + 1]) ...   =>   a = row[k]; b = row[k + 1]; if (a) ...
bool readTogether(const llvm::Loop &loop, const llvm::DominatorTree &dominators,
                  const llvm::PostDominatorTree &postDominators) {
  llvm::BasicBlock &header = *loop.getHeader();
  std::set<LinearSum::Terms> rows;
  for (const llvm::Instruction &i : header)
    if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i); load && load->isSimple())
      rows.insert(sumOf(load->getPointerOperand()).key());
  bool isChanged = false;
  for (llvm::BasicBlock *b : loop.blocks()) {
    if (b == &header || !postDominators.dominates(b, &header))
      continue;
    for (llvm::Instruction &i : llvm::make_early_inc_range(*b)) {
      auto *load = llvm::dyn_cast<llvm::LoadInst>(&i);
      if (!load || !load->isSimple() || !rows.contains(sumOf(load->getPointerOperand()).key()) ||
          !moveTo(header, load->getPointerOperand(), dominators))
        continue;
      load->moveBefore(header.getTerminator());
      isChanged = true;
    }
  }
  return isChanged;
}

/// In all loops that read rows.
bool readRowsTogether(const ShapeAnalysis &shapes) {
  bool isChanged = false;
  for (const llvm::Loop *l : const_cast<llvm::LoopInfo &>(shapes.loops()).getLoopsInPreorder())
    if (l->getNumBlocks() > 1 && sizeOfSimpleLoop(*l) && !shapes.isDivergentLoop(l) &&
        bytesOfRows(*l, shapes))
      isChanged |= readTogether(*l, shapes.dominators(), shapes.postDominators());
  return isChanged;
}

} // namespace

bool unrollRows(llvm::Function &f, const GangShape &gang, const Target &target) {
  const uint64_t line = target.vectorBytes();
  llvm::DominatorTree dominators(f);
  llvm::LoopInfo found(dominators);
  llvm::SmallVector<std::pair<const llvm::Loop *, uint64_t>> simple;
  for (const llvm::Loop *l : found.getLoopsInPreorder())
    if (const uint64_t size = sizeOfSimpleLoop(*l))
      simple.push_back({l, size});
  if (simple.empty())
    return false;
  const ShapeAnalysis shapes(f, gang, false);
  llvm::SmallVector<std::pair<const llvm::BasicBlock *, unsigned>> chosen;
  for (auto [l, size] : simple)
    if (const unsigned rounds =
            roundsPerLine(*shapes.loops().getLoopFor(l->getHeader()), shapes, line, size);
        rounds > 1)
      chosen.push_back({l->getHeader(), rounds});
  bool isChanged = false;
  if (!chosen.empty()) {
    lower::Analyses analyses;
    llvm::FunctionAnalysisManager &a = analyses.functions;
    auto &loops = a.getResult<llvm::LoopAnalysis>(f);
    for (auto [header, rounds] : chosen)
      isChanged |= unroll(*loops.getLoopFor(header), rounds, true, a);
  }
  if (!isChanged)
    return readRowsTogether(shapes);
  normaliseLoops(f);
  readRowsTogether(ShapeAnalysis(f, gang, false));
  return true;
}

} // namespace ptxrun::simt
