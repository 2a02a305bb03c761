// What changes an mbarrier: init, inval, expect-tx, complete-tx, arrive.
#include "rt/sync/mbarrier.h"

#include "rt/launch/failure.h"
#include "rt/launch/suspend.h"
#include "rt/observe/trace_events.h"

namespace ptxrun::rt {

namespace {

constexpr uint64_t kWindowBytes = uint64_t{1} << abi::kSharedWindowShift;

uint64_t offsetOf(const GroupState &group, const void *object) {
  return reinterpret_cast<uint64_t>(object) - reinterpret_cast<uint64_t>(group.arena->base());
}

void store(GangState &g, uint64_t *object, MbarrierWord word) {
  GuestAccess access(*groupOf(g).worker);
  *static_cast<volatile uint64_t *>(object) = word.bits();
}

[[noreturn]] void failCount(GangState &g, const uint64_t *object, const char *what) {
  recordFailure(g, Status::undefinedUse, mbarrierName(g, object) + ": " + what);
  leaveKernel(g);
}

std::string describeArrival(MbarrierWord word, uint32_t count) {
  if (word.isVoid())
    return "it is not initialised, was invalidated, or all arrivals were dropped";
  return "an arrival of " + std::to_string(count) + " where " + std::to_string(word.pending()) +
         " of " + std::to_string(word.expected()) + " are pending";
}

[[noreturn]] void failArrival(GangState &g, const uint64_t *object, MbarrierWord word,
                              uint32_t count) {
  recordFailure(g, Status::undefinedUse,
                mbarrierName(g, object) + ": " + describeArrival(word, count));
  leaveKernel(g);
}

/// Wakes the gangs that wait for a phase of the object that is over `now`.
void wakeWaiters(GroupState &group, const uint64_t *object, MbarrierWord now) {
  auto address = reinterpret_cast<uint64_t>(object);
  GangList rest;
  while (GangState *g = group.mbarrierWaiters.pop()) {
    if (g->waitAddress != address || !now.isPast(g->waitState, g->waitsForParity)) {
      rest.push(g);
      continue;
    }
    *g->result = 1;
    g->result = nullptr;
    if (trace::isOn())
      traceMbarrierWait(*g);
    makeReady(group, *g);
  }
  group.mbarrierWaiters = rest;
}

/// Stores what the operation made of the object; if that completes the phase, the next one begins.
void settle(GangState &g, uint64_t *object, MbarrierWord word) {
  GroupState &group = groupOf(g);
  ++group.progress;
  if (word.pending() != 0 || word.tx() != 0) {
    store(g, object, word);
    return;
  }
  word = MbarrierWord::make(word.expected(), word.expected(), 0, word.phase() + 1);
  store(g, object, word);
  if (!group.mbarrierWaiters.empty())
    wakeWaiters(group, object, word);
}

/// The tx-count may pass zero from either side; it is at zero that the phase may be complete.
void addTransactions(GangState &g, uint64_t *object, int64_t count) {
  MbarrierWord word = readMbarrier(g, object);
  int64_t tx = word.tx() + count;
  if (tx > int64_t{MbarrierWord::kMaxCount} || tx < -int64_t{MbarrierWord::kMaxCount})
    failCount(g, object, "the tx-count leaves its range of -(2^20-1) to 2^20-1");
  MbarrierWord changed =
      MbarrierWord::make(word.pending(), word.expected(), static_cast<int32_t>(tx), word.phase());
  if (word.isVoid())
    failArrival(g, object, word, 0);
  if (count == 0)
    store(g, object, changed);
  else
    settle(g, object, changed);
}

} // namespace

uint64_t *mbarrierElsewhere(GangState &g, void *address, Reach reach) {
  const GroupState &group = groupOf(g);
  const uint64_t offset = offsetOf(group, address);
  const bool isInCluster = offset < group.ctaCount * kWindowBytes;
  const bool isAligned = offset % sizeof(uint64_t) == 0;
  if (isInCluster && isAligned && reach == Reach::cluster)
    return static_cast<uint64_t *>(address);
  if (!isInCluster)
    recordFailure(g, Status::undefinedUse,
                  mbarrierName(g, address) + ": it lies outside the shared memory of the " +
                      (group.ctaCount > 1 ? "cluster" : "thread block"));
  else if (!isAligned)
    recordFailure(g, Status::undefinedUse,
                  mbarrierName(g, address) + ": an mbarrier object is aligned to 8 bytes");
  else
    recordFailure(g, Status::undefinedUse,
                  mbarrierName(g, address) +
                      ": it lies in another thread block of the cluster, where only arrive, "
                      "arrive_drop, expect_tx and complete_tx may name it");
  leaveKernel(g);
}

std::string mbarrierName(const GangState &g, const void *object) {
  const GroupState &group = *g.cta->group;
  const uint64_t offset = offsetOf(group, object);
  char text[96];
  if (offset >= group.ctaCount * kWindowBytes)
    snprintf(text, sizeof text, "the mbarrier at 0x%llx",
             reinterpret_cast<unsigned long long>(object));
  else
    snprintf(text, sizeof text, "the mbarrier at .shared address 0x%llx",
             static_cast<unsigned long long>(offset % kWindowBytes));
  std::string name = text;
  const uint64_t rank = offset / kWindowBytes;
  if (rank != g.cta->cta.clusterRank && rank < group.ctaCount)
    name += " of the block with rank " + std::to_string(rank) + " in the cluster";
  return name;
}

void expectTransactions(GangState &g, uint64_t *object, uint32_t count) {
  addTransactions(g, object, count);
}

void completeTransactions(GangState &g, void *address, uint32_t count) {
  addTransactions(g, mbarrierAt(g, address, Reach::cluster), -int64_t{count});
}

uint64_t arriveOn(GangState &g, uint64_t *object, uint32_t count, bool isDrop) {
  MbarrierWord word = readMbarrier(g, object);
  if (count == 0 || count > word.pending())
    failArrival(g, object, word, count);
  uint32_t expected = word.expected();
  if (isDrop)
    expected -= std::min(expected, count);
  settle(g, object, MbarrierWord::make(word.pending() - count, expected, word.tx(), word.phase()));
  return word.bits();
}

/// One arrival of all lanes, or, where they do not all belong to this phase, one by one.
static uint64_t arriveLanes(GangState &g, uint64_t *object, uint32_t count, uint32_t lanes,
                            bool isDrop) {
  MbarrierWord word = readMbarrier(g, object);
  const uint64_t total = uint64_t{count} * lanes;
  if (count != 0 && total <= word.pending())
    return arriveOn(g, object, static_cast<uint32_t>(total), isDrop);
  for (; lanes; --lanes)
    arriveOn(g, object, count, isDrop);
  return word.bits();
}

void addPendingArrival(GangState &g, uint64_t *object) {
  MbarrierWord word = readMbarrier(g, object);
  if (word.pending() == MbarrierWord::kMaxCount)
    failCount(g, object, "more than 2^20-1 arrivals pending");
  store(g, object,
        MbarrierWord::make(word.pending() + 1, word.expected(), word.tx(), word.phase()));
}

} // namespace ptxrun::rt

using namespace ptxrun;
using namespace ptxrun::rt;

extern "C" {

void ptxrun_mbarrier_init(abi::Gang *gang, void *address, uint32_t count) {
  GangState &g = stateOf(gang);
  uint64_t *object = mbarrierAt(g, address, Reach::ownCta);
  if (count == 0 || count > MbarrierWord::kMaxCount)
    failCount(g, object, "mbarrier.init with a count outside 1 to 2^20-1");
  store(g, object, MbarrierWord::make(count, count, 0, 0));
  ++groupOf(g).progress;
}

void ptxrun_mbarrier_inval(abi::Gang *gang, void *address) {
  GangState &g = stateOf(gang);
  store(g, mbarrierAt(g, address, Reach::ownCta), MbarrierWord(0));
}

void ptxrun_mbarrier_expect_tx(abi::Gang *gang, void *address, uint32_t transactions) {
  GangState &g = stateOf(gang);
  expectTransactions(g, mbarrierAt(g, address, Reach::cluster), transactions);
}

void ptxrun_mbarrier_complete_tx(abi::Gang *gang, void *address, uint32_t transactions) {
  completeTransactions(stateOf(gang), address, transactions);
}

uint64_t ptxrun_mbarrier_arrive(abi::Gang *gang, void *address, uint32_t count) {
  GangState &g = stateOf(gang);
  return arriveOn(g, mbarrierAt(g, address, Reach::cluster), count, false);
}

uint64_t ptxrun_mbarrier_arrive_drop(abi::Gang *gang, void *address, uint32_t count) {
  GangState &g = stateOf(gang);
  return arriveOn(g, mbarrierAt(g, address, Reach::cluster), count, true);
}

uint64_t ptxrun_mbarrier_arrive_lanes(abi::Gang *gang, void *address, uint32_t count,
                                      uint32_t lanes) {
  GangState &g = stateOf(gang);
  return arriveLanes(g, mbarrierAt(g, address, Reach::cluster), count, lanes, false);
}

uint64_t ptxrun_mbarrier_arrive_drop_lanes(abi::Gang *gang, void *address, uint32_t count,
                                           uint32_t lanes) {
  GangState &g = stateOf(gang);
  return arriveLanes(g, mbarrierAt(g, address, Reach::cluster), count, lanes, true);
}

uint64_t ptxrun_mbarrier_arrive_no_complete(abi::Gang *gang, void *address, uint32_t count,
                                            uint32_t isDrop) {
  GangState &g = stateOf(gang);
  uint64_t *object = mbarrierAt(g, address, Reach::ownCta);
  MbarrierWord word = readMbarrier(g, object);
  if (count == word.pending() && word.tx() == 0 && count != 0)
    failCount(g, object, "an arrival with .noComplete completes the phase");
  return arriveOn(g, object, count, isDrop != 0);
}

uint32_t ptxrun_mbarrier_pending_count(uint64_t state) { return MbarrierWord(state).pending(); }
}
