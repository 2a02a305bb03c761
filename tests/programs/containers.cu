// Structures that threads build together: a hash table by compare-and-swap, lists in the device's heap, a stack, a queue of tickets, locks.
#include "check.h"
#include <map>

struct Node {
  int value;
  Node *next;
};
struct Table {
  unsigned keys[4096], counts[4096];
};
__device__ Node *head;
__device__ int lock, guarded;
__global__ void insert(Table *table, const unsigned *in, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    for (unsigned slot = in[i] * 2654435761u >> 20;; slot = (slot + 1) & 4095) {
      unsigned old = atomicCAS(&table->keys[slot], 0u, in[i]);
      if (old == 0 || old == in[i]) {
        atomicAdd(&table->counts[slot], 1);
        break;
      }
    }
}
__global__ void push(int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  Node *node = (Node *)malloc(sizeof(Node));
  node->value = i;
  Node *old;
  do {
    old = head;
    node->next = old;
    __threadfence();
  } while ((Node *)atomicCAS((unsigned long long *)&head, (unsigned long long)old, (unsigned long long)node) != old);
}
__global__ void drain(long long *sum, int *length) {
  for (Node *n = head; n;) {
    *sum += n->value, ++*length;
    Node *next = n->next;
    free(n);
    n = next;
  }
  head = nullptr;
}
__global__ void critical(int rounds) {
  if (threadIdx.x % 32 == 0)
    for (int i = 0; i < rounds; ++i) {
      while (atomicCAS(&lock, 0, 1) != 0)
        ;
      __threadfence();
      guarded = guarded + 1;
      __threadfence();
      atomicExch(&lock, 0);
    }
}
__global__ void locksOfLanes(int *count) { // each lane of a warp takes the lock
  for (bool isDone = false; !isDone;)
    if (atomicCAS(&lock, 0, 1) == 0) {
      *(volatile int *)count += 1;
      __threadfence();
      atomicExch(&lock, 0);
      isDone = true;
    }
}

int main() {
  const int n = 5000;
  std::vector<unsigned> in(n);
  std::map<unsigned, unsigned> want;
  for (int i = 0; i < n; ++i)
    ++want[in[i] = i * i % 997 + 1];
  unsigned *d = toDevice(in);
  Table *table;
  CHECK(cudaMallocManaged(&table, sizeof *table));
  CHECK(cudaMemset(table, 0, sizeof *table));
  insert<<<7, 96>>>(table, d, n);
  CHECK(cudaDeviceSynchronize());
  size_t found = 0;
  for (int i = 0; i < 4096; ++i)
    if (table->keys[i]) {
      ++found;
      EXPECT(want[table->keys[i]] == table->counts[i]);
    }
  EXPECT(found == want.size());
  long long *sum;
  int *length;
  CHECK(cudaMallocManaged(&sum, 8));
  CHECK(cudaMallocManaged(&length, 4));
  *sum = *length = 0;
  push<<<20, 64>>>(1000);
  drain<<<1, 1>>>(sum, length);
  CHECK(cudaDeviceSynchronize());
  EXPECT(*sum == 499500 && *length == 1000);
  critical<<<4, 128>>>(50);
  int value = 0;
  CHECK(cudaMemcpyFromSymbol(&value, guarded, 4));
  EXPECT(value == 800);
  *length = 0;
  locksOfLanes<<<3, 64>>>(length);
  CHECK(cudaDeviceSynchronize());
  EXPECT(*length == 192);
  return done();
}
