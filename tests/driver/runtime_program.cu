// A CUDA C++ program for the runtime API, built by nvcc -cudart shared where nvcc is installed:
// symbols, managed memory, streams, events, shared memory, templates, printf, errors.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                                \
  do {                                                                                             \
    const cudaError_t checked_ = (call);                                                           \
    if (checked_ != cudaSuccess) {                                                                 \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(checked_));       \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (0)
#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      std::printf("%s:%d: expected %s\n", __FILE__, __LINE__, #condition);                         \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (0)

__managed__ int counter = 5;
__device__ int table[4] = {1, 2, 3, 4};
__constant__ float factor = 2;

template <class T> __global__ void scale(T *data, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    data[i] = data[i] * static_cast<T>(factor) + static_cast<T>(table[i % 4]);
}

__global__ void sumBlock(const int *in, int *out) {
  __shared__ int sum[256];
  sum[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step)
      sum[threadIdx.x] += sum[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    *out = sum[0];
    atomicAdd(&counter, 1);
    printf("sum %d\n", sum[0]);
  }
}

struct Big {
  double a[5];
  char tag;
};
__global__ void useStruct(Big big, double *out) { *out = big.a[4] + big.tag; }

static void testSymbolsAndTemplates() {
  std::vector<float> host(1000);
  for (int i = 0; i < 1000; ++i)
    host[i] = i;
  float *data, three = 3;
  int newTable[2] = {10, 20};
  CHECK(cudaMalloc(&data, 4000));
  CHECK(cudaMemcpy(data, host.data(), 4000, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyToSymbol(factor, &three, sizeof three));
  CHECK(cudaMemcpyToSymbol(table, newTable, sizeof newTable, 2 * sizeof(int)));
  scale<<<8, 128>>>(data, 1000);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(host.data(), data, 4000, cudaMemcpyDeviceToHost));
  const int expected[4] = {1, 2, 10, 20};
  for (int i = 0; i < 1000; ++i)
    EXPECT(host[i] == 3.0f * i + expected[i % 4]);
  int back[4];
  CHECK(cudaMemcpyFromSymbol(back, table, sizeof back));
  EXPECT(back[3] == 20);
  size_t bytes = 0;
  CHECK(cudaGetSymbolSize(&bytes, table));
  EXPECT(bytes == 16);
  CHECK(cudaFree(data));
}

static void testStreamsAndManaged() {
  int *in, *out;
  cudaStream_t stream;
  cudaEvent_t start, end;
  float milliseconds = -1;
  CHECK(cudaMallocManaged(&in, 1024));
  CHECK(cudaMallocManaged(&out, 4));
  for (int i = 0; i < 256; ++i)
    in[i] = i;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaEventRecord(start, stream));
  sumBlock<<<1, 256, 0, stream>>>(in, out);
  CHECK(cudaEventRecord(end, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaEventElapsedTime(&milliseconds, start, end));
  EXPECT(milliseconds >= 0);
  EXPECT(*out == 255 * 256 / 2);
  EXPECT(counter == 6);
  Big big = {{0, 0, 0, 0, 1.5}, 2};
  double *result, value = 0;
  CHECK(cudaMalloc(&result, sizeof *result));
  useStruct<<<1, 1>>>(big, result);
  CHECK(cudaMemcpy(&value, result, sizeof value, cudaMemcpyDeviceToHost));
  EXPECT(value == 3.5);
}

static void testQuestions() {
  int count = 0, blocks = 0, minGrid = 0, blockSize = 0;
  cudaDeviceProp properties;
  cudaFuncAttributes attributes;
  CHECK(cudaGetDeviceCount(&count));
  EXPECT(count == 1);
  CHECK(cudaGetDeviceProperties(&properties, 0));
  EXPECT(properties.warpSize == 32 && properties.maxThreadsPerBlock == 1024);
  EXPECT(properties.major == 9 && std::strncmp(properties.name, "ptxrun", 6) == 0);
  CHECK(cudaFuncGetAttributes(&attributes, sumBlock));
  EXPECT(attributes.sharedSizeBytes == 1024);
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sumBlock, 256, 0));
  EXPECT(blocks == 8);
  CHECK(cudaOccupancyMaxPotentialBlockSize(&minGrid, &blockSize, scale<float>, 0, 0));
  EXPECT(blockSize == 1024);
  cudaPointerAttributes pointer;
  CHECK(cudaPointerGetAttributes(&pointer, &count));
  EXPECT(pointer.type == cudaMemoryTypeUnregistered);
}

static void testErrors() {
  scale<<<1, 2000>>>(static_cast<float *>(nullptr), 0);
  EXPECT(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  EXPECT(cudaGetLastError() == cudaSuccess);
  EXPECT(cudaSetDevice(7) == cudaErrorInvalidDevice);
  EXPECT(cudaFree(nullptr) == cudaSuccess);
  void *pointer;
  EXPECT(cudaMalloc(&pointer, size_t(1) << 50) == cudaErrorMemoryAllocation);
  EXPECT(std::strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
  cudaGetLastError();
  scale<<<1, 32>>>(reinterpret_cast<float *>(16), 32);
  EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  EXPECT(cudaMalloc(&pointer, 16) == cudaErrorIllegalAddress);
}

int main() {
  testSymbolsAndTemplates();
  testStreamsAndManaged();
  testQuestions();
  testErrors();
  std::puts("right");
  return 0;
}
