#include "rt/sync/mbarrier.h"

#include "rt/exec/lockstep.h"
#include "rt/exec/scheduler.h"
#include "rt/observe/report.h"

namespace ptxrun::rt {

namespace {

/// A group that only waits with time limits for this long, over this many rounds, is dead.
constexpr uint64_t kHopelessNs = 1'000'000'000;
constexpr uint32_t kHopelessPasses = 1000;

std::string nameOf(const GangState &g, const void *object) {
  int64_t offset = 0;
  char text[64];
  auto address = reinterpret_cast<uint64_t>(object);
  const GroupState &group = *g.cta->group;
  if (group.arena->contains(address, &offset))
    snprintf(text, sizeof text, "the mbarrier at .shared address 0x%llx",
             static_cast<unsigned long long>(offset));
  else
    snprintf(text, sizeof text, "the mbarrier at 0x%llx", static_cast<unsigned long long>(address));
  return text;
}

uint64_t load(GangState &g, const uint64_t *object) {
  GuestAccess access(*groupOf(g).worker);
  return *static_cast<const volatile uint64_t *>(object);
}

void store(GangState &g, uint64_t *object, MbarrierWord word) {
  GuestAccess access(*groupOf(g).worker);
  *static_cast<volatile uint64_t *>(object) = word.bits();
}

[[noreturn]] void failCount(GangState &g, const uint64_t *object, const char *what) {
  recordFailure(g, Status::invalid, nameOf(g, object) + ": " + what);
  leaveKernel(g);
}

[[noreturn]] void failArrival(GangState &g, const uint64_t *object, MbarrierWord word,
                              uint32_t count) {
  recordFailure(g, Status::invalid,
                nameOf(g, object) + ": an arrival of " + std::to_string(count) + " where " +
                    std::to_string(word.pending()) + " of " + std::to_string(word.expected()) +
                    " are pending");
  leaveKernel(g);
}

/// The phase is told apart from the one before by state or by parity.
inline bool isComplete(MbarrierWord now, uint64_t state, bool isParity) {
  return isParity ? (now.phase() & 1) != (state & 1) : now.phase() != MbarrierWord(state).phase();
}

/// Wakes the gangs whose phase is over. The phase before the current one is complete.
void wakeWaiters(GroupState &group, const uint64_t *object, MbarrierWord now) {
  auto address = reinterpret_cast<uint64_t>(object);
  GangList rest;
  while (GangState *g = group.mbarrierWaiters.pop()) {
    if (g->waitAddress != address || !isComplete(now, g->waitState, g->waitsForParity)) {
      rest.push(g);
      continue;
    }
    *g->result = 1;
    g->result = nullptr;
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

void addTransactions(GangState &g, uint64_t *object, int64_t count) {
  MbarrierWord word(load(g, object));
  int64_t tx = word.tx() + count;
  if (tx > int64_t{MbarrierWord::kMaxCount} || tx < -int64_t{MbarrierWord::kMaxCount})
    failCount(g, object, "the tx-count leaves its range of -(2^20-1) to 2^20-1");
  MbarrierWord changed =
      MbarrierWord::make(word.pending(), word.expected(), static_cast<int32_t>(tx), word.phase());
  if (count > 0)
    store(g, object, changed); // expect-tx never completes a phase
  else
    settle(g, object, changed);
}

/// True when the gang must suspend; else *isComplete is told.
bool beginTryWait(abi::Gang *gang, void *raw, uint64_t state, bool isParity, uint32_t nanoseconds,
                  uint32_t *result) {
  GangState &g = stateOf(gang);
  auto *object = static_cast<uint64_t *>(raw);
  if (isComplete(MbarrierWord(load(g, object)), state, isParity)) {
    *result = 1;
    return false;
  }
  leaveLockstep(g);
  GroupState &group = groupOf(g);
  g.wait = WaitKind::mbarrier;
  g.waitAddress = reinterpret_cast<uint64_t>(object);
  g.waitState = state;
  g.waitsForParity = isParity;
  g.sleep = nanoseconds;
  g.result = result;
  group.mbarrierWaiters.push(&g);
  return true;
}

} // namespace

void expectTransactions(GangState &g, uint64_t *object, uint32_t count) {
  addTransactions(g, object, count);
}

void completeTransactions(GangState &g, uint64_t *object, uint32_t count) {
  addTransactions(g, object, -int64_t{count});
}

uint64_t arriveOn(GangState &g, uint64_t *object, uint32_t count, bool isDrop) {
  MbarrierWord word(load(g, object));
  if (count == 0 || count > word.pending())
    failArrival(g, object, word, count);
  uint32_t expected = word.expected();
  if (isDrop)
    expected -= std::min(expected, count);
  settle(g, object, MbarrierWord::make(word.pending() - count, expected, word.tx(), word.phase()));
  return word.bits();
}

void addPendingArrival(GangState &g, uint64_t *object) {
  MbarrierWord word(load(g, object));
  if (word.pending() == MbarrierWord::kMaxCount)
    failCount(g, object, "more than 2^20-1 arrivals pending");
  store(g, object,
        MbarrierWord::make(word.pending() + 1, word.expected(), word.tx(), word.phase()));
}

std::string describeMbarrierWait(const GangState &g) {
  auto *object = reinterpret_cast<const uint64_t *>(g.waitAddress);
  MbarrierWord word(*object); // waited on before, so it can be read
  std::string s = nameOf(g, object) + ": phase " + std::to_string(word.phase()) + " (modulo 8), " +
                  std::to_string(word.expected() - std::min(word.expected(), word.pending())) +
                  " of " + std::to_string(word.expected()) + " arrivals";
  if (word.tx() != 0)
    s += ", " + std::to_string(word.tx()) + " bytes of transactions outstanding";
  return s;
}

bool onlyPollMbarriers(const GroupState &group) {
  for (const GangState *g = group.spinning.head; g; g = g->next)
    if (!g->yieldedOnMbarrier)
      return false;
  return true;
}

void endTimedWaits(GroupState &group) {
  for (GangState *g = group.mbarrierWaiters.head; g; g = g->next) {
    *g->result = 0;
    g->result = nullptr;
  }
  group.ready.append(group.mbarrierWaiters);
}

bool releaseTimedWaits(GroupState &group) {
  if (group.mbarrierWaiters.empty() && group.spinning.empty())
    return false;
  if (group.progress != group.seenProgress || group.idlePasses == 0) {
    group.seenProgress = group.progress;
    group.idlePasses = 1;
    group.idleSince = nowNs();
  } else if (++group.idlePasses > kHopelessPasses && nowNs() - group.idleSince > kHopelessNs) {
    return false;
  }
  endTimedWaits(group);
  group.ready.append(group.spinning);
  return true;
}

} // namespace ptxrun::rt

using namespace ptxrun;
using namespace ptxrun::rt;

extern "C" {

void ptxrun_mbarrier_init(abi::Gang *gang, void *object, uint32_t count) {
  GangState &g = stateOf(gang);
  auto *word = static_cast<uint64_t *>(object);
  if (count == 0 || count > MbarrierWord::kMaxCount)
    failCount(g, word, "mbarrier.init with a count outside 1 to 2^20-1");
  store(g, word, MbarrierWord::make(count, count, 0, 0));
  ++groupOf(g).progress;
}

void ptxrun_mbarrier_inval(abi::Gang *gang, void *object) {
  store(stateOf(gang), static_cast<uint64_t *>(object), MbarrierWord(0));
}

void ptxrun_mbarrier_expect_tx(abi::Gang *gang, void *object, uint32_t transactions) {
  expectTransactions(stateOf(gang), static_cast<uint64_t *>(object), transactions);
}

void ptxrun_mbarrier_complete_tx(abi::Gang *gang, void *object, uint32_t transactions) {
  completeTransactions(stateOf(gang), static_cast<uint64_t *>(object), transactions);
}

uint64_t ptxrun_mbarrier_arrive(abi::Gang *gang, void *object, uint32_t count) {
  return arriveOn(stateOf(gang), static_cast<uint64_t *>(object), count, false);
}

uint64_t ptxrun_mbarrier_arrive_drop(abi::Gang *gang, void *object, uint32_t count) {
  return arriveOn(stateOf(gang), static_cast<uint64_t *>(object), count, true);
}

uint32_t ptxrun_mbarrier_pending_count(uint64_t state) { return MbarrierWord(state).pending(); }

bool ptxrun_mbarrier_test_wait(abi::Gang *gang, void *object, uint64_t state, uint32_t isParity) {
  GangState &g = stateOf(gang);
  auto *word = static_cast<uint64_t *>(object);
  bool done = isComplete(MbarrierWord(load(g, word)), state, isParity);
  g.polledMbarrier = !done;
  if (!done) {
    g.waitAddress = reinterpret_cast<uint64_t>(word);
    g.waitState = state;
    g.waitsForParity = isParity != 0;
  }
  return done;
}

bool ptxrun_mbarrier_try_wait(abi::Gang *gang, void *object, uint64_t state, uint32_t isParity,
                              uint32_t nanoseconds) {
  stateOf(gang).waitPc = __builtin_return_address(0);
  uint32_t result = 0;
  if (beginTryWait(gang, object, state, isParity, nanoseconds, &result))
    suspendGang(stateOf(gang));
  return result != 0;
}

bool ptxrun_mbarrier_try_wait_begin(abi::Gang *gang, void *object, uint64_t state,
                                    uint32_t isParity, uint32_t nanoseconds, uint32_t *isComplete) {
  stateOf(gang).waitPc = __builtin_return_address(0);
  return beginTryWait(gang, object, state, isParity, nanoseconds, isComplete);
}
}
