// Scans: trees in shared memory, shuffles, looking back at the blocks before; compaction.

// Exclusive, of 2 * blockDim numbers for each block.
extern "C" __global__ void blelloch(const int *x, int *y) {
  extern __shared__ int s[];
  int t = threadIdx.x, n = 2 * blockDim.x, base = blockIdx.x * n, offset = 1;
  s[2 * t] = x[base + 2 * t];
  s[2 * t + 1] = x[base + 2 * t + 1];
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0) s[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1, v = s[a];
      s[a] = s[b];
      s[b] += v;
    }
  }
  __syncthreads();
  y[base + 2 * t] = s[2 * t];
  y[base + 2 * t + 1] = s[2 * t + 1];
}

// Inclusive, with two buffers.
extern "C" __global__ void hillisSteele(const int *x, int *y) {
  extern __shared__ int s[];
  int t = threadIdx.x, n = blockDim.x, i = blockIdx.x * n + t, out = 0, in = 1;
  s[t] = x[i];
  __syncthreads();
  for (int d = 1; d < n; d *= 2) {
    out = 1 - out;
    in = 1 - out;
    s[out * n + t] = t >= d ? s[in * n + t] + s[in * n + t - d] : s[in * n + t];
    __syncthreads();
  }
  y[i] = s[out * n + t];
}

__device__ int warpScan(int v) {
  for (int d = 1; d < 32; d *= 2) {
    int other = __shfl_up_sync(~0u, v, d);
    if (threadIdx.x % 32 >= d) v += other;
  }
  return v;
}

extern "C" __global__ void shuffleScan(const int *x, int *y) {
  __shared__ int totals[32];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  int v = warpScan(x[i]);
  if (t % 32 == 31) totals[t / 32] = v;
  __syncthreads();
  if (t < 32) totals[t] = warpScan(t < blockDim.x / 32 ? totals[t] : 0);
  __syncthreads();
  y[i] = v + (t >= 32 ? totals[t / 32 - 1] : 0);
}

// One pass over everything: a block publishes its sum, looks back, and publishes its inclusive sum. 4 numbers a thread.
extern "C" __global__ void lookBackScan(const int *x, int *y, volatile int *flags, volatile int *sums, volatile int *prefixes,
                                        unsigned *tickets) {
  __shared__ int totals[32], before;
  __shared__ unsigned ticket;
  int t = threadIdx.x;
  if (t == 0) ticket = atomicAdd(tickets, 1);
  __syncthreads();
  unsigned block = ticket;
  int4 v = ((const int4 *)x)[block * blockDim.x + t];
  v.y += v.x;
  v.z += v.y;
  v.w += v.z;
  int mine = warpScan(v.w);
  if (t % 32 == 31) totals[t / 32] = mine;
  __syncthreads();
  if (t < 32) totals[t] = warpScan(t < blockDim.x / 32 ? totals[t] : 0);
  __syncthreads();
  int total = totals[blockDim.x / 32 - 1];
  if (t == 0) {
    int sum = 0;
    if (block > 0) {
      sums[block] = total;
      __threadfence();
      flags[block] = 1;
      for (int b = block - 1;; --b) {
        int flag;
        while ((flag = flags[b]) == 0) {}
        __threadfence();
        if (flag == 2) {
          sum += prefixes[b];
          break;
        }
        sum += sums[b];
      }
    }
    prefixes[block] = sum + total;
    __threadfence();
    flags[block] = 2;
    before = sum;
  }
  __syncthreads();
  int add = before + mine - v.w + (t >= 32 ? totals[t / 32 - 1] : 0);
  v.x += add;
  v.y += add;
  v.z += add;
  v.w += add;
  ((int4 *)y)[block * blockDim.x + t] = v;
}

// What passes the test, kept in order within each block's part; counts for each block.
extern "C" __global__ void ballotCompact(int n, int limit, const int *x, int *y, int *counts) {
  __shared__ int warps[8];
  int t = threadIdx.x, i = blockIdx.x * 256 + t, lane = t % 32, warp = t / 32;
  int v = i < n ? x[i] : limit;
  bool keeps = v < limit;
  unsigned who = __ballot_sync(~0u, keeps);
  if (lane == 0) warps[warp] = __popc(who);
  __syncthreads();
  int before = 0, all = 0;
  for (int w = 0; w < 8; ++w) {
    if (w < warp) before += warps[w];
    all += warps[w];
  }
  if (keeps) y[blockIdx.x * 256 + before + __popc(who & ((1u << lane) - 1))] = v;
  if (t == 0) counts[blockIdx.x] = all;
}

// Warp-aggregated atomics: one for each warp that has anything to keep. In any order.
extern "C" __global__ void aggregatedFilter(int n, int limit, const int *x, int *y, int *count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = x[i];
  if (v < limit) {
    unsigned who = __activemask();
    int leader = __ffs(who) - 1, lane = threadIdx.x % 32, first;
    if (lane == leader) first = atomicAdd(count, __popc(who));
    first = __shfl_sync(who, first, leader);
    y[first + __popc(who & ((1u << lane) - 1))] = v;
  }
}

// Lengths of runs: where one begins, its number is found by counting beginnings; a block's part on its own.
extern "C" __global__ void runLength(const int *x, int *values, int *starts, int *counts) {
  __shared__ int warps[8];
  int t = threadIdx.x, base = blockIdx.x * 256, lane = t % 32, warp = t / 32;
  int v = x[base + t];
  bool begins = t == 0 || x[base + t - 1] != v;
  unsigned who = __ballot_sync(~0u, begins);
  if (lane == 0) warps[warp] = __popc(who);
  __syncthreads();
  int place = 0;
  for (int w = 0; w < warp; ++w) place += warps[w];
  place += __popc(who & ((1u << lane) - 1));
  if (begins) {
    values[base + place] = v;
    starts[base + place] = t;
  }
  if (t == 255) counts[blockIdx.x] = place + begins;
}

// Sums within segments that flags begin: (flag, value) pairs through shuffles.
extern "C" __global__ void segmentedScan(const unsigned char *begins, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  float v = x[i];
  int f = begins[i] || lane == 0;
  for (int d = 1; d < 32; d *= 2) {
    float other = __shfl_up_sync(~0u, v, d);
    int flag = __shfl_up_sync(~0u, f, d);
    if (lane >= d && !f) {
      v += other;
      f = flag;
    }
  }
  y[i] = v;
}
