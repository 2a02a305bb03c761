// CUDA kernels as plain C++: the reference that tests/kernels compares with.
//
// Every .cu file here is compiled twice: by nvcc to the committed PTX, and by the host compiler
// with this header, which gives CUDA's words their meaning: each CUDA thread is a fiber of its own,
// run one after the other, switching at barriers, warp operations and atomics. Slow, and as plain
// as can be.
//
// Kernels are extern "C" with names of their own among all files; device functions are static. What
// a result may depend on must not differ between legal executions: the order of atomics, for one.
//
// A file states its cases at the end:   CASE(kernel, grid(3), block(70), in(210, random(1)),
// out(210), 210) nvcc sees nothing of them.
#pragma once

#ifdef __CUDACC__
#define CASE(...)
#define CASE_SHARED(...)
#define DYNAMIC_SHARED(type, name) extern __shared__ type name[]
#define ON_HOST 0
#else
#define ON_HOST 1

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
struct float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct int2 {
  int x, y;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

#define __global__
#define __device__
#define __constant__
#define __shared__ static
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline
#define __restrict__ __restrict
#define __launch_bounds__(...)
#define DYNAMIC_SHARED(type, name) type *name = static_cast<type *>(onhost::dynamicShared())

#pragma GCC visibility push(default) // kernels may come from a library of their own (draw.sh)
namespace onhost {

/// What a fiber sees as its own; switched with it.
struct Thread {
  uint3 threadIdx, blockIdx;
  dim3 blockDim, gridDim;
  unsigned linear;
};
extern Thread self;

void *dynamicShared();
/// Gives the other threads of the block a turn.
void yield();
/// Waits until `arrived` counts of named barrier `id` are reached (0: all live threads).
void barrier(unsigned id, unsigned threads);
/// Counts as an arrival at the barrier and goes on (bar.arrive).
void arrive(unsigned id, unsigned threads);
/// Returns how many threads of the block had `predicate` set at this barrier.
int barrierCount(int predicate);
/// All live threads of the warp named in `mask` meet; each gives `value`, each sees all 32. Returns
/// who took part.
unsigned meet(unsigned mask, uint64_t value, uint64_t *all);
unsigned activeMask();
/// Ends the calling thread.
[[noreturn]] void exitThread();

/// Contents of a buffer parameter.
struct Fill {
  enum Kind { zero, iota, random, small } kind = zero;
  uint64_t seed = 0;
};
inline Fill random(uint64_t seed) {
  return {Fill::random, seed};
} ///< all bits of integers; floats in [-1, 1)
inline Fill small(uint64_t seed) { return {Fill::small, seed}; } ///< 0 to 15, floats too
inline Fill iota() { return {Fill::iota, 0}; }
inline Fill zeros() { return {}; }

/// One argument: a buffer of `count` elements of the parameter's type, or a scalar.
struct Argument {
  bool isBuffer = false, isOutput = false;
  uint64_t count = 0;
  Fill fill;
  double real = 0;
  int64_t integer = 0;
};
inline Argument in(uint64_t count, Fill fill = random(1)) {
  return {true, false, count, fill, 0, 0};
}
inline Argument out(uint64_t count) { return {true, true, count, {}, 0, 0}; }
inline Argument inout(uint64_t count, Fill fill) { return {true, true, count, fill, 0, 0}; }
inline Argument value(int64_t integer) {
  return {false, false, 0, {}, static_cast<double>(integer), integer};
}
inline Argument value(double real) {
  return {false, false, 0, {}, real, static_cast<int64_t>(real)};
}

struct Shape {
  unsigned x = 1, y = 1, z = 1;
};
inline Shape grid(unsigned x, unsigned y = 1, unsigned z = 1) { return {x, y, z}; }
inline Shape block(unsigned x, unsigned y = 1, unsigned z = 1) { return {x, y, z}; }

/// The type of one kernel parameter, as the harness needs it.
struct ParameterType {
  bool isPointer, isFloat;
  unsigned bytes; ///< of the scalar, or of the pointed-to element
};

struct Case {
  std::string file, kernel, variant;
  Shape grid, block;
  unsigned sharedBytes = 0;
  std::vector<ParameterType> types;
  std::vector<Argument> arguments;
  /// Runs the kernel on the host; addresses[k] is the buffer of argument k, null for a scalar.
  std::function<void(const std::vector<void *> &addresses)> onHost;
};
std::vector<Case> &cases();

/// Runs `body` for every thread of the grid.
void runGrid(Shape grid, Shape block, unsigned sharedBytes, const std::function<void()> &body);

template <class T> ParameterType typeOf() {
  if constexpr (std::is_pointer_v<T>) {
    using E = std::remove_const_t<std::remove_pointer_t<T>>;
    return {true, std::is_floating_point_v<E>, sizeof(E)};
  } else {
    return {false, std::is_floating_point_v<T>, sizeof(T)};
  }
}

template <class T> T argumentAs(const Argument &argument, void *address) {
  if constexpr (std::is_pointer_v<T>)
    return static_cast<T>(address);
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(argument.real);
  else
    return static_cast<T>(argument.integer);
}

inline Argument toArgument(Argument argument) { return argument; }
inline Argument toArgument(int value_) { return value(int64_t{value_}); }
inline Argument toArgument(unsigned value_) { return value(int64_t{value_}); }
inline Argument toArgument(int64_t value_) { return value(value_); }
inline Argument toArgument(double value_) { return value(value_); }

template <class... P, size_t... K>
void callOnHost(void (*kernel)(P...), const std::vector<Argument> &arguments,
                const std::vector<void *> &addresses, std::index_sequence<K...>) {
  kernel(argumentAs<P>(arguments[K], addresses[K])...);
}

template <class... P, class... A>
bool addCase(const char *file, const char *name, void (*kernel)(P...), Shape grid, Shape block,
             unsigned sharedBytes, A... given) {
  static_assert(sizeof...(P) == sizeof...(A), "as many arguments as the kernel has parameters");
  Case added;
  added.file = file;
  added.kernel = name;
  added.grid = grid;
  added.block = block;
  added.sharedBytes = sharedBytes;
  added.types = {typeOf<P>()...};
  added.arguments = {toArgument(given)...};
  auto arguments = added.arguments;
  added.onHost = [=](const std::vector<void *> &addresses) {
    runGrid(grid, block, sharedBytes, [&] {
      callOnHost(kernel, arguments, addresses, std::make_index_sequence<sizeof...(P)>());
    });
  };
  cases().push_back(std::move(added));
  return true;
}

#define ONHOST_JOIN2(a, b) a##b
#define ONHOST_JOIN(a, b) ONHOST_JOIN2(a, b)
/// CASE(kernel, grid(...), block(...), arguments...); CASE_SHARED with the bytes of dynamic shared
/// memory third.
#define CASE(kernel, grid_, block_, ...)                                                           \
  namespace {                                                                                      \
  using namespace onhost;                                                                          \
  [[maybe_unused]] bool ONHOST_JOIN(case_, __COUNTER__) = onhost::addCase(__FILE__, #kernel,       \
                                                                          kernel, grid_, block_,   \
                                                                          0, __VA_ARGS__);         \
  }
#define CASE_SHARED(kernel, grid_, block_, bytes_, ...)                                            \
  namespace {                                                                                      \
  using namespace onhost;                                                                          \
  [[maybe_unused]] bool ONHOST_JOIN(case_, __COUNTER__) = onhost::addCase(__FILE__, #kernel,       \
                                                                          kernel, grid_, block_,   \
                                                                          bytes_, __VA_ARGS__);    \
  }

} // namespace onhost
#pragma GCC visibility pop

#define threadIdx (onhost::self.threadIdx)
#define blockIdx (onhost::self.blockIdx)
#define blockDim (onhost::self.blockDim)
#define gridDim (onhost::self.gridDim)
#define warpSize 32

inline void __syncthreads() { onhost::barrier(0, 0); }
inline int __syncthreads_count(int predicate) { return onhost::barrierCount(predicate != 0); }
inline int __syncthreads_and(int predicate) { return onhost::barrierCount(predicate == 0) == 0; }
inline int __syncthreads_or(int predicate) { return onhost::barrierCount(predicate != 0) != 0; }
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __syncwarp(unsigned mask = 0xffffffffu) {
  uint64_t all[32];
  onhost::meet(mask, 0, all);
}
inline unsigned __activemask() { return onhost::activeMask(); }
inline void __trap() { onhost::exitThread(); }

namespace onhost {
template <class T> uint64_t toBits(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T> T fromBits(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline unsigned lane() { return self.linear % 32; }
/// shfl: the value of `source` in the warp, or the own one where that is out of bounds.
template <class T> T shuffle(unsigned mask, T value, int source, bool isInBounds) {
  uint64_t all[32];
  meet(mask, toBits(value), all);
  return isInBounds ? fromBits<T>(all[source & 31]) : value;
}
} // namespace onhost

template <class T> T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  unsigned lane = onhost::lane();
  return onhost::shuffle(mask, value,
                         static_cast<int>((lane & ~(width - 1u)) | (source & (width - 1))), true);
}
template <class T> T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  int lane = static_cast<int>(onhost::lane()), source = lane - static_cast<int>(delta);
  return onhost::shuffle(mask, value, source, source >= static_cast<int>(lane & ~(width - 1u)));
}
template <class T> T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  int lane = static_cast<int>(onhost::lane()), source = lane + static_cast<int>(delta);
  return onhost::shuffle(mask, value, source, source <= static_cast<int>(lane | (width - 1u)));
}
template <class T> T __shfl_xor_sync(unsigned mask, T value, int laneMask, int width = 32) {
  int lane = static_cast<int>(onhost::lane()), source = lane ^ laneMask;
  return onhost::shuffle(mask, value, source, source <= static_cast<int>(lane | (width - 1u)));
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  uint64_t all[32];
  unsigned members = onhost::meet(mask, predicate != 0, all), result = 0;
  for (unsigned k = 0; k < 32; ++k)
    if ((members >> k & 1) && all[k])
      result |= 1u << k;
  return result;
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, !predicate) == 0; }
template <class T> unsigned __match_any_sync(unsigned mask, T value) {
  uint64_t all[32];
  unsigned members = onhost::meet(mask, onhost::toBits(value), all), result = 0;
  for (unsigned k = 0; k < 32; ++k)
    if ((members >> k & 1) && all[k] == onhost::toBits(value))
      result |= 1u << k;
  return result;
}
inline unsigned __reduce_add_sync(unsigned mask, unsigned value) {
  uint64_t all[32];
  unsigned members = onhost::meet(mask, value, all), result = 0;
  for (unsigned k = 0; k < 32; ++k)
    if (members >> k & 1)
      result += static_cast<unsigned>(all[k]);
  return result;
}
inline int __reduce_max_sync(unsigned mask, int value) {
  uint64_t all[32];
  unsigned members = onhost::meet(mask, static_cast<uint32_t>(value), all);
  int result = INT32_MIN;
  for (unsigned k = 0; k < 32; ++k)
    if ((members >> k & 1) && static_cast<int>(all[k]) > result)
      result = static_cast<int>(all[k]);
  return result;
}

namespace onhost {
/// One atomic step, then a turn for the others, so that spinning threads get on.
template <class T, class Change> T atomically(T *address, Change change) {
  T old = *address;
  *address = change(old);
  yield();
  return old;
}
} // namespace onhost
template <class T> T atomicAdd(T *address, T value) {
  return onhost::atomically(address, [=](T old) { return static_cast<T>(old + value); });
}
inline int atomicAdd(int *address, int value) {
  return onhost::atomically(address, [=](int old) {
    return static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(value));
  });
}
template <class T> T atomicSub(T *address, T value) {
  return onhost::atomically(address, [=](T old) { return static_cast<T>(old - value); });
}
template <class T> T atomicExch(T *address, T value) {
  return onhost::atomically(address, [=](T) { return value; });
}
template <class T> T atomicMin(T *address, T value) {
  return onhost::atomically(address, [=](T old) { return old < value ? old : value; });
}
template <class T> T atomicMax(T *address, T value) {
  return onhost::atomically(address, [=](T old) { return old < value ? value : old; });
}
template <class T> T atomicAnd(T *address, T value) {
  return onhost::atomically(address, [=](T old) { return old & value; });
}
template <class T> T atomicOr(T *address, T value) {
  return onhost::atomically(address, [=](T old) { return old | value; });
}
template <class T> T atomicXor(T *address, T value) {
  return onhost::atomically(address, [=](T old) { return old ^ value; });
}
template <class T> T atomicCAS(T *address, T compare, T value) {
  return onhost::atomically(address, [=](T old) { return old == compare ? value : old; });
}
inline unsigned atomicInc(unsigned *address, unsigned limit) {
  return onhost::atomically(address, [=](unsigned old) { return old >= limit ? 0u : old + 1; });
}

inline int min(int a, int b) { return a < b ? a : b; }
inline int max(int a, int b) { return a < b ? b : a; }
inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
inline unsigned max(unsigned a, unsigned b) { return a < b ? b : a; }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(uint64_t{a} * b >> 32);
}
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  uint64_t both = uint64_t{b} << 32 | a;
  unsigned result = 0;
  for (int k = 0; k < 4; ++k)
    result |= static_cast<unsigned>(both >> (selector >> 4 * k & 7) * 8 & 255) << 8 * k;
  return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((uint64_t{high} << 32 | low) << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((uint64_t{high} << 32 | low) >> (shift & 31));
}
inline float __int_as_float(int x) { return onhost::fromBits<float>(static_cast<uint32_t>(x)); }
inline int __float_as_int(float x) { return static_cast<int>(onhost::toBits(x)); }
inline void __nanosleep(unsigned) { onhost::yield(); }

#endif // __CUDACC__
