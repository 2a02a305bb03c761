// nvcc: -gencode arch=compute_75,code=compute_75 -gencode arch=compute_90,code=compute_90 -rdc=true
// with: linked_part.cu
// Two files, linked: functions, variables, constants and kernels of the other one; static things of the same name in both; a function pointer
// across.
#include "check.h"

extern __device__ int counter;
extern __constant__ float scales[4];
extern __device__ float apply(float x, int which);
__device__ int called[2];
typedef float (*Function)(float);
extern __device__ Function chosen;
extern __global__ void otherKernel(float *x);
void launchOther(float *x, cudaStream_t);
static __device__ float twice(float x) { return 2 * x; }
static __device__ int hidden = 11;
__device__ float callBack(float x) { return twice(x) + hidden; }
__global__ void kernel(float *x) {
  int i = threadIdx.x;
  x[i] = apply(x[i], i % 4) + callBack(1) + chosen(x[i]);
  atomicAdd(&counter, 1);
  atomicAdd(&called[0], 2);
}

int main() {
  float host[4] = {1, 10, 100, 1000};
  CHECK(cudaMemcpyToSymbol(scales, host, sizeof host));
  std::vector<float> v(64);
  for (int i = 0; i < 64; ++i)
    v[i] = i;
  float *d = toDevice(v);
  kernel<<<1, 64>>>(d);
  CHECK(cudaDeviceSynchronize());
  std::vector<float> got = toHost(d, 64);
  for (int i = 0; i < 64; ++i)
    EXPECT(got[i] == i * host[i % 4] + 13 + -i);
  otherKernel<<<1, 64>>>(d);
  launchOther(d, 0);
  std::vector<float> next = toHost(d, 64);
  for (int i = 0; i < 64; ++i)
    EXPECT(next[i] == got[i] + 2 * 3 * 33);
  int n[2], c;
  CHECK(cudaMemcpyFromSymbol(n, called, sizeof n));
  CHECK(cudaMemcpyFromSymbol(&c, counter, sizeof c));
  EXPECT(n[0] == 128 && n[1] == 2 && c == 100 + 64);
  return done();
}
