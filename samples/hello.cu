// Device printf: one line per thread; the order among blocks is not defined.
#include <cstdio>

extern "C" __global__ void hello() {
  printf("hello from thread %d of block %d, %.3f, %s\n", threadIdx.x, blockIdx.x, 0.5 * threadIdx.x,
         threadIdx.x % 2 ? "odd" : "even");
}
