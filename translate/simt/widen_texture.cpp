// ptx.texture: the lanes' operands in rows of W, one call for all of them (intrinsics/texture.h).
#include "intrinsics/texture.h"
#include "translate/simt/collectives.h"

namespace ptxrun::simt {

namespace {

const char *entryOf(CpuLevel level) {
  switch (level) {
  case CpuLevel::sse4:
    return "ptxrun_texture_sse4";
  case CpuLevel::avx2:
    return "ptxrun_texture_avx2";
  case CpuLevel::avx512:
    return "ptxrun_texture_avx512";
  }
  return "";
}

/// Arguments of ptx.texture before the rows.
enum : unsigned { kOperation, kTexture, kSampler, kRows };

} // namespace

//     in[row] = operand  for each row that has one
//     ptxrun_texture_<level>(gang, mask, operation, W, textures, samplers, in, out)
//     result[row] = out[row]
llvm::Value *Collectives::emitTexture(const llvm::CallBase &call) {
  llvm::Type *word = b_.getInt32Ty();
  llvm::Type *row = widenType(word, lanes_);
  auto operation = static_cast<uint32_t>(
      llvm::cast<llvm::ConstantInt>(call.getArgOperand(kOperation))->getZExtValue());
  auto handles = [&](const Value *v, uint32_t vary) -> Value * {
    const bool isOne = lanes_ == 1 || shapes_.isUniform(v);
    Value *value = isOne ? base(v) : vector(v);
    operation |= isOne ? 0 : vary;
    llvm::AllocaInst *&memory = textureMemory(value->getType(), vary == abi::kSamplersVary);
    b_.CreateStore(value, memory);
    return memory;
  };
  Value *textures = handles(call.getArgOperand(kTexture), abi::kTexturesVary);
  Value *samplers = handles(call.getArgOperand(kSampler), abi::kSamplersVary);
  llvm::AllocaInst *&in = textureMemory(llvm::ArrayType::get(row, abi::kTextureRows), false);
  for (unsigned k = 0; k < abi::kTextureRows; ++k) {
    const Value *operand = call.getArgOperand(kRows + k);
    if (llvm::isa<llvm::UndefValue>(operand))
      continue;
    b_.CreateStore(lanes_ == 1 ? base(operand) : vector(operand),
                   b_.CreateConstInBoundsGEP1_32(row, in, k));
  }
  llvm::AllocaInst *&out = textureMemory(llvm::ArrayType::get(row, abi::kTextureResults), false);
  runtime(entryOf(context_.target.level), b_.getVoidTy(),
          {argument(kGang), maskBits(mask()), b_.getInt32(operation), b_.getInt32(lanes_), textures,
           samplers, in, out});
  Value *result = llvm::PoisonValue::get(widenType(call.getType(), lanes_));
  for (unsigned k = 0; k < abi::kTextureResults; ++k)
    result = b_.CreateInsertValue(
        result, b_.CreateLoad(row, b_.CreateConstInBoundsGEP1_32(row, out, k)), k);
  return result;
}

/// What the calls pass lies in the same memory for all instructions of a function.
llvm::AllocaInst *&Collectives::textureMemory(llvm::Type *type, bool isSecond) {
  llvm::AllocaInst *&memory = textureMemory_[{type, isSecond}];
  if (!memory)
    memory = entryAlloca(type, "texture");
  return memory;
}

} // namespace ptxrun::simt
