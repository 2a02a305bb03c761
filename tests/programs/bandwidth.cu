// Copies of every kind and size, timed by events and by the host's clock, as bandwidthTest does: pinned, pageable, write-combined.
#include "check.h"
#include <chrono>
#include <cstring>

int main(int argc, char **argv) {
  bool isQuick = argc < 2 || strcmp(argv[1], "--all");
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreateWithFlags(&stop, cudaEventBlockingSync));
  for (size_t bytes : {1ul << 10, 100001ul, isQuick ? 3ul << 20 : 64ul << 20}) {
    unsigned char *pinned, *combined, *a, *b;
    std::vector<unsigned char> pageable(bytes);
    CHECK(cudaMallocHost((void **)&pinned, bytes));
    CHECK(cudaHostAlloc((void **)&combined, bytes, cudaHostAllocWriteCombined | cudaHostAllocPortable));
    CHECK(cudaMalloc((void **)&a, bytes));
    CHECK(cudaMalloc((void **)&b, bytes));
    for (size_t i = 0; i < bytes; ++i)
      pinned[i] = (unsigned char)(i * 7 + (i >> 8));
    auto host = std::chrono::high_resolution_clock::now();
    CHECK(cudaEventRecord(start, 0));
    for (int i = 0; i < 5; ++i)
      CHECK(cudaMemcpyAsync(a, pinned, bytes, cudaMemcpyHostToDevice, 0));
    CHECK(cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice, 0));
    CHECK(cudaMemcpyAsync(combined, b, bytes, cudaMemcpyDefault, 0));
    CHECK(cudaEventRecord(stop, 0));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaMemcpy(pageable.data(), b, bytes, cudaMemcpyDeviceToHost));
    float milliseconds = -1;
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    double seconds = std::chrono::duration<double>(std::chrono::high_resolution_clock::now() - host).count();
    EXPECT(milliseconds >= 0 && milliseconds * 1e-3 <= seconds * 1.5 + 1e-3);
    EXPECT(!memcmp(pinned, combined, bytes) && !memcmp(pinned, pageable.data(), bytes));
    printf("%zu bytes: %.2f GB/s\n", bytes, 7.0 * bytes / milliseconds / 1e6);
    CHECK(cudaMemset(a, 0xa5, bytes));
    CHECK(cudaMemcpy(pinned, a, bytes, cudaMemcpyDeviceToHost));
    size_t wrong = 0;
    for (size_t i = 0; i < bytes; ++i)
      wrong += pinned[i] != 0xa5;
    EXPECT(!wrong);
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFreeHost(combined));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
  }
  float never;
  cudaEvent_t quiet;
  CHECK(cudaEventCreateWithFlags(&quiet, cudaEventDisableTiming));
  CHECK(cudaEventRecord(quiet));
  CHECK(cudaEventQuery(quiet) == cudaErrorNotReady ? cudaEventSynchronize(quiet) : cudaSuccess);
  EXPECT(cudaEventElapsedTime(&never, start, quiet) == cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  EXPECT(cudaFreeHost(&never) != cudaSuccess);
  cudaGetLastError();
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  return done();
}
