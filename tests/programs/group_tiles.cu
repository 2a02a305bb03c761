// Cooperative groups within a block: tiles of all sizes, coalesced, labelled and binary groups, reductions and scans, shuffles, votes, a tile larger than a
// warp, asynchronous copies.
#include "check.h"
#include <algorithm>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
// nvcc: -arch=compute_90
namespace cg = cooperative_groups;

const int kThreads = 128;

template <int N> __device__ void tile(int *out) {
  auto block = cg::this_thread_block();
  auto t = cg::tiled_partition<N>(block);
  int v = block.thread_rank() * 3 + 1, r = t.thread_rank();
  out[0] = cg::reduce(t, v, cg::plus<int>());
  out[1] = cg::reduce(t, v, cg::greater<int>());
  out[2] = cg::inclusive_scan(t, v);
  out[3] = cg::exclusive_scan(t, v, cg::plus<int>());
  out[4] = t.shfl(v, N - 1);
  out[5] = t.shfl_xor(v, N / 2);
  out[6] = t.shfl_down(v, 1);
  out[7] = t.ballot(r % 3 == 0);
  out[8] = t.any(r == N - 1) * 2 + t.all(r < N);
  out[9] = t.meta_group_rank() * 1000 + t.meta_group_size();
  out[10] = t.match_any(v / 12 % 2);
  t.sync();
}
__global__ void tiles(int *out, int size) {
  int *mine = out + threadIdx.x * 16;
  switch (size) {
  case 2: tile<2>(mine); break;
  case 4: tile<4>(mine); break;
  case 8: tile<8>(mine); break;
  case 16: tile<16>(mine); break;
  default: tile<32>(mine);
  }
}
__global__ void divergent(int *out, unsigned *counter) {
  auto block = cg::this_thread_block();
  int i = block.thread_rank();
  out[i] = -1;
  if (i % 3 == 1) {
    auto active = cg::coalesced_threads();
    out[i] = active.thread_rank() * 100 + active.size();
    // one atomic for all of them
    unsigned base;
    if (active.thread_rank() == 0)
      base = atomicAdd(counter, active.size());
    base = active.shfl(base, 0);
    out[kThreads + i] = base + active.thread_rank();
    out[2 * kThreads + i] = cg::reduce(active, i, cg::plus<int>());
  }
  auto warp = cg::tiled_partition<32>(block);
  auto label = cg::labeled_partition(warp, i % 5);
  out[3 * kThreads + i] = label.size() * 1000 + label.thread_rank();
  auto half = cg::binary_partition(warp, i % 32 < 20);
  out[4 * kThreads + i] = half.size() * 1000 + half.shfl(i, 1);
  out[5 * kThreads + i] = cg::inclusive_scan(label, 1);
  auto dynamic = cg::tiled_partition(block, 8);
  out[6 * kThreads + i] = dynamic.size() * 100 + dynamic.thread_rank();
}
__global__ void wide(int *out) {
  __shared__ cg::block_tile_memory<kThreads> memory;
  auto block = cg::this_thread_block(memory);
  auto t = cg::tiled_partition<64>(block);
  out[threadIdx.x] = cg::reduce(t, int(threadIdx.x), cg::plus<int>());
  t.sync();
  out[kThreads + threadIdx.x] = t.shfl(int(threadIdx.x), 63) + t.any(threadIdx.x == 5);
}
__global__ void copies(const int *in, int *out, int n) {
  extern __shared__ int buffer[]; // two stages of 4 * kThreads
  auto block = cg::this_thread_block();
  const int stage = 4 * kThreads;
  int batches = n / stage;
  cg::memcpy_async(block, buffer, in, stage * sizeof(int));
  for (int b = 0; b < batches; ++b) {
    if (b + 1 < batches) {
      cg::memcpy_async(block, buffer + (b + 1) % 2 * stage, in + (b + 1) * stage, stage * sizeof(int));
      cg::wait_prior<1>(block);
    } else
      cg::wait(block);
    for (int i = threadIdx.x; i < stage; i += kThreads)
      out[b * stage + i] = buffer[b % 2 * stage + stage - 1 - i];
    block.sync();
  }
}
__global__ void invoked(int *out) {
  auto block = cg::this_thread_block();
  __shared__ int value;
  cg::invoke_one(block, [] { value = 42; });
  block.sync();
  auto token = block.barrier_arrive();
  block.barrier_wait(std::move(token));
  auto warp = cg::tiled_partition<32>(block);
  out[threadIdx.x] = value + cg::invoke_one_broadcast(warp, [&] { return int(warp.meta_group_rank()) * 10; });
  dim3 at = block.thread_index(), size = block.dim_threads();
  out[kThreads + threadIdx.x] = at.x + size.x * 1000 + block.group_index().x;
}

int main() {
  int *d;
  CHECK(cudaMalloc(&d, kThreads * 16 * 4));
  for (int size : {2, 4, 8, 16, 32}) {
    tiles<<<1, kThreads>>>(d, size);
    std::vector<int> got = toHost(d, kThreads * 16);
    for (int i = 0; i < kThreads; ++i) {
      int first = i / size * size, rank = i % size, sum = 0, before = 0;
      unsigned ballot = 0, match = 0;
      for (int j = 0; j < size; ++j) {
        sum += (first + j) * 3 + 1;
        before += j < rank ? (first + j) * 3 + 1 : 0;
        ballot |= (j % 3 == 0) << j;
        match |= unsigned(((first + j) * 3 + 1) / 12 % 2 == (i * 3 + 1) / 12 % 2) << j;
      }
      int v = i * 3 + 1, *g = &got[i * 16];
      EXPECT(g[0] == sum && g[1] == (first + size - 1) * 3 + 1 && g[2] == before + v && g[3] == before);
      EXPECT(g[4] == (first + size - 1) * 3 + 1 && g[5] == (first + (rank ^ size / 2)) * 3 + 1);
      EXPECT(g[6] == (rank + 1 < size ? v + 3 : v) && unsigned(g[7]) == ballot && g[8] == 3);
      EXPECT(g[9] == i / size * 1000 + kThreads / size && unsigned(g[10]) == match);
    }
  }
  unsigned *counter;
  CHECK(cudaMalloc(&counter, 4));
  CHECK(cudaMemset(counter, 0, 4));
  divergent<<<1, kThreads>>>(d, counter);
  std::vector<int> got = toHost(d, 7 * kThreads);
  std::vector<int> taken;
  for (int i = 0; i < kThreads; ++i) {
    int warp = i / 32 * 32, rank = 0, size = 0, sum = 0, label = 0, labelRank = 0;
    for (int j = warp; j < warp + 32; ++j) {
      size += j % 3 == 1, rank += j % 3 == 1 && j < i, sum += j % 3 == 1 ? j : 0;
      label += j % 5 == i % 5, labelRank += j % 5 == i % 5 && j < i;
    }
    if (i % 3 == 1) {
      EXPECT(got[i] == rank * 100 + size && got[2 * kThreads + i] == sum);
      taken.push_back(got[kThreads + i]);
    } else
      EXPECT(got[i] == -1);
    EXPECT(got[3 * kThreads + i] == label * 1000 + labelRank && got[5 * kThreads + i] == labelRank + 1);
    EXPECT(got[4 * kThreads + i] == (i % 32 < 20 ? 20000 + warp + 1 : 12000 + warp + 21));
    EXPECT(got[6 * kThreads + i] == 800 + i % 8);
  }
  std::sort(taken.begin(), taken.end());
  for (size_t i = 0; i < taken.size(); ++i)
    EXPECT(taken[i] == int(i));
  wide<<<1, kThreads>>>(d);
  got = toHost(d, 2 * kThreads);
  for (int i = 0; i < kThreads; ++i)
    EXPECT(got[i] == (i < 64 ? 2016 : 6112) && got[kThreads + i] == (i < 64 ? 64 : 127));
  const int n = 4 * kThreads * 6;
  std::vector<int> in(n);
  for (int i = 0; i < n; ++i)
    in[i] = i * i;
  int *from = toDevice(in), *to;
  CHECK(cudaMalloc(&to, n * 4));
  copies<<<1, kThreads, 8 * kThreads * 4>>>(from, to, n);
  got = toHost(to, n);
  for (int i = 0; i < n; ++i) {
    int stage = 4 * kThreads;
    EXPECT(got[i] == in[i / stage * stage + stage - 1 - i % stage]);
  }
  invoked<<<1, kThreads>>>(d);
  got = toHost(d, 2 * kThreads);
  for (int i = 0; i < kThreads; ++i)
    EXPECT(got[i] == 42 + i / 32 * 10 && got[kThreads + i] == i + kThreads * 1000);
  return done();
}
