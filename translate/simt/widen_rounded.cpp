// Arithmetic with directed rounding (ptx.rounded.*) on CPUs whose instructions carry a rounding
// mode of their own: AVX-512 has it for vectors of 512 bits.
//
//   add.rm.f32 of 32 lanes   =>   two vaddps {rd-sae}
#include <llvm/IR/IntrinsicsX86.h>

#include "translate/simt/collectives.h"

namespace ptxrun::simt {
namespace {

struct Operation {
  llvm::Intrinsic::ID ofFloats, ofDoubles;
};

/// Each with its three directions.
Operation operationOf(Op op) {
  using namespace llvm::Intrinsic;
  switch (op) {
  case Op::addRz:
  case Op::addRm:
  case Op::addRp:
    return {x86_avx512_add_ps_512, x86_avx512_add_pd_512};
  case Op::mulRz:
  case Op::mulRm:
  case Op::mulRp:
    return {x86_avx512_mul_ps_512, x86_avx512_mul_pd_512};
  case Op::divRz:
  case Op::divRm:
  case Op::divRp:
    return {x86_avx512_div_ps_512, x86_avx512_div_pd_512};
  case Op::sqrtRz:
  case Op::sqrtRm:
  case Op::sqrtRp:
    return {x86_avx512_sqrt_ps_512, x86_avx512_sqrt_pd_512};
  default:
    return {x86_avx512_vfmadd_ps_512, x86_avx512_vfmadd_pd_512};
  }
}

/// The instruction's rounding operand: without exceptions, in the direction of the word.
uint32_t directionOf(Op op) {
  constexpr uint32_t kNoExceptions = 8;
  switch (op) {
  case Op::addRm:
  case Op::mulRm:
  case Op::divRm:
  case Op::sqrtRm:
  case Op::fmaRm:
    return kNoExceptions | 1;
  case Op::addRp:
  case Op::mulRp:
  case Op::divRp:
  case Op::sqrtRp:
  case Op::fmaRp:
    return kNoExceptions | 2;
  default:
    return kNoExceptions | 3;
  }
}

} // namespace

/// ptx.rounded.<add|mul|div|sqrt|fma>.<rz|rm|rp>: operands and result float or double.
llvm::Value *Collectives::emitRounded(const llvm::CallBase &call, const Word &word) {
  const Operation operation = operationOf(word.op);
  llvm::Type *scalar = call.getType();
  const bool isWide = lanes_ > 1 && shapes_.shape(&call).isVarying();
  const unsigned count = isWide ? lanes_ : 1, perRegister = scalar->isFloatTy() ? 16 : 8;
  llvm::SmallVector<Value *> operands;
  for (const Value *a : call.args())
    operands.push_back(isWide ? vector(a)
                              : b_.CreateInsertElement(llvm::PoisonValue::get(vec(scalar, 1)),
                                                       base(a), uint64_t(0)));
  llvm::SmallVector<Value *> parts;
  for (unsigned first = 0; first < count; first += perRegister) {
    llvm::SmallVector<int> part;
    for (unsigned l = 0; l < perRegister; ++l)
      part.push_back(first + l < count ? int(first + l) : -1);
    llvm::SmallVector<Value *> arguments;
    for (Value *o : operands)
      arguments.push_back(count == perRegister ? o : b_.CreateShuffleVector(o, part));
    arguments.push_back(b_.getInt32(directionOf(word.op)));
    parts.push_back(b_.CreateIntrinsic(
        scalar->isFloatTy() ? operation.ofFloats : operation.ofDoubles, {}, arguments));
  }
  Value *result = concatenate(parts);
  if (!isWide)
    result = b_.CreateExtractElement(result, uint64_t(0));
  else if (count < perRegister)
    result = b_.CreateShuffleVector(result, llvm::to_vector(llvm::seq<int>(0, int(count))));
  return result;
}

} // namespace ptxrun::simt
