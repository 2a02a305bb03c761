// What LLVM's passes ask for, of one module or function and for one run.
#pragma once
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>

namespace ptxrun::lower {

struct Analyses {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;

  /// `machine`: whose costs passes reckon with; null for none.
  explicit Analyses(llvm::TargetMachine *machine = nullptr) {
    llvm::PassBuilder builder(machine);
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
  }
};

} // namespace ptxrun::lower
