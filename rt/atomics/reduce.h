// Element-wise reductions of arrays (cp.reduce.async.bulk, PTX ISA 9.7.9.25.4.2).
#pragma once
#include <cstdint>

#include "intrinsics/abi.h"

namespace ptxrun::rt {

/// destination[i] = destination[i] op source[i] for bytes / sizeof(type) elements. isPrivate: no
/// other thread reaches the destination (shared memory); else every element is one relaxed atomic
/// read-modify-write.
///   add of f32 flushes subnormal inputs and results; f16 and bf16 round to nearest even and keep
///   subnormals inc: d >= s ? 0 : d + 1; dec: d == 0 || d > s ? s : d - 1
void reduceArray(abi::ReduceOp, abi::ReduceType, void *destination, const void *source,
                 uint32_t bytes, bool isPrivate);

/// A sum of f16 or bf16 values that is f32 until it is rounded (.acc::f32), of at most 8 elements.
class WideSum {
 public:
  WideSum(abi::ReduceType type, uint32_t bytes) : type_(type), count_(bytes / 2) {}
  void add(const void *values);
  void round(void *result) const;

 private:
  abi::ReduceType type_;
  uint32_t count_;
  bool isFirst_ = true;
  float sums_[8] = {};
};

} // namespace ptxrun::rt
