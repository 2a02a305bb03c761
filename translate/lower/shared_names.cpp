#include "translate/lower/shared_names.h"

#include <algorithm>

#include "translate/lower/module_builder.h"

namespace ptxrun::lower {

std::string sharedVariableAt(const check::Module &checked, const check::Function &kernel,
                             uint64_t offset) {
  llvm::LLVMContext context;
  llvm::Module module(llvm::StringRef(kernel.name), context);
  support::Diagnostics diagnostics(*checked.source);
  const LowerOptions options;
  ModuleBuilder builder(module, checked, kernel, options, diagnostics);
  builder.scan();
  builder.debug().finalize();
  std::string found;
  uint64_t best = 0;
  for (const auto &[variable, begin] : builder.sharedVariables()) {
    // A dynamic variable has no size of its own.
    const uint64_t end = variable->bytes ? begin + variable->bytes : UINT64_MAX;
    if (offset < begin || offset >= end || begin < best)
      continue;
    best = begin;
    found = std::string(variable->name);
    if (offset > begin)
      found += "+" + std::to_string(offset - begin);
  }
  return found;
}

} // namespace ptxrun::lower
