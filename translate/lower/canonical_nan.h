// One NaN: what arithmetic of f32 and f16 makes has the bits of NVIDIA's GPUs.
//
// The manual leaves open which NaN single-precision arithmetic gives (9.7.3); the CPU gives one of
// the operands', by an order that the code generator chooses anew at each width, level and tier.
// GPUs give 0x7fffffff (0x7fff for halves). No bits but these may be seen; but arithmetic on a NaN
// is a NaN whatever its bits, so that only what looks at bits is worth two instructions:
//
//     %sum = fadd %a, %b              a chain of arithmetic, comparisons, conversions: unchanged
//     %all = fmul %sum, %c
//     store %all                 ->   %one = fcmp uno %all, %all ? 0x7fffffff : %all;  store %one
//
// Values that only choose among others (phi, select, freeze, casts between float and its bits) form
// a web. Where all that comes into a web is arithmetic or can be no other NaN, its NaNs are
// replaced where bits of the web are seen: an accumulator after its loop. Where other NaNs come in,
// which keep their bits (loads, moves), they are replaced where arithmetic comes in.
//
// f64 keeps the NaN of an operand, as GPUs do; of which one, where several are NaN, is the CPU's
// choice. Where that must be the same everywhere (CodeOptions::hasOneDoubleNan, recordings), f64
// has one NaN, too: 0x7ff8000000000000.
#pragma once
#include <llvm/ADT/APInt.h>
#include <llvm/IR/PassManager.h>
#include <llvm/IR/Value.h>

namespace ptxrun::lower {

/// Runs once registers are values, and before the lane library is inlined: its functions make one
/// NaN of all, and look at bits for other reasons.
class CanonicalNanPass : public llvm::PassInfoMixin<CanonicalNanPass> {
 public:
  explicit CanonicalNanPass(bool hasOneDouble) : hasOneDouble_(hasOneDouble) {}
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);

 private:
  bool hasOneDouble_;
};

/// Those bits, of floats of so many.
llvm::APInt canonicalNanBits(unsigned width);

/// Notes that the instruction's value is the same whichever NaN its operands are, and is never
/// another NaN than the canonical one, as min and max are.
void markNanBlind(llvm::Value *);

} // namespace ptxrun::lower
