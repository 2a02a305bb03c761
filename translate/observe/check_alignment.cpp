#include "translate/observe/check_alignment.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "intrinsics/abi.h"
#include "translate/lower/vocabulary.h"
#include "translate/observe/own_memory.h"

namespace ptxrun::observe {

namespace {

struct Access {
  llvm::Instruction *instruction = nullptr;
  llvm::Value *pointer = nullptr;
  uint64_t alignment = 1;
  abi::AccessKind kind = abi::AccessKind::load;
};

Access accessOf(llvm::Instruction &i) {
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i))
    return {&i, load->getPointerOperand(), load->getAlign().value(), abi::AccessKind::load};
  if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&i))
    return {&i, store->getPointerOperand(), store->getAlign().value(), abi::AccessKind::store};
  if (auto *update = llvm::dyn_cast<llvm::AtomicRMWInst>(&i))
    return {&i, update->getPointerOperand(), update->getAlign().value(), abi::AccessKind::atomic};
  if (auto *exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&i))
    return {&i, exchange->getPointerOperand(), exchange->getAlign().value(),
            abi::AccessKind::atomic};
  return {};
}

llvm::FunctionCallee misaligned(llvm::Module &module) {
  llvm::IRBuilder<> b(module.getContext());
  llvm::FunctionCallee callee =
      module.getOrInsertFunction("ptx.observe.misaligned", b.getVoidTy(), b.getInt64Ty(),
                                 b.getInt32Ty(), b.getInt32Ty(), b.getInt32Ty());
  auto *function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotThrow();
  function->setOnlyAccessesInaccessibleMemory();
  return callee;
}

//     if (address & (alignment - 1)) ptx.observe.misaligned(address, alignment, kind, line);
//     the access
void check(const Access &access, llvm::FunctionCallee report) {
  llvm::Instruction &at = *access.instruction;
  llvm::IRBuilder<> b(&at);
  const bool isShared = access.pointer->getType()->getPointerAddressSpace() == lower::kShared;
  llvm::Value *address = b.CreatePtrToInt(access.pointer, b.getInt64Ty());
  llvm::Value *isOdd = b.CreateIsNotNull(b.CreateAnd(address, access.alignment - 1));
  if (llvm::isa<llvm::Constant>(isOdd) && llvm::cast<llvm::Constant>(isOdd)->isNullValue())
    return;
  llvm::Instruction *then = llvm::SplitBlockAndInsertIfThen(
      isOdd, &at, false, llvm::MDBuilder(at.getContext()).createUnlikelyBranchWeights());
  b.SetInsertPoint(then);
  b.SetCurrentDebugLocation(at.getDebugLoc());
  const uint32_t line = at.getDebugLoc() ? at.getDebugLoc().getLine() : 0;
  const uint32_t kind = uint32_t(access.kind) | (isShared ? abi::kAccessShared : 0);
  b.CreateCall(report, {address, b.getInt32(uint32_t(access.alignment)), b.getInt32(kind),
                        b.getInt32(line)});
}

} // namespace

void checkAlignment(lower::LaneModule &lane) {
  const llvm::FunctionCallee report = misaligned(*lane.module);
  for (llvm::Function &function : *lane.module) {
    std::vector<Access> all;
    for (llvm::Instruction &i : llvm::instructions(function))
      if (const Access access = accessOf(i); access.alignment > 1 && !isOwnMemory(access.pointer))
        all.push_back(access);
    for (const Access &access : all)
      check(access, report);
  }
}

} // namespace ptxrun::observe
