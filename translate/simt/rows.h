// Reading rows: what lanes read at several places next to each other. See widen_interleaved.cpp for
// how.
#pragma once
#include <llvm/IR/Function.h>

#include <utility>

#include "translate/simt/gang_module.h"
#include "translate/simt/shape.h"

namespace ptxrun::simt {

/// An address as a sum of up to two values (null where there are fewer, in no particular order but
/// always the same) and a constant number of bytes.
struct SplitAddress {
  std::pair<const llvm::Value *, const llvm::Value *> terms;
  int64_t bytes = 0;
};
SplitAddress splitAddress(const llvm::Value *);

/// Unrolls the loops of a kernel in which each lane reads a row of its own until a round reads a
/// register's width of it. Returns true if the function changed.
bool unrollRows(llvm::Function &, const GangShape &, const Target &);

} // namespace ptxrun::simt
