// Kernels that launch kernels, built by nvcc with relocatable device code. Prints what is wrong; exit code 0 if nothing is.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(expression)                                                                            \
  do {                                                                                               \
    if (cudaError_t error = (expression); error != cudaSuccess) {                                    \
      printf("line %d: %s: %s\n", __LINE__, #expression, cudaGetErrorName(error));                   \
      exit(1);                                                                                       \
    }                                                                                                \
  } while (0)

// Quicksort: each call sorts two parts by launches into streams of their own.
__device__ void insertionSort(int *data, int left, int right) {
  for (int i = left + 1; i <= right; ++i)
    for (int j = i; j > left && data[j - 1] > data[j]; --j) {
      int t = data[j];
      data[j] = data[j - 1];
      data[j - 1] = t;
    }
}
__global__ void sortPart(int *data, int left, int right, int depth) {
  if (depth > 20 || right - left < 16) {
    insertionSort(data, left, right);
    return;
  }
  int pivot = data[(left + right) / 2], i = left, j = right;
  while (i <= j) {
    while (data[i] < pivot)
      ++i;
    while (data[j] > pivot)
      --j;
    if (i <= j) {
      int t = data[i];
      data[i++] = data[j];
      data[j--] = t;
    }
  }
  if (left < j) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    sortPart<<<1, 1, 0, stream>>>(data, left, j, depth + 1);
    cudaStreamDestroy(stream);
  }
  if (i < right) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    sortPart<<<1, 1, 0, stream>>>(data, i, right, depth + 1);
    cudaStreamDestroy(stream);
  }
}

// Every thread of every block launches a grid that adds to its own place; the last one checks.
struct Values {
  double factor;
  char letter;
  int offset;
};
__global__ void leaf(double *out, Values values) { atomicAdd(out + blockIdx.x, values.factor * threadIdx.x + values.offset + values.letter - 'a'); }
__global__ void check(const double *out, int count, int *wrong) {
  for (int i = 0; i < count; ++i)
    if (out[i] != 32 * 31 / 2 * 0.5 * 8 + 32 * (8 * 3 + 28))
      *wrong += 1;
}
__global__ void fan(double *out, int *wrong) {
  extern __shared__ int unused[];
  Values values = {0.5, char('a' + threadIdx.x), 3};
  leaf<<<4, 32>>>(out, values);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    check<<<1, 1, 0, cudaStreamTailLaunch>>>(out, 4, wrong);
  if (cudaGetLastError() != cudaSuccess)
    *wrong += 1000;
}

// Copies, fills and allocations by kernels; a child that cannot be launched is left out.
__global__ void fetch(const int *from, int *to) {
  int *kept = (int *)malloc(4 * sizeof(int));
  for (int i = 0; i < 4; ++i)
    kept[i] = from[i] + 1;
  to[threadIdx.x] = kept[threadIdx.x];
  free(kept);
}
__global__ void serve(int *a, int *b) {
  void *memory = nullptr;
  if (cudaMalloc(&memory, 64) != cudaSuccess)
    return;
  cudaMemcpyAsync(memory, a, 16, cudaMemcpyDeviceToDevice, 0);
  cudaMemsetAsync(a, 0, 16, 0);
  cudaEvent_t event;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  cudaEventRecord(event, 0);
  cudaStreamWaitEvent(0, event, 0);
  fetch<<<1, 4>>>((const int *)memory, b);
  fetch<<<1, 2000>>>((const int *)memory, a);
  cudaEventDestroy(event);
}

int main() {
  constexpr int kCount = 3000;
  std::vector<int> values(kCount);
  unsigned x = 12345;
  for (int &value : values)
    value = int((x = x * 1664525u + 1013904223u) >> 8);
  std::vector<int> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  int *data;
  CHECK(cudaMalloc(&data, kCount * 4));
  CHECK(cudaMemcpy(data, values.data(), kCount * 4, cudaMemcpyHostToDevice));
  CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 4096));
  sortPart<<<1, 1>>>(data, 0, kCount - 1, 0);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(values.data(), data, kCount * 4, cudaMemcpyDeviceToHost));
  if (values != sorted) {
    printf("the sorted numbers: wrong\n");
    return 1;
  }
  double *out;
  int *wrong;
  CHECK(cudaMallocManaged(&out, 4 * 8));
  CHECK(cudaMallocManaged(&wrong, 4));
  for (int i = 0; i < 4; ++i)
    out[i] = 0;
  *wrong = 0;
  fan<<<1, 8>>>(out, wrong);
  CHECK(cudaDeviceSynchronize());
  if (*wrong != 0) {
    printf("what many children added up: wrong (%d): %f\n", *wrong, out[0]);
    return 1;
  }
  int *words;
  CHECK(cudaMallocManaged(&words, 32));
  for (int i = 0; i < 4; ++i)
    words[i] = 10 * i;
  serve<<<1, 1>>>(words, words + 4);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 4; ++i)
    if (words[i] != 0 || words[4 + i] != 10 * i + 1) {
      printf("what kernels copied and filled: wrong\n");
      return 1;
    }
  printf("ok\n");
  return 0;
}
