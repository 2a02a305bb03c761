// What every lane loads from a place of its own to store it at another of its own: tiles that go
// to .shared memory by cp.async, element by element of rows that only the launch knows. Neither
// place is taken out of a vector, nothing is put together and taken apart between: one call does
// it, which jit makes a loop of (jit/lane_accesses.h). In place, each such copy is 200 instructions
// and more, and products of matrices have dozens.
#include "translate/simt/accesses.h"

namespace ptxrun::simt {

using llvm::Value;

/// The store that alone takes what is loaded, into .shared memory, where both are of short vectors,
/// nothing between them writes memory, and the places stored to lie neither in rows nor in groups.
const llvm::StoreInst *Accesses::copyOf(const llvm::LoadInst &load) {
  const llvm::Type *type = load.getType();
  if (!load.isSimple() || !type->isVectorTy() || !load.hasOneUse() ||
      load.getPointerAddressSpace() == lower::kShared || lanesToServe().size() != lanes_)
    return nullptr;
  auto *store = llvm::dyn_cast<llvm::StoreInst>(*load.user_begin());
  if (!store || !store->isSimple() || store->getValueOperand() != &load ||
      store->getPointerAddressSpace() != lower::kShared || store->getParent() != load.getParent() ||
      std::any_of(load.getIterator(), store->getIterator(),
                  [](const auto &i) { return i.mayWriteToMemory(); }))
    return nullptr;
  const Value *to = store->getPointerOperand();
  const auto bytes = int64_t(load.getDataLayout().getTypeStoreSize(load.getType()).getFixedValue());
  const bool isScattered = !shapes_.isUniform(to) && !shapes_.shape(to).offsets &&
                           llvm::isPowerOf2_64(uint64_t(bytes)) && !groupsInRow(to, bytes);
  return isScattered ? store : nullptr;
}

/// Puts a copy off until its store; what the next round of a loop copies is fetched. False where it
/// is none.
bool Accesses::beginCopy(const llvm::LoadInst &load, const Address &a) {
  const llvm::StoreInst *store = copyOf(load);
  if (!store)
    return false;
  copies_[store] = pointers(a);
  const Value *from = load.getPointerOperand();
  const auto bytes = int64_t(load.getDataLayout().getTypeStoreSize(load.getType()).getFixedValue());
  const int64_t ahead = mask() ? 0 : stepOfGroups(load);
  if (const auto group = ahead ? groupsInRow(from, bytes) : std::nullopt)
    for (Value *start : startsOfGroups(from, a, *group))
      fetchAhead(b_, start, ahead, Fetch::toReadLater);
  return true;
}

/// copy(places to store at, places to load from, lanes), a declaration: its name says how.
void Accesses::emitCopy(const llvm::LoadInst &load, const llvm::StoreInst &store, Value *from) {
  Value *to = pointers(address(store.getPointerOperand()));
  auto *places = vec(b_.getPtrTy(), lanes_);
  std::string name;
  llvm::raw_string_ostream(name)
      << kCopyOfLanes << lanes_ << '.'
      << load.getDataLayout().getTypeStoreSize(load.getType()).getFixedValue() << '.'
      << std::min(load.getAlign(), store.getAlign()).value();
  llvm::FunctionCallee copy = context_.module.getOrInsertFunction(
      name, b_.getVoidTy(), places, places, vec(b_.getInt1Ty(), lanes_));
  auto *callee = llvm::cast<llvm::Function>(copy.getCallee());
  callee->setDoesNotThrow();
  callee->setWillReturn();
  b_.CreateCall(copy, {to, from, fullMask()});
}

} // namespace ptxrun::simt
