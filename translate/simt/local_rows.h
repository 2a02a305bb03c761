// Arrays in local memory, element by element for all lanes.
#pragma once
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

namespace ptxrun::simt {

/// Lays out arrays of a thread's own so that the same element of all lanes is one row, where all
/// that is done with an array is to load and store its elements. Returns true if there are any.
bool layOutLocalRows(llvm::Function &, unsigned lanes);

struct LocalLayout {
  uint64_t stride; ///< from an array's beginning in one lane to the one in the next
  uint64_t size;   ///< of the arrays of all lanes
};
LocalLayout localLayout(const llvm::AllocaInst &, unsigned lanes);

} // namespace ptxrun::simt
