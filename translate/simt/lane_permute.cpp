#include "translate/simt/lane_permute.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicsX86.h>

namespace ptxrun::simt {

using llvm::FixedVectorType;
using llvm::Value;

namespace {

constexpr unsigned kBytesOfPshufb = 16, kBytesOfVpermd = 32;

bool isOfVpermd(unsigned bytes, const Target &target) {
  return bytes >= 4 && target.level >= CpuLevel::avx2;
}

/// vpermd; doubles are pairs of words.
Value *permuteWords(llvm::IRBuilderBase &b, Value *window, Value *places) {
  auto *words = FixedVectorType::get(b.getInt32Ty(), kBytesOfVpermd / 4);
  if (window->getType()->getScalarSizeInBits() == 64) {
    auto *longs = FixedVectorType::get(b.getInt64Ty(), kBytesOfVpermd / 8);
    const auto all = [&](uint64_t n) { return llvm::ConstantInt::get(longs, n); };
    places = b.CreateAdd(b.CreateMul(b.CreateZExt(places, longs), all(0x2'0000'0002)),
                         all(0x1'0000'0000));
  }
  return b.CreateBitCast(
      b.CreateIntrinsic(llvm::Intrinsic::x86_avx2_permd, {},
                        {b.CreateBitCast(window, words), b.CreateBitCast(places, words)}),
      window->getType());
}

/// pshufb; of each element all bytes.
Value *permuteBytes(llvm::IRBuilderBase &b, Value *window, Value *places) {
  const unsigned lanes = llvm::cast<FixedVectorType>(window->getType())->getNumElements(),
                 bytes = window->getType()->getScalarSizeInBits() / 8;
  llvm::SmallVector<int> lanesOfBytes, fill;
  llvm::SmallVector<llvm::Constant *> bytesOfLanes;
  for (unsigned k = 0; k < kBytesOfPshufb; ++k) {
    const bool isThere = k < lanes * bytes;
    lanesOfBytes.push_back(isThere ? int(k / bytes) : -1);
    fill.push_back(isThere ? int(k) : -1);
    bytesOfLanes.push_back(b.getInt8(uint8_t(k % bytes)));
  }
  auto *first = FixedVectorType::get(b.getInt8Ty(), lanes);
  Value *firstBytes =
      b.CreateTrunc(b.CreateMul(places, llvm::ConstantInt::get(places->getType(), bytes)), first);
  Value *control = b.CreateOr(b.CreateShuffleVector(firstBytes, lanesOfBytes),
                              llvm::ConstantVector::get(bytesOfLanes));
  Value *all = b.CreateBitCast(window, FixedVectorType::get(b.getInt8Ty(), lanes * bytes));
  all = b.CreateIntrinsic(llvm::Intrinsic::x86_ssse3_pshuf_b_128, {},
                          {b.CreateShuffleVector(all, fill), control});
  return b.CreateBitCast(
      b.CreateShuffleVector(all, llvm::createSequentialMask(0, lanes * bytes, 0)),
      window->getType());
}

} // namespace

unsigned lanesToPermute(unsigned bytes, const Target &target) {
  return (isOfVpermd(bytes, target) ? kBytesOfVpermd : kBytesOfPshufb) / bytes;
}

Value *permute(llvm::IRBuilderBase &b, Value *window, Value *places, const Target &target) {
  auto *type = llvm::cast<FixedVectorType>(window->getType());
  const unsigned bytes = type->getScalarSizeInBits() / 8;
  return isOfVpermd(bytes, target) && type->getNumElements() * bytes == kBytesOfVpermd
             ? permuteWords(b, window, places)
             : permuteBytes(b, window, places);
}

} // namespace ptxrun::simt
