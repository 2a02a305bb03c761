// Kernels written once and run both ways: as coroutines whose waits are the two-step entry points,
// and on fibers, where the same text calls the entry points that switch stacks and never suspends
// itself.
#pragma once
#include <coroutine>

#include "tests/unit/rt/kernels.h"

namespace ptxrun::rt::test {

/// What a dual kernel returns. Its frame is rt's memory, as for generated code.
struct Task {
  struct promise_type {
    static void *operator new(size_t bytes, const Launch *, Cta *, Gang *g) {
      return ptxrun_frame_alloc(g, bytes);
    }
    static void operator delete(void *, size_t) {}
    Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::abort(); }
  };
  std::coroutine_handle<promise_type> handle;
};

/// co_await of one suspends the coroutine where the entry point said so.
struct Suspension {
  bool mustSuspend;
  bool await_ready() const noexcept { return !mustSuspend; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  void await_resume() const noexcept {}
};

struct RedResult {
  uint32_t popc, participants;
};

template <bool OnFiber> struct Waits {
  static Suspension barSync(Gang *g, uint32_t id, uint32_t threads = 0) {
    if constexpr (!OnFiber)
      return {ptxrun_bar_sync_begin(g, id, threads, laneMask(g))};
    ptxrun_bar_sync(g, id, threads, laneMask(g));
    return {false};
  }
  static Suspension barRed(Gang *g, uint32_t id, uint32_t threads, uint32_t predicates,
                           uint32_t *result) {
    if constexpr (!OnFiber)
      return {ptxrun_bar_red_begin(g, id, threads, laneMask(g), predicates, result)};
    result[0] = ptxrun_bar_red(g, id, threads, laneMask(g), predicates, &result[1]);
    return {false};
  }
  static Suspension barArrive(Gang *g, uint32_t id, uint32_t threads) {
    if constexpr (!OnFiber)
      return {ptxrun_bar_arrive_begin(g, id, threads, laneMask(g))};
    ptxrun_bar_arrive(g, id, threads, laneMask(g));
    return {false};
  }
  static Suspension yield(Gang *g, abi::WaitReason reason = abi::WaitReason::spin) {
    if constexpr (!OnFiber)
      return {ptxrun_yield_begin(g, reason, 0)};
    ptxrun_yield(g, reason, 0);
    return {false};
  }
  static Suspension gather(Gang *g, uint32_t members, uint32_t mask, const uint64_t *in,
                           uint64_t *out, uint32_t *participants) {
    if constexpr (!OnFiber)
      return {ptxrun_warp_gather_begin(g, "shfl.sync.idx", members, mask, in, out, participants)};
    *participants = ptxrun_warp_gather(g, "shfl.sync.idx", members, mask, in, out);
    return {false};
  }
  static Suspension tryWait(Gang *g, void *object, uint64_t state, bool isParity,
                            uint32_t *isComplete) {
    if constexpr (!OnFiber)
      return {ptxrun_mbarrier_try_wait_begin(g, object, state, isParity, 0, isComplete)};
    *isComplete = ptxrun_mbarrier_try_wait(g, object, state, isParity, 0);
    return {false};
  }
  static Suspension clusterWait(Gang *g) {
    if constexpr (!OnFiber)
      return {ptxrun_cluster_wait_begin(g, laneMask(g))};
    ptxrun_cluster_wait(g, laneMask(g));
    return {false};
  }
};

/// Entry points of a kernel template `Task kernel<Waits>(const Launch *, Cta *, Gang *)`.
#define DUAL_KERNEL(kernel)                                                                        \
  void *kernel##Start(const Launch *l, Cta *c, Gang *g) {                                          \
    return kernel<Waits<false>>(l, c, g).handle.address();                                         \
  }                                                                                                \
  void kernel##Fiber(const Launch *l, Cta *c, Gang *g) { kernel<Waits<true>>(l, c, g); }           \
  abi::KernelCode kernel##Code(uint32_t lanes, bool isCoroutine) {                                 \
    abi::KernelCode code = fiberKernel(kernel##Fiber, lanes);                                      \
    code.gangStart = isCoroutine ? kernel##Start : nullptr;                                        \
    return code;                                                                                   \
  }

/// Every width, both ways.
struct Way {
  uint32_t lanes;
  bool isCoroutine;
};
inline std::string wayName(const ::testing::TestParamInfo<Way> &info) {
  return (info.param.isCoroutine ? "Coroutine" : "Fiber") + std::to_string(info.param.lanes);
}
#define ALL_WAYS(suite)                                                                            \
  INSTANTIATE_TEST_SUITE_P(Ways, suite,                                                            \
                           ::testing::Values(Way{1, false}, Way{8, false}, Way{16, false},         \
                                             Way{32, false}, Way{1, true}, Way{8, true},           \
                                             Way{16, true}, Way{32, true}),                        \
                           wayName)

} // namespace ptxrun::rt::test
