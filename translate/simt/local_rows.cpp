// An array of n elements that each thread has for itself:
//
//   before: lane 0: a[0] a[1] ... a[n-1], lane 1: a[0] ...         =>   a[0] of all lanes, a[1] ...
//           p = a + i                                                   p = a + i * lanes
//
// What all lanes do with one element they do with a row, and arrays whose size is a power of two do
// not fall on the same few lines of the cache. Accesses that are wider than the elements, as clear
// several at once, are taken apart where they are at constant places.
#include "translate/simt/local_rows.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "translate/simt/cost.h"

namespace ptxrun::simt {
namespace {

using llvm::Value;

/// The bytes of an element, on an array whose elements lie in rows.
constexpr char kElement[] = "ptx.element";

uint64_t elementOf(const llvm::AllocaInst &array) {
  const llvm::MDNode *node = array.getMetadata(kElement);
  return node ? llvm::mdconst::extract<llvm::ConstantInt>(node->getOperand(0))->getZExtValue() : 0;
}

class LocalArray {
 public:
  LocalArray(llvm::AllocaInst &array, unsigned lanes)
      : array_(array), lanes_(lanes), layout_(array.getFunction()->getParent()->getDataLayout()) {}

  /// Whether rows are possible, and some access is at a place that is not known.
  bool find() {
    auto size = array_.getAllocationSize(layout_);
    if (!size || array_.getParent() != &array_.getFunction()->getEntryBlock() ||
        elementOf(array_) != 0)
      return false;
    places_.insert(&array_);
    for (size_t n = 0; n < places_.size(); ++n)
      for (llvm::User *user : places_[n]->users())
        if (!follow(*llvm::cast<llvm::Instruction>(user), *places_[n]))
          return false;
    for (Value *place : places_)
      if (llvm::isa<llvm::PHINode, llvm::SelectInst>(place) && !isOfArray(*place))
        return false;
    for (llvm::Instruction *access : accesses_)
      element_ = std::min(element_, bytesOf(*access));
    bool isAnyUnknown = false;
    for (llvm::Instruction *access : accesses_) {
      const uint64_t parts = bytesOf(*access) / element_;
      const bool isKnown = isAtKnownPlace(*access);
      isAnyUnknown |= !isKnown;
      if (bytesOf(*access) % element_ != 0 || alignmentOf(*access).value() < element_ ||
          parts > (isKnown ? kLimits.localRows.parts : 1))
        return false;
    }
    return isAnyUnknown && size->getFixedValue() % element_ == 0;
  }

  void layOut() {
    llvm::Type *word = llvm::Type::getInt64Ty(array_.getContext());
    array_.setMetadata(kElement, llvm::MDNode::get(array_.getContext(),
                                                   llvm::ConstantAsMetadata::get(
                                                       llvm::ConstantInt::get(word, element_))));
    for (Value *place : places_)
      if (auto *step = llvm::dyn_cast<llvm::GetElementPtrInst>(place))
        scale(*step);
    for (llvm::Instruction *access : accesses_)
      if (bytesOf(*access) != element_)
        takeApart(*access);
  }

 private:
  static llvm::Type *typeOf(const llvm::Instruction &access) {
    auto *store = llvm::dyn_cast<llvm::StoreInst>(&access);
    return store ? store->getValueOperand()->getType() : access.getType();
  }
  uint64_t bytesOf(const llvm::Instruction &access) const {
    return layout_.getTypeStoreSize(typeOf(access)).getFixedValue();
  }
  static llvm::Align alignmentOf(const llvm::Instruction &access) {
    auto *store = llvm::dyn_cast<llvm::StoreInst>(&access);
    return store ? store->getAlign() : llvm::cast<llvm::LoadInst>(access).getAlign();
  }
  /// Elements that fill their bytes: i1 and the like do not.
  bool isPlain(const llvm::Instruction &access) const {
    llvm::Type *scalar = typeOf(access)->getScalarType();
    return (scalar->isIntegerTy() || scalar->isFloatingPointTy()) &&
           layout_.getTypeStoreSizeInBits(scalar) == layout_.getTypeSizeInBits(scalar) &&
           llvm::isPowerOf2_64(layout_.getTypeStoreSize(scalar));
  }

  bool follow(llvm::Instruction &user, Value &place) {
    if (auto *step = llvm::dyn_cast<llvm::GetElementPtrInst>(&user)) {
      places_.insert(step);
      return step->getPointerOperand() == &place && !step->getType()->isVectorTy() &&
             step->getSourceElementType()->isSingleValueType();
    }
    if (llvm::isa<llvm::PHINode, llvm::SelectInst>(user)) {
      places_.insert(&user);
      return true;
    }
    if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&user))
      return load->isSimple() && isPlain(*load) && (accesses_.push_back(load), true);
    if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&user))
      return store->isSimple() && store->getValueOperand() != &place && isPlain(*store) &&
             (accesses_.push_back(store), true);
    auto *intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&user);
    return intrinsic && intrinsic->isLifetimeStartOrEnd();
  }

  bool isOfArray(const Value &choice) const {
    auto *select = llvm::dyn_cast<llvm::SelectInst>(&choice);
    if (select)
      return places_.contains(const_cast<Value *>(select->getTrueValue())) &&
             places_.contains(const_cast<Value *>(select->getFalseValue()));
    return llvm::all_of(llvm::cast<llvm::PHINode>(choice).incoming_values(),
                        [&](Value *v) { return places_.contains(v); });
  }

  bool isAtKnownPlace(const llvm::Instruction &access) const {
    llvm::APInt offset(64, 0);
    return llvm::getLoadStorePointerOperand(&access)->stripAndAccumulateConstantOffsets(
               layout_, offset, true) == &array_;
  }

  /// A step of so many bytes becomes one of so many rows.
  void scale(llvm::GetElementPtrInst &step) {
    llvm::IRBuilder<> b(&step);
    llvm::SmallVector<Value *> indices;
    for (Value *index : step.indices()) {
      Value *wide = b.CreateSExtOrTrunc(index, b.getInt64Ty());
      indices.push_back(b.CreateMul(wide, b.getInt64(lanes_)));
    }
    for (unsigned n = 0; n < indices.size(); ++n)
      step.setOperand(1 + n, indices[n]);
    step.setNoWrapFlags(llvm::GEPNoWrapFlags::none());
  }

  void takeApart(llvm::Instruction &access) {
    llvm::IRBuilder<> b(&access);
    llvm::Type *type = typeOf(access), *scalar = type->getScalarType();
    const auto scalarBytes = layout_.getTypeStoreSize(scalar).getFixedValue();
    const uint64_t part = std::min(element_, scalarBytes), parts = scalarBytes / part;
    auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    const unsigned scalars = vector ? vector->getNumElements() : 1;
    llvm::Type *whole = b.getIntNTy(8 * scalarBytes), *piece = b.getIntNTy(8 * part);
    Value *from = llvm::getLoadStorePointerOperand(&access);
    auto *store = llvm::dyn_cast<llvm::StoreInst>(&access);
    Value *result = store ? nullptr : llvm::PoisonValue::get(type);
    for (unsigned n = 0; n < scalars; ++n) {
      Value *one = nullptr;
      if (store) {
        one = store->getValueOperand();
        if (vector)
          one = b.CreateExtractElement(one, uint64_t(n));
        one = b.CreateBitCast(one, whole);
      }
      Value *gathered = llvm::ConstantInt::get(whole, 0);
      for (uint64_t k = 0; k < parts; ++k) {
        const uint64_t byte = (n * parts + k) * part, row = byte / element_ * element_;
        Value *at = b.CreateConstGEP1_64(b.getInt8Ty(), from, row * lanes_ + byte - row);
        if (store) {
          b.CreateAlignedStore(b.CreateTrunc(b.CreateLShr(one, 8 * part * k), piece), at,
                               llvm::Align(part));
        } else {
          Value *loaded = b.CreateAlignedLoad(piece, at, llvm::Align(part));
          gathered = b.CreateOr(gathered, b.CreateShl(b.CreateZExt(loaded, whole), 8 * part * k));
        }
      }
      if (!store) {
        Value *made = b.CreateBitCast(gathered, scalar);
        result = vector ? b.CreateInsertElement(result, made, uint64_t(n)) : made;
      }
    }
    if (!store)
      access.replaceAllUsesWith(result);
    access.eraseFromParent();
  }

  llvm::AllocaInst &array_;
  const unsigned lanes_;
  const llvm::DataLayout &layout_;
  llvm::SetVector<Value *> places_; ///< all addresses in it
  llvm::SmallVector<llvm::Instruction *> accesses_;
  uint64_t element_ = ~uint64_t{0};
};

} // namespace

bool layOutLocalRows(llvm::Function &f, unsigned lanes) {
  llvm::SmallVector<llvm::AllocaInst *> arrays;
  for (llvm::Instruction &i : f.getEntryBlock())
    if (auto *array = llvm::dyn_cast<llvm::AllocaInst>(&i))
      arrays.push_back(array);
  bool isAny = false;
  for (llvm::AllocaInst *array : arrays)
    if (LocalArray rows(*array, lanes); rows.find()) {
      rows.layOut();
      isAny = true;
    }
  return isAny;
}

LocalLayout localLayout(const llvm::AllocaInst &array, unsigned lanes) {
  const llvm::DataLayout &layout = array.getFunction()->getParent()->getDataLayout();
  const uint64_t size =
      llvm::alignTo(array.getAllocationSize(layout)->getFixedValue(), array.getAlign());
  const uint64_t element = elementOf(array);
  return {element ? element : size, size * lanes};
}

} // namespace ptxrun::simt
