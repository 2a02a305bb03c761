// nvcc: -arch=compute_80 --expt-relaxed-constexpr
// libcu++: atomics of every scope and width, atomic_ref, barriers, latches, semaphores, pipelines, and types of the standard library.
#include "check.h"
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/chrono>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/mdspan>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/variant>

struct Counters {
  cuda::atomic<int, cuda::thread_scope_device> all;
  cuda::atomic<unsigned long long, cuda::thread_scope_system> wide;
  cuda::std::atomic<short> narrow;
  cuda::atomic<unsigned char, cuda::thread_scope_block> byte;
  cuda::atomic<float, cuda::thread_scope_device> real;
  cuda::atomic<int, cuda::thread_scope_device> flag;
};
struct Pair {
  int a, b;
};
__global__ void atomics(Counters *c, int *plain, Pair *pair, int *seen) {
  c->all.fetch_add(2, cuda::memory_order_relaxed);
  c->wide.fetch_or(1ull << (threadIdx.x % 64));
  c->narrow.fetch_sub(1);
  c->real.fetch_add(0.5f);
  if (blockIdx.x == 0)
    c->byte.fetch_xor(threadIdx.x & 0xff);
  cuda::atomic_ref<int, cuda::thread_scope_device> ref(*plain);
  ref.fetch_max(blockIdx.x * blockDim.x + threadIdx.x);
  cuda::atomic_ref<Pair, cuda::thread_scope_device> p(*pair);
  Pair old = p.load(), next;
  do
    next = Pair{old.a + 1, old.b + int(threadIdx.x)};
  while (!p.compare_exchange_weak(old, next));
  if (blockIdx.x == 0 && threadIdx.x == 0) { // flag passing between blocks
    seen[1] = 42;
    c->flag.store(1, cuda::memory_order_release);
    c->flag.notify_all();
  }
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) {
    c->flag.wait(0, cuda::memory_order_acquire);
    seen[0] = seen[1];
  }
}
__global__ void phases(int *out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ cuda::counting_semaphore<cuda::thread_scope_block, 4> room;
  __shared__ cuda::latch<cuda::thread_scope_block> *nothing;
  __shared__ int inside, most, data[128];
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
    new (&room) cuda::counting_semaphore<cuda::thread_scope_block, 4>(2);
    inside = most = 0, nothing = nullptr;
  }
  __syncthreads();
  int v = threadIdx.x;
  for (int round = 0; round < 5; ++round) {
    data[threadIdx.x] = v;
    barrier.arrive_and_wait();
    v = data[(threadIdx.x + 1) % blockDim.x] + 1;
    auto token = barrier.arrive();
    barrier.wait(std::move(token));
  }
  if (threadIdx.x % 32 == 0) {
    room.acquire();
    atomicMax(&most, atomicAdd(&inside, 1) + 1);
    __nanosleep(1000);
    atomicSub(&inside, 1);
    room.release();
  }
  barrier.arrive_and_wait();
  out[threadIdx.x] = v + (most > 2 ? 100000 : 0);
}
__global__ void staged(const float *in, float *out, int batches) {
  auto block = cooperative_groups::this_thread_block();
  __shared__ float stage[2][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto pipe = cuda::make_pipeline(block, &state);
  auto fetch = [&](int b) {
    pipe.producer_acquire();
    cuda::memcpy_async(block, stage[b % 2], in + b * 64, cuda::aligned_size_t<16>(sizeof(float) * 64), pipe);
    pipe.producer_commit();
  };
  fetch(0);
  for (int b = 0; b < batches; ++b) {
    if (b + 1 < batches)
      fetch(b + 1);
    pipe.consumer_wait();
    out[b * 64 + threadIdx.x] = stage[b % 2][63 - threadIdx.x] * 2;
    pipe.consumer_release();
  }
}
__global__ void types(double *out) {
  namespace std_ = cuda::std;
  int i = threadIdx.x;
  std_::complex<double> z(i, 1), w = z * z + std_::complex<double>(0, 2);
  std_::array<int, 4> a{1, 2, 3, i};
  std_::span<int> s(a.data(), 4);
  std_::mdspan<int, std_::extents<int, 2, 2>> m(a.data());
  std_::optional<int> o = i % 2 ? std_::optional<int>(i) : std_::nullopt;
  std_::variant<int, float> u = i % 3 ? std_::variant<int, float>(i) : std_::variant<int, float>(0.5f);
  auto [p, q] = std_::make_tuple(i, i * 2);
  double sum = 0;
  for (int x : s)
    sum += x;
  sum += m(1, 1) + o.value_or(-1) + std_::visit([](auto v) { return double(v); }, u) + p + q + std_::popcount(unsigned(i)) + std_::bit_width(unsigned(i));
  out[i] = sum + w.real() + w.imag() + abs(std_::complex<double>(3, 4)) + std_::numeric_limits<short>::max();
}

int main() {
  Counters *c;
  int *plain, *seen, *out;
  Pair *pair;
  CHECK(cudaMallocManaged(&c, sizeof *c));
  CHECK(cudaMallocManaged(&plain, 4));
  CHECK(cudaMallocManaged(&seen, 8));
  CHECK(cudaMallocManaged(&pair, 8));
  CHECK(cudaMallocManaged(&out, 4096));
  new (c) Counters();
  *plain = -5, *seen = 0, *pair = {0, 0};
  c->all = 0, c->wide = 0, c->narrow = 0, c->byte = 0, c->real = 0, c->flag = 0;
  atomics<<<5, 100>>>(c, plain, pair, seen);
  CHECK(cudaDeviceSynchronize());
  int folded = 0;
  for (int i = 0; i < 100; ++i)
    folded ^= i;
  EXPECT(c->all == 1000 && c->wide == ~0ull && c->narrow == -500 && c->byte == folded && c->real == 250.f);
  EXPECT(*plain == 499 && pair->a == 500 && pair->b == 5 * 4950 && seen[0] == 42);
  phases<<<1, 128>>>(out);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 128; ++i)
    EXPECT(out[i] == (i + 5) % 128 + 5);
  std::vector<float> in(640);
  for (int i = 0; i < 640; ++i)
    in[i] = i;
  float *din = toDevice(in), *dout = toDevice(in);
  staged<<<1, 64>>>(din, dout, 10);
  std::vector<float> got = toHost(dout, 640);
  for (int i = 0; i < 640; ++i)
    EXPECT(got[i] == 2 * (i / 64 * 64 + 63 - i % 64));
  double *d;
  CHECK(cudaMallocManaged(&d, 32 * 8));
  types<<<1, 32>>>(d);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i) {
    int width = 0;
    for (int x = i; x; x /= 2)
      ++width;
    double want = 6 + i + i + (i % 2 ? i : -1) + (i % 3 ? i : 0.5) + 3 * i + __builtin_popcount(i) + width;
    EXPECT(d[i] == want + (double(i) * i - 1) + (2 * i + 2) + 5 + 32767);
  }
  return done();
}
