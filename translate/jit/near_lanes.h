// Gathers of lanes that lie near one another, by calls (lane_accesses.h), for CPUs that have no
// registers for masks: rows of a block that are no multiple of a register's lanes, an index that
// goes round or is mirrored at a border, partners in a butterfly.
//
//     least, most = of the lanes of each register
//     if (each lane lies in a register's length from least on, or up to most; each of these
//         windows in one page)
//       of each register:  two loads, permuted
//     else
//       lane by lane
#pragma once
#include <llvm/IR/IRBuilder.h>

#include "translate/simt/lane_access.h"
#include "translate/simt/target.h"

namespace ptxrun::jit {

/// The places of lanes in a function that accesses them:  base + index[lane] * unit  bytes.
struct NearLanes {
  const simt::LaneAccess &access;
  const simt::Target &target;
  llvm::Value *base;    ///< ptr; null: the index is the place, of 64 bits
  llvm::Value *indices; ///< ptr to those of all lanes; signed
  unsigned unit;        ///< bytes
  llvm::Value *values;  ///< ptr to what is loaded
  llvm::Value *mask;    ///< i32, a bit for each lane; not 0

  /// Whether neighbours' places can be told by their indices.
  bool isKnown() const;
  /// Loads by windows and goes to `done`; or to `each` where lanes lie otherwise.
  void gather(llvm::IRBuilder<> &, llvm::BasicBlock *each, llvm::BasicBlock *done) const;

 private:
  unsigned lanesOfRegister() const;
  unsigned shift() const;
  llvm::Value *loadIndices(llvm::IRBuilder<> &) const;
  llvm::Value *ofRegisters(llvm::IRBuilder<> &, llvm::Value *all, llvm::Intrinsic::ID) const;
  llvm::Value *inElements(llvm::IRBuilder<> &, llvm::Value *by) const;
  llvm::Value *placeOf(llvm::IRBuilder<> &, llvm::Value *index) const;
  llvm::Value *areInRange(llvm::IRBuilder<> &, llvm::Value *indices) const;
  llvm::Value *areInPage(llvm::IRBuilder<> &, llvm::Value *starts) const;
};

} // namespace ptxrun::jit
