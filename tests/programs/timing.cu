// Clocks and times: clock() and clock64() go on within a thread, __nanosleep sleeps, %globaltimer agrees with the host's clock, events measure kernels, spins end.
#include "check.h"
#include <algorithm>
#include <chrono>
// nvcc: -arch=compute_90
__global__ void clocks(long long *out) {
  clock_t a = clock();
  long long begin = clock64();
  float x = threadIdx.x;
  for (int i = 0; i < 1000; ++i)
    x = x * 0.999f + 1;
  long long end = clock64();
  clock_t b = clock();
  out[threadIdx.x] = end - begin;
  out[32 + threadIdx.x] = int(b) - int(a);
  out[64 + threadIdx.x] = x > 0;
}
__global__ void sleeps(unsigned long long *out, unsigned nanoseconds) {
  unsigned long long begin, end;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  for (int i = 0; i < 10; ++i)
    __nanosleep(nanoseconds);
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end));
  out[0] = begin, out[1] = end;
}
/// Each thread lets so many cycles pass.
__global__ void passes(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}
/// One block waits until another one has set a flag: both must make progress.
__global__ void flags(volatile int *flag, int *out) {
  if (blockIdx.x == 0) {
    unsigned wait = 8;
    while (*flag == 0) {
      __nanosleep(wait);
      wait = min(wait * 2, 256u);
    }
    out[threadIdx.x] = *flag;
  } else if (threadIdx.x == 0) {
    long long begin = clock64();
    while (clock64() - begin < 100000)
      ;
    __threadfence();
    *flag = 17;
  }
}
__global__ void busy(float *x, int rounds) {
  float v = x[threadIdx.x];
  for (int i = 0; i < rounds; ++i)
    v = v * 1.0001f + 0.5f;
  x[threadIdx.x] = v;
}

int main() {
  long long *out;
  CHECK(cudaMallocManaged(&out, 96 * 8));
  clocks<<<1, 32>>>(out);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i)
    EXPECT(out[i] > 0 && out[32 + i] > 0 && out[64 + i] == 1);
  unsigned long long *times;
  CHECK(cudaMallocManaged(&times, 16));
  auto before = std::chrono::system_clock::now().time_since_epoch();
  sleeps<<<1, 1>>>(times, 500000);
  CHECK(cudaDeviceSynchronize());
  auto after = std::chrono::system_clock::now().time_since_epoch();
  unsigned long long first = std::chrono::nanoseconds(before).count(), last = std::chrono::nanoseconds(after).count();
  EXPECT(times[0] + 1000000 >= first && times[1] <= last + 1000000 && times[1] > times[0]);
  // __nanosleep sleeps between nothing and twice as long
  EXPECT(times[1] - times[0] < 2000000000ull);
  int *flag, *got;
  CHECK(cudaMalloc(&flag, 4));
  CHECK(cudaMemset(flag, 0, 4));
  CHECK(cudaMallocManaged(&got, 32 * 4));
  flags<<<2, 32>>>(flag, got);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i)
    EXPECT(got[i] == 17);
  float *x;
  CHECK(cudaMalloc(&x, 128));
  CHECK(cudaMemset(x, 0, 128));
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  float shortTime = 0, longTime = 0;
  busy<<<1, 32>>>(x, 10);
  for (int k = 0; k < 2; ++k) {
    CHECK(cudaEventRecord(begin));
    busy<<<1, 32>>>(x, k ? 20000000 : 100);
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(k ? &longTime : &shortTime, begin, end));
  }
  EXPECT(shortTime >= 0 && longTime > shortTime && longTime < 60000);
  int rate = 0;
  CHECK(cudaDeviceGetAttribute(&rate, cudaDevAttrClockRate, 0));
  EXPECT(rate > 0);
  // kHz: cycles in a millisecond. All threads of a block let the time pass at once; the shortest of some, as the machine may be busy.
  float shortest = 1e9f;
  for (int k = 0; k < 10 && shortest > 25; ++k) {
    CHECK(cudaEventRecord(begin));
    passes<<<1, 1024>>>(20ll * rate);
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&longTime, begin, end));
    EXPECT(longTime > 19.9f);
    shortest = std::min(shortest, longTime);
  }
  EXPECT(shortest < 40);
  return done();
}
