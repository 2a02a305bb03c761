// Sums with directed rounding, of operands of which bounds are known.
//
//     t = min(max(x, 0), 1);  fma.rm(t, 252, 12582913)
//
// is how nvcc splits the argument of expf into integer and fraction. In general what the result to
// nearest lacks takes doubles to find out (rounding_f32.cpp); here one more fma tells. And
//
//     add.rz(x, copysign(0.5, x))
//
// is how it begins roundf: no sum of half overflows.
#pragma once
#include <llvm/IR/PassManager.h>

namespace ptxrun::lower {

/// Writes out
///  - ptx_fma_{rz,rm,rp}_f32(a, b, c) where b and c are numbers, b at least 1, and a is clamped
///  such
///    that |a * b| is at most a quarter of |c|,
///  - ptx_add_rz_f32(a, b) where one of them is at most 2^102.
/// Runs behind CanonicalNanPass, whose work it does for what it writes, and before the lane library
/// is inlined.
class BoundedSumsPass : public llvm::PassInfoMixin<BoundedSumsPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace ptxrun::lower
