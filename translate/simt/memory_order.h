// Elements of structures, and parts of registers, that are all computed alike.
#pragma once
#include <llvm/IR/Function.h>

#include "translate/simt/target.h"

namespace ptxrun::simt {

/// Kernels load and store several elements on end (`float4`), or several in a register (`half2`),
/// and do the same with each of them:
///
///     x, y, z, w = apart(load)                  =>   store(op(load))
///     store(together(op x, op y, op z, op w))
///
/// What is put together so is computed in the order in which it lies, where all that goes into it
/// lies so, or is the same for all elements: nothing is taken apart. Returns true if the function,
/// of gang code, changed.
bool computeInMemoryOrder(llvm::Function &, const Target &);

} // namespace ptxrun::simt
