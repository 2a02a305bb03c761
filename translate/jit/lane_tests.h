// Whether any lane, or all, meet a condition, asked register by register.
//
//   icmp ne (bitcast (icmp slt <32 x i32> %x, %y) to i32), 0
//     =>  any = or of (sext (icmp slt <8 x i32> %x's, %y's)) for each register;  movmsk(any) != 0
//
// Where masks are vectors, instruction selection packs what registers are compared to into bytes of
// one, and then takes a bit of each: three instructions for two registers, where an `or` does.
#pragma once
#include <llvm/IR/Function.h>

namespace ptxrun::jit {

/// Tests of comparisons of 32- or 64-bit elements that serve nothing else, of more than one
/// register of `vectorBytes`. For CPUs without registers for masks.
void testLanesByRegisters(llvm::Function &, unsigned vectorBytes);

} // namespace ptxrun::jit
