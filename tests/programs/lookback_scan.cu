// A scan of a long array in one pass: blocks take numbers in the order in which they start, publish their sums and look back at those before them; with 64-bit
// words that hold state and value.
// nvcc: -arch=compute_75
#include "check.h"

constexpr int kThreads = 128, kItems = 8, kTile = kThreads * kItems;
enum : unsigned long long { kSum = 1ull << 62, kPrefix = 2ull << 62, kValue = kSum - 1 };

__global__ void scan(const unsigned *in, unsigned long long *out, volatile unsigned long long *state, unsigned *counter, int n) {
  __shared__ unsigned tile;
  __shared__ unsigned long long warps[kThreads / 32], before;
  if (threadIdx.x == 0)
    tile = atomicAdd(counter, 1);
  __syncthreads();
  int base = tile * kTile + threadIdx.x * kItems, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned long long v[kItems], sum = 0;
  for (int k = 0; k < kItems; ++k)
    v[k] = sum += base + k < n ? in[base + k] : 0;
  unsigned long long inclusive = sum;
  for (int k = 1; k < 32; k *= 2) {
    unsigned long long up = __shfl_up_sync(~0u, inclusive, k);
    if (lane >= k)
      inclusive += up;
  }
  if (lane == 31)
    warps[warp] = inclusive;
  __syncthreads();
  unsigned long long ofWarps = 0, ofTile = 0;
  for (int w = 0; w < kThreads / 32; ++w) {
    ofWarps += w < warp ? warps[w] : 0;
    ofTile += warps[w];
  }
  if (warp == 0) {
    if (lane == 0) {
      state[tile] = (tile == 0 ? kPrefix : kSum) | ofTile;
      __threadfence();
    }
    unsigned long long prefix = 0;
    for (int at = int(tile) - 1; at >= 0; at -= 32) {
      unsigned long long s;
      do
        s = at - lane >= 0 ? state[at - lane] : kPrefix;
      while (__any_sync(~0u, s == 0));
      unsigned done = __ballot_sync(~0u, (s & kPrefix) != 0);
      int last = done ? __ffs(done) - 1 : 31;
      unsigned long long part = lane <= last ? s & kValue : 0;
      for (int k = 16; k; k /= 2)
        part += __shfl_xor_sync(~0u, part, k);
      prefix += part;
      if (done)
        break;
    }
    if (lane == 0) {
      before = prefix;
      if (tile)
        state[tile] = kPrefix | (prefix + ofTile);
    }
  }
  __syncthreads();
  unsigned long long add = before + ofWarps + inclusive - sum;
  for (int k = 0; k < kItems; ++k)
    if (base + k < n)
      out[base + k] = v[k] + add;
}

int main() {
  for (int n : {1, 1000, kTile, kTile + 1, 123457, 500000}) {
    std::vector<unsigned> in(n);
    for (int i = 0; i < n; ++i)
      in[i] = unsigned(i) * 2654435761u >> 8;
    unsigned *d = toDevice(in), *counter;
    unsigned long long *out, *state;
    int tiles = (n + kTile - 1) / kTile;
    CHECK(cudaMalloc(&out, n * 8));
    CHECK(cudaMalloc(&state, tiles * 8));
    CHECK(cudaMalloc(&counter, 4));
    for (int round = 0; round < 2; ++round) {
      CHECK(cudaMemset(state, 0, tiles * 8));
      CHECK(cudaMemset(counter, 0, 4));
      scan<<<tiles, kThreads>>>(d, out, state, counter, n);
      CHECK(cudaGetLastError());
      std::vector<unsigned long long> got = toHost(out, n);
      unsigned long long sum = 0;
      int wrong = 0;
      for (int i = 0; i < n; ++i)
        wrong += got[i] != (sum += in[i]);
      EXPECT(wrong == 0);
    }
    CHECK(cudaFree(d));
    CHECK(cudaFree(out));
    CHECK(cudaFree(state));
    CHECK(cudaFree(counter));
  }
  return done();
}
