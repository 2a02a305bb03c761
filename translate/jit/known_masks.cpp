#include "translate/jit/known_masks.h"

#include <llvm/ADT/bit.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <optional>

namespace ptxrun::jit {

using namespace llvm;

namespace {

struct Part {
  unsigned first, lanes;
};

/// The lanes of `mask` in parts, from the first; nothing where it is not known.
std::optional<SmallVector<Part>> partsOf(const Value *mask, unsigned longest) {
  auto *known = dyn_cast<Constant>(mask);
  const unsigned lanes = cast<FixedVectorType>(mask->getType())->getNumElements();
  SmallVector<Part> runs, parts;
  for (unsigned l = 0; l < lanes; ++l) {
    auto *bit = known ? dyn_cast_or_null<ConstantInt>(known->getAggregateElement(l)) : nullptr;
    if (!bit)
      return std::nullopt;
    if (bit->isOne() && !runs.empty() && runs.back().first + runs.back().lanes == l)
      ++runs.back().lanes;
    else if (bit->isOne())
      runs.push_back({l, 1});
  }
  for (auto [first, left] : runs)
    for (unsigned taken; left > 0; first += taken, left -= taken)
      parts.push_back({first, taken = std::min(bit_floor(left), longest)});
  return parts;
}

} // namespace

void storeKnownLanes(Function &function, const simt::Target &target) {
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    auto *store = dyn_cast<IntrinsicInst>(&instruction);
    if (!store || store->getIntrinsicID() != Intrinsic::masked_store)
      continue;
    Value *values = store->getArgOperand(0), *to = store->getArgOperand(1);
    auto *type = cast<FixedVectorType>(values->getType());
    const unsigned bits = type->getScalarSizeInBits();
    if (bits < 8 || !target.hasMaskedAccess(bits))
      continue;
    const auto parts = partsOf(store->getArgOperand(3), target.vectorBits / bits);
    const unsigned registers = target.registersFor(uint64_t(bits) * type->getNumElements());
    if (!parts || float(parts->size()) >= target.costs.maskedStore * float(registers))
      continue;
    const Align align = cast<ConstantInt>(store->getArgOperand(2))->getAlignValue();
    IRBuilder<> ir(store);
    for (const Part &part : *parts) {
      SmallVector<int> order;
      for (unsigned l = 0; l < part.lanes; ++l)
        order.push_back(int(part.first + l));
      const uint64_t offset = uint64_t(part.first) * bits / 8;
      ir.CreateAlignedStore(ir.CreateShuffleVector(values, order),
                            ir.CreateConstGEP1_64(ir.getInt8Ty(), to, offset),
                            commonAlignment(align, offset));
    }
    store->eraseFromParent();
  }
}

} // namespace ptxrun::jit
