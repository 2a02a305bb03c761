// Addresses whose lanes nothing is known of, but may well be neighbours (widen_guessed.cpp).
#pragma once
#include "translate/simt/linear_sum.h"
#include "translate/simt/shape.h"

namespace ptxrun::simt {

/// An address that is linear in `index`: scale * index + what is the same for all lanes.
struct LinearAddress {
  const llvm::Value *index = nullptr;
  int64_t scale = 1;
  const llvm::CastInst *extension = nullptr; ///< of `index` to 64 bits, or null
  LinearSum rest;
};

/// Takes an address apart into an index that varies and what is the same for all lanes.
LinearAddress linearAddress(const llvm::Value *pointer, const ShapeAnalysis &);

/// Gives neighbouring arguments mostly the same result: quotients, and what is rounded to integers.
bool isCoarse(const llvm::Instruction &);

/// Whether such an index is made of the thread's number alone, and not by a stride that only the
/// launch knows: wrapped round, cut off by bounds, taken apart by division.
bool mayBeNeighbours(const llvm::Value *index, const ShapeAnalysis &);
/// Whether it is made of the thread's number by such a stride: lanes lie apart, each as far from
/// the one before.
bool liesApart(const llvm::Value *index, const ShapeAnalysis &);

} // namespace ptxrun::simt
