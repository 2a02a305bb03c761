// Accesses of gangs whose index wraps between lanes: rare, so generated code leaves them to us.
#include <cstring>

#include "intrinsics/abi.h"
#include "rt/launch/sanitizers.h"
#include "rt/launch/worker.h"

namespace ptxrun::rt {
namespace {

/// `bits` of n as a number of 64 bits.
uint64_t extend(uint64_t n, uint64_t bits, bool isSigned) {
  const unsigned unused = 64 - unsigned(bits);
  return isSigned ? uint64_t(int64_t(n << unused) >> unused) : n << unused >> unused;
}

uint64_t laneOffset(const abi::WrappedAccess &access, uint64_t index, uint32_t lane) {
  const uint64_t step = access.indexOffsets()[lane];
  auto extended = [&](uint64_t n) { return extend(n, access.indexBits, access.isSigned); };
  return access.addressOffsets()[lane] +
         access.scale * (extended(index + step) - extended(index) - step);
}

/// One access of the processor where there is one of this size: other threads see no half of it.
template <typename T> PTXRUN_KERNELS_MEMORY void copyOne(char *to, const char *from) {
  *reinterpret_cast<volatile T *>(to) = *reinterpret_cast<const volatile T *>(from);
}

PTXRUN_KERNELS_MEMORY void copy(char *to, const char *from, uint64_t bytes) {
  switch (bytes) {
  case 1:
    return copyOne<uint8_t>(to, from);
  case 2:
    return copyOne<uint16_t>(to, from);
  case 4:
    return copyOne<uint32_t>(to, from);
  default:
    for (uint64_t i = 0; i < bytes; i += 8)
      copyOne<uint64_t>(to + i, from + i);
  }
}

/// Any lane's distance from the base is modulo 2^64.
char *moved(const char *base, uint64_t offset) {
  return reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(base) + offset);
}

/// f(lane's part of the wide value, lane's distance from the base) for the lanes in `mask`. The
/// kernel's call is where a fault is reported: looking for it on the stack might find an older one.
template <typename F>
void forEachLane(const abi::WrappedAccess &access, uint64_t index, uint32_t mask,
                 const void *returnAddress, F f) {
  Worker &worker = *currentWorker();
  const GuestAccess guest(worker);
  worker.latePlace = reinterpret_cast<uint64_t>(returnAddress) - 1;
  for (; mask; mask &= mask - 1) {
    const auto lane = uint32_t(__builtin_ctz(mask));
    f(lane * access.bytes, laneOffset(access, index, lane));
  }
  worker.latePlace = 0;
}

} // namespace
} // namespace ptxrun::rt

using namespace ptxrun;

extern "C" {

void ptxrun_load_wrapped(char *wide, const char *base, uint64_t index,
                         const abi::WrappedAccess *access, uint32_t mask, const void *place) {
  place = place ? place : __builtin_return_address(0);
  rt::forEachLane(*access, index, mask, place, [&](uint64_t part, uint64_t offset) {
    rt::copy(wide + part, rt::moved(base, offset), access->bytes);
  });
}

void ptxrun_store_wrapped(const char *wide, char *base, uint64_t index,
                          const abi::WrappedAccess *access, uint32_t mask, const void *place) {
  place = place ? place : __builtin_return_address(0);
  rt::forEachLane(*access, index, mask, place, [&](uint64_t part, uint64_t offset) {
    rt::copy(rt::moved(base, offset), wide + part, access->bytes);
  });
}

} // extern "C"
