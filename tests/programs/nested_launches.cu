// Kernels that launch kernels: quicksort over named streams, tail launches that follow their parent, fire and forget, a tree of launches, parents' memory.
// nvcc: -arch=compute_90 -rdc=true
#include "check.h"
#include <algorithm>

__global__ void insertion(int *data, int left, int right) {
  for (int i = left + 1; i <= right; ++i) {
    int v = data[i], j = i;
    for (; j > left && data[j - 1] > v; --j)
      data[j] = data[j - 1];
    data[j] = v;
  }
}
__global__ void quicksort(int *data, int left, int right, int depth) {
  if (depth >= 16 || right - left <= 24) {
    insertion<<<1, 1>>>(data, left, right);
    return;
  }
  int *l = data + left, *r = data + right, pivot = data[(left + right) / 2];
  while (l <= r) {
    while (*l < pivot)
      ++l;
    while (*r > pivot)
      --r;
    if (l <= r) {
      int t = *l;
      *l++ = *r;
      *r-- = t;
    }
  }
  int right2 = int(r - data), left2 = int(l - data);
  if (left < right2) {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    quicksort<<<1, 1, 0, s>>>(data, left, right2, depth + 1);
    cudaStreamDestroy(s);
  }
  if (left2 < right) {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    quicksort<<<1, 1, 0, s>>>(data, left2, right, depth + 1);
    cudaStreamDestroy(s);
  }
}

__global__ void mark(int *log, int what) { log[atomicAdd(log, 1) + 1] = what; }
__global__ void parent(int *log) {
  mark<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 3);
  mark<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 4);
  mark<<<1, 1, 0, cudaStreamFireAndForget>>>(log, 2);
  log[100] = 7;
}
__global__ void tree(int *counts, int depth) {
  atomicAdd(&counts[depth], 1);
  if (depth < 5 && threadIdx.x < 2)
    tree<<<1, 2>>>(counts, depth + 1);
}
__global__ void fill(float *data, float v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] = v + i;
}
__global__ void adds(float *data, const float *other, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] += other[i];
}
__global__ void inOrder(float *a, float *b, int n, int *error) {
  cudaStream_t s, t;
  cudaEvent_t e;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
  dim3 grid((n + 127) / 128), block(128);
  fill<<<grid, block, 0, s>>>(a, 1, n);
  fill<<<grid, block, 0, t>>>(b, 100, n);
  cudaEventRecord(e, t);
  cudaStreamWaitEvent(s, e, 0);
  adds<<<grid, block, 0, s>>>(a, b, n);
  cudaMemsetAsync(b, 0, 4, s);
  cudaStreamDestroy(s);
  cudaStreamDestroy(t);
  cudaEventDestroy(e);
  fill<<<1, 5000>>>(a, 0, n); // too large a block
  *error = cudaGetLastError();
}

int main() {
  const int n = 3000;
  std::vector<int> data(n);
  srand(12);
  for (int &v : data)
    v = rand() % 100000;
  int *d = toDevice(data);
  quicksort<<<1, 1>>>(d, 0, n - 1, 0);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  std::sort(data.begin(), data.end());
  EXPECT(toHost(d, n) == data);

  int *log;
  CHECK(cudaMallocManaged(&log, 1000));
  memset(log, 0, 1000);
  parent<<<1, 1>>>(log);
  mark<<<1, 1>>>(log, 5);
  CHECK(cudaDeviceSynchronize());
  EXPECT(log[0] == 4 && log[1] == 2 && log[2] == 3 && log[3] == 4 && log[4] == 5 && log[100] == 7);

  memset(log, 0, 1000);
  tree<<<1, 1>>>(log, 0);
  CHECK(cudaDeviceSynchronize());
  for (int depth = 1, launches = 1; depth <= 5; ++depth) {
    EXPECT(log[depth] == launches * 2);
    launches *= 2;
  }
  EXPECT(log[0] == 1);

  float *a, *b;
  int *error;
  CHECK(cudaMalloc(&a, n * 4));
  CHECK(cudaMalloc(&b, n * 4));
  CHECK(cudaMallocManaged(&error, 4));
  inOrder<<<1, 1>>>(a, b, n, error);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  std::vector<float> got = toHost(a, n), other = toHost(b, n);
  for (int i = 0; i < n; ++i)
    EXPECT(got[i] == 101 + 2 * i && other[i] == (i == 0 ? 0 : 100 + i));
  EXPECT(*error == cudaErrorInvalidConfiguration);
  return done();
}
