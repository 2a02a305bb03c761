#include "rt/atomics/reduce.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace ptxrun::rt {

namespace {

using abi::ReduceOp;
using abi::ReduceType;

/// bfloat16 as its bits.
struct Bf16 {
  uint16_t bits;
  float value() const {
    uint32_t wide = uint32_t{bits} << 16;
    float f;
    std::memcpy(&f, &wide, sizeof f);
    return f;
  }
  static Bf16 rounded(float f) {
    uint32_t wide;
    std::memcpy(&wide, &f, sizeof wide);
    if (std::isnan(f))
      return {0x7fff};
    wide += 0x7fff + (wide >> 16 & 1); // to nearest even
    return {static_cast<uint16_t>(wide >> 16)};
  }
};

struct F16 {
  _Float16 number;
  float value() const { return static_cast<float>(number); }
  static F16 rounded(float f) { return {static_cast<_Float16>(f)}; }
};

float flushed(float f) { return std::fpclassify(f) == FP_SUBNORMAL ? std::copysign(0.0f, f) : f; }

/// min and max of PTX: a number wins over NaN, -0 is less than +0.
float smaller(float a, float b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) ? b : a;
  return a < b || (a == b && std::signbit(a)) ? a : b;
}
float larger(float a, float b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) ? b : a;
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}

template <typename T> T combineIntegers(ReduceOp op, T d, T s) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
  case ReduceOp::add:
    return static_cast<T>(static_cast<U>(d) + static_cast<U>(s));
  case ReduceOp::min:
    return std::min(d, s);
  case ReduceOp::max:
    return std::max(d, s);
  case ReduceOp::inc:
    return d >= s ? 0 : d + 1;
  case ReduceOp::dec:
    return d == 0 || d > s ? s : d - 1;
  case ReduceOp::and_:
    return d & s;
  case ReduceOp::or_:
    return d | s;
  case ReduceOp::xor_:
    return d ^ s;
  }
  return d;
}

/// f16 and bf16: float holds the exact sum well enough that rounding twice is rounding once.
template <typename T> T combineNarrow(ReduceOp op, T d, T s) {
  float a = d.value(), b = s.value();
  return T::rounded(op == ReduceOp::min   ? smaller(a, b)
                    : op == ReduceOp::max ? larger(a, b)
                                          : a + b);
}

template <typename T> T combine(ReduceOp op, T d, T s) {
  if constexpr (std::is_same_v<T, Bf16> || std::is_same_v<T, F16>)
    return combineNarrow(op, d, s);
  else if constexpr (std::is_same_v<T, float>)
    return flushed(flushed(d) + flushed(s));
  else if constexpr (std::is_same_v<T, double>)
    return d + s;
  else
    return combineIntegers(op, d, s);
}

template <typename T> void combineAtomically(ReduceOp op, T *at, T s) {
  T d;
  __atomic_load(at, &d, __ATOMIC_RELAXED);
  T result = combine(op, d, s);
  while (!__atomic_compare_exchange(at, &d, &result, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    result = combine(op, d, s);
}

template <typename T>
void reduceTyped(ReduceOp op, void *destination, const void *source, uint32_t bytes,
                 bool isPrivate) {
  auto *to = static_cast<T *>(destination);
  auto *from = static_cast<const T *>(source);
  for (uint32_t i = 0; i < bytes / sizeof(T); ++i) {
    if (isPrivate)
      to[i] = combine(op, to[i], from[i]);
    else
      combineAtomically(op, &to[i], from[i]);
  }
}

} // namespace

void reduceArray(ReduceOp op, ReduceType type, void *destination, const void *source,
                 uint32_t bytes, bool isPrivate) {
  switch (type) {
  case ReduceType::u32:
  case ReduceType::b32:
    return reduceTyped<uint32_t>(op, destination, source, bytes, isPrivate);
  case ReduceType::s32:
    return reduceTyped<int32_t>(op, destination, source, bytes, isPrivate);
  case ReduceType::u64:
  case ReduceType::b64:
    return reduceTyped<uint64_t>(op, destination, source, bytes, isPrivate);
  case ReduceType::s64:
    return reduceTyped<int64_t>(op, destination, source, bytes, isPrivate);
  case ReduceType::f16:
    return reduceTyped<F16>(op, destination, source, bytes, isPrivate);
  case ReduceType::bf16:
    return reduceTyped<Bf16>(op, destination, source, bytes, isPrivate);
  case ReduceType::f32:
    return reduceTyped<float>(op, destination, source, bytes, isPrivate);
  case ReduceType::f64:
    return reduceTyped<double>(op, destination, source, bytes, isPrivate);
  }
}

namespace {

template <typename T>
void addNarrow(const void *values, float *sums, uint32_t count, bool isFirst) {
  for (uint32_t i = 0; i < count; ++i) {
    const float value = static_cast<const T *>(values)[i].value();
    sums[i] = isFirst ? value : sums[i] + value;
  }
}

template <typename T> void roundNarrow(const float *sums, void *result, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i)
    static_cast<T *>(result)[i] = T::rounded(sums[i]);
}

} // namespace

void WideSum::add(const void *values) {
  if (type_ == ReduceType::bf16)
    addNarrow<Bf16>(values, sums_, count_, isFirst_);
  else
    addNarrow<F16>(values, sums_, count_, isFirst_);
  isFirst_ = false; // not 0 + x: -0 stays
}

void WideSum::round(void *result) const {
  if (type_ == ReduceType::bf16)
    roundNarrow<Bf16>(sums_, result, count_);
  else
    roundNarrow<F16>(sums_, result, count_);
}

} // namespace ptxrun::rt
