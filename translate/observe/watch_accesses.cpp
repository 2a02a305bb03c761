#include "translate/observe/watch_accesses.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "intrinsics/abi.h"
#include "translate/lower/runtime_words.h"
#include "translate/observe/own_memory.h"

namespace ptxrun::observe {

namespace {

using abi::AccessKind;

/// Inserts the calls of one module.
class Watcher {
 public:
  explicit Watcher(llvm::Module &module)
      : module_(module), b_(module.getContext()),
        announce_(module.getOrInsertFunction("ptx.observe.access", b_.getVoidTy(), b_.getInt64Ty(),
                                             b_.getInt32Ty(), b_.getInt32Ty(), b_.getInt32Ty())) {}

  void watch(llvm::Instruction &i) {
    if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i))
      announce(i, load->getPointerOperand(), load->getType(), AccessKind::load,
               orderBits(load->getOrdering(), load->getSyncScopeID()));
    else if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&i))
      announce(i, store->getPointerOperand(), store->getValueOperand()->getType(),
               AccessKind::store, orderBits(store->getOrdering(), store->getSyncScopeID()));
    else if (auto *update = llvm::dyn_cast<llvm::AtomicRMWInst>(&i))
      announce(i, update->getPointerOperand(), update->getType(), AccessKind::atomic,
               orderBits(update->getOrdering(), update->getSyncScopeID()));
    else if (auto *exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&i))
      announce(i, exchange->getPointerOperand(), exchange->getCompareOperand()->getType(),
               AccessKind::atomic,
               orderBits(exchange->getMergedOrdering(), exchange->getSyncScopeID()));
    else if (auto *copy = llvm::dyn_cast<llvm::MemTransferInst>(&i))
      announceCopy(*copy);
    else if (auto *fence = llvm::dyn_cast<llvm::FenceInst>(&i))
      announceFence(i, orderBits(fence->getOrdering(), fence->getSyncScopeID()));
    else if (auto *call = llvm::dyn_cast<llvm::CallInst>(&i))
      watchCall(*call);
  }

 private:
  static constexpr uint32_t kOrdersAll =
      abi::kAccessAcquires | abi::kAccessReleases | abi::kAccessBeyondCta;

  uint32_t orderBits(llvm::AtomicOrdering ordering, llvm::SyncScope::ID scope) const {
    const bool isOfCta = scope == module_.getContext().getOrInsertSyncScopeID("cta") ||
                         scope == llvm::SyncScope::SingleThread;
    return (llvm::isAcquireOrStronger(ordering) ? abi::kAccessAcquires : 0) |
           (llvm::isReleaseOrStronger(ordering) ? abi::kAccessReleases : 0) |
           (isOfCta ? 0 : abi::kAccessBeyondCta);
  }

  void watchCall(llvm::CallInst &call) {
    const llvm::Function *callee = call.getCalledFunction();
    const llvm::StringRef name = callee && callee->isDeclaration() ? callee->getName() : "";
    if (touchesMemory(call))
      announceOther(call, name == "ptx.cluster.wait" ? abi::kAccessWaitsForAll : 0);
    else if (!name.starts_with("ptx.") || name.starts_with("ptx.debug.") || callee->doesNotReturn())
      return;
    else if (name.starts_with("ptx.bar."))
      announceFence(call, abi::kAccessAcquires | abi::kAccessReleases | abi::kAccessWaitsForAll);
    else if (callee->isConvergent() && callee->onlyAccessesInaccessibleMemory())
      announceFence(call, abi::kAccessAcquires | abi::kAccessReleases);
    else if (!callee->doesNotAccessMemory() && !callee->onlyAccessesInaccessibleMemory())
      announceFence(call, kOrdersAll); // matrices, printf, malloc: more than they must
  }

  /// A word of the runtime that reads or writes memory.
  static bool touchesMemory(const llvm::CallInst &call) {
    const llvm::Function *callee = call.getCalledFunction();
    if (callee && callee->getName().starts_with("ptx.debug."))
      return false;
    const lower::RuntimeWord *word =
        callee ? lower::findRuntimeWord(std::string_view(callee->getName())) : nullptr;
    return word && word->call != lower::RuntimeWord::Call::pure;
  }

  void announceCopy(llvm::MemTransferInst &copy) {
    auto *length = llvm::dyn_cast<llvm::ConstantInt>(copy.getLength());
    llvm::Type *bytes = llvm::ArrayType::get(b_.getInt8Ty(), length ? length->getZExtValue() : 1);
    announce(copy, copy.getSource(), bytes, AccessKind::load, 0);
    announce(copy, copy.getDest(), bytes, AccessKind::store, 0);
  }

  void announce(llvm::Instruction &i, llvm::Value *pointer, llvm::Type *type, AccessKind kind,
                uint32_t order) {
    if (isOwnMemory(pointer))
      return;
    const bool isShared = pointer->getType()->getPointerAddressSpace() == lower::kShared;
    b_.SetInsertPoint(&i);
    call(i, b_.CreatePtrToInt(pointer, b_.getInt64Ty()),
         uint32_t(module_.getDataLayout().getTypeStoreSize(type)),
         uint32_t(kind) | (isShared ? abi::kAccessShared : 0) | order);
  }

  void announceOther(llvm::Instruction &i, uint32_t more) {
    b_.SetInsertPoint(&i);
    call(i, b_.getInt64(0), 0, uint32_t(AccessKind::other) | kOrdersAll | more);
  }

  void announceFence(llvm::Instruction &i, uint32_t order) {
    b_.SetInsertPoint(&i);
    call(i, b_.getInt64(0), 0, uint32_t(AccessKind::fence) | order);
  }

  void call(const llvm::Instruction &at, llvm::Value *address, uint32_t bytes, uint32_t kind) {
    const uint32_t line = at.getDebugLoc() ? at.getDebugLoc().getLine() : 0;
    b_.CreateCall(announce_, {address, b_.getInt32(bytes), b_.getInt32(kind), b_.getInt32(line)})
        ->setDebugLoc(at.getDebugLoc());
  }

  llvm::Module &module_;
  llvm::IRBuilder<> b_;
  llvm::FunctionCallee announce_;
};

} // namespace

void watchAccesses(lower::LaneModule &lane) {
  Watcher watcher(*lane.module);
  for (llvm::Function &function : *lane.module) {
    std::vector<llvm::Instruction *> all;
    for (llvm::Instruction &i : llvm::instructions(function))
      all.push_back(&i);
    for (llvm::Instruction *i : all)
      watcher.watch(*i);
  }
}

} // namespace ptxrun::observe
