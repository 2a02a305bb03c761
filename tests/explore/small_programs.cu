// Small programs as suites of races have them (graph codes, scoped protocols, patterns of loops), with plain accesses and one
// mistake each: a missing atomic, fence or barrier, too small a scope, a wrong bound or order. (fixed_...) are the same without it.
// As in bugs.cu: 64 words that begin as zero, two blocks of 32 threads, and no schedule of a fixed one leaves other words than `serial`.
// `nvcc -arch=compute_80 -ptx -O3 -o small_programs.ptx small_programs.cu` makes the PTX beside this file.
#include <cuda/atomic>
#define GLOBAL extern "C" __global__ void
typedef volatile unsigned vu;
using Device = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
using Block = cuda::atomic_ref<unsigned, cuda::thread_scope_block>;

__device__ __forceinline__ unsigned all() { return blockIdx.x * blockDim.x + threadIdx.x; }

// --- graphs: vertex v has the edges v -> 7 v + 3 and v -> 5 v + 1 (mod 16)
__device__ __forceinline__ unsigned neighbour(unsigned v, unsigned e) { return (e ? v * 5 + 1 : v * 7 + 3) % 16; }

GLOBAL push_degrees(unsigned *m) {
  for (unsigned e = 0; e < 2; ++e) m[neighbour(all(), e)] += 1;
}
GLOBAL fixed_push_degrees(unsigned *m) {
  for (unsigned e = 0; e < 2; ++e) atomicAdd(m + neighbour(all(), e), 1);
}
GLOBAL push_largest(unsigned *m) { // looks before it writes
  const unsigned v = all(), to = neighbour(v, 1);
  if (m[to] < v) m[to] = v;
}
GLOBAL fixed_push_largest(unsigned *m) {
  const unsigned v = all(), to = neighbour(v, 1);
  if (((vu *)m)[to] < v) atomicMax(m + to, v);
}
GLOBAL relax_paths(unsigned *m) { // the distance of a vertex over its one edge, found anew until nothing gets shorter
  const unsigned v = all() % 16;
  if (all() < 16) m[v] = v ? 1000 : 1;
  __syncthreads();
  for (unsigned round = 0; round < 4; ++round)
    if (blockIdx.x == 0) { // several threads relax one vertex
      const unsigned to = neighbour(v, round % 2), length = m[v] + 1 + threadIdx.x % 3;
      if (length < m[to]) m[to] = length;
    }
}
GLOBAL fixed_relax_paths(unsigned *m) {
  const unsigned v = threadIdx.x % 16;
  if (blockIdx.x) return;
  if (threadIdx.x < 16) m[v] = v ? 1000 : 1;
  __syncthreads();
  for (unsigned round = 0; round < 4; ++round) {
    const unsigned length = m[v] + 1 + threadIdx.x % 3;
    __syncthreads();
    atomicMin(m + neighbour(v, round % 2), length);
    __syncthreads();
  }
}
GLOBAL join_sets(unsigned *m) { // union and find; roots are hooked without an exchange
  if (threadIdx.x < 16 && blockIdx.x == 0) m[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (blockIdx.x) return;
  unsigned a = threadIdx.x % 16, b = neighbour(a, threadIdx.x / 16);
  while (m[a] != a) a = m[a];
  while (m[b] != b) b = m[b];
  if (a < b) m[b] = a;
  if (b < a) m[a] = b;
}
GLOBAL fixed_join_sets(unsigned *m) { // what is left is which vertices are joined, not by whom
  if (blockIdx.x) return;
  __shared__ unsigned root[16];
  if (threadIdx.x < 16) root[threadIdx.x] = threadIdx.x;
  __syncthreads();
  unsigned a = threadIdx.x % 16, b = threadIdx.x < 16 ? a ^ 1 : a ^ 4;
  for (;;) {
    while (((vu *)root)[a] != a) a = ((vu *)root)[a];
    while (((vu *)root)[b] != b) b = ((vu *)root)[b];
    if (a == b) break;
    if (a < b) { const unsigned t = a; a = b; b = t; }
    if (atomicCAS(root + a, a, b) == a) break;
  }
  __syncthreads();
  unsigned v = threadIdx.x % 16;
  while (root[v] != v) v = root[v];
  if (threadIdx.x < 16) m[threadIdx.x] = v;
}
GLOBAL one_too_many(unsigned *m) { // each block has its half of 64 words; the bound of the first is one too high
  const unsigned first = 32 * blockIdx.x;
  for (unsigned i = threadIdx.x; i <= 32 && first + i < 64; i += 32) m[first + i] = 1 + blockIdx.x;
}
GLOBAL fixed_one_too_many(unsigned *m) {
  const unsigned first = 32 * blockIdx.x;
  for (unsigned i = threadIdx.x; i < 32 && first + i < 64; i += 32) m[first + i] = 1 + blockIdx.x;
}

// --- scopes: block 0 gives to block 1
GLOBAL published_to_block(unsigned *m) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    m[0] = 42;
    Block(m[1]).store(1, cuda::memory_order_release);
  } else {
    while (!Block(m[1]).load(cuda::memory_order_acquire)) {}
    m[2] = m[0];
  }
}
GLOBAL fixed_published_to_device(unsigned *m) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    m[0] = 42;
    Device(m[1]).store(1, cuda::memory_order_release);
  } else {
    while (!Device(m[1]).load(cuda::memory_order_acquire)) {}
    m[2] = m[0];
  }
}
GLOBAL relaxed_flag(unsigned *m) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    m[0] = 42;
    Device(m[1]).store(1, cuda::memory_order_relaxed);
  } else {
    while (!Device(m[1]).load(cuda::memory_order_relaxed)) {}
    m[2] = m[0];
  }
}
GLOBAL counted_in_block(unsigned *m) { atomicAdd_block(m, 1); }
GLOBAL fixed_counted_in_block(unsigned *m) {
  atomicAdd_block(m + 1 + blockIdx.x, 1);
  atomicAdd(m, 1);
}
GLOBAL lock_of_block(unsigned *m) { // each block's first thread adds ten times, under a lock that only its block respects
  if (threadIdx.x) return;
  for (int i = 0; i < 10; ++i) {
    while (Block(m[0]).exchange(1, cuda::memory_order_acquire)) {}
    m[1] += 1;
    Block(m[0]).store(0, cuda::memory_order_release);
  }
}
GLOBAL fixed_lock_of_device(unsigned *m) {
  if (threadIdx.x) return;
  for (int i = 0; i < 10; ++i) {
    while (Device(m[0]).exchange(1, cuda::memory_order_acquire)) {}
    m[1] += 1;
    Device(m[0]).store(0, cuda::memory_order_release);
  }
}

// --- within blocks
GLOBAL pairs_of_a_warp(unsigned *m) { // independent threads: a warp is no barrier
  __shared__ unsigned row[32];
  row[threadIdx.x] = threadIdx.x * 3;
  m[all()] = row[threadIdx.x ^ 1];
}
GLOBAL fixed_pairs_of_a_warp(unsigned *m) {
  __shared__ unsigned row[32];
  row[threadIdx.x] = threadIdx.x * 3;
  __syncwarp();
  m[all()] = row[threadIdx.x ^ 1];
}
GLOBAL bins(unsigned *m) {
  __shared__ unsigned bin[8];
  if (threadIdx.x < 8) bin[threadIdx.x] = 0;
  __syncthreads();
  bin[threadIdx.x * 5 % 8]++;
  __syncthreads();
  if (threadIdx.x < 8) atomicAdd(m + threadIdx.x, bin[threadIdx.x]);
}
GLOBAL bins_cleared_late(unsigned *m) { // the barrier behind clearing is missing
  __shared__ unsigned bin[8];
  if (threadIdx.x >= 24) bin[threadIdx.x - 24] = 0;
  atomicAdd(bin + threadIdx.x * 5 % 8, 1);
  __syncthreads();
  if (threadIdx.x < 8) atomicAdd(m + threadIdx.x, bin[threadIdx.x]);
}
GLOBAL fixed_bins(unsigned *m) {
  __shared__ unsigned bin[8];
  if (threadIdx.x < 8) bin[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(bin + threadIdx.x * 5 % 8, 1);
  __syncthreads();
  if (threadIdx.x < 8) atomicAdd(m + threadIdx.x, bin[threadIdx.x]);
}
GLOBAL tree(unsigned *m) { // only the first level waits
  __shared__ unsigned sum[32];
  sum[threadIdx.x] = threadIdx.x + 1;
  __syncthreads();
  for (unsigned width = 16; width; width /= 2)
    if (threadIdx.x < width) sum[threadIdx.x] += sum[threadIdx.x + width];
  if (threadIdx.x == 0) m[blockIdx.x] = sum[0];
}
GLOBAL fixed_tree(unsigned *m) {
  __shared__ unsigned sum[32];
  sum[threadIdx.x] = threadIdx.x + 1;
  __syncthreads();
  for (unsigned width = 16; width; width /= 2) {
    if (threadIdx.x < width) sum[threadIdx.x] += sum[threadIdx.x + width];
    __syncthreads();
  }
  if (threadIdx.x == 0) m[blockIdx.x] = sum[0];
}
GLOBAL carried_by_a_loop(unsigned *m) { // what iteration i needs, iteration i - 1 makes
  if (all()) m[all()] = m[all() - 1] + 1;
}
GLOBAL fixed_carried_by_a_loop(unsigned *m) {
  if (all()) return;
  for (unsigned i = 1; i < 64; ++i) m[i] = m[i - 1] + 1;
}

// --- protocols among blocks
__device__ __forceinline__ unsigned sumOfParts(unsigned *m) { return m[2] + m[3]; }

GLOBAL last_block_sums(unsigned *m) { // the part may come later than the count
  if (threadIdx.x) return;
  m[2 + blockIdx.x] = blockIdx.x + 5;
  if (atomicAdd(m, 1) == 1) { __threadfence(); m[4] = sumOfParts(m); }
}
GLOBAL fixed_last_block_sums(unsigned *m) {
  if (threadIdx.x) return;
  m[2 + blockIdx.x] = blockIdx.x + 5;
  __threadfence();
  if (atomicAdd(m, 1) == 1) { __threadfence(); m[4] = sumOfParts(m); }
}
GLOBAL checked_twice(unsigned *m) { // who comes second may see the flag, and not the value
  if (threadIdx.x) return;
  if (((vu *)m)[0] != 2) {
    if (atomicCAS(m, 0, 1) == 0) { m[1] = 7; ((vu *)m)[0] = 2; }
    else while (((vu *)m)[0] != 2) {}
  }
  m[2 + blockIdx.x] = ((vu *)m)[1];
}
GLOBAL fixed_checked_twice(unsigned *m) {
  if (threadIdx.x) return;
  if (((vu *)m)[0] != 2) {
    if (atomicCAS(m, 0, 1) == 0) { m[1] = 7; __threadfence(); ((vu *)m)[0] = 2; }
    else while (((vu *)m)[0] != 2) {}
  }
  __threadfence();
  m[2 + blockIdx.x] = ((vu *)m)[1];
}
GLOBAL work_queue(unsigned *m) { // m[0] the tail, m[1] the head: an item is counted before it is there
  if (threadIdx.x) return;
  for (int k = 0; k < 3; ++k) { const unsigned at = atomicAdd(m, 1); ((vu *)m)[8 + at] = 1; }
  for (int k = 0; k < 3; ++k) {
    const unsigned at = atomicAdd(m + 1, 1);
    while (((vu *)m)[0] <= at) {}
    __threadfence();
    atomicAdd(m + 2, ((vu *)m)[8 + at]);
  }
}
GLOBAL fixed_work_queue(unsigned *m) { // an item says itself that it is there
  if (threadIdx.x) return;
  for (int k = 0; k < 3; ++k) { const unsigned at = atomicAdd(m, 1); ((vu *)m)[8 + at] = 1; }
  for (int k = 0; k < 3; ++k) {
    const unsigned at = atomicAdd(m + 1, 1);
    while (!((vu *)m)[8 + at]) {}
    atomicAdd(m + 2, 1);
  }
}
GLOBAL stolen_work(unsigned *m) { // owner and thief take the last piece of work by plain accesses
  if (threadIdx.x) return;
  for (int k = 0; k < 4; ++k) {
    const unsigned taken = m[0];
    if (taken >= 4) break;
    m[0] = taken + 1;
    atomicAdd(m + 1 + taken, 1);
  }
}
GLOBAL fixed_stolen_work(unsigned *m) {
  if (threadIdx.x) return;
  for (int k = 0; k < 4; ++k) {
    const unsigned taken = atomicAdd(m, 1);
    if (taken < 8) atomicAdd(m + 1 + taken, 1);
  }
}
