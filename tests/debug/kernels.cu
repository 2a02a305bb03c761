// What the sessions in tests/debug look at. Compiled twice (see README.md): with -G and with -lineinfo.
#include <cstdio>

struct Pair {
  int a;
  float b;
};

__device__ int launches = 0;

__device__ __noinline__ float power(float base, int exponent) {
  float result = 1;
  for (int k = 0; k < exponent; ++k)
    result = result * base;
  return result;
}

__global__ void tiles(int n, float a, const float *x, float *y) {
  __shared__ float tile[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Pair pair;
  pair.a = i;
  pair.b = a;
  float local[4] = {1, 2, 3, 4};
  tile[threadIdx.x] = x[i];
  __syncthreads();
  if (i < n) {
    float t = power(a, 3) * tile[31 - threadIdx.x];
    t += local[i & 3];
    y[i] = t + pair.b;
  }
  if (i == 0)
    launches += 1;
}

// Every element is written three times; the last write comes from the wrong place.
__global__ void overwritten(int *data) {
  int i = threadIdx.x;
  data[i] = i;
  data[i] = i + 100;
  if (i == 5)
    data[(i + 2) % 8] = -1;
}

__global__ void out_of_bounds(int *data) {
  int i = threadIdx.x;
  int *p = data + i;
  if (i == 3)
    p = (int *)16;
  *p = i;
}

__global__ void hello(void) {
  printf("hello from %d\n", threadIdx.x);
}

__global__ void collatz(unsigned long long *steps) {
  unsigned long long value = 27 + threadIdx.x, count = 0;
  for (int round = 0; round < 1000; ++round) {
    value = 27 + threadIdx.x;
    while (value != 1) {
      value = value % 2 ? 3 * value + 1 : value / 2;
      ++count;
    }
  }
  steps[threadIdx.x] = count;
}

__device__ float cubed(float v) {
  float square = v * v;
  return square * v;
}

__global__ void inlined(float *y) {
  float v = y[threadIdx.x];
  float w = cubed(v);
  y[threadIdx.x] = w + 1;
}

// Each thread adds one behind a lock that all share.
__global__ void locked(int *lock, int *sum) {
  bool isDone = false;
  while (!isDone)
    if (atomicCAS(lock, 0, 1) == 0) {
      int old = *(volatile int *)sum;
      *(volatile int *)sum = old + 1;
      __threadfence();
      atomicExch(lock, 0);
      isDone = true;
    }
}

// Two threads add to one number without a lock: how much depends on the order.
__global__ void lost(int *sum) {
  int old = *(volatile int *)sum;
  *(volatile int *)sum = old + 1;
}

__global__ void allocates(int **out) {
  int *mine = (int *)malloc(16);
  mine[0] = threadIdx.x;
  out[threadIdx.x] = mine;
}

__global__ void stuck(int *data) {
  if (threadIdx.x < 16)
    __syncthreads();
  else
    asm volatile("bar.sync 1, 32;");
  data[threadIdx.x] = 1;
}
