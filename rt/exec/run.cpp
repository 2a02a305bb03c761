#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "rt/exec/costs.h"
#include "rt/exec/group.h"
#include "rt/exec/openmp.h"
#include "rt/exec/pool.h"
#include "rt/exec/run.h"
#include "rt/exec/scheduler.h"
#include "rt/launch/faults.h"
#include "rt/launch/floating_environment.h"
#include "rt/launch/grid.h"
#include "rt/launch/sanitizers.h"
#include "rt/launch/sole_launch.h"
#include "rt/launch/watchdog.h"
#include "rt/observe/printf.h"

namespace ptxrun::rt {

namespace {

/// A launch expected to take less than this runs on the calling thread: waking the others would
/// take about as long.
constexpr uint64_t kInlineNs = 15'000;
/// A launch that was expected to be short and is not gets help after this time.
constexpr uint64_t kInlineLimitNs = 20'000;
constexpr uint32_t kMaxThreadsPerCta = 1024;
constexpr uint64_t kMaxSharedBytes =
    (uint64_t{1} << abi::kSharedWindowShift) - abi::kSharedFirstOffset;

Failure invalid(std::string message) {
  Failure f;
  f.status = Status::invalid;
  f.message = std::move(message);
  return f;
}

/// What the code makes of it: blocks of joined CTAs (KernelNeeds::joinedCtas).
abi::Dim3 joinedGrid(const LaunchRequest &r) {
  const abi::Dim3 &n = r.code->needs.joinedCtas;
  return {(r.grid.x + n.x - 1) / n.x, (r.grid.y + n.y - 1) / n.y, (r.grid.z + n.z - 1) / n.z};
}
abi::Dim3 joinedBlock(const LaunchRequest &r) {
  const abi::Dim3 &n = r.code->needs.joinedCtas;
  return {r.block.x * n.x, r.block.y * n.y, r.block.z * n.z};
}

/// Whether the request can be run at all; ok or invalid with the reason.
Failure check(const LaunchRequest &r) {
  if (!r.code)
    return invalid("no kernel code given");
  uint32_t lanes = r.code->needs.lanes;
  if (lanes != 1 && lanes != 8 && lanes != 16 && lanes != 32)
    return invalid("a gang cannot have " + std::to_string(lanes) + " lanes");
  if (volume(r.grid) == 0 || volume(r.block) == 0 || volume(r.cluster) == 0)
    return invalid("a grid, block or cluster dimension is zero");
  if (volume(r.block) > kMaxThreadsPerCta)
    return invalid("a thread block of " + std::to_string(volume(r.block)) +
                   " threads is too large; at most 1024 are possible");
  if (volume(r.cluster) > kMaxClusterCtas)
    return invalid("a cluster of " + std::to_string(volume(r.cluster)) +
                   " thread blocks is too large; at most 16 are possible");
  if (r.grid.x % r.cluster.x || r.grid.y % r.cluster.y || r.grid.z % r.cluster.z)
    return invalid("the grid is not a multiple of the cluster in every dimension");
  if (uint64_t{r.code->needs.staticSharedBytes} + r.dynamicSharedBytes > kMaxSharedBytes)
    return invalid("more shared memory asked for than a thread block's window holds");
  const bool isPlain = volume(r.cluster) == 1 && !r.isExplicitCluster && !r.isCooperative;
  if (volume(r.code->needs.joinedCtas) > 1 &&
      (!isPlain || r.schedule != Schedule::fast || volume(joinedBlock(r)) > kMaxThreadsPerCta ||
       r.grid.y % r.code->needs.joinedCtas.y != 0 || r.grid.z % r.code->needs.joinedCtas.z != 0))
    return invalid("code for joined thread blocks does not fit the launch");
  if (!r.code->gang && !r.code->gangStart &&
      (r.code->needs.maySuspend || !r.code->ctaRange || !isPlain))
    return invalid("the kernel has no entry point for this launch");
  return {};
}

void chooseForm(LaunchState &l) {
  const auto &code = *l.code;
  bool isPlain = l.ctasPerGroup == 1 && !l.abi.isExplicitCluster;
  l.usesRanges = code.ctaRange && !code.needs.maySuspend && isPlain && !l.request->isCooperative;
  l.usesCoroutines = !l.usesRanges && code.gangStart;
  if (l.usesRanges)
    l.maxChunk = 1u << 16;
  else
    l.maxChunk = l.request->isCooperative || l.ctasPerGroup > 1 ? 1 : 8;
}

/// How many groups a worker may have begun: blocks that wait for all of a grid count on as many as
/// the occupancy functions promise, 16 x 2048 threads, each of which may be a gang. A fiber is two
/// mappings, of which Linux gives a process 65530: all workers together stay at half of that.
uint32_t mostInFlight(const LaunchState &l) {
#if defined(PTXRUN_TSAN) || defined(PTXRUN_ASAN) // which map more for each
  constexpr uint32_t kMostGangs = 8192, kMostFibers = 4096;
#else
  constexpr uint32_t kMostGangs = 32768, kMostFibers = 16384;
#endif
  if (l.request->isCooperative)
    return ~0u;
  const uint32_t fibers = kMostFibers / static_cast<uint32_t>(l.workers);
  const uint32_t gangs = l.usesCoroutines ? kMostGangs : std::min(kMostGangs, fibers);
  return std::max(8u, gangs / (l.gangsPerCta * l.ctasPerGroup));
}

void fill(LaunchState &l, const LaunchRequest &r) {
  static std::atomic<uint64_t> lastId{0};
  l.request = &r;
  l.code = r.code;
  l.id = lastId.fetch_add(1, std::memory_order_relaxed) + 1;
  const abi::Dim3 grid = joinedGrid(r);
  l.block = joinedBlock(r);
  l.ctas = volume(grid);
  l.threadsPerCta = static_cast<uint32_t>(volume(l.block));
  l.gangsPerCta = (l.threadsPerCta + r.code->needs.lanes - 1) / r.code->needs.lanes;
  l.ctasPerGroup = static_cast<uint32_t>(volume(r.cluster));
  l.groups = l.ctas / l.ctasPerGroup;
  l.clusterGrid = {grid.x / r.cluster.x, grid.y / r.cluster.y, grid.z / r.cluster.z};
  const auto &needs = r.code->needs;
  uint32_t shared = needs.staticSharedBytes + r.dynamicSharedBytes;
  // Dynamic shared memory starts at an aligned place behind the static part.
  l.sharedBytes = shared ? shared + std::max(needs.staticSharedAlign, 128u) : 0;
  l.abi.grid = r.grid;
  l.abi.block = r.block;
  l.abi.cluster = r.cluster;
  l.abi.isExplicitCluster = r.isExplicitCluster || l.ctasPerGroup > 1;
  l.abi.staticSharedBytes = needs.staticSharedBytes;
  l.abi.dynamicSharedBytes = r.dynamicSharedBytes;
  l.abi.gridId = l.id;
  l.abi.gridWorkspace = r.isCooperative ? reinterpret_cast<uint64_t>(l.workspace) : 0;
  l.abi.params = r.params;
  l.abi.rt = &l;
  l.next.store(std::min(r.firstGroup, l.groups), std::memory_order_relaxed);
  chooseForm(l);
}

int workersFor(const LaunchState &l) {
  const LaunchRequest &r = *l.request;
  if (r.schedule != Schedule::fast || l.groups == 1)
    return 1;
  int threads = r.threads > 0 ? r.threads : openMpThreads();
  return static_cast<int>(
      std::min<uint64_t>(static_cast<uint64_t>(std::max(threads, 1)), l.groups));
}

/// Looking at the clock takes as long as an empty kernel, so most launches of one group, whose time
/// only informs estimates for larger ones, go without.
bool isTimed(const LaunchState &l) {
  constexpr uint64_t kTimedOnesIn = 16;
  return l.groups > 1 || l.request->upgrade || l.id % kTimedOnesIn == 0 ||
         expectedNs(*l.code, l.threadsPerCta, l.ctas) == ~uint64_t{0};
}

/// The calling thread's part of the launch.
void workAs(Worker &worker, LaunchState &l, int number, uint64_t deadline) {
  const bool isTimedHere = isTimed(l);
  const uint64_t start = isTimedHere ? nowNs() : 0;
  worker.launch = &l;
  worker.number = number;
  worker.gangJob = gangJob;
  worker.freeGroupMemory = freeGroupMemory;
  requireStackBytes(worker, l.code->needs.stackBytes);
  worker.code = l.code;
  worker.toldNs = start;
  auto &slot = l.workerThreads[static_cast<size_t>(number)];
  slot.store(worker.threadId, std::memory_order_relaxed);
  const Schedule schedule = l.request->schedule;
  if (l.usesRanges)
    runRanges(worker, l, deadline);
  else if (schedule != Schedule::fast && (schedule != Schedule::serial || l.request->stepper))
    runControlled(worker, l);
  else
    runGroups(worker, l, deadline);
  if (isTimedHere)
    l.workNs.fetch_add(nowNs() - start, std::memory_order_relaxed);
}

/// The same, where memory may be too short for the records that it needs: that fails the launch.
void work(LaunchState &l, int number, uint64_t deadline) {
  Worker *worker = nullptr;
  try {
    worker = &workerOfThread();
    if (worker->launch) {
      failLaunch(l, invalid("a launch was started from within a launch on the same thread"));
      return;
    }
    workAs(*worker, l, number, deadline);
  } catch (const std::bad_alloc &) {
    failForMemory(l, "not enough memory for the launch");
    for (GroupState *group :
         worker ? std::exchange(worker->inFlight, {}) : std::vector<GroupState *>{})
      closeGroup(*worker, group);
  }
  l.workerThreads[static_cast<size_t>(number)].store(0, std::memory_order_relaxed);
  if (!worker)
    return;
  if (l.isStopped())
    abandonFibers(*worker);
  worker->launch = nullptr;
  worker->running = nullptr;
}

bool gainsByBeingSole(const LaunchState &l) {
  return l.code->needs.hasDeviceUpdates && l.request->schedule == Schedule::fast;
}

void shareMemory(LaunchState &l) {
  l.sole->share();
  l.abi.isSole = 0;
}

/// The calling thread works at once; helpers join unless the launch is expected to be over before
/// they wake.
void workTogether(LaunchState &l, bool isShort, uint64_t start) {
  if (isShort)
    work(l, 0, start + kInlineLimitNs);
  if (l.next.load(std::memory_order_relaxed) >= l.groups || l.isStopped())
    return;
  shareMemory(l);
  offerLaunch(l, work);
  work(l, 0, 0);
  withdrawLaunch(l);
}

/// All of the launch's work, under the watchdog's eyes.
void workWatched(LaunchState &l) {
  struct Watched {
    LaunchState &launch;
    ~Watched() { unwatch(launch); }
  } watched{l}; // whatever is thrown: nobody may look at what is gone
  watch(l);
  const uint64_t expected = expectedNs(*l.code, l.threadsPerCta, l.ctas);
  // Launches that take long, or were never seen, have the time to look.
  keepFaultHandlers(expected > kInlineLimitNs);
  const bool isShort = !l.request->isCooperative && expected < kInlineNs;
  SoleLaunch sole((l.workers == 1 || isShort) && gainsByBeingSole(l));
  l.sole = &sole;
  l.abi.isSole = sole.isSole();
  if (l.workers == 1)
    work(l, 0, 0);
  else
    workTogether(l, isShort, nowNs());
  sole.end();
  if (const uint64_t taken = l.workNs.load(std::memory_order_relaxed))
    rememberNs(*l.code, l.threadsPerCta, l.ctas, taken);
}

} // namespace

Failure run(const LaunchRequest &request) {
  const KernelEnvironment environment;
  if (Failure f = check(request); f.status != Status::ok)
    return f;
  std::optional<LaunchState> usual;
  LaunchState &l = request.stepper ? workerOfThread().debugged.emplace() : usual.emplace();
  fill(l, request);
  l.workers = workersFor(l);
  l.maxInFlight = mostInFlight(l);
  l.abi.workerCount = static_cast<uint32_t>(l.workers);
  l.workerThreads = std::vector<std::atomic<int>>(static_cast<size_t>(l.workers));
  workWatched(l);
  deliverText(l);
  return l.hasFailed ? std::move(l.failure) : Failure{};
}

} // namespace ptxrun::rt
