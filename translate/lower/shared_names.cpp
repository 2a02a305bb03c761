#include "translate/lower/shared_names.h"

#include <algorithm>

#include "translate/lower/module_builder.h"

namespace ptxrun::lower {

std::vector<std::pair<const check::Variable *, uint32_t>>
sharedVariables(const check::Module &checked, const check::Function &kernel) {
  llvm::LLVMContext context;
  llvm::Module module(llvm::StringRef(kernel.name), context);
  support::Diagnostics diagnostics(*checked.source);
  const CodeOptions options;
  ModuleBuilder builder(module, checked, kernel, options, diagnostics);
  builder.scan();
  builder.debug().finalize();
  return {builder.sharedVariables().begin(), builder.sharedVariables().end()};
}

std::string sharedVariableAt(const check::Module &checked, const check::Function &kernel,
                             uint64_t offset) {
  std::string found;
  uint64_t best = 0;
  for (const auto &[variable, begin] : sharedVariables(checked, kernel)) {
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
