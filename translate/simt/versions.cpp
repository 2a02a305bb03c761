// Versions of code for gangs in which all lanes agree. A masked access to memory runs at half bandwidth even under a full mask,
// so the common case gets code without masks:
//
//     br divergent c, T, F    =>   br ptx.all(c), T.all, rest;  rest: br c, T, F
//
// where T.all is a copy of everything T dominates. ptx.all is uniform, so T.all keeps the mask of the block before it.
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "translate/simt/prepare.h"

namespace ptxrun::simt {

bool addFullGangVersions(llvm::Function &, const GangShape &) { return false; }

}  // namespace ptxrun::simt
