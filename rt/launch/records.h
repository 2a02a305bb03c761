// What rt keeps about a running launch. The abi records are the first members, so an entry point
// that gets an abi::Gang * has the GangState *.
//
//   LaunchState   one per run(), shared by its workers
//   GroupState    CTAs that are co-scheduled: one, or the CTAs of a cluster. Belongs to one worker
//   from start to end, so
//                 nothing inside it needs atomics
//   CtaState      barriers, live warps
//   GangState     what a gang waits for, its fiber or coroutine frame
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "intrinsics/abi.h"
#include "rt/launch/launch.h"
#include "rt/launch/sole_launch.h"
#include "rt/memory/shared_arena.h"

namespace ptxrun::rt {

struct AsyncGroups;
struct CtaState;
struct Fiber;
struct GroupState;
struct MbarrierWait;
struct TensorState;
struct Worker;

/// What a suspended gang waits for. `running` covers ready gangs as well.
enum class WaitKind : uint8_t {
  unstarted,
  running,
  barrier,
  arrival, ///< bar.arrive: for the rest of its warp
  warp,
  spin,
  mbarrier,
  clusterBarrier,
  tensorMemory, ///< tcgen05.alloc
  done
};

struct alignas(64) GangState {
  abi::Gang gang; // first: entry points convert
  GangState *next =
      nullptr; ///< link in the one list the gang is in (ready, spinning, waiters of a barrier)
  union {
    Fiber *fiber = nullptr; ///< what runs it, where kernels run on fibers
    void *frame;            ///< its coroutine, else
  };
  CtaState *cta = nullptr;
  const void *waitPc = nullptr; ///< in the kernel, behind the call that suspended last
  // --- second line
  uint32_t *result = nullptr; ///< where the end of a wait is told: bar.red, warp gather, mbarrier
  uint64_t *values = nullptr; ///< `out` of a warp gather
  uint64_t waitAddress = 0;   ///< mbarrier
  uint64_t waitState = 0;     ///< mbarrier: state or parity
  uint32_t waitMask = 0;      ///< the membermask
  uint32_t sleep = 0;         ///< ns asked for by the last yield
  uint16_t warp = 0;
  uint8_t laneShift = 0; ///< laneid of lane 0
  WaitKind wait = WaitKind::unstarted;
  uint8_t barrier = 0;
  bool waitsForParity = false;
  bool polledMbarrier = false;    ///< a test or timed wait failed since the last yield
  bool yieldedOnMbarrier = false; ///< the last yield was that of a loop that waits for an mbarrier
  uint32_t index = 0;             ///< in the group
  uint32_t clusterPhase = 0;      ///< of the cluster's barrier, when the gang last arrived
  AsyncGroups *async = nullptr;   ///< pending cp.async, null until the first
};
static_assert(sizeof(GangState) == 128, "two cache lines");

/// Lanes of the gang at their places in the warp.
inline uint32_t warpLanes(const GangState &g, uint32_t gangMask) { return gangMask << g.laneShift; }

/// Intrusive FIFO of gangs.
struct GangList {
  GangState *head = nullptr;
  GangState *tail = nullptr;

  bool empty() const { return !head; }
  void push(GangState *g) {
    g->next = nullptr;
    if (tail)
      tail->next = g;
    else
      head = g;
    tail = g;
  }
  GangState *pop() {
    GangState *g = head;
    if (g && !(head = g->next))
      tail = nullptr;
    return g;
  }
  void append(GangList &other) {
    if (!other.head)
      return;
    if (tail)
      tail->next = other.head;
    else
      head = other.head;
    tail = other.tail;
    other = {};
  }
  void remove(GangState *g);
  uint32_t size() const;
};

inline constexpr uint32_t kBarriers = 16;
inline constexpr uint32_t kMaxWarps = 32;
inline constexpr uint32_t kMaxClusterCtas = 16;

/// One of the sixteen barriers of a CTA. All zero between uses.
struct CtaBarrier {
  uint32_t warpsArrived = 0; ///< mask of warps that are complete in this use
  uint32_t arrivals = 0;     ///< count of warp arrivals; a warp that arrives twice counts twice
  uint32_t expected = 0;     ///< warps; 0 = all of the CTA
  uint32_t predicates = 0;   ///< bar.red: threads with a true predicate
  uint32_t participants = 0;
  GangList waiters;
  GangList arriving; ///< bar.arrive of gangs whose warp is not complete yet
};

/// Gangs of one warp that named the same membermask at the same sort of collective, or that ask who
/// is active at the same place.
struct WarpMeeting {
  const char *operation = nullptr;
  bool isOpen = false; ///< activemask: ends when nobody can run
  uint32_t site = 0;   ///< activemask: which
  uint32_t memberMask = 0;
  uint32_t arrived = 0;
  GangList waiters;
  WarpMeeting *next = nullptr;
  uint64_t values[abi::kWarpSize];
};

struct CtaState {
  abi::Cta cta; // first
  GroupState *group = nullptr;
  char *window = nullptr; ///< its shared memory's: host address of offset 0
  GangState *gangs = nullptr;
  uint32_t gangCount = 0;
  uint32_t warpCount = 0;
  uint32_t allWarps = 0;
  uint32_t liveWarps = 0; ///< warps with a thread that has not exited
  uint32_t gangsPerWarp = 1;
  uint16_t touchedBarriers = 0; ///< barriers that may be non-zero
  uint32_t unfinishedGangs = 0;
  uint32_t lockstepBarrier = ~0u; ///< see exec/lockstep.h
  bool isLockstep = false;
  TensorState *tensor = nullptr; ///< of wgmma and tcgen05, null until the first
  WarpMeeting *meetings[kMaxWarps] = {};
  uint32_t warpLive[kMaxWarps] = {};
  CtaBarrier barriers[kBarriers];
  uint32_t lanesArrived[kBarriers]
                       [kMaxWarps]; ///< used where a warp has several gangs; zero between uses
};

/// barrier.cluster. `phase` counts completed uses.
struct ClusterBarrier {
  uint32_t warpsArrived[kMaxClusterCtas] = {};
  uint32_t lanesArrived[kMaxClusterCtas][kMaxWarps] = {};
  uint32_t phase = 0;
  bool hasArrivals = false;
  GangList waiters;
};

struct LaunchState;

/// What a Controller keeps of a gang.
struct ControlledGang {
  uint64_t points = 0, priority = 0;
};

struct GroupState {
  Worker *worker = nullptr;
  LaunchState *launch = nullptr;
  const abi::KernelCode *code = nullptr; ///< what its gangs run
  GangList ready;
  GangList spinning; ///< yielded; run again in the next pass
  GangList mbarrierWaiters;
  uint32_t openMeetings = 0; ///< activemasks that wait for the rest of their warps
  uint32_t nextUnstarted = 0;
  uint32_t gangCount = 0;
  uint32_t unfinished = 0;
  uint64_t progress = 0; ///< anything but yields and timed-out waits
  uint64_t number = 0;   ///< linear number of its first CTA's group in the grid
  uint32_t ctaCount = 0;
  uint32_t liveCtas = 0;
  CtaState *ctas = nullptr;
  GangState *gangs = nullptr;
  SharedArena *arena = nullptr;
  char *frames = nullptr; ///< coroutine frames, one slot per gang
  uint64_t frameBytes = 0;
  uint64_t framesCapacity = 0;
  uint64_t framesFor = 0;                      ///< launch id frameBytes is true for
  const abi::KernelCode *framesCode = nullptr; ///< and the code
  /// Frames that outgrow the slots (the last gang of a CTA may run other code), by gang; kept for
  /// the next CTA.
  struct LargeFrame {
    char *memory = nullptr;
    uint64_t bytes = 0;
  };
  std::vector<LargeFrame> largeFrames;
  std::vector<ControlledGang> controlled; ///< by gang, under a Controller
  ClusterBarrier clusterBarrier;
  GroupState *nextFree = nullptr;
  uint64_t preparedFor = 0; ///< launch id the invariant fields were filled for
  uint32_t capacityCtas = 0;
  uint32_t capacityGangs = 0;
  uint32_t idlePasses = 0; ///< passes with timed waits only, and no progress
  uint32_t spinPasses = 0;
  uint64_t idleSince = 0;
  uint64_t seenProgress = 0;
  uint64_t memorySpins = 0; ///< yields of loops that wait for memory to change
  uint64_t seenMemorySpins = 0;
  uint64_t timeWaits = 0; ///< yields of loops that wait for time to pass: they end by themselves
  uint64_t openedAt = 0;  ///< while a trace is written: when, else 0
  bool isAloneInTrace = true; ///< no other group was in flight then
};

/// A launch that helpers may join. Guarded by the pool's lock.
struct HelpOffer {
  void (*work)(LaunchState &, int number, uint64_t deadline) = nullptr;
  int nextNumber = 1;
  bool isOpen = false;
};

/// Shared by all workers of one launch.
struct LaunchState {
  abi::Launch abi;
  const LaunchRequest *request = nullptr;
  const abi::KernelCode *code = nullptr;
  uint64_t id = 0;
  uint64_t ctas = 0; ///< where code joins them (KernelNeeds::joinedCtas), blocks of joined ones
  abi::Dim3 block;   ///< likewise
  uint32_t threadsPerCta = 0;
  uint32_t gangsPerCta = 0;
  uint32_t ctasPerGroup = 1;
  uint64_t groups = 0;
  abi::Dim3 clusterGrid;    ///< clusters along each axis
  uint32_t sharedBytes = 0; ///< to commit per CTA from kSharedFirstOffset on
  int workers = 1;
  uint32_t maxChunk = 1;
  bool usesCoroutines = false;
  bool usesRanges = false;
  SoleLaunch *sole = nullptr; ///< while it runs
  uint32_t maxInFlight = 1;   ///< groups per worker

  alignas(64) std::atomic<uint64_t> next{0}; ///< first group nobody has taken
  alignas(64) std::atomic<uint32_t> stop{0}; ///< Status of the reason to leave, 0 = go on
  std::atomic<uint64_t> workNs{0};           ///< time its workers spent on it
  std::atomic<bool> hasSpun{false};
  std::atomic<bool> isWatched{false};
  std::atomic<uint32_t> helpers{0}; ///< that joined and have not left
  HelpOffer offer;
  std::mutex lock; ///< guards failure and printed
  bool hasFailed = false;
  Failure failure;
  std::string printed;
  std::vector<std::atomic<int>> workerThreads; ///< kernel thread ids of its workers, 0 = left
  alignas(64) char workspace[256] = {};

  /// Called by its only worker between updates of memory.
  void letOthersIn() {
    if (abi.isSole)
      abi.isSole = sole->letOthersIn();
  }
  bool isStopped() const { return stop.load(std::memory_order_relaxed) != 0; }
};

inline GangState &stateOf(abi::Gang *gang) { return *reinterpret_cast<GangState *>(gang); }
inline GroupState &groupOf(GangState &g) { return *g.cta->group; }

/// Where in this process a place in the `.shared` window of the gang's CTA is: an offset, with the
/// rank in the cluster above it where addresses have that (KernelNeeds::hasOwnWindow).
uint64_t hostAddressOfShared(const GangState &, uint64_t address);

/// Records the first failure of a launch and tells its workers to leave. Later failures are
/// dropped.
void failLaunch(LaunchState &, Failure);
/// The same where memory is short. There may be none for the message either: the status tells as
/// much.
void failForMemory(LaunchState &, const char *message);

} // namespace ptxrun::rt
