#include "translate/lower/lane_library.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Linker/Linker.h>

#include "intrinsics/lane_library.h"

namespace ptxrun::lower {

namespace {

constexpr llvm::StringLiteral kLibraryPrefix = "ptx_";

bool isMissing(const llvm::Function &function) {
  return function.isDeclaration() && function.getName().starts_with(kLibraryPrefix);
}

/// The library belongs to no CPU level: what its compiler noted about one must not keep it from
/// being inlined.
void adopt(llvm::Function &function) {
  function.setLinkage(llvm::GlobalValue::InternalLinkage);
  function.setVisibility(llvm::GlobalValue::DefaultVisibility);
  function.setDSOLocal(true);
  function.setComdat(nullptr);
  function.setAttributes(llvm::AttributeList());
  function.addFnAttr(llvm::Attribute::AlwaysInline);
  function.addFnAttr(llvm::Attribute::NoUnwind);
}

llvm::Error linkInto(llvm::Module &module) {
  const llvm::StringRef bitcode = intrinsics::laneLibraryBitcode();
  auto library = llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(bitcode, "lane library"),
                                            module.getContext(), /*ShouldLazyLoadMetadata=*/true);
  if (!library)
    return library.takeError();
  (*library)->setDataLayout(module.getDataLayout());
  (*library)->setTargetTriple(module.getTargetTriple());
  if (llvm::Linker::linkModules(module, std::move(*library), llvm::Linker::LinkOnlyNeeded))
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "lower: the lane library does not link");
  return llvm::Error::success();
}

} // namespace

llvm::Error linkLaneLibrary(llvm::Module &module) {
  if (llvm::none_of(module, isMissing))
    return llvm::Error::success();
  llvm::SmallPtrSet<llvm::Function *, 16> own;
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      own.insert(&function);
  if (llvm::Error error = linkInto(module))
    return error;
  for (llvm::Function &function : module) {
    if (isMissing(function))
      return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                     "lower: the lane library has no %s",
                                     function.getName().str().c_str());
    if (!function.isDeclaration() && !own.contains(&function))
      adopt(function);
  }
  return llvm::Error::success();
}

} // namespace ptxrun::lower
