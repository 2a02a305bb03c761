// Calls of the lane library before it is inlined.
#pragma once
#include <llvm/IR/Instructions.h>

namespace ptxrun::lower {

/// Replaces the calls of `name` in a function by what `by` writes before each; where that is null,
/// a call stays. Returns true if any was replaced.
bool replaceCalls(llvm::Function &, llvm::StringRef name,
                  llvm::function_ref<llvm::Value *(llvm::CallInst &)> by);

} // namespace ptxrun::lower
