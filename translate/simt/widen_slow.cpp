// Slow paths: accesses whose addresses turn out not to lie as their shape says, because a narrow
// index wraps between the lanes of the gang. They hardly ever run, and there is one for each access
// with a conditional shape, so they are small: a call of the runtime, which takes the lanes one by
// one, or one vector instruction.
#include <llvm/IR/Operator.h>

#include "translate/simt/accesses.h"

namespace ptxrun::simt {

using llvm::Value;

/// `address` depends on one extension of a narrow index, and on that linearly: adds how often
/// (times `factor`) it is contained. False where it is otherwise.
bool Accesses::addExtension(const Value *address, int64_t factor, IndexExtension &found) const {
  if (!shapes_.shape(address).isConditional)
    return true;
  if (plain(address)->isIntegerTy()
          ? !plain(address)->isIntegerTy(64)
          : address->getType()->getPointerAddressSpace() == lower::kShared)
    return false;
  auto *i = llvm::cast<llvm::Instruction>(address);
  auto operand = [&](unsigned k, int64_t times) {
    return addExtension(i->getOperand(k), int64_t(uint64_t(factor) * uint64_t(times)), found);
  };
  auto *c =
      i->getNumOperands() == 2 ? llvm::dyn_cast<llvm::ConstantInt>(i->getOperand(1)) : nullptr;
  switch (i->getOpcode()) {
  case llvm::Instruction::SExt:
  case llvm::Instruction::ZExt:
    if ((found.cast && found.cast != i) || shapes_.shape(i->getOperand(0)).isConditional)
      return false;
    found.cast = llvm::cast<llvm::CastInst>(i);
    found.scale += factor;
    return true;
  case llvm::Instruction::PHI: // ShapeAnalysis::evaluatePhi: one value always
    return addExtension(llvm::cast<llvm::PHINode>(i)->hasConstantValue(), factor, found);
  case llvm::Instruction::IntToPtr:
  case llvm::Instruction::PtrToInt:
  case llvm::Instruction::Freeze:
    return operand(0, 1);
  case llvm::Instruction::Add:
  case llvm::Instruction::Or: // of disjoint bits
    return operand(0, 1) && operand(1, 1);
  case llvm::Instruction::Sub:
    return operand(0, 1) && operand(1, -1);
  case llvm::Instruction::Mul:
    return c && operand(0, c->getSExtValue());
  case llvm::Instruction::Shl:
    return c && operand(0, int64_t(uint64_t{1} << c->getZExtValue()));
  case llvm::Instruction::GetElementPtr: {
    llvm::MapVector<Value *, llvm::APInt> variable;
    llvm::APInt constant(64, 0);
    if (!llvm::cast<llvm::GEPOperator>(i)->collectOffset(context_.module.getDataLayout(), 64,
                                                         variable, constant))
      return false;
    return operand(0, 1) && llvm::all_of(variable, [&](const auto &term) {
             return addExtension(term.first, int64_t(uint64_t(factor) * term.second.getZExtValue()),
                                 found);
           });
  }
  default:
    return false;
  }
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
  return context_.target.hasMaskedGather() && !isBaseline() && !type->isVectorTy() &&
         (type->getScalarSizeInBits() == 32 || type->getScalarSizeInBits() == 64);
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
  IndexExtension e;
  const Value *pointer = llvm::getLoadStorePointerOperand(&access);
  const llvm::DataLayout &layout = context_.module.getDataLayout();
  const uint64_t bytes = layout.getTypeStoreSize(type).getFixedValue();
  llvm::Type *wideType = widenType(type, lanes_);
  if (!addExtension(pointer, 1, e) || !e.cast || bytes > abi::kMaxAccessBytes ||
      !llvm::isPowerOf2_64(bytes) || (access.isAtomic() && bytes > 8) ||
      layout.getTypeSizeInBits(wideType).getFixedValue() != bytes * 8 * lanes_)
    return nullptr;
  llvm::AllocaInst *buffer = slowBuffer(wideType);
  if (stored)
    b_.CreateStore(stored, buffer);
  const bool wasOff = std::exchange(isOffMainLine_, true);
  auto *call = llvm::cast<llvm::CallInst>(
      runtime(stored ? "ptxrun_store_wrapped" : "ptxrun_load_wrapped", b_.getVoidTy(),
              {buffer, a.base, b_.CreateZExt(base(e.cast->getOperand(0)), b_.getInt64Ty()),
               wrappedAccess(e, *a.offsets, bytes), maskBits(mask()),
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
