#include "translate/lower/passes.h"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/CorrelatedValuePropagation.h>
#include <llvm/Transforms/Scalar/DCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Mem2Reg.h>

#include "translate/lower/address_phis.h"
#include "translate/lower/analyses.h"
#include "translate/lower/bounded_sums.h"
#include "translate/lower/canonical_nan.h"
#include "translate/lower/constant_arrays.h"
#include "translate/lower/half_fmas.h"
#include "translate/lower/scalar_form.h"
#include "translate/lower/stores_at_meets.h"
#include "translate/lower/variable_pointers.h"
#include "translate/lower/wide_divisions.h"

namespace ptxrun::lower {

namespace {

/// IR instructions that inlining may add by copying one function, and all of them; what would add
/// more stays a call. A function with one caller adds nothing.
constexpr uint64_t kGrowthOfOne = 30000, kGrowthOfAll = 100000;

/// `.local` variables become registers as far as their addresses are known; `isLast`: as
/// VariablePointersPass has it.
void addVariablePromotion(llvm::FunctionPassManager &passes, bool isLast) {
  passes.addPass(AddressPhisPass());
  passes.addPass(VariablePointersPass(isLast));
  passes.addPass(StoresAtMeetsPass());
  passes.addPass(llvm::DCEPass()); // sums of addresses that nothing asks for any more
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
}

/// Registers become values; what is left of the code is small before it is copied into callers.
llvm::FunctionPassManager promotion(const CodeOptions &options) {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::PromotePass());
  addVariablePromotion(passes, /*isLast=*/false);
  passes.addPass(HalfFmasPass());
  passes.addPass(CanonicalNanPass(options.hasOneDoubleNan));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(BoundedSumsPass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(WideDivisionsPass());
  return passes;
}

llvm::FunctionPassManager cleaning(Tier tier) {
  llvm::FunctionPassManager passes;
  // Addresses that inlining brought to their variables.
  addVariablePromotion(passes, /*isLast=*/true);
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(ConstantArraysPass());
  const auto hoistFromLoops = [&] { // simt tells loops that only wait by what is left in them
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                         /*UseMemorySSA=*/true));
  };
  if (tier == Tier::baseline) {
    hoistFromLoops();
    passes.addPass(ScalarFormPass());
    return passes;
  }
  passes.addPass(llvm::GVNPass(llvm::GVNOptions().setPRE(false).setLoadPRE(false)));
  passes.addPass(llvm::CorrelatedValuePropagationPass());
  hoistFromLoops();
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(ScalarFormPass());
  return passes;
}

/// Marks what is inlined: every function that is not recursive, bottom up, as long as the growth
/// stays in its limits, and the lane library's. Returns whether there is anything to inline.
bool markInlining(llvm::Module &module, llvm::Function &kernel) {
  bool isAny = false;
  uint64_t grown = 0;
  llvm::CallGraph graph(module);
  llvm::DenseMap<llvm::Function *, uint64_t> sizes;
  for (auto component = llvm::scc_begin(&graph); !component.isAtEnd(); ++component) {
    llvm::Function *function = component->front()->getFunction();
    if (!function || function->isDeclaration())
      continue;
    uint64_t size = function->getInstructionCount();
    for (const auto &[call, callee] : *component->front())
      if (callee->getFunction() &&
          callee->getFunction()->hasFnAttribute(llvm::Attribute::AlwaysInline))
        size += sizes.lookup(callee->getFunction());
    sizes[function] = size;
    if (function == &kernel || component.hasCycle())
      continue;
    const uint64_t copies = function->getNumUses();
    const uint64_t growth = copies > 1 ? size * (copies - 1) : 0;
    const bool isLibrary = function->hasFnAttribute(llvm::Attribute::AlwaysInline);
    if (!isLibrary && (growth > kGrowthOfOne || grown + growth > kGrowthOfAll))
      continue;
    grown += growth;
    function->addFnAttr(llvm::Attribute::AlwaysInline);
    isAny = true;
  }
  return isAny;
}

/// In the kernel itself, a lane that exits returns.
void returnInsteadOfExit(llvm::Function &kernel) {
  llvm::SmallVector<llvm::CallInst *, 8> exits;
  for (llvm::Instruction &instruction : llvm::instructions(kernel))
    if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction))
      if (call->getCalledFunction() && call->getCalledFunction()->getName() == "ptx.exit")
        exits.push_back(call);
  for (llvm::CallInst *call : exits) {
    llvm::Instruction *end = call->getParent()->getTerminator();
    llvm::ReturnInst::Create(kernel.getContext(), nullptr, end->getIterator())
        ->setDebugLoc(call->getDebugLoc());
    end->eraseFromParent();
    call->eraseFromParent();
  }
}

void eraseUnusedDeclarations(llvm::Module &module) {
  for (llvm::Function &function : llvm::make_early_inc_range(module))
    if (function.use_empty() && (function.isDeclaration() || function.hasInternalLinkage()))
      function.eraseFromParent();
  for (llvm::GlobalVariable &global : llvm::make_early_inc_range(module.globals()))
    if (global.use_empty() && global.isDeclaration())
      global.eraseFromParent();
}

void runOnAll(llvm::Module &module, llvm::FunctionPassManager &passes, Analyses &analyses) {
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      passes.run(function, analyses.functions);
}

} // namespace

void optimise(llvm::Module &module, llvm::Function &kernel, const CodeOptions &options) {
  Analyses analyses;
  llvm::FunctionPassManager promote = promotion(options), clean = cleaning(options.tier);
  runOnAll(module, promote, analyses);
  if (markInlining(module, kernel)) {
    llvm::ModulePassManager inlining;
    inlining.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
    inlining.run(module, analyses.modules);
    returnInsteadOfExit(kernel);
  }
  runOnAll(module, clean, analyses);
  eraseUnusedDeclarations(module);
}

} // namespace ptxrun::lower
