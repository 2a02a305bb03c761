#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/InstSimplifyPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include "translate/lower/analyses.h"
#include "translate/simt/entry.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {

void cleanUp(llvm::Function &f, Tier tier) {
  // Barriers stay as many as they are: which of two copies gangs come to would differ between them.
  for (llvm::BasicBlock &block : f)
    for (llvm::Instruction &i : block)
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(&i); call && entryAt(*call).maySuspend())
        call->setCannotDuplicate();
  lower::Analyses analyses;
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  if (tier == Tier::baseline)
    passes.addPass(llvm::InstSimplifyPass());
  else
    passes.addPass(llvm::InstCombinePass(
        llvm::InstCombineOptions().setMaxIterations(1).setVerifyFixpoint(false)));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.run(f, analyses.functions);
}

} // namespace ptxrun::simt
