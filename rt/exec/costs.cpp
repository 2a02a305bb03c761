#include "rt/exec/costs.h"

#include <algorithm>
#include <atomic>

namespace ptxrun::rt {

namespace {

/// A small table without locks; kernels that fall into one slot displace each other, which costs an
/// estimate, nothing else.
struct Slot {
  std::atomic<uint64_t> key{0};
  std::atomic<uint64_t> picoseconds{0}; ///< per CTA
};
Slot slots[512];

uint64_t keyOf(const abi::KernelCode &code, uint32_t threads) {
  auto address = code.ctaRange ? reinterpret_cast<uint64_t>(code.ctaRange)
                               : reinterpret_cast<uint64_t>(code.gangStart ? (void *)code.gangStart
                                                                           : (void *)code.gang);
  return (address ^ (uint64_t{threads} << 48)) * 0x9e3779b97f4a7c15u | 1;
}

Slot &slotOf(uint64_t key) { return slots[key >> 55]; }

} // namespace

uint64_t expectedNs(const abi::KernelCode &code, uint32_t threads, uint64_t ctas) {
  uint64_t key = keyOf(code, threads);
  Slot &slot = slotOf(key);
  if (slot.key.load(std::memory_order_relaxed) != key)
    return ~uint64_t{0};
  double ns = static_cast<double>(slot.picoseconds.load(std::memory_order_relaxed)) * 1e-3 *
              static_cast<double>(ctas);
  return static_cast<uint64_t>(std::min(ns, 1e18));
}

void rememberNs(const abi::KernelCode &code, uint32_t threads, uint64_t ctas,
                uint64_t nanoseconds) {
  uint64_t key = keyOf(code, threads);
  Slot &slot = slotOf(key);
  auto now =
      static_cast<uint64_t>(static_cast<double>(nanoseconds) * 1000 / static_cast<double>(ctas));
  uint64_t before = slot.key.load(std::memory_order_relaxed) == key
                        ? slot.picoseconds.load(std::memory_order_relaxed)
                        : now;
  slot.picoseconds.store((before + now + 1) / 2, std::memory_order_relaxed);
  slot.key.store(key, std::memory_order_relaxed);
}

} // namespace ptxrun::rt
