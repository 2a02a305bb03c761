// Small CTAs as one block.
#pragma once
#include <llvm/IR/Module.h>

#include "translate/support/code_options.h"

namespace ptxrun::simt {

/// From here on %tid, %ctaid and the options' block mean threads and places of blocks that each are
/// CodeOptions::joinedCtas CTAs of the launch (abi::KernelNeeds::joinedCtas); what the code made of
/// the launch's own is computed of them: %ctaid * %ntid + %tid, the commonest, is the same sum.
/// The grid is a multiple of them along y and z; threads beyond it, of the last blocks along x,
/// return at once. Nothing may tell which threads are of a CTA but %tid, %ctaid, %ntid and %nctaid,
/// which is still the launch's.
void joinCtas(llvm::Module &, llvm::Function &kernel, CodeOptions &);

} // namespace ptxrun::simt
