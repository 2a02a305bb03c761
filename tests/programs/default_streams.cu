// nvcc: -arch=compute_75 --default-stream per-thread -Xcompiler -fopenmp
// The default stream of each thread: OpenMP threads that launch, copy and wait without naming a stream; objects with static lifetime that free
// memory when the program ends.
#include "check.h"
#include <omp.h>

struct Holder {
  float *d = nullptr;
  ~Holder() {
    if (d)
      cudaFree(d);
  }
};
static Holder holder;
__global__ void fill(float *p, float v, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    p[i] = v;
}

int main() {
  const int n = 10000;
  int wrong = 0;
  CHECK(cudaMalloc(&holder.d, 16));
#pragma omp parallel num_threads(4) reduction(+ : wrong)
  {
    int t = omp_get_thread_num();
    float *d, *h;
    CHECK(cudaSetDevice(0));
    CHECK(cudaMalloc(&d, n * 4));
    CHECK(cudaMallocHost(&h, n * 4));
    for (int round = 0; round < 10; ++round) {
      fill<<<8, 128>>>(d, t * 100.f + round, n);
      CHECK(cudaMemcpyAsync(h, d, n * 4, cudaMemcpyDeviceToHost));
      CHECK(cudaStreamSynchronize(0));
      for (int i = 0; i < n; ++i)
        wrong += h[i] != t * 100.f + round;
    }
    CHECK(cudaFree(d));
    CHECK(cudaFreeHost(h));
  }
  EXPECT(wrong == 0);
  fill<<<1, 4>>>(holder.d, 1, 4);
  return done(); // with a kernel that may still run
}
