#include "translate/lower/warp_words.h"

#include "translate/lower/lane_builder.h"

namespace ptxrun::lower {

llvm::CallInst *callForWarp(LaneBuilder &b, llvm::StringRef operation,
                            llvm::ArrayRef<llvm::Value *> uniform,
                            llvm::ArrayRef<llvm::Value *> registers, size_t results) {
  llvm::SmallVector<llvm::Value *, 160> arguments(uniform);
  arguments.append(registers.begin(), registers.end());
  arguments.push_back(b.constant(32, ~0u)); // all lanes take part (.aligned)
  llvm::Type *type = b.ir.getVoidTy();
  if (results)
    type = llvm::StructType::get(b.ir.getContext(),
                                 llvm::SmallVector<llvm::Type *, 128>(results, b.intType(32)));
  const std::string name = ("ptx.warp." + operation + "." + llvm::Twine(uniform.size()) + "." +
                            llvm::Twine(registers.size()) + "." + llvm::Twine(results))
                               .str();
  return b.word(name, type, arguments, LaneBuilder::WordEffect::sync);
}

} // namespace ptxrun::lower
