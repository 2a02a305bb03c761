#include "translate/jit/shared_values.h"

#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <map>
#include <optional>

#include "intrinsics/abi.h"
#include "translate/simt/gang_module.h"

namespace ptxrun::jit {

using namespace llvm;

namespace {

/// An element in memory: of a vector, or a scalar.
struct Element {
  Value *whole;
  unsigned index;
  uint64_t storedBefore; // bytes
};

/// What is known of `.shared` memory, by offset. Elements do not overlap.
using Known = std::map<int64_t, Element>;

unsigned bytesOf(const Type *type) { return unsigned(type->getScalarSizeInBits() / 8); }
unsigned countOf(const Type *type) {
  auto *vector = dyn_cast<FixedVectorType>(type);
  return vector ? vector->getNumElements() : 1;
}

/// An access to memory as elements, of which some may be left out by a mask.
struct Access {
  Value *pointer;
  Type *type;
  Constant *mask = nullptr; // of constants; null: all

  bool has(unsigned k) const { return !mask || mask->getAggregateElement(k)->isOneValue(); }
  bool isWhole() const {
    return type->getScalarSizeInBits() % 8 == 0 && !type->getScalarType()->isPointerTy();
  }
};

bool isKnownMask(Value *mask) {
  auto *c = dyn_cast<Constant>(mask);
  for (unsigned k = 0; c && k < countOf(mask->getType()); ++k)
    if (!isa_and_nonnull<ConstantInt>(c->getAggregateElement(k)))
      return false;
  return c;
}

class SharedValues {
 public:
  SharedValues(Function &function, unsigned registerBytes, unsigned bytes, int64_t end)
      : function_(function), layout_(function.getParent()->getDataLayout()),
        registerBytes_(registerBytes), bytes_(bytes), end_(end) {}

  bool run() {
    bool isChanged = false;
    DenseMap<BasicBlock *, Known> ends;
    for (BasicBlock *block : ReversePostOrderTraversal<Function *>(&function_)) {
      known_.clear();
      if (BasicBlock *before = block->getSinglePredecessor())
        if (auto end = ends.find(before); end != ends.end())
          known_ = end->second;
      for (Instruction &i : make_early_inc_range(*block))
        isChanged |= visit(i);
      forgetOld(); // what is handed on to other blocks is short
      if (any_of(successors(block), [](const BasicBlock *b) { return b->getSinglePredecessor(); }))
        ends[block] = known_;
    }
    return isChanged;
  }

  /// Removes stores that nothing reads any more: `.shared` memory is gone with its CTA. Not where
  /// anything might read at places that are not known here. How much memory lies behind the
  /// variables of known size is the launch's to say: of what is stored there, a store stays that
  /// reaches further than those before it, and faults where one of them would have.
  void removeUnread() {
    Uses uses;
    for (Instruction &i : instructions(function_)) {
      if (isa<CallBase>(i) && !isa<IntrinsicInst>(i) && i.mayReadFromMemory())
        return;
      if (isSharedBase(&i) && !followUses(i, 0, uses))
        return;
    }
    const DominatorTree dominators(function_);
    std::vector<std::pair<Instruction *, int64_t>> reaching; // behind the variables, and where to
    for (BasicBlock *block : ReversePostOrderTraversal<Function *>(&function_))
      for (Instruction &i : make_early_inc_range(*block)) {
        if (!uses.stores.contains(&i))
          continue;
        const Access to = *accessOf(i);
        const int64_t first = *placeOf(to.pointer);
        int64_t end = first;
        bool isRead = false;
        for (unsigned k = 0, bytes = bytesOf(to.type); k < countOf(to.type); ++k)
          if (to.has(k)) {
            end = first + int64_t(k + 1) * bytes;
            isRead |= uses.isRead(unsigned(first) + k * bytes, bytes);
          }
        const bool isSeen = end <= end_ || any_of(reaching, [&](const auto &other) {
                              return other.second >= end && dominators.dominates(other.first, &i);
                            });
        if (!isRead && isSeen)
          i.eraseFromParent();
        else if (!isSeen)
          reaching.emplace_back(&i, end);
      }
  }

 private:
  /// What is done with `.shared` memory at places that are known.
  struct Uses {
    SmallPtrSet<Instruction *, 32> stores;
    BitVector read; // bytes

    void setRead(unsigned first, unsigned bytes) {
      read.resize(std::max(read.size(), first + bytes));
      read.set(first, first + bytes);
    }
    bool isRead(unsigned first, unsigned bytes) const {
      const unsigned end = std::min(first + bytes, read.size());
      return first < end && read.find_first_in(first, end) >= 0;
    }
  };

  /// False where the address goes elsewhere, or to no place that a launch can have.
  bool followUses(Value &address, int64_t offset, Uses &uses) const {
    for (User *user : address.users()) {
      auto *i = cast<Instruction>(user);
      APInt step(64, 0);
      if (auto *gep = dyn_cast<GetElementPtrInst>(i)) {
        if (!gep->accumulateConstantOffset(layout_, step) ||
            !followUses(*gep, offset + step.getSExtValue(), uses))
          return false;
        continue;
      }
      if (auto *call = dyn_cast<IntrinsicInst>(i);
          call && call->getIntrinsicID() == Intrinsic::prefetch)
        continue;
      const std::optional<Access> access = accessOf(*i);
      if (!access || access->pointer != &address || !access->isWhole() || offset < 0 ||
          offset >= kMaxShared)
        return false;
      if (i->mayWriteToMemory()) {
        uses.stores.insert(i);
        continue;
      }
      const unsigned bytes = bytesOf(access->type);
      for (unsigned k = 0; k < countOf(access->type); ++k)
        if (access->has(k))
          uses.setRead(unsigned(offset) + k * bytes, bytes);
    }
    return true;
  }

  /// A load or store of all elements, or under a mask that is known.
  static std::optional<Access> accessOf(Instruction &i) {
    if (auto *load = dyn_cast<LoadInst>(&i); load && load->isSimple())
      return Access{load->getPointerOperand(), load->getType()};
    if (auto *store = dyn_cast<StoreInst>(&i); store && store->isSimple())
      return Access{store->getPointerOperand(), store->getValueOperand()->getType()};
    auto *call = dyn_cast<IntrinsicInst>(&i);
    if (call && call->getIntrinsicID() == Intrinsic::masked_load &&
        isKnownMask(call->getArgOperand(2)))
      return Access{call->getArgOperand(0), call->getType(),
                    cast<Constant>(call->getArgOperand(2))};
    if (call && call->getIntrinsicID() == Intrinsic::masked_store &&
        isKnownMask(call->getArgOperand(3)))
      return Access{call->getArgOperand(1), call->getArgOperand(0)->getType(),
                    cast<Constant>(call->getArgOperand(3))};
    return std::nullopt;
  }

  /// The address of the CTA's `.shared` memory, read from its record.
  bool isSharedBase(const Value *value) const {
    auto *base = dyn_cast<LoadInst>(value);
    if (!base || !base->getType()->isPointerTy())
      return false;
    APInt field(64, 0);
    auto *record = dyn_cast<Argument>(base->getPointerOperand()->stripAndAccumulateConstantOffsets(
        layout_, field, /*AllowNonInbounds=*/true));
    return record && record->getArgNo() == kCtaArgument && field == offsetof(abi::Cta, sharedBase);
  }

  /// The offset of an address in the CTA's `.shared` memory.
  std::optional<int64_t> placeOf(Value *pointer) const {
    APInt offset(64, 0);
    const Value *base =
        pointer->stripAndAccumulateConstantOffsets(layout_, offset, /*AllowNonInbounds=*/true);
    if (!isSharedBase(base))
      return std::nullopt;
    return offset.getSExtValue();
  }

  /// Whether what lies there is no `.shared` memory: this function's own, and the runtime's
  /// records.
  static bool isElsewhere(const Value *pointer) {
    return isa<AllocaInst, Argument>(getUnderlyingObject(pointer, /*MaxLookup=*/0));
  }

  bool isOld(const Element &e) const { return stored_ - e.storedBefore > bytes_; }

  void forgetOld() {
    std::erase_if(known_, [&](const auto &place) { return isOld(place.second); });
  }

  void forget(int64_t first, int64_t bytes) {
    auto it = known_.lower_bound(first);
    if (it != known_.begin()) {
      auto before = std::prev(it);
      if (before->first + int64_t(bytesOf(before->second.whole->getType())) > first)
        it = before;
    }
    while (it != known_.end() && it->first < first + bytes)
      it = known_.erase(it);
  }

  void forgetIfWritten(Value *pointer, Type *type) {
    if (std::optional<int64_t> place = placeOf(pointer))
      forget(*place, int64_t(layout_.getTypeStoreSize(type).getFixedValue()));
    else if (!isElsewhere(pointer))
      known_.clear();
  }

  void stored(const Access &to, Value *value) {
    std::optional<int64_t> place = placeOf(to.pointer);
    if (!place || !to.isWhole())
      return forgetIfWritten(to.pointer, to.type);
    const unsigned bytes = bytesOf(to.type);
    for (unsigned k = 0; k < countOf(to.type); ++k)
      if (to.has(k)) {
        const int64_t at = *place + int64_t(k * bytes);
        forget(at, bytes);
        known_[at] = {value, k, stored_};
        stored_ += bytes;
      }
  }

  bool visit(Instruction &i) {
    auto *call = dyn_cast<IntrinsicInst>(&i);
    const Intrinsic::ID id = call ? call->getIntrinsicID() : Intrinsic::not_intrinsic;
    const std::optional<Access> access = accessOf(i);
    if (access && !i.mayWriteToMemory())
      return (id != Intrinsic::masked_load || isa<UndefValue>(call->getArgOperand(3))) &&
             replace(i, *access);
    if (access)
      stored(*access, i.getOperand(0)); // of both, the value comes first
    else if (auto *store = dyn_cast<StoreInst>(&i))
      forgetIfWritten(store->getPointerOperand(), store->getValueOperand()->getType());
    else if (id == Intrinsic::masked_store)
      forgetIfWritten(call->getArgOperand(1), call->getArgOperand(0)->getType());
    else if (id != Intrinsic::prefetch && id != Intrinsic::assume && i.mayWriteToMemory())
      known_.clear();
    return false;
  }

  /// Replaces a load of which every element is known, and each register of it comes from two at
  /// most.
  bool replace(Instruction &load, const Access &from) {
    std::optional<int64_t> place = placeOf(from.pointer);
    if (!place || !from.isWhole())
      return false;
    const unsigned bytes = bytesOf(from.type), count = countOf(from.type);
    std::vector<const Element *> elements(count, nullptr);
    for (unsigned k = 0; k < count; ++k) {
      if (!from.has(k))
        continue;
      auto found = known_.find(*place + int64_t(k * bytes));
      if (found == known_.end() || bytesOf(found->second.whole->getType()) != bytes ||
          isOld(found->second))
        return false;
      elements[k] = &found->second;
    }
    const unsigned perRegister = std::min(count, std::max(1u, registerBytes_ / bytes));
    if (!isPowerOf2_32(count / perRegister) || count % perRegister)
      return false;
    std::vector<std::vector<Piece>> sources; // of each register
    for (unsigned first = 0; first < count; first += perRegister) {
      sources.emplace_back();
      for (unsigned k = first; k < first + perRegister; ++k)
        if (elements[k] && !is_contained(sources.back(), pieceOf(*elements[k], bytes)))
          sources.back().push_back(pieceOf(*elements[k], bytes));
      if (sources.back().size() > 2)
        return false;
    }
    IRBuilder<> ir(&load);
    SmallVector<Value *> registers;
    for (unsigned r = 0; r < sources.size(); ++r)
      registers.push_back(shuffled(ir, ArrayRef(elements).slice(r * perRegister, perRegister),
                                   sources[r], from.type->getScalarType()));
    for (; registers.size() > 1; registers.resize(registers.size() / 2))
      for (unsigned r = 0; r < registers.size() / 2; ++r)
        registers[r] = joined(ir, registers[2 * r], registers[2 * r + 1]);
    Value *value = registers[0];
    if (!from.type->isVectorTy())
      value = ir.CreateExtractElement(value, uint64_t(0));
    load.replaceAllUsesWith(value);
    load.eraseFromParent();
    return true;
  }

  /// A register of a value that was stored.
  using Piece = std::pair<Value *, unsigned>;
  unsigned lanesOf(unsigned bytes) const { return std::max(1u, registerBytes_ / bytes); }
  Piece pieceOf(const Element &e, unsigned bytes) const {
    return {e.whole, e.index / lanesOf(bytes)};
  }

  Value *take(IRBuilder<> &ir, const Piece &piece, Type *element) const {
    auto [whole, number] = piece;
    const unsigned lanes = lanesOf(bytesOf(element)), count = countOf(whole->getType());
    auto *type = FixedVectorType::get(whole->getType()->getScalarType(), lanes);
    Value *value = whole;
    if (!whole->getType()->isVectorTy()) {
      value = ir.CreateInsertElement(PoisonValue::get(type), whole, uint64_t(0));
    } else if (count != lanes) {
      SmallVector<int> order;
      for (unsigned k = number * lanes; k < (number + 1) * lanes; ++k)
        order.push_back(k < count ? int(k) : -1);
      value = ir.CreateShuffleVector(whole, order);
    }
    return ir.CreateBitCast(value, FixedVectorType::get(element, lanes));
  }

  Value *shuffled(IRBuilder<> &ir, ArrayRef<const Element *> elements, ArrayRef<Piece> sources,
                  Type *element) const {
    const unsigned bytes = bytesOf(element), lanes = lanesOf(bytes);
    if (sources.empty())
      return PoisonValue::get(FixedVectorType::get(element, unsigned(elements.size())));
    SmallVector<int> order;
    for (const Element *e : elements)
      order.push_back(!e ? -1
                         : int(e->index % lanes + (pieceOf(*e, bytes) == sources[0] ? 0 : lanes)));
    Value *first = take(ir, sources[0], element);
    return ir.CreateShuffleVector(first,
                                  sources.size() > 1 ? take(ir, sources[1], element)
                                                     : PoisonValue::get(first->getType()),
                                  order);
  }

  static Value *joined(IRBuilder<> &ir, Value *low, Value *high) {
    SmallVector<int> order;
    for (unsigned k = 0; k < 2 * countOf(low->getType()); ++k)
      order.push_back(int(k));
    return ir.CreateShuffleVector(low, high, order);
  }

  static constexpr unsigned kCtaArgument = 1;
  static constexpr int64_t kMaxShared = 1 << 20; // bytes: more than any device has

  Function &function_;
  const DataLayout &layout_;
  const unsigned registerBytes_, bytes_;
  const int64_t end_; // of the variables whose size is known
  Known known_;
  uint64_t stored_ = 0; // bytes
};

} // namespace

void keepSharedValues(Function &function, unsigned registerBytes, unsigned bytes,
                      uint32_t staticBytes) {
  if (!function.hasFnAttribute(simt::kPrivateShared))
    return;
  SharedValues values(function, registerBytes, bytes, abi::kSharedFirstOffset + staticBytes);
  if (values.run())
    values.removeUnread();
}

} // namespace ptxrun::jit
