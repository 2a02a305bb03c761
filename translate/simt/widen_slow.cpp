// Slow paths: accesses whose addresses turn out not to lie as their shape says, because a narrow
// index wraps between the lanes of the gang. They hardly ever run, and there is one for each access
// with a conditional shape, so they are small: a call of the runtime, which takes the lanes one by
// one, or one vector instruction.
#include <llvm/IR/Operator.h>

#include "translate/simt/accesses.h"

namespace ptxrun::simt {

using llvm::Value;

/// The one extension of a narrow index that a pointer of lanes that may wrap is linear in; nothing
/// where it is otherwise.
std::optional<Accesses::IndexExtension> Accesses::indexExtension(const Value *pointer) const {
  if (pointer->getType()->getPointerAddressSpace() == lower::kShared)
    return std::nullopt; // wraps by itself
  const LinearSum sum = sumOf(pointer);
  std::optional<IndexExtension> found;
  for (const auto &[value, times] : sum.terms) {
    if (!shapes_.shape(value).isConditional)
      continue;
    auto *cast = llvm::dyn_cast<llvm::CastInst>(value);
    if (found || !cast || !llvm::isa<llvm::SExtInst, llvm::ZExtInst>(cast) ||
        shapes_.shape(cast->getOperand(0)).isConditional)
      return std::nullopt;
    found = {cast, times};
  }
  return found;
}

/// The abi::WrappedAccess of an access, one per module for all that are alike.
llvm::Constant *Accesses::wrappedAccess(const IndexExtension &e,
                                        const std::vector<int64_t> &addressOffsets,
                                        uint64_t bytes) {
  const Value *index = e.cast->getOperand(0);
  std::vector<uint64_t> words = {lanes_, bytes, index->getType()->getScalarSizeInBits(),
                                 e.cast->getOpcode() == llvm::Instruction::SExt, uint64_t(e.scale)};
  const std::vector<int64_t> *indexOffsets = shapes_.shape(index).offsets;
  for (unsigned l = 0; l < lanes_; ++l)
    words.push_back(uint64_t(addressOffsets[l]));
  for (unsigned l = 0; l < lanes_; ++l)
    words.push_back(indexOffsets ? uint64_t((*indexOffsets)[l]) : 0);
  llvm::Constant *data = llvm::ConstantDataArray::get(b_.getContext(), words);
  llvm::GlobalVariable *&known = context_.wrappedAccesses[data];
  if (!known) {
    known = new llvm::GlobalVariable(context_.module, data->getType(), true,
                                     llvm::GlobalValue::PrivateLinkage, data, "wrapped");
    known->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  }
  return known;
}

/// One vector instruction for all lanes takes longer to generate code for, but leaves the registers
/// alone.
bool Accesses::isGatherSmall(const llvm::Type *type) const {
  return !isBaseline() && !type->isVectorTy() &&
         context_.target.gathers(type->getScalarSizeInBits());
}

/// Where a wide value lies while its lanes are served one by one.
llvm::AllocaInst *Accesses::slowBuffer(llvm::Type *wideType) {
  llvm::AllocaInst *&buffer = slowBuffers_[wideType];
  if (!buffer) {
    buffer = entryAlloca(wideType, "slow");
    buffer->setMetadata(kScratch, llvm::MDNode::get(b_.getContext(), {}));
  }
  return buffer;
}

/// Calls the runtime to move the active lanes' parts between a buffer of a wide value and where
/// they belong. Null (and nothing emitted) where a gather is better, the address is no simple
/// function of the index, or the access is atomic in more than a register.
llvm::AllocaInst *Accesses::accessWrapped(const llvm::Instruction &access, const Address &a,
                                          llvm::Type *type, Value *stored) {
  if (isGatherSmall(type))
    return nullptr;
  const std::optional<IndexExtension> e = indexExtension(llvm::getLoadStorePointerOperand(&access));
  const llvm::DataLayout &layout = context_.module.getDataLayout();
  const uint64_t bytes = layout.getTypeStoreSize(type).getFixedValue();
  llvm::Type *wideType = widenType(type, lanes_);
  if (!e || bytes > abi::kMaxAccessBytes || !llvm::isPowerOf2_64(bytes) ||
      (access.isAtomic() && bytes > 8) ||
      layout.getTypeSizeInBits(wideType).getFixedValue() != bytes * 8 * lanes_)
    return nullptr;
  llvm::AllocaInst *buffer = slowBuffer(wideType);
  if (stored)
    b_.CreateStore(stored, buffer);
  const bool wasOff = std::exchange(isOffMainLine_, true);
  auto *call = llvm::cast<llvm::CallInst>(
      runtime(stored ? "ptxrun_store_wrapped" : "ptxrun_load_wrapped", b_.getVoidTy(),
              {buffer, a.base, b_.CreateZExt(base(e->cast->getOperand(0)), b_.getInt64Ty()),
               wrappedAccess(*e, *a.offsets, bytes), maskBits(mask()),
               llvm::ConstantPointerNull::get(b_.getPtrTy())}));
  call->addFnAttr(llvm::Attribute::get(b_.getContext(), kOffMainLine));
  isOffMainLine_ = wasOff;
  return buffer;
}

Value *Accesses::loadSlowly(const llvm::LoadInst &load, const Address &a) {
  if (llvm::AllocaInst *buffer = accessWrapped(load, a, plain(&load), nullptr))
    return b_.CreateLoad(buffer->getAllocatedType(), buffer, load.getName());
  return loadEach(load, exactPointers(load.getPointerOperand()));
}

void Accesses::storeSlowly(const llvm::StoreInst &store, const Address &a, Value *v) {
  if (!accessWrapped(store, a, plain(store.getValueOperand()), v))
    storeEach(store, exactPointers(store.getPointerOperand()), v);
}

} // namespace ptxrun::simt
