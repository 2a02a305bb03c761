// Atomics, locks and flags. Results are chosen so that every legal order gives the same ones.

extern "C" __global__ void sharedHistogram(const int *in, int *bins, int n) {
  __shared__ int mine[64];
  for (int k = threadIdx.x; k < 64; k += blockDim.x) mine[k] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[in[i] & (i % 3 ? 63 : 3)], 1);
  __syncthreads();
  for (int k = threadIdx.x; k < 64; k += blockDim.x) atomicAdd(&bins[k], mine[k]);
}
CASE(sharedHistogram, grid(3), block(96), in(1000), inout(64, zeros()), 1000)

extern "C" __global__ void everyOperation(const int *in, int *out, unsigned *outUnsigned, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = in[i];
  atomicAdd(&out[0], v);
  atomicSub(&out[1], v);
  atomicMin(&out[2], v);
  atomicMax(&out[3], v);
  atomicAnd(&out[4], v | 0xff);
  atomicOr(&out[5], v & 0xf0f0f0);
  atomicXor(&out[6], v);
  atomicMin(&outUnsigned[0], static_cast<unsigned>(v));
  atomicMax(&outUnsigned[1], static_cast<unsigned>(v));
  atomicInc(&outUnsigned[2], 36u);
}
CASE(everyOperation, grid(4), block(64), in(250), inout(7, iota()), inout(3, iota()), 250)

extern "C" __global__ void wideAtomics(const int *in, unsigned long long *out, float *sums, double *doubles, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicAdd(&out[i & 1], static_cast<unsigned long long>(in[i]) * 1000003ull);
  atomicMax(&out[2], static_cast<unsigned long long>(in[i]) << 8);
  atomicAdd(&sums[i % 3], static_cast<float>(in[i] & 63));       // exact in any order
  atomicAdd(&doubles[0], static_cast<double>(in[i] & 0xffff));
}
CASE(wideAtomics, grid(4), block(64), in(250), inout(3, zeros()), inout(3, zeros()), inout(1, zeros()), 250)

// Every ticket is drawn once: sum and xor of the tickets say so.
extern "C" __global__ void tickets(unsigned *counter, unsigned *taken) {
  unsigned ticket = atomicAdd(counter, 1u);
  atomicAdd(&taken[ticket], 1u);
}
CASE(tickets, grid(4), block(70), inout(1, zeros()), inout(280, zeros()))

// Returned values within one thread: exchange hands a token on, nothing is lost.
extern "C" __global__ void exchangeTokens(int *slot, int *sum) {
  int mine = threadIdx.x + 1;
  for (int k = 0; k < 5; ++k) mine = atomicExch(&slot[(threadIdx.x + k) & 3], mine);
  atomicAdd(sum, mine);
  __syncthreads();
  if (threadIdx.x < 4) atomicAdd(sum, atomicExch(&slot[threadIdx.x], 0));
}
CASE(exchangeTokens, grid(1), block(96), inout(4, zeros()), inout(1, zeros()))

extern "C" __global__ void compareAndSwapLoop(const int *in, int *best, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = in[i] & 0xffff, old = atomicAdd(best, 0);
  while (v > old) {
    int seen = atomicCAS(best, old, v);
    if (seen == old) break;
    old = seen;
  }
}
CASE(compareAndSwapLoop, grid(3), block(64), in(190), inout(1, zeros()), 190)

// A lock taken by lanes of one warp, released inside the loop: safe in lockstep.
extern "C" __global__ void lockInLoop(int *lock, int *data) {
  bool isDone = false;
  while (!isDone) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      int v = atomicAdd(&data[0], 0);
      atomicExch(&data[0], v + 1);
      atomicExch(&data[1], atomicAdd(&data[1], 0) + 2);
      __threadfence();
      atomicExch(lock, 0);
      isDone = true;
    }
  }
}
CASE(lockInLoop, grid(2), block(64), inout(1, zeros()), inout(2, zeros()))

// The plain spin lock: the lane that has the lock must go on while its neighbours spin.
extern "C" __global__ void spinLock(int *lock, int *data) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  int v = atomicAdd(&data[0], 0);
  atomicExch(&data[0], v * 3 + 1);
  __threadfence();
  atomicExch(lock, 0);
}
CASE(spinLock, grid(2), block(48), inout(1, zeros()), inout(1, zeros()))

// A lock per bucket, threads of a warp after the same ones.
extern "C" __global__ void lockPerBucket(const int *in, int *locks, int *counts, int *sums, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int bucket = in[i] & 7;
  while (atomicExch(&locks[bucket], 1) != 0) __nanosleep(20);
  __threadfence();
  atomicExch(&counts[bucket], atomicAdd(&counts[bucket], 0) + 1);
  atomicExch(&sums[bucket], atomicAdd(&sums[bucket], 0) + in[i]);
  __threadfence();
  atomicExch(&locks[bucket], 0);
}
CASE(lockPerBucket, grid(2), block(64), in(100), inout(8, zeros()), inout(8, zeros()), inout(8, zeros()), 100)

// A ticket lock: strictly in turn, whoever is next may be any lane.
extern "C" __global__ void ticketLock(unsigned *next, unsigned *serving, int *data) {
  unsigned mine = atomicAdd(next, 1u);
  while (atomicAdd(serving, 0u) != mine) {
  }
  __threadfence();
  atomicExch(&data[0], atomicAdd(&data[0], 0) + 5);
  __threadfence();
  atomicAdd(serving, 1u);
}
CASE(ticketLock, grid(2), block(40), inout(1, zeros()), inout(1, zeros()), inout(1, zeros()))

// Lanes of one warp wait for each other in turn through flags in shared memory.
extern "C" __global__ void laneChain(int *out) {
  __shared__ int turn;
  int t = threadIdx.x;
  if (t == 0) turn = 0;
  __syncthreads();
  while (atomicAdd(&turn, 0) != t) {
  }
  out[t] = t * 3;
  __threadfence_block();
  atomicAdd(&turn, 1);
}
CASE(laneChain, grid(1), block(64), out(64))

// Block b waits for block b - 1: sums handed along the grid (decoupled look-back in its simplest form).
extern "C" __global__ void blockChain(const int *in, int *flag, int *sums) {
  __shared__ int before;
  int total = __syncthreads_count(in[blockIdx.x * blockDim.x + threadIdx.x] & 1);
  if (threadIdx.x == 0) {
    before = 0;
    if (blockIdx.x > 0) {
      while (atomicAdd(&flag[blockIdx.x - 1], 0) == 0) {
      }
      __threadfence();
      before = atomicAdd(&sums[blockIdx.x - 1], 0);
    }
    atomicExch(&sums[blockIdx.x], before + total);
    __threadfence();
    atomicExch(&flag[blockIdx.x], 1);
  }
}
CASE(blockChain, grid(40), block(64), in(2560), inout(40, zeros()), inout(40, zeros()))

// The last block to finish adds up what all have written.
extern "C" __global__ void lastBlock(const int *in, int *parts, unsigned *finished, int *result) {
  __shared__ bool isLast;
  __shared__ int sum;
  int t = threadIdx.x;
  if (t == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[blockIdx.x * blockDim.x + t]);
  __syncthreads();
  if (t == 0) {
    parts[blockIdx.x] = sum;
    __threadfence();
    isLast = atomicInc(finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!isLast) return;
  if (t == 0) sum = 0;
  __syncthreads();
  volatile int *all = parts;
  for (unsigned b = t; b < gridDim.x; b += blockDim.x) atomicAdd(&sum, all[b] * (static_cast<int>(b) + 1));
  __syncthreads();
  if (t == 0) *result = sum;
}
CASE(lastBlock, grid(20), block(64), in(1280), inout(20, zeros()), inout(1, zeros()), inout(1, zeros()))

// A work queue: every thread takes jobs until there are none.
extern "C" __global__ void workQueue(const int *in, int *next, int *out, int jobs) {
  for (;;) {
    int job = atomicAdd(next, 1);
    if (job >= jobs) break;
    int v = in[job] & 31, r = 0;
    for (int k = 0; k < v; ++k) r = r * 3 + k;
    out[job] = r;
  }
}
CASE(workQueue, grid(2), block(40), in(300), inout(1, zeros()), out(300), 300)

extern "C" __global__ void sharedLock(int *out) {
  __shared__ int lock, value;
  int t = threadIdx.x;
  if (t == 0) lock = 0, value = 1;
  __syncthreads();
  bool isDone = false;
  while (!isDone) {
    if (atomicExch(&lock, 1) == 0) {
      atomicExch(&value, atomicAdd(&value, 0) + 3);
      __threadfence_block();
      atomicExch(&lock, 0);
      isDone = true;
    }
  }
  __syncthreads();
  if (t == 0) out[blockIdx.x] = value;
}
CASE(sharedLock, grid(3), block(50), out(3))
