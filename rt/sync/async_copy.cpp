// Entry points of asynchronous copies (PTX ISA 9.7.9.25).
#include <algorithm>
#include <cstring>

#include "rt/launch/failure.h"
#include "rt/launch/grid.h"
#include "rt/launch/suspend.h"
#include "rt/launch/worker.h"
#include "rt/sync/async_group.h"
#include "rt/sync/mbarrier.h"

namespace ptxrun::rt {

namespace {

uint64_t placeOf(const void *p) { return reinterpret_cast<uint64_t>(p); }

[[noreturn]] void failBulk(GangState &g, const char *what) {
  recordFailure(g, Status::illegalAddress,
                std::string("bulk copy: ") + what + " in " + describeGang(g));
  leaveKernel(g);
}

void checkBulk(GangState &g, const void *destination, const void *source, uint32_t bytes) {
  if (bytes % 16)
    failBulk(g, "the size is not a multiple of 16 bytes");
  if (placeOf(destination) % 16 || placeOf(source) % 16)
    failBulk(g, "an address is not aligned to 16 bytes");
}

AsyncOperation bulkOperation(AsyncKind kind, uint32_t lane, void *destination, const void *source,
                             uint32_t bytes, void *mbarrier) {
  AsyncOperation o;
  o.kind = kind;
  o.lane = static_cast<uint8_t>(lane);
  o.isTracked = mbarrier == nullptr;
  o.bytes = o.sourceBytes = bytes;
  o.destination = destination;
  o.source = source;
  o.mbarrier = static_cast<uint64_t *>(mbarrier);
  return o;
}

/// cp.async without a queue.
void copyAtOnce(Worker &worker, uint32_t mask, void *const *destinations,
                const void *const *sources, uint32_t bytes, const uint32_t *sourceBytes) {
  GuestAccess access(worker);
  for (; mask; mask &= mask - 1) {
    int lane = __builtin_ctz(mask);
    uint32_t length = sourceBytes ? std::min(sourceBytes[lane], bytes) : bytes;
    char buffer[16] = {};
    if (length == 16)
      std::memcpy(buffer, sources[lane], 16);
    else if (length)
      std::memcpy(buffer, sources[lane], length);
    if (bytes == 16)
      std::memcpy(destinations[lane], buffer, 16);
    else
      std::memcpy(destinations[lane], buffer, std::min(bytes, 16u));
  }
}

} // namespace
} // namespace ptxrun::rt

using namespace ptxrun;
using namespace ptxrun::rt;

extern "C" {

void ptxrun_cp_async(abi::Gang *gang, uint32_t mask, void *const *destinations,
                     const void *const *sources, uint32_t bytes, const uint32_t *sourceBytes) {
  GangState &g = stateOf(gang);
  Worker &worker = *groupOf(g).worker;
  if (worker.launch->request->asyncCopies == AsyncCopies::eager) {
    copyAtOnce(worker, mask, destinations, sources, bytes, sourceBytes);
    return;
  }
  const uint64_t place = callingKernelPlace();
  for (; mask; mask &= mask - 1) {
    int lane = __builtin_ctz(mask);
    AsyncOperation o;
    o.place = place;
    o.lane = static_cast<uint8_t>(lane);
    o.isTracked = 1;
    o.bytes = bytes;
    o.sourceBytes = sourceBytes ? std::min(sourceBytes[lane], bytes) : bytes;
    o.destination = destinations[lane];
    o.source = sources[lane];
    submitAsync(g, o);
  }
}

void ptxrun_cp_async_commit_group(abi::Gang *gang, uint32_t mask) {
  commitGroups(stateOf(gang), mask, false);
}

void ptxrun_cp_async_wait_group(abi::Gang *gang, uint32_t mask, uint32_t pending) {
  completeGroups(stateOf(gang), mask, false, pending);
}

void ptxrun_cp_async_mbarrier_arrive(abi::Gang *gang, uint32_t lane, void *object,
                                     uint32_t isNoinc) {
  GangState &g = stateOf(gang);
  uint64_t *word = mbarrierAt(g, object, Reach::ownCta);
  if (!isNoinc)
    addPendingArrival(g, word);
  AsyncOperation o;
  o.kind = AsyncKind::arrive;
  o.lane = static_cast<uint8_t>(lane);
  o.mbarrier = word;
  submitAsync(g, o);
}

void ptxrun_cp_async_bulk(abi::Gang *gang, uint32_t lane, void *destination, const void *source,
                          uint32_t bytes, void *mbarrier, uint32_t byteMask) {
  GangState &g = stateOf(gang);
  checkBulk(g, destination, source, bytes);
  AsyncOperation o = bulkOperation(AsyncKind::bulk, lane, destination, source, bytes, mbarrier);
  o.byteMask = byteMask & 0xffff;
  o.left = static_cast<uint8_t>(byteMask >> 16 & 15);
  o.right = static_cast<uint8_t>(byteMask >> 20 & 15);
  if (o.left + o.right > bytes)
    failBulk(g, ".ignore_oob leaves out more bytes than there are");
  submitAsync(g, o);
}

void ptxrun_cp_async_bulk_multicast(abi::Gang *gang, uint32_t lane, void *destination,
                                    const void *source, uint32_t bytes, void *mbarrier,
                                    uint32_t ctaMask) {
  GangState &g = stateOf(gang);
  checkBulk(g, destination, source, bytes);
  if (ctaMask >> groupOf(g).ctaCount)
    failBulk(g, "the CTA mask of a multicast names a CTA outside the cluster");
  for (; ctaMask; ctaMask &= ctaMask - 1) {
    auto rank = static_cast<uint32_t>(__builtin_ctz(ctaMask));
    submitAsync(g, bulkOperation(AsyncKind::bulk, lane, inCta(g, destination, rank), source, bytes,
                                 inCta(g, mbarrier, rank)));
  }
}

void ptxrun_cp_reduce_async_bulk(abi::Gang *gang, uint32_t lane, void *destination,
                                 const void *source, uint32_t bytes, void *mbarrier,
                                 abi::ReduceOp op, abi::ReduceType type) {
  GangState &g = stateOf(gang);
  checkBulk(g, destination, source, bytes);
  AsyncOperation o = bulkOperation(AsyncKind::reduce, lane, destination, source, bytes, mbarrier);
  o.op = op;
  o.type = type;
  submitAsync(g, o);
}

void ptxrun_bulk_commit_group(abi::Gang *gang, uint32_t mask) {
  commitGroups(stateOf(gang), mask, true);
}

void ptxrun_bulk_wait_group(abi::Gang *gang, uint32_t mask, uint32_t pending, uint32_t) {
  // `.read` asks only that sources have been read; a copy here is read and written at one time.
  completeGroups(stateOf(gang), mask, true, pending);
}
}
