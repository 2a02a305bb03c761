// The entry points of a gang module (intrinsics/abi.h) around the wide kernel body.
#pragma once
#include "translate/simt/widener.h"

namespace ptxrun::simt {

/// The wide signature: launch, cta, gang, ctaid.x/y/z, first thread, mask, then the function's own parameters widened.
llvm::FunctionType *wideSignature(const llvm::Function &, unsigned lanes, bool isKernel);

/// `gang`: one gang. `full` runs gangs whose lanes all exist, `partial` (may be null) the last gang of a CTA.
void buildGangEntry(ModuleContext &, llvm::Function *full, llvm::Function *partial);
/// `cta_range`: all gangs of a range of CTAs.
void buildCtaRangeEntry(ModuleContext &, llvm::Function *full, llvm::Function *partial);

}  // namespace ptxrun::simt
