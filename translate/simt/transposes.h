// Rows of registers become columns, by shuffles that every CPU level has.
#pragma once
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>

namespace ptxrun::simt {

/// n registers of n blocks of 16 bytes, transposed; n is 1, 2 or 4.
llvm::SmallVector<llvm::Value *> transposeBlocks(llvm::IRBuilderBase &,
                                                 llvm::SmallVector<llvm::Value *> rows);
/// The same for the elements in every block: n registers whose blocks have n elements.
llvm::SmallVector<llvm::Value *> transposeElements(llvm::IRBuilderBase &,
                                                   llvm::SmallVector<llvm::Value *> rows);
/// n registers of n elements, of 16 bytes and more.
llvm::SmallVector<llvm::Value *> transpose(llvm::IRBuilderBase &,
                                           llvm::ArrayRef<llvm::Value *> rows);

/// order[l]: the element of a vector that place l is to have. As up to three such orders, one after
/// the other, each of which interleaves elements of two registers of `perRegister` 32-bit elements
/// (or moves whole registers): what LLVM makes of one order that takes a register from four is
/// several times as long. Just the order itself where that is not so, or no such steps lead there.
llvm::SmallVector<llvm::SmallVector<int>> inSteps(llvm::ArrayRef<int> order, unsigned perRegister);

} // namespace ptxrun::simt
