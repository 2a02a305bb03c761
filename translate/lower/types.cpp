#include "translate/lower/types.h"

#include <llvm/IR/DerivedTypes.h>

namespace ptxrun::lower {

llvm::Type *irType(llvm::LLVMContext &context, isa::Type type) {
  switch (type) {
  case isa::Type::none:
    return nullptr;
  case isa::Type::pred:
    return llvm::Type::getInt1Ty(context);
  case isa::Type::f16:
    return llvm::Type::getHalfTy(context);
  case isa::Type::bf16:
    return llvm::Type::getBFloatTy(context);
  case isa::Type::f32:
  case isa::Type::tf32:
    return llvm::Type::getFloatTy(context);
  case isa::Type::f64:
    return llvm::Type::getDoubleTy(context);
  default: {
    const unsigned bits = memoryBits(type);
    return bits ? llvm::Type::getIntNTy(context, bits) : nullptr;
  }
  }
}

unsigned memoryBits(isa::Type type) {
  switch (type) {
  case isa::Type::texref:
  case isa::Type::samplerref:
  case isa::Type::surfref:
    return 64;
  default:
    return isa::bitWidth(type);
  }
}

} // namespace ptxrun::lower
