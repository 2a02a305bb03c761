// Kernels with one planted bug each, and (fixed_...) the same without it. All take 64 words that begin as zero. The expected
// outcome needs no numbers: under some schedule a buggy kernel leaves other words than under `serial`, a fixed one never does.
// Launched as two blocks of 32 threads.
#define GLOBAL extern "C" __global__ void
typedef volatile unsigned vu;

__device__ __forceinline__ unsigned all() { return blockIdx.x * blockDim.x + threadIdx.x; }

// --- lost updates
GLOBAL lost_update(vu *m) { m[0] = m[0] + 1; }
GLOBAL fixed_lost_update(unsigned *m) { atomicAdd(m, 1); }
GLOBAL lost_update_in_shared(unsigned *m) {
  __shared__ vu count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  count = count + 1;
  __syncthreads();
  if (threadIdx.x == 0) m[blockIdx.x] = count;
}
GLOBAL fixed_lost_update_in_shared(unsigned *m) {
  __shared__ unsigned count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 1);
  __syncthreads();
  if (threadIdx.x == 0) m[blockIdx.x] = count;
}
GLOBAL lost_maximum(vu *m) {
  const unsigned x = all() * 7 % 64;
  if (x > m[0]) m[0] = x;
}
GLOBAL lost_bin(vu *m) { m[all() % 4] = m[all() % 4] + 1; }
GLOBAL lost_slot(vu *m) { // a queue's end moves without an atomic operation
  const unsigned end = m[0];
  m[0] = end + 1;
  m[1 + end % 63] = 1;
}
GLOBAL lost_between_two_threads(vu *m) {
  if (threadIdx.x == 0) m[5] = m[5] + 3;
}

// --- missing barriers
GLOBAL missing_barrier(unsigned *m) {
  __shared__ vu row[32];
  row[threadIdx.x] = threadIdx.x + 1;
  m[all()] = row[(threadIdx.x + 1) % 32];
}
GLOBAL fixed_missing_barrier(unsigned *m) {
  __shared__ unsigned row[32];
  row[threadIdx.x] = threadIdx.x + 1;
  __syncthreads();
  m[all()] = row[(threadIdx.x + 1) % 32];
}
GLOBAL missing_second_barrier(unsigned *m) {
  __shared__ vu row[32];
  unsigned sum = 0;
  for (unsigned round = 0; round < 3; ++round) {
    row[threadIdx.x] = threadIdx.x + round;
    __syncthreads();
    sum += row[(threadIdx.x + 5) % 32]; // the next round may overwrite it first
  }
  m[all()] = sum;
}
GLOBAL fixed_missing_second_barrier(unsigned *m) {
  __shared__ vu row[32];
  unsigned sum = 0;
  for (unsigned round = 0; round < 3; ++round) {
    row[threadIdx.x] = threadIdx.x + round;
    __syncthreads();
    sum += row[(threadIdx.x + 5) % 32];
    __syncthreads();
  }
  m[all()] = sum;
}
GLOBAL missing_barrier_in_tree(unsigned *m) { // the last steps of a reduction without __syncwarp
  __shared__ vu row[32];
  row[threadIdx.x] = threadIdx.x + 1;
  __syncthreads();
  for (unsigned step = 16; step; step /= 2)
    if (threadIdx.x < step) row[threadIdx.x] = row[threadIdx.x] + row[threadIdx.x + step];
  if (threadIdx.x == 0) m[blockIdx.x] = row[0];
}
GLOBAL fixed_missing_barrier_in_tree(unsigned *m) {
  __shared__ vu row[32];
  row[threadIdx.x] = threadIdx.x + 1;
  for (unsigned step = 16; step; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) row[threadIdx.x] = row[threadIdx.x] + row[threadIdx.x + step];
  }
  if (threadIdx.x == 0) m[blockIdx.x] = row[0];
}
GLOBAL missing_barrier_in_scan(unsigned *m) { // reads and writes of one step mix
  __shared__ vu row[32];
  row[threadIdx.x] = 1;
  for (unsigned step = 1; step < 32; step *= 2) {
    __syncthreads();
    if (threadIdx.x >= step) row[threadIdx.x] = row[threadIdx.x] + row[threadIdx.x - step];
  }
  __syncthreads();
  m[all()] = row[threadIdx.x];
}
GLOBAL missing_barrier_after_broadcast(unsigned *m) {
  __shared__ vu value;
  if (threadIdx.x == 7) value = 42;
  m[all()] = value;
}
GLOBAL missing_barrier_before_sum(unsigned *m) {
  __shared__ unsigned sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, threadIdx.x);
  if (threadIdx.x == 0) m[blockIdx.x] = *(vu *)&sum; // others may not have added yet
}
GLOBAL missing_barrier_in_transpose(unsigned *m) {
  __shared__ vu tile[32];
  const unsigned x = threadIdx.x % 4, y = threadIdx.x / 4 % 4;
  if (threadIdx.x < 16) tile[y * 4 + x] = threadIdx.x + 1;
  if (threadIdx.x < 16) m[blockIdx.x * 16 + threadIdx.x] = tile[x * 4 + y];
}
GLOBAL barrier_before_write(unsigned *m) { // the barrier stands on the wrong side of the store
  __shared__ vu row[32];
  __syncthreads();
  row[threadIdx.x] = threadIdx.x;
  m[all()] = row[31 - threadIdx.x];
}

// --- order violations among blocks
GLOBAL order_of_blocks(vu *m) {
  if (blockIdx.x == 0) m[threadIdx.x] = 9;
  else m[32 + threadIdx.x] = m[threadIdx.x];
}
GLOBAL flag_read_once(vu *m) {
  if (all() == 0) { m[1] = 5; m[0] = 1; }
  if (all() == 40 && m[0]) m[2] = m[1];
}
GLOBAL published_too_early(vu *m) { // the flag goes up before the data is there
  if (all() == 0) { m[0] = 1; m[1] = 5; }
  if (all() == 1) { while (!m[0]) {} m[2] = m[1]; }
}
GLOBAL fixed_published(vu *m) {
  if (all() == 0) { m[1] = 5; __threadfence(); m[0] = 1; }
  if (all() == 1) { while (!m[0]) {} __threadfence(); m[2] = m[1]; }
}
GLOBAL last_writer_wins(vu *m) { m[0] = all(); }
GLOBAL slot_read_back(unsigned *m) { // the place is read after the count, not taken from it
  atomicAdd(m, 1);
  const unsigned slot = *(vu *)m;
  ((vu *)m)[slot % 63 + 1] = 1;
}
GLOBAL last_block_without_count(vu *m) { // "the last block finishes" by a plain counter
  if (threadIdx.x) return;
  m[1 + blockIdx.x] = 10;
  const unsigned before = m[0];
  m[0] = before + 1;
  if (before == gridDim.x - 1) m[3] = m[1] + m[2];
}
GLOBAL fixed_last_block(unsigned *m) {
  if (threadIdx.x) return;
  ((vu *)m)[1 + blockIdx.x] = 10;
  __threadfence();
  if (atomicAdd(m, 1) == gridDim.x - 1) { __threadfence(); m[3] = ((vu *)m)[1] + ((vu *)m)[2]; }
}

// --- locks and protocols
GLOBAL lock_by_look(vu *m) { // tests, then sets
  if (threadIdx.x > 1) return;
  while (m[0]) {}
  m[0] = 1;
  m[1] = m[1] + 1;
  m[0] = 0;
}
GLOBAL fixed_lock(unsigned *m) {
  if (threadIdx.x > 1) return;
  while (atomicExch(m, 1)) {}
  __threadfence();
  ((vu *)m)[1] = ((vu *)m)[1] + 1;
  __threadfence();
  atomicExch(m, 0);
}
GLOBAL initialised_twice(vu *m) {
  if (threadIdx.x) return;
  if (!m[0]) { m[0] = 1; atomicAdd((unsigned *)m + 1, 1); }
}
GLOBAL torn_pair(vu *m) { // two words that belong together
  if (all() == 0) { m[0] = 1; m[1] = 1; }
  if (all() == 33) m[2] = m[0] != m[1];
}
GLOBAL check_then_act(vu *m) { // takes the last of what there is, perhaps twice
  if (all() == 0) m[0] = 1;
  __syncthreads();
  if (blockIdx.x || threadIdx.x > 3) return;
  if (m[0] > 0) { m[0] = m[0] - 1; atomicAdd((unsigned *)m + 1, 1); }
}
GLOBAL aba(unsigned *m) { // a list's head is swapped though what lies behind it has changed: node 1 -> 2 -> 3
  vu *next = (vu *)m + 8;
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    next[1] = 2; next[2] = 3; next[3] = 0;
    m[0] = 1;
  }
  __syncthreads();
  if (blockIdx.x) return;
  if (threadIdx.x == 0) { // pops one node
    const unsigned head = *(vu *)m, then = next[head];
    if (head == 1) atomicCAS(m, head, then);
  }
  if (threadIdx.x == 1) { // pops 1 and 2, pushes 1 back
    if (atomicCAS(m, 1, 2) == 1 && atomicCAS(m, 2, 3) == 2) {
      next[1] = 3;
      if (atomicCAS(m, 3, 1) == 3) m[1] = 1;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) m[2] = *(vu *)m == 2; // node 2 is no longer in the list
}
GLOBAL two_locks_of_one(unsigned *m) { // each thread takes another lock for the same word
  if (threadIdx.x > 1 || blockIdx.x) return;
  while (atomicExch(m + threadIdx.x, 1)) {}
  ((vu *)m)[4] = ((vu *)m)[4] + 1;
  atomicExch(m + threadIdx.x, 0);
}
GLOBAL wait_for_count_off_by_one(unsigned *m) { // goes on when all but one have come
  if (blockIdx.x) return;
  if (threadIdx.x < 4) { ((vu *)m)[8 + threadIdx.x] = 1; __threadfence(); atomicAdd(m, 1); }
  if (threadIdx.x == 4) {
    while (*(vu *)m < 3) {}
    m[1] = ((vu *)m)[8] + ((vu *)m)[9] + ((vu *)m)[10] + ((vu *)m)[11];
  }
}

// --- asynchronous copies
__device__ __forceinline__ void copyAsync(unsigned *shared, const unsigned *global) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(shared)), "l"(global) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
}
GLOBAL copy_not_waited_for(unsigned *m) {
  __shared__ unsigned row[32];
  row[threadIdx.x] = 0;
  m[all()] = threadIdx.x + 1;
  copyAsync(row + threadIdx.x, m + all());
  m[all()] = *(vu *)(row + threadIdx.x);
}
GLOBAL fixed_copy_waited_for(unsigned *m) {
  __shared__ unsigned row[32];
  row[threadIdx.x] = 0;
  m[all()] = threadIdx.x + 1;
  copyAsync(row + threadIdx.x, m + all());
  asm volatile("cp.async.wait_all;" ::: "memory");
  m[all()] = *(vu *)(row + threadIdx.x);
}
GLOBAL copy_waited_for_alone(unsigned *m) { // each waits for its own copy and reads its neighbour's
  __shared__ unsigned row[32];
  row[threadIdx.x] = 0;
  copyAsync(row + threadIdx.x, m + 63);
  row[threadIdx.x] = 0;
  asm volatile("cp.async.wait_all;" ::: "memory");
  ((vu *)row)[threadIdx.x] = threadIdx.x;
  m[all()] = ((vu *)row)[(threadIdx.x + 1) % 32];
}
GLOBAL copy_waited_for_too_few(unsigned *m) { // waits for all but one of two
  __shared__ unsigned row[64];
  row[threadIdx.x] = row[32 + threadIdx.x] = 0;
  m[all()] = 7;
  copyAsync(row + threadIdx.x, m + all());
  copyAsync(row + 32 + threadIdx.x, m + all());
  asm volatile("cp.async.wait_group 1;" ::: "memory");
  m[all()] = *(vu *)(row + 32 + threadIdx.x);
}
