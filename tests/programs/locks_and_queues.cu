// Threads that wait for each other by ordinary memory: locks, lists, trees, grid barriers and work queues, beside what must come out.
#include "check.h"
#include <cstring>
// nvcc: -arch=compute_90
constexpr int kThreads = 64;

/// Every thread of a warp spins on its own: right where lanes make progress independently.
__global__ void spinLock(int *lock, volatile int *sum) {
  while (atomicCAS(lock, 0, 1) != 0)
    ;
  __threadfence();
  *sum = *sum + 1;
  __threadfence();
  atomicExch(lock, 0);
}

__global__ void ticketLock(unsigned *next, volatile unsigned *served, volatile int *sum) {
  unsigned mine = atomicAdd(next, 1);
  while (*served != mine)
    ;
  __threadfence();
  *sum = *sum + 2;
  __threadfence();
  *served = mine + 1;
}

struct Node {
  int key, next, lock;
};
__device__ void acquire(Node &node) {
  while (atomicCAS(&node.lock, 0, 1))
    __nanosleep(20);
  __threadfence();
}
__device__ void release(Node &node) {
  __threadfence();
  atomicExch(&node.lock, 0);
}

/// Inserts into a sorted list hand over hand: a node's lock is held until the next one's is taken.
__global__ void insertSorted(Node *nodes, int n) {
  volatile Node *seen = nodes;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int mine = i + 1, key = i * 7919 % n, at = 0;
  nodes[mine].key = key;
  acquire(nodes[0]);
  while (true) {
    int next = seen[at].next;
    if (next < 0 || seen[next].key > key) {
      seen[mine].next = next;
      __threadfence();
      seen[at].next = mine;
      release(nodes[at]);
      return;
    }
    acquire(nodes[next]);
    release(nodes[at]);
    at = next;
  }
}

constexpr int kBits = 20, kEmpty = -1, kLocked = -2;
__host__ __device__ int bitOf(int key, int depth) { return key >> (kBits - 1 - depth) & 1; }

/// Inserts keys into a binary trie whose children are locked one by one, as Barnes-Hut codes build theirs: a child below n is a key,
/// from n on a cell. A thread whose child is locked tries again; with `isInStep` only after
/// all have tried that have not ended.
template <bool isInStep> __global__ void buildTrie(volatile int *child, int *cells, const int *keys, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  int cell = 0, depth = 0;
  while (i < n) {
    int slot = cell * 2 + bitOf(keys[i], depth), there = child[slot];
    for (; there >= n; there = child[slot]) {
      cell = there - n;
      slot = cell * 2 + bitOf(keys[i], ++depth);
    }
    bool isDone = false;
    if (there == kEmpty) {
      isDone = atomicCAS((int *)&child[slot], kEmpty, i) == kEmpty;
    } else if (there != kLocked && atomicCAS((int *)&child[slot], there, kLocked) == there) {
      int top = -1, below = slot, d = depth;
      do {
        int made = atomicAdd(cells, 1);
        if (top < 0)
          top = made;
        else
          child[below] = n + made;
        ++d;
        child[made * 2 + bitOf(keys[there], d)] = there;
        below = made * 2 + bitOf(keys[i], d);
      } while (child[below] >= 0);
      child[below] = i;
      __threadfence();
      child[slot] = n + top;
      isDone = true;
    }
    if (isDone) {
      i += step;
      cell = depth = 0;
    }
    if (isInStep)
      __syncthreads();
  }
}

/// A grid barrier of flags: block 0 collects what the others say, and answers.
__device__ volatile int flags[kThreads];
__global__ void barrierByHand(volatile int *values, int *wrong, int rounds) {
  int mine = blockIdx.x * blockDim.x + threadIdx.x;
  int other = (blockIdx.x + 1) % gridDim.x * blockDim.x + threadIdx.x;
  for (int round = 1; round <= rounds; ++round) {
    values[mine] = values[mine] + round;
    for (int half = 0; half < 2; ++half) {
      int said = 4 * round + 2 * half, answer = said + 1;
      __threadfence();
      __syncthreads();
      if (blockIdx.x == 0) {
        bool isOther = threadIdx.x > 0 && threadIdx.x < gridDim.x;
        while (isOther && flags[threadIdx.x] != said)
          ;
        __syncthreads();
        if (isOther)
          flags[threadIdx.x] = answer;
      } else {
        if (threadIdx.x == 0) {
          flags[blockIdx.x] = said;
          while (flags[blockIdx.x] != answer)
            ;
        }
        __syncthreads();
      }
      if (half == 0 && values[other] != round * (round + 1) / 2)
        atomicAdd(wrong, 1);
    }
  }
}

struct Queue {
  int head, tail, pending, sum;
};
/// Takes tasks from a queue, and puts their halves there, until none is pending.
__global__ void splitTasks(volatile int *tasks, Queue *queue) {
  while (*(volatile int *)&queue->pending) {
    int head = atomicAdd(&queue->head, 0);
    if (head >= atomicAdd(&queue->tail, 0) || atomicCAS(&queue->head, head, head + 1) != head)
      continue;
    int task;
    while ((task = tasks[head]) < 0)
      ;
    if (task > 1) {
      atomicAdd(&queue->pending, 2);
      int at = atomicAdd(&queue->tail, 2);
      tasks[at] = task / 2;
      tasks[at + 1] = task - task / 2;
    } else {
      atomicAdd(&queue->sum, task);
    }
    __threadfence();
    atomicSub(&queue->pending, 1);
  }
}

/// One warp fills a ring of four rows that another empties.
__global__ void ring(int *out, int rows) {
  __shared__ int buffer[4][32];
  __shared__ volatile int isFull[4];
  int lane = threadIdx.x % 32;
  if (threadIdx.x < 4)
    isFull[threadIdx.x] = 0;
  __syncthreads();
  for (int row = 0; row < rows; ++row) {
    bool isWriter = threadIdx.x < 32;
    while (isFull[row % 4] == isWriter)
      ;
    __threadfence_block();
    __syncwarp();
    if (isWriter)
      buffer[row % 4][lane] = row * 32 + lane;
    else
      out[(blockIdx.x * rows + row) * 32 + lane] = buffer[row % 4][lane] * 2;
    __threadfence_block();
    __syncwarp();
    if (lane == 0)
      isFull[row % 4] = isWriter;
    __syncwarp();
  }
}

template <bool isInStep> static void tryTrie() {
  constexpr int n = 20000, slots = 8 * n;
  std::vector<int> keys, child(slots, kEmpty), cells{1};
  std::vector<char> isTaken(1 << kBits);
  for (unsigned x = 1; (int)keys.size() < n;) {
    x = x * 1664525u + 1013904223u;
    int key = x >> 12;
    if (!isTaken[key]++)
      keys.push_back(key);
  }
  int *dChild = toDevice(child), *dCells = toDevice(cells), *dKeys = toDevice(keys);
  buildTrie<isInStep><<<8, 256>>>(dChild, dCells, dKeys, n);
  CHECK(cudaDeviceSynchronize());
  child = toHost(dChild, slots);
  for (int i = 0; i < n; ++i) {
    int there = n, depth = 0;
    for (; there >= n && depth < kBits; ++depth)
      there = child[(there - n) * 2 + bitOf(keys[i], depth)];
    EXPECT(there == i);
  }
}

int main() {
  int *words;
  constexpr int nWords = 1 << 18;
  CHECK(cudaMallocManaged(&words, nWords * sizeof(int)));
  auto clear = [&](int byte) { memset(words, byte, nWords * sizeof(int)); };

  clear(0);
  spinLock<<<16, kThreads>>>(words, words + 1);
  CHECK(cudaDeviceSynchronize());
  EXPECT(words[1] == 16 * kThreads);

  clear(0);
  ticketLock<<<16, kThreads>>>((unsigned *)words, (unsigned *)words + 1, words + 2);
  CHECK(cudaDeviceSynchronize());
  EXPECT(words[2] == 2 * 16 * kThreads);

  clear(0);
  Node *nodes = (Node *)words;
  int n = 500, count = 0;
  nodes[0].next = -1;
  insertSorted<<<8, kThreads>>>(nodes, n);
  CHECK(cudaDeviceSynchronize());
  for (int at = nodes[0].next; at >= 0 && count <= n; at = nodes[at].next)
    EXPECT(nodes[at].key == count++); // 7919 and n have no common divisor: each key comes once
  EXPECT(count == n);

  tryTrie<false>();
  tryTrie<true>();

  clear(0);
  barrierByHand<<<2, kThreads>>>(words, words + nWords - 1, 50);
  CHECK(cudaDeviceSynchronize());
  EXPECT(words[nWords - 1] == 0);
  EXPECT(words[2 * kThreads - 1] == 50 * 51 / 2);

  clear(0xff);
  Queue *queue = (Queue *)(words + nWords - 16);
  *queue = {0, 1, 1, 0};
  words[0] = 3000;
  splitTasks<<<4, kThreads>>>(words, queue);
  CHECK(cudaDeviceSynchronize());
  EXPECT(queue->sum == 3000);
  EXPECT(queue->head == queue->tail);
  EXPECT(queue->tail == 2 * 3000 - 1);

  ring<<<2, kThreads>>>(words, 1000);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 2 * 1000 * 32; ++i)
    EXPECT(words[i] == i % 32000 * 2);
  return done();
}
