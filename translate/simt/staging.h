// What the threads of a block copy into shared memory before a barrier, walked row by row.
#pragma once
#include <llvm/IR/Function.h>

#include "translate/simt/shape.h"

namespace ptxrun::simt {

/// Stores to `.shared` memory at places that only the thread's number decides, between one barrier
/// of the whole CTA and the next, are made row by row by the first gang, where gangs of consecutive
/// threads lie across the rows. For kernels whose results no order of threads between barriers
/// changes. Returns true if the function changed.
bool walkStagedRows(llvm::Function &kernel, const GangShape &);

} // namespace ptxrun::simt
