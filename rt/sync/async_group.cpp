#include "rt/sync/async_group.h"

#include <cstring>
#include <new>

#include "rt/atomics/reduce.h"
#include "rt/launch/clock.h"
#include "rt/launch/failure.h"
#include "rt/launch/sanitizers.h"
#include "rt/launch/suspend.h"
#include "rt/launch/worker.h"
#include "rt/observe/trace_events.h"
#include "rt/sync/mbarrier.h"
#include "rt/tensor/tensor_queue.h"

namespace ptxrun::rt {

namespace {

/// Copies the bytes of every 16 that the mask names.
void copyMasked(char *to, const char *from, uint32_t bytes, uint32_t mask) {
  for (uint32_t i = 0; i < bytes; ++i)
    if (mask >> (i % 16) & 1)
      to[i] = from[i];
}

PTXRUN_KERNELS_MEMORY void copyBytes(const AsyncOperation &o) {
  auto *to = static_cast<char *>(o.destination);
  if (o.byteMask != 0xffff) {
    copyMasked(to, static_cast<const char *>(o.source), o.bytes, o.byteMask);
    return;
  }
  if (o.sourceBytes)
    std::memcpy(to + o.left, static_cast<const char *>(o.source) + o.left,
                o.sourceBytes - o.left - o.right);
  if (o.sourceBytes < o.bytes)
    std::memset(to + o.sourceBytes, 0, o.bytes - o.sourceBytes);
}

/// A copy that was put off finds the tensor-map of now, which may not be the one that was checked.
void performTensor(GangState &g, const AsyncOperation &o) {
  if (groupOf(g).worker->launch->request->asyncCopies != AsyncCopies::eager)
    if (const char *error = checkTensorRequest(o.tensor)) {
      recordFailure(g, Status::undefinedUse,
                    std::string("tensor copy: ") + error + " in " + describeGang(g));
      leaveKernel(g);
    }
  performTensorCopy(o.tensor);
}

void perform(GangState &g, const AsyncOperation &o) {
  const uint64_t begin = trace::isOn() ? nowNs() : 0;
  {
    GuestAccess access(*groupOf(g).worker);
    if (o.kind == AsyncKind::reduce)
      reduceArray(o.op, o.type, o.destination, o.source, o.bytes, o.mbarrier != nullptr);
    else if (o.kind == AsyncKind::tensor)
      performTensor(g, o);
    else if (o.kind == AsyncKind::store)
      std::memcpy(o.destination, o.payload, o.bytes);
    else if (o.kind == AsyncKind::reduceValue)
      reduceArray(o.op, o.type, o.destination, o.payload, o.bytes, true);
    else if (o.kind == AsyncKind::commitTensor)
      performTensorOperations(g, o.group);
    else if (o.kind != AsyncKind::arrive)
      copyBytes(o);
  }
  if (begin)
    traceAsync(g,
               o.kind == AsyncKind::tensor   ? "tensor copy"
               : o.kind == AsyncKind::arrive ? "arrive"
                                             : "copy",
               o.bytes, begin);
  ++groupOf(g).progress;
  if (o.kind == AsyncKind::arrive || o.kind == AsyncKind::commitTensor)
    arriveOn(g, o.mbarrier, 1, false);
  else if (o.mbarrier)
    completeTransactions(g, o.mbarrier, o.bytes);
}

/// Performs, in order, the pending operations that `isDue` names, and forgets them.
template <typename Predicate> void performWhere(GangState &g, Predicate isDue) {
  auto &pending = g.async->pending;
  size_t kept = 0;
  for (size_t i = 0; i < pending.size(); ++i) {
    AsyncOperation o = pending[i];
    if (isDue(o)) {
      Worker &worker = *groupOf(g).worker;
      worker.latePlace = o.place;
      perform(g, o);
      worker.latePlace = 0;
    } else
      pending[kept++] = o;
  }
  pending.resize(kept);
}

bool isBulkKind(AsyncKind kind) {
  return kind == AsyncKind::bulk || kind == AsyncKind::reduce || kind == AsyncKind::tensor;
}

AsyncGroups &groupsOf(GangState &g) {
  if (!g.async && !(g.async = new (std::nothrow) AsyncGroups)) {
    recordFailure(g, Status::outOfMemory, "not enough memory for asynchronous copies");
    leaveKernel(g);
  }
  return *g.async;
}

/// Whether to perform now what could be put off.
bool isNow(GangState &g) {
  Worker &worker = *groupOf(g).worker;
  switch (worker.launch->request->asyncCopies) {
  case AsyncCopies::eager:
    return true;
  case AsyncCopies::late:
    return false;
  case AsyncCopies::seeded:
    return worker.random.below(2) == 0;
  }
  return true;
}

} // namespace

void freeAsyncGroups(AsyncGroups *groups) { delete groups; }
void resetAsyncGroups(AsyncGroups &groups) {
  groups.pending.clear();
  std::memset(groups.copyGroups, 0, sizeof groups.copyGroups);
  std::memset(groups.bulkGroups, 0, sizeof groups.bulkGroups);
}

void submitAsync(GangState &g, const AsyncOperation &o) {
  if (groupOf(g).worker->launch->request->asyncCopies == AsyncCopies::eager) {
    perform(g, o);
    return;
  }
  AsyncGroups &groups = groupsOf(g);
  if (o.kind != AsyncKind::arrive && isNow(g)) { // an arrival stays behind the copies it reports
    perform(g, o);
    return;
  }
  groups.pending.push_back(o);
  if (!o.place)
    groups.pending.back().place = callingKernelPlace();
  if (o.kind == AsyncKind::commitTensor)
    return;
  groups.pending.back().group =
      isBulkKind(o.kind) ? groups.bulkGroups[o.lane] : groups.copyGroups[o.lane];
}

void commitGroups(GangState &g, uint32_t mask, bool isBulk) {
  if (groupOf(g).worker->launch->request->asyncCopies == AsyncCopies::eager)
    return;
  AsyncGroups &groups = groupsOf(g);
  for (; mask; mask &= mask - 1)
    ++(isBulk ? groups.bulkGroups : groups.copyGroups)[__builtin_ctz(mask)];
}

void completeGroups(GangState &g, uint32_t mask, bool isBulk, uint32_t keep) {
  if (!g.async || g.async->pending.empty())
    return;
  const uint64_t *counts = isBulk ? g.async->bulkGroups : g.async->copyGroups;
  performWhere(g, [&](const AsyncOperation &o) {
    return (mask >> o.lane & 1) && o.isTracked && isBulkKind(o.kind) == isBulk &&
           o.group + keep < counts[o.lane];
  });
}

void completeAll(GangState &g) {
  if (g.async && !g.async->pending.empty())
    performWhere(g, [](const AsyncOperation &) { return true; });
}

namespace {
/// The cluster's arena: rank 0's window, whatever `.shared` addresses of the kernel count from.
uint64_t arenaOf(const GangState &g) {
  return reinterpret_cast<uint64_t>(g.cta->window) -
         (uint64_t{g.cta->cta.clusterRank} << abi::kSharedWindowShift);
}
} // namespace

void *inCta(const GangState &g, void *address, uint32_t rank) {
  const uint64_t base = arenaOf(g), offset = reinterpret_cast<uint64_t>(address) - base;
  const uint64_t window = (uint64_t{1} << abi::kSharedWindowShift) - 1;
  return reinterpret_cast<void *>(base + (uint64_t{rank} << abi::kSharedWindowShift) +
                                  (offset & window));
}

uint32_t rankOf(const GangState &g, const void *address) {
  return static_cast<uint32_t>((reinterpret_cast<uint64_t>(address) - arenaOf(g)) >>
                               abi::kSharedWindowShift);
}

bool hasLateCopies(const GroupState &group) {
  for (uint32_t i = 0; i < group.gangCount; ++i)
    if (group.gangs[i].async && !group.gangs[i].async->pending.empty())
      return true;
  return false;
}

} // namespace ptxrun::rt
