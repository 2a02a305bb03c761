// multimem.ld_reduce, .st, .red (PTX ISA 9.7.9.14) where the address stands for memory of several
// devices. Generated code does the first device's part of st and red itself.
#include <cstring>

#include "intrinsics/access_abi.h"
#include "rt/atomics/reduce.h"
#include "rt/launch/failure.h"
#include "rt/launch/worker.h"
#include "rt/memory/multicast.h"

namespace ptxrun::rt {

namespace {

/// The widest access, and the same as f32 where its elements are halves.
constexpr uint32_t kMostBytes = 16;

struct Form {
  abi::ReduceOp op;
  abi::ReduceType type;
  bool isWide, isByteFloats;
};
Form read(uint32_t form) {
  const uint32_t type = form >> 8 & 0xff;
  return {abi::ReduceOp(form & 0xff), abi::ReduceType(type), (form >> 16 & 1) != 0,
          type == abi::kMultimemByteFloats};
}

/// Once each for words of 4 and 8 bytes, as other threads see them.
void loadWhole(void *to, const void *from, uint32_t bytes) {
  if (bytes == 4)
    __atomic_load(static_cast<const uint32_t *>(from), static_cast<uint32_t *>(to),
                  __ATOMIC_ACQUIRE);
  else if (bytes == 8)
    __atomic_load(static_cast<const uint64_t *>(from), static_cast<uint64_t *>(to),
                  __ATOMIC_ACQUIRE);
  else
    std::memcpy(to, from, bytes);
}

void storeWhole(void *to, const void *from, uint32_t bytes) {
  if (bytes == 4)
    __atomic_store(static_cast<uint32_t *>(to),
                   const_cast<uint32_t *>(static_cast<const uint32_t *>(from)), __ATOMIC_RELEASE);
  else if (bytes == 8)
    __atomic_store(static_cast<uint64_t *>(to),
                   const_cast<uint64_t *>(static_cast<const uint64_t *>(from)), __ATOMIC_RELEASE);
  else
    std::memcpy(to, from, bytes);
}

/// each(place) for the devices from `first` on.
template <class Each> void onDevices(const void *address, uint32_t first, Each each) {
  for (uint32_t k = first;; ++k) {
    const uint64_t place = replicaOf(reinterpret_cast<uint64_t>(address), k);
    if (!place)
      return;
    each(reinterpret_cast<void *>(place));
  }
}

void reduceAll(const Form &form, const void *address, void *result, uint32_t bytes) {
  alignas(16) char value[kMostBytes];
  if (form.isWide) {
    WideSum sum(form.type, bytes);
    onDevices(address, 0, [&](const void *place) {
      loadWhole(value, place, bytes);
      sum.add(value);
    });
    return sum.round(result);
  }
  loadWhole(result, address, bytes);
  onDevices(address, 1, [&](const void *place) {
    loadWhole(value, place, bytes);
    reduceArray(form.op, form.type, result, value, bytes, /*isPrivate=*/true);
  });
}

[[noreturn]] void failByteFloats(GangState &g) {
  recordFailure(g, Status::undefinedUse,
                "multimem.ld_reduce of 8-bit floats is not supported where a multicast object has "
                "several devices, in " +
                    describeGang(g));
  leaveKernel(g);
}

} // namespace

} // namespace ptxrun::rt

using namespace ptxrun;
using namespace ptxrun::rt;

extern "C" {

bool ptxrun_multimem_several() { return hasReplicas(); }

void *ptxrun_multimem_replica(void *address, uint32_t number) {
  return reinterpret_cast<void *>(replicaOf(reinterpret_cast<uint64_t>(address), number));
}

void ptxrun_multimem_load(abi::Gang *gang, const void *address, void *result, uint32_t form,
                          uint32_t bytes) {
  GangState &g = stateOf(gang);
  const Form read = rt::read(form);
  const bool hasSeveral = replicaOf(reinterpret_cast<uint64_t>(address), 1) != 0;
  if (read.isByteFloats && hasSeveral)
    failByteFloats(g);
  GuestAccess access(*groupOf(g).worker);
  if (hasSeveral)
    reduceAll(read, address, result, bytes);
  else
    loadWhole(result, address, bytes);
}

void ptxrun_multimem_store(abi::Gang *gang, void *address, const void *value, uint32_t bytes) {
  GuestAccess access(*groupOf(stateOf(gang)).worker);
  onDevices(address, 1, [&](void *place) { storeWhole(place, value, bytes); });
}

void ptxrun_multimem_reduce(abi::Gang *gang, void *address, const void *value, uint32_t form,
                            uint32_t bytes) {
  GuestAccess access(*groupOf(stateOf(gang)).worker);
  const Form read = rt::read(form);
  onDevices(address, 1, [&](void *place) {
    reduceArray(read.op, read.type, place, value, bytes, /*isPrivate=*/false);
  });
}
}
