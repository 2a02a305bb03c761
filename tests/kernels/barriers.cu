// Threads of a block that wait for each other.

#if ON_HOST
static void syncNamed(int id, int threads) { onhost::barrier(id, threads); }
static void arriveNamed(int id, int threads) { onhost::arrive(id, threads); }
#else
static __device__ __forceinline__ void syncNamed(int id, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
static __device__ __forceinline__ void arriveNamed(int id, int threads) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
#endif

extern "C" __global__ void reverseBlock(const int *in, int *out) {
  __shared__ int staged[256];
  int t = threadIdx.x, n = blockDim.x, i = blockIdx.x * n + t;
  staged[t] = in[i];
  __syncthreads();
  out[i] = staged[n - 1 - t];
}
CASE(reverseBlock, grid(3), block(256), in(768), out(768))
CASE(reverseBlock, grid(3), block(70), in(210), out(210))
CASE(reverseBlock, grid(2), block(1), in(2), out(2))
CASE(reverseBlock, grid(5), block(31), in(155), out(155))

// Threads beyond n leave before the barriers that the others reach.
extern "C" __global__ void exitBeforeBarrier(const int *in, int *out, int n) {
  __shared__ int staged[128];
  int t = threadIdx.x;
  staged[t] = t;
  if (t >= n) return;
  staged[t] = in[t];
  __syncthreads();
  int r = staged[(t + 1) % n];
  if (t % 3 == 0) {
    out[t] = r;
    return;
  }
  __syncthreads();
  staged[t] = r * 2;
  __syncthreads();
  out[t] = staged[t] + staged[t ^ 1];
}
CASE(exitBeforeBarrier, grid(1), block(128), in(128), out(128), 99)
CASE(exitBeforeBarrier, grid(1), block(128), in(128), out(128), 32)
CASE(exitBeforeBarrier, grid(1), block(64), in(128), out(128), 3)

// Whole warps leave; the last one goes on alone.
extern "C" __global__ void warpsLeave(int *out) {
  __shared__ int count[8];
  int t = threadIdx.x, warp = t / 32;
  if (t < 8) count[t] = 0;
  __syncthreads();
  for (int round = 0; round < 8; ++round) {
    if (round == warp) return;
    atomicAdd(&count[round], 1);
    __syncthreads();
    if (t == blockDim.x - 1) out[blockIdx.x * 8 + round] = count[round];
    __syncthreads();
  }
}
CASE(warpsLeave, grid(2), block(160), inout(16, iota()))

extern "C" __global__ void hillisSteele(const int *in, int *out) {
  __shared__ int sums[2][192];
  int t = threadIdx.x, n = blockDim.x, from = 0;
  sums[0][t] = in[blockIdx.x * n + t];
  __syncthreads();
  for (int offset = 1; offset < n; offset *= 2) {
    int v = sums[from][t];
    if (t >= offset) v += sums[from][t - offset];
    sums[from ^ 1][t] = v;
    from ^= 1;
    __syncthreads();
  }
  out[blockIdx.x * n + t] = sums[from][t];
}
CASE(hillisSteele, grid(2), block(192), in(384), out(384))
CASE(hillisSteele, grid(2), block(77), in(154), out(154))

extern "C" __global__ void treeReduce(const int *in, int *out) {
  __shared__ int part[256];
  int t = threadIdx.x;
  part[t] = in[blockIdx.x * blockDim.x + t];
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) part[t] = part[t] * 3 + part[t + half];
  }
  if (t == 0) out[blockIdx.x] = part[0];
}
CASE(treeReduce, grid(4), block(256), in(1024), out(4))
CASE(treeReduce, grid(4), block(64), in(256), out(4))

extern "C" __global__ void oddEvenSort(const int *in, int *out, int n) {
  __shared__ int keys[128];
  int t = threadIdx.x;
  if (t < n) keys[t] = in[blockIdx.x * n + t];
  __syncthreads();
  for (int round = 0; round < n; ++round) {
    int first = 2 * t + (round & 1);
    if (first + 1 < n && keys[first] > keys[first + 1]) {
      int key = keys[first];
      keys[first] = keys[first + 1];
      keys[first + 1] = key;
    }
    __syncthreads();
  }
  if (t < n) out[blockIdx.x * n + t] = keys[t];
}
CASE(oddEvenSort, grid(2), block(100), in(200), out(200), 100)

extern "C" __global__ void barrierReductions(const int *in, int *out) {
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, v = in[i];
  int count = __syncthreads_count(v & 1);
  int all = __syncthreads_and(v | 1), none = __syncthreads_and(v & 1);
  int any = __syncthreads_or(t == 17 && (v & 2)), never = __syncthreads_or(0);
  out[i] = count * 16 + (all != 0) * 8 + (none != 0) * 4 + (any != 0) * 2 + (never != 0);
}
CASE(barrierReductions, grid(3), block(96), in(288), out(288))
CASE(barrierReductions, grid(3), block(40), in(120), out(120))

// The number of rounds differs from block to block and is known only at run time; live values cross every barrier.
extern "C" __global__ void roundsByData(const int *in, int *out) {
  __shared__ int staged[64];
  __shared__ int rounds;
  int t = threadIdx.x, i = blockIdx.x * 64 + t, a = in[i], b = a ^ t, c = t;
  if (t == 5) rounds = (in[i] & 7) + 1;
  __syncthreads();
  for (int k = 0; k < rounds; ++k) {
    staged[t] = a + c;
    __syncthreads();
    b = b * 3 + staged[(t + 7 * k + 1) & 63];
    c = staged[63 - t] ^ k;
    __syncthreads();
    if (k & 1) a = b;
  }
  out[i] = a + 5 * b + 9 * c;
}
CASE(roundsByData, grid(4), block(64), in(256), out(256))

// Local arrays live across barriers.
extern "C" __global__ void localAcrossBarrier(const int *in, int *out) {
  __shared__ int staged[64];
  int t = threadIdx.x, mine[8];
  for (int k = 0; k < 8; ++k) mine[k] = in[t] + k * t;
  for (int k = 0; k < 8; ++k) {
    staged[t] = mine[(k + t) & 7];
    __syncthreads();
    mine[(k * t) & 7] += staged[(t + k) & 63];
    __syncthreads();
  }
  int r = 0;
  for (int k = 0; k < 8; ++k) r = r * 7 + mine[k];
  out[t] = r;
}
CASE(localAcrossBarrier, grid(1), block(64), in(64), out(64))

// Each warp has a barrier of its own, met a different number of times.
extern "C" __global__ void barrierPerWarp(const int *in, int *out) {
  __shared__ int staged[4][32];
  int t = threadIdx.x, warp = t / 32, lane = t % 32, r = in[t];
  for (int k = 0; k <= warp; ++k) {
    staged[warp][lane] = r;
    syncNamed(warp + 1, 32);
    r = r * 3 + staged[warp][(lane + 1) & 31];
    syncNamed(warp + 1, 32);
  }
  __syncthreads();
  out[t] = r + staged[(warp + 1) & 3][lane];
}
CASE(barrierPerWarp, grid(1), block(128), in(128), out(128))

// Producer warps arrive, consumer warps wait; two slots.
extern "C" __global__ void producerConsumer(const int *in, int *out, int rounds) {
  __shared__ int slot[2][32];
  int t = threadIdx.x, lane = t % 32;
  bool isProducer = t < 32;
  int sum = 0;
  for (int k = 0; k < rounds; ++k) {
    int s = k & 1;
    if (isProducer) {
      if (k >= 2) syncNamed(3 + s, 64);  // the slot is empty again
      slot[s][lane] = in[k * 32 + lane];
      arriveNamed(1 + s, 64);
    } else {
      syncNamed(1 + s, 64);
      sum = sum * 3 + slot[s][31 - lane];
      if (k + 2 < rounds) arriveNamed(3 + s, 64);
    }
  }
  if (!isProducer) out[lane] = sum;
}
CASE(producerConsumer, grid(1), block(64), in(320), out(32), 10)

// Two halves of the block work on different things and meet at the end.
extern "C" __global__ void splitBlock(const int *in, int *out) {
  __shared__ int left[64], right[64];
  int t = threadIdx.x;
  if (t < 64) {
    left[t] = in[t];
    syncNamed(1, 64);
    for (int half = 32; half > 0; half /= 2) {
      if (t < half) left[t] += left[t + half];
      syncNamed(1, 64);
    }
  } else {
    right[t - 64] = in[t];
    syncNamed(2, 64);
    int r = right[(t * 5) & 63];
    syncNamed(2, 64);
    right[t - 64] = r;
  }
  __syncthreads();
  out[t] = left[0] + right[t & 63];
}
CASE(splitBlock, grid(1), block(128), in(128), out(128))

// A barrier under a condition that is the same for the whole block, nested in loops.
extern "C" __global__ void conditionalBarrier(const int *in, int *out, int n) {
  __shared__ int staged[96];
  int t = threadIdx.x, r = in[t];
  for (int a = 0; a < n; ++a) {
    if (in[a] & 1) {
      staged[t] = r;
      __syncthreads();
      r += staged[(t + a) % blockDim.x];
      __syncthreads();
      if (in[a] & 2) continue;
    } else if ((in[a] & 12) == 12) {
      if (r & 1) r = r * 3;
    }
    for (int b = 0; b < (in[a + 1] & 1); ++b) {
      staged[t] = r ^ b;
      __syncthreads();
      r -= staged[blockDim.x - 1 - t];
      __syncthreads();
    }
  }
  out[t] = r;
}
CASE(conditionalBarrier, grid(1), block(96), in(96), out(96), 20)
CASE(conditionalBarrier, grid(1), block(50), in(96), out(50), 20)

extern "C" __global__ void threeDimensionalBlock(const int *in, int *out) {
  __shared__ int cube[4][5][6];
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z, i = (z * 5 + y) * 6 + x;
  cube[z][y][x] = in[blockIdx.x * 120 + i];
  __syncthreads();
  int r = cube[3 - z][y][5 - x] + cube[z][(y + 1) % 5][x] * 3;
  __syncthreads();
  cube[z][y][x] = r;
  __syncthreads();
  out[blockIdx.x * 120 + i] = cube[(z + 1) & 3][4 - y][(x + 1) % 6];
}
CASE(threeDimensionalBlock, grid(3), block(6, 5, 4), in(360), out(360))

// Trees and scans of known rounds: each gang reads what others have just written, at another place, in another size, or only in part.
extern "C" __global__ void treesAndScans(const int *in, int *out) {
  __shared__ int s[2][128];
  int t = threadIdx.x, from = 0;
  s[0][t] = in[t];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    s[1 - from][t] = t >= d ? s[from][t] * 3 + s[from][t - d] : s[from][t];
    from = 1 - from;
    __syncthreads();
  }
  out[t] = s[from][t];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    if (t % (2 * d) == 0) s[0][t] += s[0][t + d] ^ d;
    __syncthreads();
  }
  for (int d = 64; d > 0; d /= 2) {
    if (t < d) s[1][t] = s[1][t] * 5 + s[1][t + d];
    __syncthreads();
  }
  out[128 + t] = s[0][t] + s[1][t];
  __syncthreads();
  unsigned char *bytes = (unsigned char *)s[0];
  bytes[4 * t + 1] = t;
  __syncthreads();
  short *halves = (short *)s[0];
  out[256 + t] = s[0][127 - t] + halves[t];
}
CASE(treesAndScans, grid(1), block(128), in(128), out(384))
CASE(treesAndScans, grid(3), block(128), in(128), out(384))
