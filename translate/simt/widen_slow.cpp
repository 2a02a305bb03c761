// Slow paths: accesses whose addresses turn out not to lie as their shape says, because an index
// wraps within the gang. They hardly ever run, and there is one for each access with a conditional
// shape, so they are small: a loop over the active lanes that computes one address at a time.
#include "translate/simt/widener.h"

namespace ptxrun::simt {

using llvm::Value;

/// One vector instruction for all lanes is smaller still (but takes longer to generate code for).
bool Widener::isGatherSmall(llvm::Type *type) const {
  return context_.options.level == CpuLevel::avx512 && context_.options.tier == Tier::optimised &&
         !type->isVectorTy() &&
         (type->getScalarSizeInBits() == 32 || type->getScalarSizeInBits() == 64);
}

/// Memory for the time of one slow path.
llvm::AllocaInst *Widener::scratch(llvm::Type *type) {
  llvm::AllocaInst *buffer = entryAlloca(type, "slow");
  buffer->setMetadata(kScratch, llvm::MDNode::get(b_.getContext(), {}));
  return buffer;
}

/// Whether atLane can compute the value.
bool Widener::hasValueAtLane(const Value *v) const {
  const Shape s = shapes_.shape(v);
  if (!s.isConditional)
    return !s.isVarying();
  return llvm::isa<llvm::BinaryOperator, llvm::CastInst>(v) &&
         llvm::all_of(llvm::cast<llvm::Instruction>(v)->operands(),
                      [&](const llvm::Use &u) { return hasValueAtLane(u); });
}

/// A conditional or certain value of one lane, exactly.
Value *Widener::atLane(const Value *v, Value *lane) {
  const Shape s = shapes_.shape(v);
  if (!s.isConditional) {
    Value *scalar = base(v);
    if (!s.offsets)
      return scalar;
    llvm::Type *row = llvm::ArrayType::get(b_.getInt64Ty(), lanes_);
    llvm::SmallVector<llvm::Constant *> offsets;
    for (int64_t o : *s.offsets)
      offsets.push_back(b_.getInt64(uint64_t(o)));
    auto *table = new llvm::GlobalVariable(
        context_.module, row, true, llvm::GlobalValue::PrivateLinkage,
        llvm::ConstantArray::get(llvm::cast<llvm::ArrayType>(row), offsets), "offsets");
    table->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    Value *offset =
        b_.CreateLoad(b_.getInt64Ty(), b_.CreateInBoundsGEP(row, table, {b_.getInt32(0), lane}));
    return scalar->getType()->isPointerTy()
               ? b_.CreateGEP(b_.getInt8Ty(), scalar, offset)
               : b_.CreateAdd(scalar, b_.CreateSExtOrTrunc(offset, scalar->getType()));
  }
  auto *i = llvm::cast<llvm::Instruction>(v);
  if (auto *cast = llvm::dyn_cast<llvm::CastInst>(i)) {
    Value *from = atLane(cast->getOperand(0), lane);
    llvm::Type *to = plain(cast);
    if (from->getType() == to)
      return from; // pointers to `.shared` are offsets already
    return b_.CreateCast(cast->getOpcode(), from, to);
  }
  return b_.CreateBinOp(llvm::cast<llvm::BinaryOperator>(i)->getOpcode(),
                        atLane(i->getOperand(0), lane), atLane(i->getOperand(1), lane));
}

Value *Widener::hostPointerAtLane(const Value *pointer, Value *lane) {
  Value *p = atLane(pointer, lane);
  return pointer->getType()->getPointerAddressSpace() == lower::kShared ? inArena(p) : p;
}

/// Where a lane's part of a wide value lies in memory that holds it.
Value *Widener::partAtLane(llvm::AllocaInst *buffer, Value *lane) {
  auto *wide = llvm::cast<llvm::FixedVectorType>(buffer->getAllocatedType());
  const uint64_t bytes =
      context_.module.getDataLayout().getTypeStoreSize(wide).getFixedValue() / lanes_;
  return b_.CreateInBoundsGEP(b_.getInt8Ty(), buffer,
                              b_.CreateMul(lane, b_.getInt32(uint32_t(bytes))));
}

Value *Widener::loadSlowly(const llvm::LoadInst &load) {
  const Value *pointer = load.getPointerOperand();
  if (!hasValueAtLane(pointer) || isGatherSmall(plain(&load)))
    return loadEach(load, exactPointers(pointer));
  const bool wasOff = std::exchange(isOffMainLine_, true);
  llvm::AllocaInst *buffer = scratch(wide(&load));
  forEachLane(nullptr, [&](Value *lane, Value *) -> Value * {
    llvm::LoadInst *one =
        b_.CreateAlignedLoad(plain(&load), hostPointerAtLane(pointer, lane), load.getAlign());
    one->setVolatile(load.isVolatile());
    if (load.isAtomic())
      one->setAtomic(load.getOrdering(), load.getSyncScopeID());
    b_.CreateAlignedStore(one, partAtLane(buffer, lane), llvm::Align(1));
    return nullptr;
  });
  isOffMainLine_ = wasOff;
  return b_.CreateLoad(buffer->getAllocatedType(), buffer, load.getName());
}

void Widener::storeSlowly(const llvm::StoreInst &store, Value *v) {
  const Value *pointer = store.getPointerOperand();
  if (!hasValueAtLane(pointer) || isGatherSmall(plain(store.getValueOperand()))) {
    storeEach(store, exactPointers(pointer), v);
    return;
  }
  const bool wasOff = std::exchange(isOffMainLine_, true);
  llvm::AllocaInst *buffer = scratch(v->getType());
  b_.CreateStore(v, buffer);
  forEachLane(nullptr, [&](Value *lane, Value *) -> Value * {
    Value *one = b_.CreateAlignedLoad(plain(store.getValueOperand()), partAtLane(buffer, lane),
                                      llvm::Align(1));
    llvm::StoreInst *s =
        b_.CreateAlignedStore(one, hostPointerAtLane(pointer, lane), store.getAlign());
    s->setVolatile(store.isVolatile());
    if (store.isAtomic())
      s->setAtomic(store.getOrdering(), store.getSyncScopeID());
    return nullptr;
  });
  isOffMainLine_ = wasOff;
}

} // namespace ptxrun::simt
