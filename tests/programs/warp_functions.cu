// Warp functions of all kinds and types: shuffles of 8-byte values, with widths and masks that diverge, votes, matches, reductions, and what they make
// possible.
// nvcc: -arch=compute_80
#include "check.h"
#include <algorithm>
#include <cuda_fp16.h>

template <class T> __global__ void shuffles(const T *in, T *out, int width) {
  int i = threadIdx.x;
  T v = in[i];
  out[i] = __shfl_sync(~0u, v, i * 7 + 3, width);
  out[32 + i] = __shfl_up_sync(~0u, v, 3, width);
  out[64 + i] = __shfl_down_sync(~0u, v, 5, width);
  out[96 + i] = __shfl_xor_sync(~0u, v, 6, width);
}
template <class T> static void testShuffles() {
  std::vector<T> in(32);
  for (int i = 0; i < 32; ++i)
    in[i] = T(i * 1.5 + 1e6);
  T *d = toDevice(in), *out;
  CHECK(cudaMalloc(&out, 128 * sizeof(T)));
  for (int width = 32; width >= 1; width /= 2) {
    shuffles<T><<<1, 32>>>(d, out, width);
    std::vector<T> got = toHost(out, 128);
    for (int i = 0; i < 32; ++i) {
      int base = i / width * width, r = i % width;
      EXPECT(got[i] == in[base + (i * 7 + 3) % width]);
      EXPECT(got[32 + i] == in[r >= 3 ? i - 3 : i]);
      EXPECT(got[64 + i] == in[r + 5 < width ? i + 5 : i]);
      int other = i ^ 6;
      // out of the segment's end is one's own value, below its begin is another segment's
      EXPECT(got[96 + i] == in[other < base + width ? other : i]);
    }
  }
}
__global__ void votes(unsigned *out) {
  int i = threadIdx.x;
  unsigned *o = out + i * 12;
  if (i % 2) {
    unsigned m = 0xaaaaaaaa;
    o[0] = __ballot_sync(m, i > 20);
    o[1] = __any_sync(m, i == 31);
    o[2] = __all_sync(m, i & 1);
    o[3] = __match_any_sync(m, i / 8);
    int all;
    o[4] = __match_all_sync(m, 7ull << 40, &all);
    o[5] = all;
    o[6] = __reduce_add_sync(m, i);
    o[7] = __reduce_max_sync(m, -i);
    o[8] = __reduce_min_sync(m, unsigned(i));
    o[9] = __reduce_xor_sync(m, 1u << i);
    o[10] = __reduce_or_sync(m, i) * 256 + __reduce_and_sync(m, i);
  } else {
    unsigned m = 0x55555555;
    o[0] = __ballot_sync(m, i < 10);
    o[1] = __any_sync(m, i == 31);
    o[2] = __all_sync(m, i < 30);
    o[3] = __match_any_sync(m, (long long)(i % 6));
    int all;
    o[4] = __match_all_sync(m, i, &all);
    o[5] = all;
    o[6] = __reduce_add_sync(m, i * i);
    o[7] = __reduce_max_sync(m, i);
    o[8] = __reduce_min_sync(m, -i);
    o[9] = __popc(__activemask()) > 0;
    o[10] = 0;
  }
  __syncwarp();
}
__global__ void halves(const __half2 *in, __half2 *out) {
  __half2 v = in[threadIdx.x];
  for (int step = 16; step; step /= 2)
    v = __hadd2(v, __shfl_xor_sync(~0u, v, step));
  out[threadIdx.x] = v;
}
/// Sorts 32 values by exchanges between lanes.
__global__ void bitonic(int *data) {
  int i = threadIdx.x, v = data[blockIdx.x * 32 + i];
  for (int k = 2; k <= 32; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      int other = __shfl_xor_sync(~0u, v, j);
      bool smaller = ((i & j) == 0) == ((i & k) == 0);
      v = smaller ? min(v, other) : max(v, other);
    }
  data[blockIdx.x * 32 + i] = v;
}
__global__ void barriers(int *out) {
  __shared__ int s[256];
  int i = threadIdx.x;
  s[i] = i;
  int odd = __syncthreads_count(i % 3 == 0);
  int any = __syncthreads_or(i == 77), all = __syncthreads_and(i < 256);
  out[i] = odd * 100 + any * 10 + all + s[255 - i] * 100000;
}

int main() {
  testShuffles<int>();
  testShuffles<unsigned>();
  testShuffles<float>();
  testShuffles<double>();
  testShuffles<long long>();
  testShuffles<unsigned long long>();
  unsigned *out;
  CHECK(cudaMalloc(&out, 32 * 12 * 4));
  votes<<<1, 32>>>(out);
  std::vector<unsigned> got = toHost(out, 32 * 12);
  for (int i = 0; i < 32; ++i) {
    unsigned *o = &got[i * 12], ballot = 0, match = 0, sum = 0, ors = 0;
    for (int j = i % 2; j < 32; j += 2) {
      ballot |= (i % 2 ? j > 20 : j < 10) ? 1u << j : 0;
      match |= (i % 2 ? j / 8 == i / 8 : j % 6 == i % 6) ? 1u << j : 0;
      sum += i % 2 ? j : j * j;
      ors |= j;
    }
    EXPECT(o[0] == ballot && o[3] == match && o[6] == sum);
    if (i % 2)
      EXPECT(o[1] == 1 && o[2] == 1 && o[4] == 0xaaaaaaaa && o[5] == 1 && int(o[7]) == -1 && o[8] == 1 && o[9] == 0xaaaaaaaa && o[10] == ors * 256 + 1);
    else
      EXPECT(o[1] == 0 && o[2] == 0 && o[4] == 0 && o[5] == 0 && o[7] == 30 && int(o[8]) == -30 && o[9] == 1);
  }
  std::vector<__half2> h(32);
  for (int i = 0; i < 32; ++i)
    h[i] = __floats2half2_rn(i, i * 0.5f);
  __half2 *dh = toDevice(h), *oh;
  CHECK(cudaMalloc(&oh, 32 * 4));
  halves<<<1, 32>>>(dh, oh);
  h = toHost(oh, 32);
  for (__half2 v : h)
    EXPECT(__low2float(v) == 496 && __high2float(v) == 248);
  std::vector<int> values(32 * 50);
  for (int &v : values)
    v = rand() - RAND_MAX / 2;
  int *d = toDevice(values);
  bitonic<<<50, 32>>>(d);
  std::vector<int> sorted = toHost(d, values.size());
  for (int b = 0; b < 50; ++b) {
    std::sort(values.begin() + b * 32, values.begin() + b * 32 + 32);
  }
  EXPECT(sorted == values);
  barriers<<<1, 256>>>(d);
  sorted = toHost(d, 256);
  for (int i = 0; i < 256; ++i)
    EXPECT(sorted[i] == 86 * 100 + 11 + (255 - i) * 100000);
  return done();
}
