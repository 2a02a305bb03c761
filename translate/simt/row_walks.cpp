#include "translate/simt/row_walks.h"

#include <llvm/IR/Instructions.h>

#include <cstdlib>

#include "translate/simt/cost.h"
#include "translate/simt/linear_sum.h"

namespace ptxrun::simt {
namespace {

struct Walk {
  unsigned loads = 0, stores = 0;
  unsigned work = 0; // what differs between lanes, and is not about addresses
};

/// Lanes are at places of their own, which lie apart, and go on by less than a line of the cache
/// each round.
bool isWalked(const llvm::Value &pointer, const llvm::Loop &loop, const ShapeAnalysis &shapes,
              unsigned line) {
  const Shape shape = shapes.shape(&pointer);
  if (!shape.isVarying() &&
      (!shape.hasOffsets() ||
       std::abs(int64_t((*shape.offsets)[1]) - int64_t((*shape.offsets)[0])) < int64_t(line)))
    return false;
  const auto step = stepPerRound(sumOf(&pointer, Extensions::through), loop);
  return step && *step != 0 && std::abs(*step) < int64_t(line);
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
        if (!isWalked(*pointer, loop, shapes, line))
          return false;
        ++(load ? walk.loads : walk.stores);
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

unsigned lanesForRowWalks(const ShapeAnalysis &shapes, const Target &target) {
  unsigned lanes = 0;
  for (const llvm::Loop *loop : shapes.loops().getLoopsInPreorder()) {
    if (!loop->isInnermost())
      continue;
    Walk walk;
    if (!count(*loop, shapes, target.lineBytes, walk) || walk.loads == 0)
      return 0;
    if (walk.stores == 0)
      continue; // by itself it reads rows as any other does (rows.cpp)
    const auto accesses = float(walk.loads + walk.stores);
    const bool isBusy = float(walk.work) > kLimits.rows.workPerAccess * accesses;
    lanes = std::max(lanes, isBusy ? 8u : 1u);
  }
  return lanes;
}

} // namespace ptxrun::simt
