#include "translate/simt/row_walks.h"

#include <llvm/IR/Instructions.h>

#include <cstdlib>

#include "translate/simt/cost.h"
#include "translate/simt/linear_sum.h"

namespace ptxrun::simt {
namespace {

struct Walk {
  unsigned loads = 0, stores = 0;
  unsigned work = 0;        // what differs between lanes, and is not about addresses
  unsigned leastBits = ~0u; // of what is loaded
  int64_t longestStep = 0;  // bytes
};

/// By how many bytes lanes go on each round, which are at places of their own that lie apart; 0
/// where they do not.
int64_t stepOfWalk(const llvm::Value &pointer, const llvm::Loop &loop, const ShapeAnalysis &shapes,
                   unsigned line) {
  const Shape shape = shapes.shape(&pointer);
  if (!shape.isVarying() &&
      (!shape.hasOffsets() ||
       std::abs(int64_t((*shape.offsets)[1]) - int64_t((*shape.offsets)[0])) < int64_t(line)))
    return 0;
  const auto step = stepPerRound(sumOf(&pointer, Extensions::through), loop);
  return step ? std::abs(*step) : 0;
}

/// Counts what the loop does; false where some of it is neither a walk nor work.
bool count(const llvm::Loop &loop, const ShapeAnalysis &shapes, unsigned line, Walk &walk) {
  for (const llvm::BasicBlock *b : loop.blocks())
    for (const llvm::Instruction &i : *b) {
      if (const llvm::Value *pointer = llvm::getLoadStorePointerOperand(&i)) {
        const auto *load = llvm::dyn_cast<llvm::LoadInst>(&i);
        const auto *store = llvm::dyn_cast<llvm::StoreInst>(&i);
        if (!(load ? load->isSimple() : store->isSimple()))
          return false;
        if (load && shapes.isUniform(pointer))
          continue;
        const int64_t step = stepOfWalk(*pointer, loop, shapes, line);
        if (step == 0)
          return false;
        walk.longestStep = std::max(walk.longestStep, step);
        ++(load ? walk.loads : walk.stores);
        if (load)
          walk.leastBits = std::min(walk.leastBits, load->getType()->getScalarSizeInBits());
      } else if (i.mayReadOrWriteMemory()) {
        return false;
      } else {
        walk.work += !i.isTerminator() && !llvm::isa<llvm::PHINode, llvm::CastInst>(i) &&
                     !i.getType()->isIntegerTy(64) && !i.getType()->isPointerTy() &&
                     shapes.shape(&i).isVarying();
      }
    }
  return true;
}

} // namespace

RowWalks rowWalksIn(const ShapeAnalysis &shapes, const Target &target) {
  // Fewer lanes than elements in a register would read rows element by element.
  const unsigned readers = target.lanesOfRegister();
  unsigned writers = 0;
  bool isForReaders = !shapes.loops().empty();
  for (const llvm::Loop *loop : shapes.loops().getLoopsInPreorder()) {
    if (!loop->isInnermost())
      continue;
    Walk walk;
    if (!count(*loop, shapes, target.lineBytes, walk) || walk.loads == 0)
      return {};
    // Compilers unroll loops that only read by up to 16.
    const int64_t lines = walk.stores == 0 ? 4 : 1;
    if (walk.longestStep >= lines * target.lineBytes)
      return {};
    const float perAccess = float(walk.work) / float(walk.loads + walk.stores);
    const bool isBusy = perAccess > kLimits.rows.workPerRead;
    isForReaders &= !isBusy && walk.leastBits * readers >= target.vectorBits;
    if (walk.stores == 0)
      continue;
    if (perAccess > kLimits.rows.workPerWrite)
      return {};
    writers = std::max(writers, isBusy                                   ? readers
                                : perAccess > kLimits.rows.workPerAccess ? 8u
                                                                         : 1u);
  }
  if (writers != 0)
    return {writers, true};
  return {isForReaders ? readers : 0, false};
}

} // namespace ptxrun::simt
