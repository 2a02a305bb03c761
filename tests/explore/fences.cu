// Kernels whose accesses are right in any interleaving, and wrong where the memory model lets them be seen out of order: a fence is
// missing, or a fence or an atomic has too small a scope. (fixed_...) are the same without the mistake. As in bugs.cu: 64 words that
// begin as zero, two blocks of 32 threads, and no schedule of a fixed kernel leaves other words than `serial`.
#define GLOBAL extern "C" __global__ void
typedef volatile unsigned vu;

__device__ __forceinline__ bool isFirst() { return blockIdx.x == 0 && threadIdx.x == 0; }
__device__ __forceinline__ bool isSecond() { return blockIdx.x == 1 && threadIdx.x == 0; }

// --- a message, m[1], and the flag m[0] that says it is there
GLOBAL message_without_fence(vu *m) {
  if (isFirst()) { m[1] = 7; m[0] = 1; }
  if (isSecond()) { while (!m[0]) {} __threadfence(); m[2] = m[1]; }
}
GLOBAL message_read_without_fence(vu *m) {
  if (isFirst()) { m[1] = 7; __threadfence(); m[0] = 1; }
  if (isSecond()) { while (!m[0]) {} m[2] = m[1]; }
}
GLOBAL fixed_message(vu *m) {
  if (isFirst()) { m[1] = 7; __threadfence(); m[0] = 1; }
  if (isSecond()) { while (!m[0]) {} __threadfence(); m[2] = m[1]; }
}
GLOBAL message_with_fence_of_block(vu *m) {
  if (isFirst()) { m[1] = 7; __threadfence_block(); m[0] = 1; }
  if (isSecond()) { while (!m[0]) {} __threadfence(); m[2] = m[1]; }
}
GLOBAL message_read_with_fence_of_block(vu *m) {
  if (isFirst()) { m[1] = 7; __threadfence(); m[0] = 1; }
  if (isSecond()) { while (!m[0]) {} __threadfence_block(); m[2] = m[1]; }
}
GLOBAL message_by_counter_without_fence(unsigned *m) { // the atomic is relaxed
  if (isFirst()) { m[1] = 7; atomicAdd(m, 1); }
  if (isSecond()) { while (!atomicAdd(m, 0)) {} __threadfence(); m[2] = ((vu *)m)[1]; }
}

// --- release and acquire
__device__ __forceinline__ unsigned acquire(unsigned *p) {
  unsigned v;
  asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ __forceinline__ unsigned acquireOfBlock(unsigned *p) {
  unsigned v;
  asm volatile("ld.acquire.cta.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ __forceinline__ unsigned relaxed(unsigned *p) {
  unsigned v;
  asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ __forceinline__ void release(unsigned *p, unsigned v) {
  asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
__device__ __forceinline__ void releaseOfBlock(unsigned *p, unsigned v) {
  asm volatile("st.release.cta.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
__device__ __forceinline__ void store(unsigned *p, unsigned v) {
  asm volatile("st.relaxed.gpu.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
GLOBAL fixed_release(unsigned *m) {
  if (isFirst()) { m[1] = 7; release(m, 1); }
  if (isSecond()) { while (!acquire(m)) {} m[2] = m[1]; }
}
GLOBAL release_of_block(unsigned *m) {
  if (isFirst()) { m[1] = 7; releaseOfBlock(m, 1); }
  if (isSecond()) { while (!acquire(m)) {} m[2] = m[1]; }
}
GLOBAL acquire_of_block(unsigned *m) {
  if (isFirst()) { m[1] = 7; release(m, 1); }
  if (isSecond()) { while (!acquireOfBlock(m)) {} m[2] = m[1]; }
}
GLOBAL relaxed_for_release(unsigned *m) {
  if (isFirst()) { m[1] = 7; store(m, 1); }
  if (isSecond()) { while (!acquire(m)) {} m[2] = m[1]; }
}
GLOBAL relaxed_for_acquire(unsigned *m) {
  if (isFirst()) { m[1] = 7; release(m, 1); }
  if (isSecond()) { while (!relaxed(m)) {} m[2] = m[1]; }
}

// --- what a whole block wrote
GLOBAL block_without_fence(vu *m) { // a barrier orders for the block alone
  if (blockIdx.x == 0) {
    m[8 + threadIdx.x] = threadIdx.x + 1;
    __syncthreads();
    if (threadIdx.x == 0) m[0] = 1;
  } else {
    if (threadIdx.x == 0) { while (!m[0]) {} __threadfence(); }
    __syncthreads();
    if (threadIdx.x < 16) m[40 + threadIdx.x] = m[8 + threadIdx.x];
  }
}
GLOBAL block_read_without_fence(vu *m) {
  if (blockIdx.x == 0) {
    m[8 + threadIdx.x] = threadIdx.x + 1;
    __syncthreads();
    if (threadIdx.x == 0) { __threadfence(); m[0] = 1; }
  } else {
    if (threadIdx.x == 0) while (!m[0]) {}
    __syncthreads();
    if (threadIdx.x < 16) m[40 + threadIdx.x] = m[8 + threadIdx.x];
  }
}
GLOBAL fixed_block(vu *m) { // one thread's fence is for all that meet it at barriers
  if (blockIdx.x == 0) {
    m[8 + threadIdx.x] = threadIdx.x + 1;
    __syncthreads();
    if (threadIdx.x == 0) { __threadfence(); m[0] = 1; }
  } else {
    if (threadIdx.x == 0) { while (!m[0]) {} __threadfence(); }
    __syncthreads();
    if (threadIdx.x < 16) m[40 + threadIdx.x] = m[8 + threadIdx.x];
  }
}
GLOBAL last_block_without_fence(unsigned *m) {
  __shared__ bool isLast;
  m[8 + blockIdx.x * 16 + threadIdx.x % 16] = threadIdx.x % 16 + 1;
  __syncthreads();
  if (threadIdx.x == 0) isLast = atomicAdd(m, 1) == gridDim.x - 1;
  __syncthreads();
  unsigned sum = 0;
  for (unsigned i = 0; isLast && threadIdx.x == 0 && i < 32; ++i) sum += ((vu *)m)[8 + i];
  if (isLast && threadIdx.x == 0) m[1] = sum;
}
GLOBAL fixed_last_block_of_threads(unsigned *m) { // as in NVIDIA's samples
  __shared__ bool isLast;
  m[8 + blockIdx.x * 16 + threadIdx.x % 16] = threadIdx.x % 16 + 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) isLast = atomicAdd(m, 1) == gridDim.x - 1;
  __syncthreads();
  unsigned sum = 0;
  for (unsigned i = 0; isLast && threadIdx.x == 0 && i < 32; ++i) sum += ((vu *)m)[8 + i];
  if (isLast && threadIdx.x == 0) m[1] = sum;
}

// --- scopes of atomics
GLOBAL count_of_block(unsigned *m) { atomicAdd_block(m, 1); }
GLOBAL fixed_count(unsigned *m) { atomicAdd(m, 1); }
GLOBAL fixed_count_of_each_block(unsigned *m) {
  atomicAdd_block(m + blockIdx.x, 1);
  __syncthreads();
  if (threadIdx.x == 0) m[8 + blockIdx.x] = atomicAdd_block(m + blockIdx.x, 0);
}
GLOBAL maximum_of_block(unsigned *m) { atomicMax_block(m, (threadIdx.x + 1) * (2 - blockIdx.x)); }
GLOBAL lock_of_block(unsigned *m) {
  if (threadIdx.x) return;
  for (int tries = 0; tries < 1000 && atomicExch_block(m, 1); ++tries) {} // it can be lost for good
  __threadfence();
  ((vu *)m)[1] = ((vu *)m)[1] + 1;
  __threadfence();
  atomicExch_block(m, 0);
}

// --- locks
GLOBAL lock_without_fences(unsigned *m) {
  if (threadIdx.x > 1) return;
  while (atomicExch(m, 1)) {}
  ((vu *)m)[1] = ((vu *)m)[1] + 1;
  atomicExch(m, 0);
}
__device__ __forceinline__ void peterson(vu *m, bool hasFences) { // flags m[0], m[1]; whose turn it is, m[2]; counts in m[3]
  if (threadIdx.x) return;
  const unsigned self = blockIdx.x;
  for (int round = 0; round < 2; ++round) {
    m[self] = 1;
    if (hasFences) __threadfence();
    m[2] = 1 - self;
    if (hasFences) __threadfence();
    while (m[1 - self] && m[2] == 1 - self)
      if (hasFences) __threadfence();
    if (hasFences) __threadfence();
    m[3] = m[3] + 1;
    if (hasFences) __threadfence();
    m[self] = 0;
  }
  if (hasFences) __threadfence();
  if (atomicAdd((unsigned *)m + 4, 1)) m[2] = 0; // whose turn it was last may differ
}
GLOBAL peterson_without_fences(vu *m) { peterson(m, false); }
GLOBAL fixed_peterson(vu *m) { peterson(m, true); }

// --- within a block
GLOBAL shared_message_without_fence(unsigned *m) {
  __shared__ vu row[2];
  if (threadIdx.x < 2) row[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 0) { row[1] = 7; row[0] = 1; }
  if (threadIdx.x == 31) { while (!row[0]) {} __threadfence_block(); m[blockIdx.x] = row[1]; }
}
GLOBAL fixed_shared_message(unsigned *m) {
  __shared__ vu row[2];
  if (threadIdx.x < 2) row[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 0) { row[1] = 7; __threadfence_block(); row[0] = 1; }
  if (threadIdx.x == 31) { while (!row[0]) {} __threadfence_block(); m[blockIdx.x] = row[1]; }
}
GLOBAL fixed_exit_before_barrier(unsigned *m) { // barriers count who has exited among those that arrived
  __shared__ unsigned row[32];
  row[threadIdx.x] = threadIdx.x + 1;
  if (threadIdx.x >= 8) return;
  __syncthreads();
  m[blockIdx.x * 8 + threadIdx.x] = row[threadIdx.x + 9];
}
GLOBAL ring_without_fence(vu *m) { // eight values through a slot: full when m[0] is odd
  if (isFirst())
    for (unsigned i = 0; i < 8; ++i) { while (m[0] != 2 * i) {} __threadfence(); m[1] = i + 1; m[0] = 2 * i + 1; }
  if (isSecond())
    for (unsigned i = 0; i < 8; ++i) { while (m[0] != 2 * i + 1) {} __threadfence(); m[8 + i] = m[1]; __threadfence(); m[0] = 2 * i + 2; }
}
GLOBAL fixed_ring(vu *m) {
  if (isFirst())
    for (unsigned i = 0; i < 8; ++i) { while (m[0] != 2 * i) {} __threadfence(); m[1] = i + 1; __threadfence(); m[0] = 2 * i + 1; }
  if (isSecond())
    for (unsigned i = 0; i < 8; ++i) { while (m[0] != 2 * i + 1) {} __threadfence(); m[8 + i] = m[1]; __threadfence(); m[0] = 2 * i + 2; }
}
