#include "translate/jit/streamed_stores.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <optional>

#include "intrinsics/abi.h"
#include "translate/simt/words.h"

namespace ptxrun::jit {

using namespace llvm;

namespace {

/// Stores of a block to places on end, with no other access between them.
struct Group {
  SmallVector<StoreInst *> stores;
  uint64_t bytes = 0;
};

/// Whether `i` could tell another thread that something was stored before, or may do anything.
bool mayOrderMemory(const Instruction &i) {
  if (i.isAtomic() || i.isVolatile())
    return true;
  const auto *call = dyn_cast<CallBase>(&i);
  return call && !isa<IntrinsicInst>(call) && !call->onlyAccessesArgMemory() &&
         !call->doesNotAccessMemory() && !simt::entryAt(i).isAccess();
}

/// The distance of `v` from the launch's parameters, if it is loaded from there.
std::optional<int64_t> parameterAt(const LoadInst &load, const Function &entry,
                                   const DataLayout &layout) {
  const auto distance = [&](const Value *pointer) {
    APInt bytes(64, 0);
    const Value *base = pointer->stripAndAccumulateConstantOffsets(layout, bytes, true);
    return std::pair{base, bytes.getSExtValue()};
  };
  const auto [base, bytes] = distance(load.getPointerOperand());
  const auto *record = dyn_cast<LoadInst>(base);
  if (!record ||
      distance(record->getPointerOperand()) !=
          std::pair<const Value *, int64_t>{entry.getArg(0), offsetof(abi::Launch, params)})
    return std::nullopt;
  return bytes;
}

/// What becomes of the memory behind a pointer that is a parameter.
struct Use {
  SetVector<StoreInst *> stores; ///< of vectors, on end
  bool isRead = false;
};

/// Follows the addresses that are made of `parameter`.
void follow(Instruction &parameter, Use &found) {
  SmallVector<Instruction *> todo{&parameter};
  SmallPtrSet<Instruction *, 32> seen{&parameter};
  while (!todo.empty()) {
    Instruction *from = todo.pop_back_val();
    for (User *user : from->users()) {
      auto *i = cast<Instruction>(user);
      const unsigned code = i->getOpcode();
      if (auto *store = dyn_cast<StoreInst>(i)) {
        if (store->getPointerOperand() == from && store->getValueOperand()->getType()->isVectorTy())
          found.stores.insert(store);
      } else if (code == Instruction::Add || code == Instruction::Or ||
                 (code == Instruction::Sub && i->getOperand(0) == from) ||
                 isa<GetElementPtrInst, IntToPtrInst, PtrToIntInst, PHINode, SelectInst, FreezeInst,
                     InsertElementInst, ExtractElementInst, ShuffleVectorInst>(i)) {
        if (seen.insert(i).second)
          todo.push_back(i);
      } else {
        found.isRead |= i->mayReadFromMemory();
      }
    }
  }
}

/// The stores of each pointer that nothing is read through, in groups of whole lines.
SmallVector<Group> groupsOf(const SetVector<StoreInst *> &stores, unsigned lineBytes,
                            const DataLayout &layout) {
  SmallVector<Group> groups;
  SmallPtrSet<BasicBlock *, 8> blocks;
  const auto bytesOf = [&](const StoreInst &s) {
    return layout.getTypeStoreSize(s.getValueOperand()->getType()).getFixedValue();
  };
  for (StoreInst *any : stores) {
    if (!blocks.insert(any->getParent()).second)
      continue;
    Group group;
    const Value *base = nullptr;
    int64_t next = 0;
    const auto finish = [&] {
      if (group.bytes != 0 && group.bytes % lineBytes == 0)
        groups.push_back(group);
      group = {};
    };
    for (Instruction &i : *any->getParent()) {
      auto *store = dyn_cast<StoreInst>(&i);
      if (!store || !stores.contains(store)) {
        if (i.mayReadOrWriteMemory())
          finish();
        continue;
      }
      APInt distance(64, 0);
      const Value *from =
          store->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, distance, true);
      if (from != base || distance.getSExtValue() != next)
        finish();
      group.stores.push_back(store);
      group.bytes += bytesOf(*store);
      base = from;
      next = distance.getSExtValue() + int64_t(bytesOf(*store));
    }
    finish();
  }
  return groups;
}

/// Whether the launch's threads store `perThread` bytes each and all together at least `least`.
Value *isLargeLaunch(Function &entry, uint64_t perThread, uint64_t least) {
  IRBuilder<> b(&*entry.getEntryBlock().getFirstInsertionPt());
  Value *threads = nullptr;
  for (const size_t extents : {offsetof(abi::Launch, grid), offsetof(abi::Launch, block)})
    for (const size_t axis :
         {offsetof(abi::Dim3, x), offsetof(abi::Dim3, y), offsetof(abi::Dim3, z)}) {
      Value *at = b.CreateConstGEP1_64(b.getInt8Ty(), entry.getArg(0), extents + axis);
      Value *extent = b.CreateZExt(b.CreateLoad(b.getInt32Ty(), at), b.getInt64Ty());
      threads = threads ? b.CreateMul(threads, extent) : extent;
    }
  return b.CreateICmpUGE(threads, b.getInt64(divideCeil(least, perThread)));
}

void stream(const Group &group, Value *isLarge, unsigned lineBytes) {
  StoreInst *last = group.stores.back();
  IRBuilder<> b(last);
  Value *to = b.CreatePtrToInt(group.stores.front()->getPointerOperand(), b.getInt64Ty());
  Value *isAtLine = b.CreateICmpEQ(b.CreateAnd(to, lineBytes - 1), b.getInt64(0));
  Instruction *streamed, *plain;
  SplitBlockAndInsertIfThenElse(b.CreateAnd(isLarge, isAtLine), last, &streamed, &plain);
  MDNode *const nonTemporal =
      MDNode::get(last->getContext(), ConstantAsMetadata::get(b.getInt32(1)));
  uint64_t bytes = 0;
  for (StoreInst *store : group.stores) {
    store->moveBefore(plain);
    auto *past = cast<StoreInst>(store->clone());
    past->insertBefore(streamed);
    past->setMetadata(LLVMContext::MD_nontemporal, nonTemporal);
    past->setAlignment(commonAlignment(Align(lineBytes), bytes));
    bytes += store->getDataLayout().getTypeStoreSize(store->getValueOperand()->getType());
  }
}

} // namespace

void streamStores(Function &entry, const simt::Target &target, unsigned threadsAtOnce) {
  if (target.streamedFrom == 0 || any_of(instructions(entry), mayOrderMemory))
    return;
  const DataLayout &layout = entry.getDataLayout();
  MapVector<int64_t, Use> uses; // by parameter
  for (Instruction &i : instructions(entry))
    if (auto *load = dyn_cast<LoadInst>(&i); load && load->getType()->isIntOrPtrTy())
      if (const auto at = parameterAt(*load, entry, layout))
        follow(*load, uses[*at]);

  SmallVector<Group> all;
  uint64_t perThread = 0;
  for (const auto &[at, use] : uses) {
    if (use.isRead)
      continue;
    uint64_t most = 0; // of all ways to store to it
    for (Group &group : groupsOf(use.stores, target.lineBytes, layout)) {
      most = std::max(most, group.bytes);
      all.push_back(std::move(group));
    }
    perThread += most / threadsAtOnce;
  }
  if (perThread == 0)
    return;
  Value *isLarge = isLargeLaunch(entry, perThread, target.streamedFrom);
  for (const Group &group : all)
    stream(group, isLarge, target.lineBytes);
  for (BasicBlock &block : entry)
    if (auto *end = dyn_cast<ReturnInst>(block.getTerminator()))
      IRBuilder<>(end).CreateIntrinsic(Intrinsic::x86_sse_sfence, {}, {});
}

} // namespace ptxrun::jit
