// nvcc: -arch=compute_80 -rdc=true
// Kernels that launch kernels: recursion, tail and fire-and-forget streams, streams and events of the device, heap, printf in children.
#include "check.h"
#include <algorithm>

__device__ void insertion(int *a, int l, int r) {
  for (int i = l + 1; i <= r; ++i)
    for (int j = i; j > l && a[j] < a[j - 1]; --j) {
      int t = a[j];
      a[j] = a[j - 1], a[j - 1] = t;
    }
}
__global__ void quicksort(int *a, int l, int r, int depth) {
  if (depth >= 12 || r - l < 32)
    return insertion(a, l, r);
  int *i = a + l, *j = a + r, pivot = a[(l + r) / 2];
  while (i <= j) {
    while (*i < pivot)
      ++i;
    while (*j > pivot)
      --j;
    if (i <= j) {
      int t = *i;
      *i++ = *j, *j-- = t;
    }
  }
  cudaStream_t s;
  if (l < j - a) {
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    quicksort<<<1, 1, 0, s>>>(a, l, j - a, depth + 1);
    cudaStreamDestroy(s);
  }
  if (i - a < r) {
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    quicksort<<<1, 1, 0, s>>>(a, i - a, r, depth + 1);
    cudaStreamDestroy(s);
  }
}
__global__ void leaf(int *counter, int amount) {
  if (threadIdx.x == 0)
    atomicAdd(counter, amount);
}
__global__ void finish(const int *counter, int *out) { *out = *counter; }
__global__ void tree(int *counter, int depth) {
  leaf<<<1, 32>>>(counter, 1);
  if (depth > 0 && threadIdx.x < 2)
    tree<<<1, 2>>>(counter, depth - 1);
}
__global__ void parent(int *counter, int *out, int *error) {
  int *heap = (int *)malloc(64);
  heap[3] = 30;
  leaf<<<2, 64, 16, cudaStreamFireAndForget>>>(counter, heap[3]);
  free(heap);
  cudaStream_t s;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaEvent_t e;
  cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
  leaf<<<1, 32, 0, s>>>(counter, 7);
  cudaEventRecord(e, s);
  cudaStreamWaitEvent(0, e, 0);
  leaf<<<1, 32>>>(counter, 5);
  finish<<<1, 1, 0, cudaStreamTailLaunch>>>(counter, out);
  int device = -1, sms = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  *error = sms > 0 && device == 0 ? (int)cudaGetLastError() : -1;
}

int main() {
  const int n = 3000;
  std::vector<int> a(n);
  for (int i = 0; i < n; ++i)
    a[i] = (i * 2654435761u) >> 12;
  int *d = toDevice(a);
  quicksort<<<1, 1>>>(d, 0, n - 1, 0);
  CHECK(cudaDeviceSynchronize());
  std::sort(a.begin(), a.end());
  EXPECT(toHost(d, n) == a);
  int *counter, *out;
  int *error;
  CHECK(cudaMallocManaged(&counter, 4));
  CHECK(cudaMallocManaged(&out, 4));
  CHECK(cudaMallocManaged(&error, 4));
  *counter = 0, *out = -1;
  parent<<<1, 1>>>(counter, out, error);
  CHECK(cudaDeviceSynchronize());
  EXPECT(*counter == 72 && *out == 72 && *error == cudaSuccess);
  *counter = 0;
  tree<<<1, 1>>>(counter, 5);
  CHECK(cudaDeviceSynchronize());
  EXPECT(*counter == 63);
  return done();
}
