// A bitonic sort with pairs, an odd-even merge sort in shared memory, and a radix sort by prefix sums.
#include "check.h"
#include <algorithm>

__global__ void bitonic(unsigned *keys, unsigned *values, int j, int k) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
  if (other > i && (keys[i] > keys[other]) == ((i & k) == 0) && keys[i] != keys[other]) {
    unsigned t = keys[i];
    keys[i] = keys[other], keys[other] = t;
    t = values[i], values[i] = values[other], values[other] = t;
  }
}
__global__ void oddEven(int *data) {
  __shared__ int s[256];
  s[threadIdx.x] = data[blockIdx.x * 256 + threadIdx.x], s[threadIdx.x + 128] = data[blockIdx.x * 256 + threadIdx.x + 128];
  for (unsigned size = 2; size <= 256; size *= 2) {
    unsigned stride = size / 2, offset = threadIdx.x & (stride - 1);
    for (bool isFirst = true; stride > 0; stride /= 2, isFirst = false) {
      __syncthreads();
      unsigned at = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      unsigned a = isFirst ? at : at - stride, b = isFirst ? at + stride : at;
      if ((isFirst || offset >= stride) && s[a] > s[b]) {
        int t = s[a];
        s[a] = s[b], s[b] = t;
      }
    }
  }
  __syncthreads();
  data[blockIdx.x * 256 + threadIdx.x] = s[threadIdx.x], data[blockIdx.x * 256 + threadIdx.x + 128] = s[threadIdx.x + 128];
}
__global__ void radix(unsigned *a, unsigned *b, int n) { // one block
  __shared__ int ones[1025];
  for (int bit = 0; bit < 32; ++bit) {
    int t = threadIdx.x, one = t < n ? a[t] >> bit & 1 : 0;
    ones[t + 1] = one;
    if (t == 0)
      ones[0] = 0;
    __syncthreads();
    for (int d = 1; d <= 1024; d *= 2) {
      int v = t + 1 >= d ? ones[t + 1 - d] : 0;
      __syncthreads();
      ones[t + 1] += v;
      __syncthreads();
    }
    if (t < n)
      b[one ? n - ones[1024] + ones[t] : t - ones[t]] = a[t];
    __syncthreads();
    if (t < n)
      a[t] = b[t];
    __syncthreads();
  }
}

int main() {
  const int n = 4096;
  std::vector<unsigned> keys(n), values(n);
  for (int i = 0; i < n; ++i)
    keys[i] = i * 2654435761u >> 7, values[i] = i;
  unsigned *k = toDevice(keys), *v = toDevice(values);
  for (int size = 2; size <= n; size *= 2)
    for (int j = size / 2; j > 0; j /= 2)
      bitonic<<<n / 256, 256>>>(k, v, j, size);
  std::vector<unsigned> sorted = keys, gotKeys = toHost(k, n), gotValues = toHost(v, n);
  std::sort(sorted.begin(), sorted.end());
  EXPECT(gotKeys == sorted);
  for (int i = 0; i < n; ++i)
    EXPECT(keys[gotValues[i]] == sorted[i]);
  std::vector<int> ints(1024);
  for (int i = 0; i < 1024; ++i)
    ints[i] = i * 7919 % 1009 - 500;
  int *d = toDevice(ints);
  oddEven<<<4, 128>>>(d);
  std::vector<int> got = toHost(d, 1024);
  for (int b = 0; b < 4; ++b)
    std::sort(ints.begin() + b * 256, ints.begin() + b * 256 + 256);
  EXPECT(got == ints);
  std::vector<unsigned> few(keys.begin(), keys.begin() + 1000);
  unsigned *f = toDevice(few), *g = toDevice(few);
  radix<<<1, 1024>>>(f, g, 1000);
  std::sort(few.begin(), few.end());
  EXPECT(toHost(f, 1000) == few);
  return done();
}
