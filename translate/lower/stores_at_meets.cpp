#include "translate/lower/stores_at_meets.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>

namespace ptxrun::lower {

namespace {

/// More ways are no list that is kept in registers.
constexpr unsigned kMaxWays = 32;

/// The phi that says where in its array `store` puts its value; null where it is another store.
llvm::PHINode *placeOf(const llvm::StoreInst &store) {
  auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(store.getPointerOperand());
  if (!store.isSimple() || !address || !address->hasOneUse() || address->getNumIndices() != 1 ||
      !llvm::isa<llvm::AllocaInst>(address->getPointerOperand()))
    return nullptr;
  auto *place = llvm::dyn_cast<llvm::PHINode>(address->getOperand(1));
  const bool isMeant = place && place->hasOneUse() && place->getParent() == store.getParent() &&
                       place->getNumIncomingValues() <= kMaxWays &&
                       llvm::all_of(place->incoming_values(), [](const llvm::Use &incoming) {
                         return llvm::isa<llvm::ConstantInt>(incoming);
                       });
  return isMeant ? place : nullptr;
}

/// Whether the store may be made before its block is entered: nothing before it there touches
/// memory or may not go on, and its value is known.
bool mayMoveUp(const llvm::StoreInst &store) {
  const llvm::BasicBlock *block = store.getParent();
  for (const llvm::Instruction &before : *block) {
    if (&before == &store)
      break;
    if (before.mayReadOrWriteMemory() || before.mayHaveSideEffects())
      return false;
  }
  auto *value = llvm::dyn_cast<llvm::Instruction>(store.getValueOperand());
  return !value || value->getParent() != block || llvm::isa<llvm::PHINode>(value);
}

void moveUp(llvm::StoreInst &store, llvm::PHINode &place) {
  auto *address = llvm::cast<llvm::GetElementPtrInst>(store.getPointerOperand());
  llvm::BasicBlock *block = store.getParent();
  for (llvm::BasicBlock *from : llvm::SmallVector<llvm::BasicBlock *>(place.blocks())) {
    llvm::Instruction *way = from->getTerminator();
    if (way->getNumSuccessors() > 1)
      way = llvm::SplitEdge(from, block)->getTerminator();
    llvm::Value *value = store.getValueOperand();
    if (auto *phi = llvm::dyn_cast<llvm::PHINode>(value); phi && phi->getParent() == block)
      value = phi->getIncomingValueForBlock(way->getParent());
    llvm::Instruction *here = address->clone(), *made = store.clone();
    here->setOperand(1, place.getIncomingValueForBlock(way->getParent()));
    here->insertBefore(way);
    made->setOperand(0, value);
    made->setOperand(1, here);
    made->insertBefore(way);
  }
  store.eraseFromParent();
  address->eraseFromParent();
  place.eraseFromParent();
}

/// Each way to the block is one of its own.
bool comesOnceFromEach(const llvm::PHINode &place) {
  llvm::SmallPtrSet<const llvm::BasicBlock *, 8> from(place.block_begin(), place.block_end());
  return from.size() == place.getNumIncomingValues() &&
         llvm::all_of(from, [](const llvm::BasicBlock *b) {
           return llvm::isa<llvm::BranchInst>(b->getTerminator());
         });
}

} // namespace

llvm::PreservedAnalyses StoresAtMeetsPass::run(llvm::Function &function,
                                               llvm::FunctionAnalysisManager &) {
  llvm::SmallVector<std::pair<llvm::StoreInst *, llvm::PHINode *>> stores;
  for (llvm::Instruction &i : llvm::instructions(function))
    if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&i))
      if (llvm::PHINode *place = placeOf(*store); place && comesOnceFromEach(*place))
        stores.push_back({store, place});
  bool changed = false;
  // In order: of several in a block, one clears the way for the next.
  for (auto [store, place] : stores)
    if (mayMoveUp(*store)) {
      moveUp(*store, *place);
      changed = true;
    }
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

} // namespace ptxrun::lower
