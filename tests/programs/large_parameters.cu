// nvcc: -arch=compute_75
// Kernel parameters of more than 4 KB, by value, in structures of odd alignment, and const __grid_constant__.
#include "check.h"

struct Big {
  short head;
  double values[1000];
  char tail[5];
};
struct __align__(16) Vec {
  float4 v;
  char c;
};
__global__ void sum(Big big, char a, Vec v, const __grid_constant__ Vec w, double *out, bool flag, short3 s) {
  double t = 0;
  for (int i = threadIdx.x; i < 1000; i += blockDim.x)
    t += big.values[i];
  for (int o = 16; o; o /= 2)
    t += __shfl_xor_sync(~0u, t, o);
  const Vec *p = &w;
  if (threadIdx.x == 0)
    *out = t + big.head + big.tail[4] + a + v.v.w + v.c + p->v.y + p->c + flag + s.x + s.y + s.z;
}
__global__ void change(Big big, Big *out) {
  big.values[threadIdx.x * 3 + 1] = threadIdx.x;
  big.head = 3;
  if (threadIdx.x == 31)
    *out = big;
}

int main() {
  Big big;
  double want = 0;
  for (int i = 0; i < 1000; ++i)
    want += big.values[i] = i * 0.5;
  big.head = -7, big.tail[4] = 3;
  Vec v{{1, 2, 3, 4}, 5}, w{{6, 7, 8, 9}, 10};
  double *out, got;
  CHECK(cudaMalloc(&out, sizeof *out));
  sum<<<1, 32>>>(big, 'a', v, w, out, true, make_short3(1, -2, 3));
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost));
  EXPECT(got == want - 7 + 3 + 'a' + 4 + 5 + 7 + 10 + 1 + 2);
  Big *copy, result;
  CHECK(cudaMalloc(&copy, sizeof *copy));
  change<<<1, 32>>>(big, copy);
  CHECK(cudaMemcpy(&result, copy, sizeof result, cudaMemcpyDeviceToHost));
  EXPECT(result.values[94] == 31 && result.head == 3 && result.values[95] == big.values[95] && big.head == -7);
  cudaFuncAttributes a;
  CHECK(cudaFuncGetAttributes(&a, sum));
  EXPECT(a.maxThreadsPerBlock == 1024 && a.numRegs > 0);
  return done();
}
