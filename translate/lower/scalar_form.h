// A LaneModule is scalar: vectors occur only as the type of one load or store and of the elements
// that go in and out.
#pragma once
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PassManager.h>

namespace ptxrun::lower {

/// True where `instruction` works on vectors and is neither a load, a store, nor an insertion or
/// extraction of an element.
bool isVectorArithmetic(const llvm::Instruction &);

/// Takes apart what SROA and InstCombine may have made of vector accesses: shuffles, casts, phis
/// and selects of vectors. Looks once over a function that has none.
struct ScalarFormPass : llvm::PassInfoMixin<ScalarFormPass> {
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace ptxrun::lower
