// fma with directed rounding, of a product that is known to be small beside what it is added to.
//
//     t = min(max(x, 0), 1);  fma.rm(t, 252, 12582913)
//
// is how nvcc splits the argument of expf into integer and fraction. In general what the result to
// nearest lacks takes doubles to find out (rounding_f32.cpp); here one more fma tells.
#pragma once
#include <llvm/IR/PassManager.h>

namespace ptxrun::lower {

/// Writes ptx_fma_{rz,rm,rp}_f32(a, b, c) out where b and c are numbers, b at least 1, and a is
/// clamped such that |a * b| is at most a quarter of |c|. Runs behind CanonicalNanPass, as nothing
/// here is NaN, and before the lane library is inlined.
class BoundedFmasPass : public llvm::PassInfoMixin<BoundedFmasPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace ptxrun::lower
