// Where the bits of vectors come from.
#pragma once
#include <llvm/IR/Instruction.h>

#include <utility>
#include <vector>

namespace ptxrun::simt {

/// A piece of a value: which one of those of some width that it consists of, counted from the low
/// end of its first element. The width is that of an element or divides it. Of a scalar, it is a
/// piece of its bits.
using Piece = std::pair<llvm::Value *, unsigned>;
using Pieces = std::vector<Piece>;

/// Where piece `at`, of `bits` bits, of a vector comes from, behind all that only moves pieces:
/// shuffles and inserted elements; elements put together of narrower ones (by extensions, shifts
/// and `or`) and those taken apart into such. It ends at what computes the piece.
Piece originOf(llvm::Value *vector, unsigned at, unsigned bits);

/// If a vector's elements are put together of narrower ones (`lo | hi << 16`): the width of those;
/// else 0.
unsigned widthOfParts(const llvm::Value *vector);

/// Whether an instruction may only move pieces.
bool isMove(const llvm::Value *);

/// Whether what an instruction makes of each lane or element comes of that of its operands alone.
bool isElementwise(const llvm::Instruction &);

/// Bits of an element of a vector, or of a scalar; 0 of pointers.
unsigned elementBits(const llvm::Value *);
/// Elements of a vector.
unsigned elementCount(const llvm::Value *vector);

} // namespace ptxrun::simt
