// Seven ways to add numbers up, from interleaved addresses to shuffles, with dynamic shared memory, a last block that finishes, and templates.
#include "check.h"

__device__ unsigned finished;
__global__ void interleaved(const int *in, int *out, int n) {
  extern __shared__ int s[];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned d = 1; d < blockDim.x; d *= 2) {
    if (t % (2 * d) == 0)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}
__global__ void sequential(const int *in, int *out, int n) {
  extern __shared__ int s[];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
  s[t] = (i < n ? in[i] : 0) + (i + blockDim.x < n ? in[i + blockDim.x] : 0);
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 32; d /= 2) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t < 32) { // the last warp by itself
    volatile int *v = s;
    if (blockDim.x >= 64)
      v[t] += v[t + 32];
    for (int d = 16; d > 0; d /= 2) {
      int other = t < d ? v[t + d] : 0;
      __syncwarp();
      v[t] += other;
      __syncwarp();
    }
    if (t == 0)
      out[blockIdx.x] = s[0];
  }
}
template <int threads> __global__ void shuffled(const int *in, int *out, int n) {
  __shared__ int s[threads / 32];
  int sum = 0;
  for (int i = blockIdx.x * threads + threadIdx.x; i < n; i += gridDim.x * threads)
    sum += in[i];
  for (int d = 16; d > 0; d /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, d);
  if (threadIdx.x % 32 == 0)
    s[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < threads / 32) {
    unsigned mask = __ballot_sync((1ull << threads / 32) - 1, 1);
    sum = s[threadIdx.x];
    for (int d = threads / 64; d > 0; d /= 2)
      sum += __shfl_down_sync(mask, sum, d);
    if (threadIdx.x == 0)
      out[blockIdx.x] = sum;
  }
}
__global__ void single(const int *in, int *parts, int *out, int n) {
  __shared__ bool isLast;
  __shared__ int s;
  if (threadIdx.x == 0)
    s = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&s, in[i]);
  __syncthreads();
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = s;
    __threadfence();
    isLast = atomicInc(&finished, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (isLast && threadIdx.x == 0) {
    int sum = 0;
    for (int b = 0; b < gridDim.x; ++b)
      sum += ((volatile int *)parts)[b];
    *out = sum;
    finished = 0;
  }
}
static int hostSum(const int *d, int n) {
  int sum = 0;
  for (int v : toHost(d, n))
    sum += v;
  return sum;
}

int main() {
  const int n = 12345;
  std::vector<int> v(n);
  int want = 0;
  for (int i = 0; i < n; ++i)
    want += v[i] = i * 37 % 101 - 50;
  int *in = toDevice(v), *out, *result;
  CHECK(cudaMalloc(&out, n * 4));
  CHECK(cudaMallocManaged(&result, 4));
  interleaved<<<(n + 255) / 256, 256, 1024>>>(in, out, n);
  EXPECT(hostSum(out, (n + 255) / 256) == want);
  sequential<<<(n + 255) / 256, 128, 512>>>(in, out, n);
  EXPECT(hostSum(out, (n + 255) / 256) == want);
  shuffled<128><<<9, 128>>>(in, out, n);
  EXPECT(hostSum(out, 9) == want);
  shuffled<1024><<<3, 1024>>>(in, out, n);
  EXPECT(hostSum(out, 3) == want);
  for (int i = 0; i < 3; ++i) {
    *result = 0;
    single<<<13, 64>>>(in, out, result, n);
    CHECK(cudaDeviceSynchronize());
    EXPECT(*result == want);
  }
  return done();
}
