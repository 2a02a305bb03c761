// The entry points of a gang module (intrinsics/abi.h) around the wide kernel body.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include "translate/simt/module_context.h"

namespace ptxrun::simt {

/// The wide signature: launch, cta, gang, ctaid.x/y/z, first thread, mask, then the function's own
/// parameters widened.
llvm::FunctionType *wideSignature(const llvm::Function &, unsigned lanes, bool isKernel);

/// `gang`: one gang. `full` runs gangs whose lanes all exist, `partial` (may be null) the last gang
/// of a CTA.
void buildGangEntry(ModuleContext &, llvm::Function *full, llvm::Function *partial);
struct CtaVersion;
/// `cta_range`: all gangs of a range of CTAs. `full` runs `gangsPerBody` gangs at once (jam.h);
/// more than one only without `partial`. CTAs that a version is right for (cta_versions.h; null:
/// there is none) run that, gang by gang.
void buildCtaRangeEntry(ModuleContext &, llvm::Function *full, llvm::Function *partial,
                        unsigned gangsPerBody = 1, const CtaVersion * = nullptr);
/// `cta_range` in the order of rows (row_order.cpp): a row of gangs of neighbouring CTAs, then the
/// next row. False, and nothing made, where gangs may not run in that order or would not gain by
/// it.
bool buildRowOrderEntry(ModuleContext &, llvm::Function &full);
/// Makes of two functions like it a `cta_range` that runs `small` in grids of fewer than `threads`
/// threads, else `large`.
void chooseByGrid(ModuleContext &, llvm::Function &small, llvm::Function &large, uint64_t threads);
/// Computes what is constant, or the same as something before, only once, so that less is to be
/// carried, copied and compared; the baseline leaves it at what is simple.
void cleanUp(llvm::Function &, Tier);

/// `gang_start` (coroutine.cpp); only where hasOnlyInlineSuspensions.
void buildGangStartEntry(ModuleContext &, llvm::Function *full, llvm::Function *partial);

/// True if no function but `bodies` calls an entry point that suspends.
bool hasOnlyInlineSuspensions(const llvm::Module &, llvm::ArrayRef<const llvm::Function *> bodies);
/// Makes `start`, an empty function (launch, cta, gang) -> frame, the coroutine of the body that
/// `callBody` emits a call of.
void buildCoroutine(ModuleContext &, llvm::Function &start,
                    llvm::function_ref<llvm::CallInst *(llvm::IRBuilder<> &)> callBody);

} // namespace ptxrun::simt
