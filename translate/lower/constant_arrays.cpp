#include "translate/lower/constant_arrays.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <optional>

namespace ptxrun::lower {

namespace {

/// Larger ones are no tables.
constexpr uint64_t kMaxBytes = 64 * 1024;

/// One array: what is stored where, as far as that is constant.
class Table {
 public:
  Table(llvm::AllocaInst &array, const llvm::DataLayout &layout) : array_(array), layout_(layout) {}

  /// Whether the array only holds constants; looks at all that uses its address.
  bool find() {
    const std::optional<llvm::TypeSize> size = array_.getAllocationSize(layout_);
    if (!size || size->isScalable() || size->getFixedValue() > kMaxBytes)
      return false;
    bytes_.resize(size->getFixedValue());
    isStored_.resize(bytes_.size());
    return follow(array_) && !stores_.empty() && hasLoads_;
  }

  void replace() {
    llvm::Module &module = *array_.getModule();
    llvm::Constant *data = llvm::ConstantDataArray::get(module.getContext(), bytes_);
    auto *table = new llvm::GlobalVariable(module, data->getType(), /*isConstant=*/true,
                                           llvm::GlobalValue::InternalLinkage, data, kTableName);
    table->setAlignment(array_.getAlign());
    for (llvm::StoreInst *store : stores_)
      store->eraseFromParent();
    array_.replaceAllUsesWith(table);
    array_.eraseFromParent();
  }

 private:
  bool follow(llvm::Value &pointer) {
    if (!seen_.insert(&pointer).second)
      return true;
    return llvm::all_of(pointer.uses(), [&](const llvm::Use &use) { return take(use); });
  }

  bool take(const llvm::Use &use) {
    llvm::User *user = use.getUser();
    if (auto *load = llvm::dyn_cast<llvm::LoadInst>(user)) {
      hasLoads_ = true;
      return load->isSimple();
    }
    if (auto *store = llvm::dyn_cast<llvm::StoreInst>(user))
      return use.getOperandNo() == store->getPointerOperandIndex() && takeStore(*store);
    // Where addresses meet, only loads may follow: a store's place would not be known.
    return llvm::isa<llvm::GetElementPtrInst, llvm::PHINode, llvm::SelectInst>(user) &&
           follow(*user);
  }

  bool takeStore(llvm::StoreInst &store) {
    llvm::APInt offset(64, 0);
    const llvm::Value *base = store.getPointerOperand()->stripAndAccumulateConstantOffsets(
        layout_, offset, /*AllowNonInbounds=*/true);
    auto *value = llvm::dyn_cast<llvm::Constant>(store.getValueOperand());
    if (!store.isSimple() || base != &array_ || !value || offset.isNegative())
      return false;
    stores_.push_back(&store);
    return put(*value, offset.getZExtValue());
  }

  /// Puts the bytes of a constant in their places; false where others are there, and for what has
  /// no known bytes.
  bool put(llvm::Constant &value, uint64_t at) {
    if (auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(value.getType())) {
      const uint64_t step = layout_.getTypeStoreSize(vector->getElementType());
      for (unsigned k = 0; k < vector->getNumElements(); ++k) {
        llvm::Constant *element = value.getAggregateElement(k);
        if (!element || !put(*element, at + k * step))
          return false;
      }
      return true;
    }
    llvm::APInt bits;
    if (auto *number = llvm::dyn_cast<llvm::ConstantInt>(&value))
      bits = number->getValue();
    else if (auto *real = llvm::dyn_cast<llvm::ConstantFP>(&value))
      bits = real->getValueAPF().bitcastToAPInt();
    else
      return false;
    const uint64_t size = bits.getBitWidth() / 8;
    if (bits.getBitWidth() % 8 != 0 || at > bytes_.size() || size > bytes_.size() - at)
      return false;
    for (uint64_t k = 0; k < size; ++k) {
      const auto byte = uint8_t(bits.extractBitsAsZExtValue(8, unsigned(8 * k)));
      if (isStored_[at + k] && bytes_[at + k] != byte)
        return false;
      isStored_[at + k] = true;
      bytes_[at + k] = byte;
    }
    return true;
  }

  llvm::AllocaInst &array_;
  const llvm::DataLayout &layout_;
  llvm::SmallVector<uint8_t> bytes_; ///< 0 where nothing is stored
  std::vector<bool> isStored_;
  llvm::SmallVector<llvm::StoreInst *> stores_;
  llvm::SmallPtrSet<llvm::Value *, 32> seen_;
  bool hasLoads_ = false;
};

} // namespace

llvm::PreservedAnalyses ConstantArraysPass::run(llvm::Function &function,
                                                llvm::FunctionAnalysisManager &) {
  llvm::SmallVector<llvm::AllocaInst *, 4> arrays;
  for (llvm::Instruction &i : function.getEntryBlock())
    if (auto *array = llvm::dyn_cast<llvm::AllocaInst>(&i))
      arrays.push_back(array);
  bool isChanged = false;
  for (llvm::AllocaInst *array : arrays) {
    Table table(*array, function.getDataLayout());
    if (table.find()) {
      table.replace();
      isChanged = true;
    }
  }
  return isChanged ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

} // namespace ptxrun::lower
