// libcu++ in blocks and grids: barriers with arrival tokens and completion functions, pipelines that copy ahead, latches, semaphores, atomics of
// all scopes and kinds, atomic_ref on plain memory, memcpy_async into shared memory.
// nvcc: -arch=compute_80
#include "check.h"
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cooperative_groups.h>

namespace cg = cooperative_groups;
const int kThreads = 128;
typedef cuda::barrier<cuda::thread_scope_block> Barrier;

__global__ void phases(int *out, int rounds) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier barrier;
  __shared__ int values[kThreads];
  if (threadIdx.x == 0)
    init(&barrier, kThreads);
  __syncthreads();
  int v = threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    values[threadIdx.x] = v;
    auto token = barrier.arrive();
    int own = v * 3 % 1009; // while others arrive
    barrier.wait(std::move(token));
    v = own + values[(threadIdx.x + 1) % kThreads];
    barrier.arrive_and_wait();
  }
  out[threadIdx.x] = v;
}
/// Half of the warps make what the other half uses, two buffers between them.
__global__ void producers(const int *in, long long *out, int rounds) {
  __shared__ Barrier full[2], empty[2];
  __shared__ int buffer[2][kThreads / 2];
  if (threadIdx.x == 0)
    for (int i = 0; i < 2; ++i)
      init(&full[i], kThreads), init(&empty[i], kThreads);
  __syncthreads();
  const int half = kThreads / 2, lane = threadIdx.x % half;
  if (threadIdx.x < half) {
    for (int r = 0; r < rounds; ++r) {
      empty[r % 2].arrive_and_wait();
      buffer[r % 2][lane] = in[r * half + lane];
      (void)full[r % 2].arrive();
    }
  } else {
    long long sum = 0;
    (void)empty[0].arrive();
    (void)empty[1].arrive();
    for (int r = 0; r < rounds; ++r) {
      full[r % 2].arrive_and_wait();
      sum += (long long)(r + 1) * buffer[r % 2][half - 1 - lane];
      if (r + 2 < rounds)
        (void)empty[r % 2].arrive();
    }
    out[lane] = sum;
  }
}
template <int kStages> __global__ void piped(const float *in, float *out, int batches) {
  __shared__ float stage[kStages][kThreads];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  float sum = 0;
  for (int fetch = 0, compute = 0; compute < batches; ++compute) {
    for (; fetch < batches && fetch < compute + kStages; ++fetch) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, stage[fetch % kStages], in + fetch * kThreads, cuda::aligned_size_t<16>(sizeof(float) * kThreads), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += stage[compute % kStages][kThreads - 1 - threadIdx.x] * (compute + 1);
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}
__global__ void ownPipe(const int4 *in, int4 *out) {
  __shared__ int4 s[2][kThreads];
  auto pipe = cuda::make_pipeline();
  for (int k = 0; k < 2; ++k) {
    pipe.producer_acquire();
    cuda::memcpy_async(&s[k][threadIdx.x], in + k * kThreads + threadIdx.x, sizeof(int4), pipe);
    pipe.producer_commit();
  }
  cuda::pipeline_consumer_wait_prior<1>(pipe);
  int4 a = s[0][threadIdx.x];
  cuda::pipeline_consumer_wait_prior<0>(pipe);
  int4 b = s[1][threadIdx.x];
  pipe.consumer_release();
  out[threadIdx.x] = make_int4(a.x + b.w, a.y + b.z, a.z + b.y, a.w + b.x);
}
__global__ void atomics(int *plain, unsigned long long *wide, float *f, double *d, int *log) {
  cuda::atomic_ref<int, cuda::thread_scope_device> a(*plain);
  a.fetch_add(2, cuda::memory_order_relaxed);
  cuda::atomic_ref<unsigned long long, cuda::thread_scope_system> w(*wide);
  w.fetch_max(threadIdx.x * 1000ull + blockIdx.x, cuda::std::memory_order_acq_rel);
  cuda::atomic_ref<float> x(*f);
  x.fetch_add(0.5f);
  cuda::atomic_ref<double, cuda::thread_scope_device> y(*d);
  double old = y.load();
  while (!y.compare_exchange_weak(old, old + 0.25))
    ;
  __shared__ cuda::atomic<int, cuda::thread_scope_block> count;
  if (threadIdx.x == 0)
    count.store(0);
  __syncthreads();
  count++;
  count ^= 0;
  __syncthreads();
  if (threadIdx.x == 0)
    log[blockIdx.x] = count.exchange(7) * 10 + count.load();
}
struct Shared {
  cuda::latch<cuda::thread_scope_device> latch{64};
  cuda::counting_semaphore<cuda::thread_scope_device, 3> room{3};
  cuda::binary_semaphore<cuda::thread_scope_device> one{1};
  cuda::atomic<int, cuda::thread_scope_device> inside{0}, most{0};
  int guarded = 0, before = 0;
};
__global__ void create(Shared *s) { new (s) Shared; }
__global__ void meet(Shared *s, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&s->before, i);
  s->latch.arrive_and_wait();
  out[i] = *(volatile int *)&s->before;
  s->room.acquire();
  int now = ++s->inside;
  s->most.fetch_max(now);
  __nanosleep(50);
  --s->inside;
  s->room.release();
  s->one.acquire();
  ++s->guarded;
  s->one.release();
}

int main() {
  int *d;
  CHECK(cudaMallocManaged(&d, 4096));
  phases<<<1, kThreads>>>(d, 20);
  CHECK(cudaDeviceSynchronize());
  std::vector<int> v(kThreads), next(kThreads);
  for (int i = 0; i < kThreads; ++i)
    v[i] = i;
  for (int r = 0; r < 20; ++r) {
    for (int i = 0; i < kThreads; ++i)
      next[i] = v[i] * 3 % 1009 + v[(i + 1) % kThreads];
    v = next;
  }
  EXPECT(std::equal(v.begin(), v.end(), d));
  const int rounds = 30;
  std::vector<int> in(rounds * kThreads / 2);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = int(i * 37 % 1000);
  int *di = toDevice(in);
  long long *sums;
  CHECK(cudaMallocManaged(&sums, kThreads * 8));
  producers<<<1, kThreads>>>(di, sums, rounds);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < kThreads / 2; ++i) {
    long long want = 0;
    for (int r = 0; r < rounds; ++r)
      want += (long long)(r + 1) * in[r * 64 + 63 - i];
    EXPECT(sums[i] == want);
  }
  std::vector<float> f(kThreads * 10);
  for (size_t i = 0; i < f.size(); ++i)
    f[i] = float(i % 17);
  float *df = toDevice(f), *out;
  CHECK(cudaMallocManaged(&out, kThreads * 4));
  for (int stages = 1; stages <= 4; ++stages) {
    (stages == 1 ? piped<1> : stages == 2 ? piped<2> : stages == 3 ? piped<3> : piped<4>)<<<1, kThreads>>>(df, out, 10);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < kThreads; ++i) {
      float want = 0;
      for (int b = 0; b < 10; ++b)
        want += f[b * kThreads + kThreads - 1 - i] * (b + 1);
      EXPECT(out[i] == want);
    }
  }
  std::vector<int4> four(2 * kThreads);
  for (int i = 0; i < 2 * kThreads; ++i)
    four[i] = make_int4(i, 2 * i, 3 * i, 4 * i);
  int4 *d4 = toDevice(four), *o4;
  CHECK(cudaMallocManaged(&o4, kThreads * 16));
  ownPipe<<<1, kThreads>>>(d4, o4);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < kThreads; ++i)
    EXPECT(o4[i].x == i + 4 * (i + kThreads) && o4[i].w == 4 * i + i + kThreads);
  unsigned long long *wide;
  double *dd;
  CHECK(cudaMallocManaged(&wide, 8));
  CHECK(cudaMallocManaged(&dd, 8));
  *wide = 5, *dd = 1, out[0] = 0, d[0] = 100;
  atomics<<<8, kThreads>>>(d, wide, out, dd, d + 1);
  CHECK(cudaDeviceSynchronize());
  EXPECT(d[0] == 100 + 16 * kThreads && *wide == 127007 && out[0] == 512 && *dd == 257);
  for (int b = 0; b < 8; ++b)
    EXPECT(d[1 + b] == 1287);
  Shared *shared;
  CHECK(cudaMallocManaged(&shared, sizeof(Shared)));
  create<<<1, 1>>>(shared);
  meet<<<4, 16>>>(shared, d);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; ++i)
    EXPECT(d[i] == 2016);
  EXPECT(shared->guarded == 64 && shared->most.load() >= 1 && shared->most.load() <= 3);
  return done();
}
