// A failed assertion of a kernel: the message with file, line, block and thread, and the error that stays.
#undef NDEBUG
#include "check.h"
#include <cassert>
#include <cstring>
#include <string>
#include <unistd.h>

__global__ void fails(int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(i < n);
}

int main() {
  char name[] = "/tmp/assertion_XXXXXX";
  int file = mkstemp(name), before = dup(2);
  fails<<<2, 32>>>(64);
  CHECK(cudaDeviceSynchronize());
  dup2(file, 2);
  fails<<<2, 32>>>(60);
  cudaError_t error = cudaDeviceSynchronize();
  dup2(before, 2);
  EXPECT(error == cudaErrorAssert && !strcmp(cudaGetErrorName(error), "cudaErrorAssert"));
  std::string text(5000, 0);
  text.resize(pread(file, &text[0], 5000, 0));
  unlink(name);
  EXPECT(text.find("block: [1,0,0], thread: [28,0,0] Assertion `i < n` failed.") != std::string::npos);
  EXPECT(text.find("assertion.cu:11: ") != std::string::npos);
  EXPECT(text.find("thread: [27,0,0]") == std::string::npos);
  for (int i = 29; i < 32; ++i) // every thread that failed has its line
    EXPECT(text.find("block: [1,0,0], thread: [" + std::to_string(i) + ",0,0] Assertion `i < n` failed.") != std::string::npos);
  void *p;
  EXPECT(cudaMalloc(&p, 4) == cudaErrorAssert && cudaGetLastError() == cudaErrorAssert);
  CHECK(cudaDeviceReset());
  CHECK(cudaMalloc(&p, 4));
  fails<<<1, 32>>>(64);
  CHECK(cudaDeviceSynchronize());
  return done();
}
