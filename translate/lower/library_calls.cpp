#include "translate/lower/library_calls.h"

#include <llvm/IR/Module.h>

namespace ptxrun::lower {

bool replaceCalls(llvm::Function &function, llvm::StringRef name,
                  llvm::function_ref<llvm::Value *(llvm::CallInst &)> by) {
  llvm::Function *callee = function.getParent()->getFunction(name);
  if (!callee)
    return false;
  bool isAny = false;
  for (llvm::User *user : llvm::make_early_inc_range(callee->users())) {
    auto *call = llvm::dyn_cast<llvm::CallInst>(user);
    llvm::Value *written = call && call->getFunction() == &function ? by(*call) : nullptr;
    if (!written)
      continue;
    call->replaceAllUsesWith(written);
    call->eraseFromParent();
    isAny = true;
  }
  return isAny;
}

} // namespace ptxrun::lower
