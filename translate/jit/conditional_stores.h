// Stores under masks that are not known, as plain stores of each register whose lanes are all
// active, and else of each lane to its place or to nobody's.
//
//   masked.store <8 x float> %v, %p, %mask
//     =>  if all of %mask:   store <8 x float> %v, %p
//         else, for each lane:  store float %v[lane], (%mask[lane] ? %p + 4 * lane : %nobody)
//
// Without registers for masks some CPUs take a store under one apart into microcode: eighteen
// cycles (Zen 3), behind which nothing else begins; twice that where the line is not in the first
// cache. Eight plain stores take half. Of several elements for each lane, registers that are parted
// are stored under their masks all the same.
#pragma once
#include <llvm/IR/Function.h>

#include "translate/simt/target.h"

namespace ptxrun::jit {

/// Those of 32- and 64-bit elements, where all lanes by themselves take less time than the mask.
void storeLanesOrNowhere(llvm::Function &, const simt::Target &);

} // namespace ptxrun::jit
