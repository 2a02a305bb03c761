// Stores under masks that are known, as stores of the lanes they have.
//
//   masked.store <8 x float> %v, %p, <1, 1, 1, 1, 1, 1, 1, 0>
//     =>  store <4 x float>, %p;  store <2 x float>, %p + 16;  store float, %p + 24
//
// Masks become known late: where gangs are rows of the block, when the gang is inlined. Without
// registers for masks a store under one takes twelve cycles (Zen), and each part of it one.
#pragma once
#include <llvm/IR/Function.h>

#include "translate/simt/target.h"

namespace ptxrun::jit {

/// Where the parts take less time than the masks.
void storeKnownLanes(llvm::Function &, const simt::Target &);

} // namespace ptxrun::jit
