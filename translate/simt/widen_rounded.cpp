// Arithmetic with directed rounding (ptx.rounded.*) on CPUs whose instructions carry a rounding
// mode of their own: AVX-512 has it for vectors of 512 bits.
//
//   add.rm.f32 of 32 lanes   =>   two vaddps {rd-sae}
#include <llvm/IR/IntrinsicsX86.h>

#include "translate/simt/widener.h"

namespace ptxrun::simt {
namespace {

struct Operation {
  llvm::Intrinsic::ID ofFloats, ofDoubles;
};

Operation operationOf(llvm::StringRef name) {
  using namespace llvm::Intrinsic;
  if (name == "add")
    return {x86_avx512_add_ps_512, x86_avx512_add_pd_512};
  if (name == "mul")
    return {x86_avx512_mul_ps_512, x86_avx512_mul_pd_512};
  if (name == "div")
    return {x86_avx512_div_ps_512, x86_avx512_div_pd_512};
  if (name == "sqrt")
    return {x86_avx512_sqrt_ps_512, x86_avx512_sqrt_pd_512};
  if (name == "fma")
    return {x86_avx512_vfmadd_ps_512, x86_avx512_vfmadd_pd_512};
  return {not_intrinsic, not_intrinsic};
}

/// The instruction's rounding operand: without exceptions, in the direction named.
uint32_t directionOf(llvm::StringRef name) {
  constexpr uint32_t kNoExceptions = 8;
  return kNoExceptions | (name == "rm" ? 1 : name == "rp" ? 2 : 3);
}

} // namespace

/// ptx.rounded.<add|mul|div|sqrt|fma>.<rz|rm|rp>: operands and result float or double.
Widener::Value *Widener::emitRounded(const llvm::CallBase &call, llvm::StringRef name) {
  const auto [operationName, rest] = name.split('.');
  const Operation operation = operationOf(operationName);
  if (operation.ofFloats == llvm::Intrinsic::not_intrinsic)
    return missing("unknown rounded operation " + name, wide(&call));
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
    arguments.push_back(b_.getInt32(directionOf(rest.take_front(2))));
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
