// nvcc: -arch=compute_80 -rdc=true
// Cooperative launches: grid and block groups, tiles, coalesced groups, partitions, reduce, scan, memcpy_async, invoke_one.
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

__global__ void jacobi(float *a, float *b, int n, int rounds, float *norm) {
  cg::grid_group grid = cg::this_grid();
  cg::thread_block block = cg::this_thread_block();
  __shared__ float parts[32];
  for (int r = 0; r < rounds; ++r) {
    float change = 0;
    for (unsigned long long i = grid.thread_rank() + 1; i + 1 < n; i += grid.size()) {
      b[i] = 0.5f * (a[i - 1] + a[i + 1]);
      change += fabsf(b[i] - a[i]);
    }
    auto tile = cg::tiled_partition<32>(block);
    change = cg::reduce(tile, change, cg::plus<float>());
    if (tile.thread_rank() == 0)
      parts[tile.meta_group_rank()] = change;
    block.sync();
    if (block.thread_rank() == 0) {
      float sum = 0;
      for (int i = 0; i < tile.meta_group_size(); ++i)
        sum += parts[i];
      atomicAdd(&norm[r], sum);
    }
    grid.sync();
    float *t = a;
    a = b, b = t;
  }
  if (grid.is_valid() && grid.thread_rank() == 0)
    norm[rounds] = grid.num_blocks() * 1000 + grid.block_rank() + grid.dim_blocks().x;
}
__global__ void groups(int *out, const int *in) {
  auto block = cg::this_thread_block();
  __shared__ int stage[128];
  cg::memcpy_async(block, stage, in, sizeof(int) * 128);
  cg::wait(block);
  int t = block.thread_rank(), v = stage[127 - t];
  auto tile = cg::tiled_partition<8>(block);
  int inclusive = cg::inclusive_scan(tile, v), exclusive = cg::exclusive_scan(tile, v, cg::plus<int>());
  int most = cg::reduce(tile, v, cg::greater<int>()), least = cg::reduce(tile, v, cg::less<int>());
  int any = tile.any(v % 5 == 0), all = tile.all(v >= 0), ballot = tile.ballot(v & 1), mates = __popc(tile.match_any(v / 4));
  int other = tile.shfl_xor(v, 3), up = tile.shfl_up(v, 1), down = tile.shfl_down(v, 2);
  auto parity = cg::labeled_partition(tile, t % 3), half = cg::binary_partition(tile, t % 8 < 3);
  int sizes = parity.size() * 100 + parity.thread_rank() * 10 + half.size();
  int coalesced = 0;
  if (t % 4 == 1) {
    auto active = cg::coalesced_threads();
    coalesced = active.size() * 1000 + active.thread_rank() * 10 + active.shfl(t, active.size() - 1) % 10;
    coalesced += cg::reduce(active, 1, cg::plus<int>()) * 100000;
  }
  int once = 0;
  cg::invoke_one(tile, [&] { once = 1; });
  int *o = out + t * 16;
  o[0] = inclusive, o[1] = exclusive, o[2] = most, o[3] = least, o[4] = any, o[5] = all, o[6] = ballot, o[7] = mates, o[8] = other;
  o[9] = up, o[10] = down, o[11] = sizes, o[12] = coalesced, o[13] = tile.meta_group_rank(), o[14] = once, o[15] = block.thread_index().x;
}

int main() {
  int device = 0, supports = 0, perSm = 0;
  CHECK(cudaDeviceGetAttribute(&supports, cudaDevAttrCooperativeLaunch, device));
  EXPECT(supports == 1);
  cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, device));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&perSm, jacobi, 128, 0));
  EXPECT(perSm > 0);
  int n = 5000, rounds = 20;
  std::vector<float> a(n, 0.f), b;
  a[0] = 100, a[n - 1] = -50, a[n / 2] = 7;
  b = a;
  float *da = toDevice(a), *db = toDevice(b), *norm;
  CHECK(cudaMallocManaged(&norm, (rounds + 1) * sizeof(float)));
  CHECK(cudaMemset(norm, 0, (rounds + 1) * sizeof(float)));
  int blocks = perSm * p.multiProcessorCount < 7 ? perSm * p.multiProcessorCount : 7;
  void *args[] = {&da, &db, &n, &rounds, &norm};
  CHECK(cudaLaunchCooperativeKernel((void *)jacobi, blocks, 128, args, 0, 0));
  CHECK(cudaDeviceSynchronize());
  std::vector<double> change(rounds, 0.);
  for (int r = 0; r < rounds; ++r, a.swap(b))
    for (int i = 1; i + 1 < n; ++i)
      b[i] = 0.5f * (a[i - 1] + a[i + 1]), change[r] += std::fabs(b[i] - a[i]);
  std::vector<float> got = toHost(rounds % 2 ? db : da, n);
  for (int i = 0; i < n; ++i)
    EXPECT(got[i] == a[i]);
  for (int r = 0; r < rounds; ++r)
    EXPECT(std::fabs(norm[r] - change[r]) < 1e-3 * (1 + change[r]));
  EXPECT(norm[rounds] == blocks * 1000 + blocks);

  std::vector<int> in(128);
  for (int i = 0; i < 128; ++i)
    in[i] = i * 37 % 101;
  int *din = toDevice(in), *out;
  CHECK(cudaMallocManaged(&out, 128 * 16 * sizeof(int)));
  groups<<<1, 128>>>(out, din);
  CHECK(cudaDeviceSynchronize());
  auto value = [&](int t) { return in[127 - t]; };
  for (int t = 0; t < 128; ++t) {
    int base = t / 8 * 8, inclusive = 0, most = -1, least = 1000, any = 0, ballot = 0, mates = 0, label = 0, rank = 0, once = 0;
    for (int i = base; i < base + 8; ++i) {
      int v = value(i);
      inclusive += i <= t ? v : 0;
      most = std::max(most, v), least = std::min(least, v), any |= v % 5 == 0, ballot |= (v & 1) << (i - base);
      mates += v / 4 == value(t) / 4, label += i % 3 == t % 3, rank += i % 3 == t % 3 && i < t;
      once += out[i * 16 + 14];
    }
    int *o = out + t * 16;
    EXPECT(o[0] == inclusive && o[1] == inclusive - value(t) && o[2] == most && o[3] == least && o[4] == any && o[5] == 1);
    EXPECT(o[6] == ballot && o[7] == mates && o[8] == value(base + ((t - base) ^ 3)));
    EXPECT(o[9] == value(t == base ? t : t - 1) && o[10] == value(t + 2 > base + 7 ? t : t + 2));
    EXPECT(o[11] == label * 100 + rank * 10 + (t % 8 < 3 ? 3 : 5) && o[13] == t / 8 && once == 1 && o[15] == t);
    EXPECT(o[12] == (t % 4 == 1 ? 800000 + 8000 + t % 32 / 4 * 10 + (t / 32 * 32 + 29) % 10 : 0));
  }
  return done();
}
