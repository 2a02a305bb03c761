// nvcc: -arch=compute_80
// Votes, matches, shuffles of every type and width, reductions of a warp, active masks, divergent meetings, lane masks.
#include "check.h"

__device__ unsigned laneMaskLess() {
  unsigned m;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(m));
  return m;
}
__global__ void primitives(long long *out) {
  int t = threadIdx.x, lane = t % 32;
  long long *o = out + t * 24;
  o[0] = __all_sync(~0u, lane < 32), o[1] = __any_sync(~0u, lane == 40), o[2] = __ballot_sync(~0u, lane % 3 == 0);
  o[3] = __match_any_sync(~0u, lane / 5);
  int all;
  o[4] = __match_all_sync(~0u, t / 32, &all) & (all ? ~0u : 0);
  o[5] = __shfl_sync(~0u, lane * 10, 3, 8), o[6] = __shfl_up_sync(~0u, lane, 2, 16), o[7] = __shfl_down_sync(~0u, lane, 5), o[8] = __shfl_xor_sync(~0u, lane, 17);
  o[9] = __shfl_sync(~0u, lane * 0.5, lane + 1) * 4, o[10] = __shfl_sync(~0u, (long long)lane << 40, 31 - lane), o[11] = (long long)__shfl_xor_sync(~0u, float(lane), 1);
  o[12] = __reduce_add_sync(~0u, lane), o[13] = __reduce_max_sync(~0u, -lane), o[14] = __reduce_xor_sync(~0u, 1u << lane), o[15] = __reduce_min_sync(~0u, unsigned(lane + 7));
  if (lane % 2) {
    unsigned m = __activemask();
    o[16] = m == 0xaaaaaaaa;
    o[17] = __ballot_sync(0xaaaaaaaa, lane > 15), o[18] = __reduce_or_sync(0xaaaaaaaa, 1 << lane), o[19] = __shfl_sync(0xaaaaaaaa, lane, lane ^ 2);
  } else {
    o[16] = 1;
    o[17] = __ballot_sync(0x55555555, lane > 15), o[18] = __reduce_and_sync(0x55555555, ~(1u << lane)), o[19] = __shfl_sync(0x55555555, lane, lane ^ 4);
  }
  __syncwarp();
  o[20] = laneMaskLess();
  int sum = lane;
  for (int d = 1; d < 32; d *= 2) {
    int v = __shfl_up_sync(~0u, sum, d);
    if (lane >= d)
      sum += v;
  }
  o[21] = sum;
  o[22] = __syncthreads_count(t % 5 == 0) * 10000 + __syncthreads_and(t < 1000) * 10 + __syncthreads_or(t == 999);
}
__global__ void aggregated(int *counter, int *where) { // one atomic for those that are there
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t % 3 == 0) {
    unsigned active = __activemask();
    int leader = __ffs(active) - 1, lane = threadIdx.x % 32, at = 0;
    if (lane == leader)
      at = atomicAdd(counter, __popc(active));
    at = __shfl_sync(active, at, leader) + __popc(active & ((1u << lane) - 1));
    where[at] = t;
  }
}

int main() {
  long long *o;
  CHECK(cudaMallocManaged(&o, 128 * 24 * 8));
  primitives<<<1, 128>>>(o);
  CHECK(cudaDeviceSynchronize());
  for (int t = 0; t < 128; ++t) {
    int lane = t % 32;
    long long *r = o + t * 24;
    unsigned third = 0, mates = 0;
    for (int l = 0; l < 32; ++l)
      third |= (l % 3 == 0) << l, mates |= unsigned(l / 5 == lane / 5) << l;
    EXPECT(r[0] == 1 && r[1] == 0 && (unsigned)r[2] == third && (unsigned)r[3] == mates && (unsigned)r[4] == ~0u);
    EXPECT(r[5] == (lane / 8 * 8 + 3) * 10 && r[6] == (lane % 16 < 2 ? lane : lane - 2) && r[7] == (lane + 5 > 31 ? lane : lane + 5) && r[8] == (lane ^ 17));
    EXPECT(r[9] == (lane + 1) % 32 * 2 && r[10] == (31ll - lane) << 40 && r[11] == (lane ^ 1));
    EXPECT(r[12] == 496 && r[13] == 0 && (unsigned)r[14] == ~0u && r[15] == 7 && r[16] == 1);
    if (lane % 2)
      EXPECT((unsigned)r[17] == 0xaaaa0000 && (unsigned)r[18] == 0xaaaaaaaa && r[19] == (lane ^ 2));
    else
      EXPECT((unsigned)r[17] == 0x55550000 && (unsigned)r[18] == 0xaaaaaaaa && r[19] == (lane ^ 4));
    EXPECT((unsigned)r[20] == (1u << lane) - 1 && r[21] == lane * (lane + 1) / 2 && r[22] == 26 * 10000 + 10);
  }
  int *counter, *where;
  CHECK(cudaMallocManaged(&counter, 4));
  CHECK(cudaMallocManaged(&where, 4000));
  *counter = 0;
  aggregated<<<4, 250>>>(counter, where);
  CHECK(cudaDeviceSynchronize());
  EXPECT(*counter == 334);
  std::vector<int> seen(1000, 0);
  for (int i = 0; i < *counter; ++i)
    ++seen[where[i]];
  for (int i = 0; i < 1000; ++i)
    EXPECT(seen[i] == (i % 3 == 0));
  return done();
}
