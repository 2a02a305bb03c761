#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include "translate/simt/entry.h"

namespace ptxrun::simt {

void cleanUp(llvm::Function &f) {
  // Barriers stay as many as they are: which of two copies gangs come to would differ between them.
  for (llvm::BasicBlock &block : f)
    for (llvm::Instruction &i : block)
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(&i);
          call && call->getCalledFunction() && isSuspending(call->getCalledFunction()->getName()))
        call->setCannotDuplicate();
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass(
      llvm::InstCombineOptions().setMaxIterations(1).setVerifyFixpoint(false)));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.run(f, functions);
}

} // namespace ptxrun::simt
