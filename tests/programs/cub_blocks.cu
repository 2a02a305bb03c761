// CUB within blocks and warps: loads and stores in all arrangements, exchanges, scans, reductions, radix and merge sorts, histograms, discontinuities,
// run lengths, shuffles.
// nvcc: -arch=compute_75
#include "check.h"
#include <algorithm>
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_rank.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cuda/functional>
#include <cuda/std/functional>

const int kThreads = 64, kItems = 4, kTile = kThreads * kItems;

template <cub::BlockLoadAlgorithm L, cub::BlockStoreAlgorithm S> __global__ void moves(const int *in, int *out, int n) {
  typedef cub::BlockLoad<int, kThreads, kItems, L> Load;
  typedef cub::BlockStore<int, kThreads, kItems, S> Store;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
  } s;
  int v[kItems];
  Load(s.load).Load(in, v, n, -7);
  __syncthreads();
  for (int k = 0; k < kItems; ++k)
    v[k] = v[k] * 2 + threadIdx.x * kItems + k;
  Store(s.store).Store(out, v, n);
}
template <cub::BlockScanAlgorithm A> __global__ void scans(const int *in, int *out, int *sums) {
  typedef cub::BlockScan<int, kThreads, A> Scan;
  __shared__ typename Scan::TempStorage s;
  int v[kItems], total;
  for (int k = 0; k < kItems; ++k)
    v[k] = in[threadIdx.x * kItems + k];
  Scan(s).ExclusiveSum(v, v, total);
  for (int k = 0; k < kItems; ++k)
    out[threadIdx.x * kItems + k] = v[k];
  __syncthreads();
  int most;
  Scan(s).InclusiveScan(in[threadIdx.x], most, cuda::maximum<>());
  sums[threadIdx.x] = most;
  if (threadIdx.x == 0)
    sums[kThreads] = total;
}
template <cub::BlockReduceAlgorithm A> __global__ void reduces(const int *in, long long *out, int valid) {
  typedef cub::BlockReduce<long long, kThreads, A> Reduce;
  __shared__ typename Reduce::TempStorage s;
  long long sum = Reduce(s).Sum(in[threadIdx.x], valid);
  __syncthreads();
  long long least = Reduce(s).Reduce((long long)in[threadIdx.x], cuda::minimum<>());
  if (threadIdx.x == 0)
    out[0] = sum, out[1] = least;
}
__global__ void sorts(const unsigned *in, unsigned *keys, int *values, double *merged) {
  typedef cub::BlockRadixSort<unsigned, kThreads, kItems, int> Radix;
  typedef cub::BlockMergeSort<double, kThreads, kItems> Merge;
  __shared__ union {
    Radix::TempStorage radix;
    Merge::TempStorage merge;
  } s;
  unsigned k[kItems];
  int v[kItems];
  double m[kItems];
  for (int i = 0; i < kItems; ++i) {
    k[i] = in[threadIdx.x * kItems + i];
    v[i] = threadIdx.x * kItems + i;
    m[i] = -double(k[i]) / 3;
  }
  Radix(s.radix).SortDescending(k, v, 4, 28); // some of the bits
  __syncthreads();
  Merge(s.merge).Sort(m, [](double a, double b) { return a < b; });
  for (int i = 0; i < kItems; ++i)
    keys[threadIdx.x * kItems + i] = k[i], values[threadIdx.x * kItems + i] = v[i], merged[threadIdx.x * kItems + i] = m[i];
}
__global__ void others(const int *in, int *heads, int *differences, int *histogram, int *striped, int *shuffled) {
  typedef cub::BlockDiscontinuity<int, kThreads> Heads;
  typedef cub::BlockAdjacentDifference<int, kThreads> Adjacent;
  typedef cub::BlockHistogram<unsigned char, kThreads, kItems, 16, cub::BLOCK_HISTO_SORT> Histogram;
  typedef cub::BlockExchange<int, kThreads, kItems> Exchange;
  typedef cub::BlockShuffle<int, kThreads> Shuffle;
  __shared__ union {
    Heads::TempStorage heads;
    Adjacent::TempStorage adjacent;
    Histogram::TempStorage histogram;
    Exchange::TempStorage exchange;
    Shuffle::TempStorage shuffle;
  } s;
  __shared__ int bins[16];
  int t = threadIdx.x * kItems, v[kItems], f[kItems];
  unsigned char small[kItems];
  for (int i = 0; i < kItems; ++i)
    v[i] = in[t + i] / 50, small[i] = in[t + i] % 16;
  Heads(s.heads).FlagHeads(f, v, cuda::std::not_equal_to<>());
  for (int i = 0; i < kItems; ++i)
    heads[t + i] = f[i];
  __syncthreads();
  Adjacent(s.adjacent).SubtractLeft(v, f, [](int a, int b) { return a - b; });
  for (int i = 0; i < kItems; ++i)
    differences[t + i] = f[i];
  __syncthreads();
  Histogram(s.histogram).Histogram(small, bins);
  __syncthreads();
  if (threadIdx.x < 16)
    histogram[threadIdx.x] = bins[threadIdx.x];
  Exchange(s.exchange).BlockedToStriped(v, f);
  for (int i = 0; i < kItems; ++i)
    striped[i * kThreads + threadIdx.x] = f[i];
  __syncthreads();
  int other = -1;
  Shuffle(s.shuffle).Offset(in[threadIdx.x], other, 3);
  shuffled[threadIdx.x] = other;
}
__global__ void warps(const int *in, int *out, int *sorted) {
  typedef cub::WarpScan<int, 16> Scan;
  typedef cub::WarpReduce<int, 8> Reduce;
  typedef cub::WarpMergeSort<int, 2, 32> Sort;
  __shared__ Scan::TempStorage s[4];
  __shared__ Reduce::TempStorage r[8];
  __shared__ Sort::TempStorage m[2];
  int v = in[threadIdx.x], x, sum, segmented;
  Scan(s[threadIdx.x / 16]).InclusiveSum(v, x, sum);
  out[threadIdx.x] = x + 100000 * (sum % 100);
  segmented = Reduce(r[threadIdx.x / 8]).HeadSegmentedSum(v, threadIdx.x % 3 == 0);
  out[64 + threadIdx.x] = segmented;
  int two[2] = {in[threadIdx.x * 2], in[threadIdx.x * 2 + 1]};
  Sort(m[threadIdx.x / 32]).Sort(two, cuda::std::less<>());
  sorted[threadIdx.x * 2] = two[0], sorted[threadIdx.x * 2 + 1] = two[1];
}

int main() {
  srand(4);
  std::vector<int> in(kTile);
  for (int &v : in)
    v = rand() % 1000;
  int *d = toDevice(in), *out, *sums;
  CHECK(cudaMallocManaged(&out, kTile * 4 * 5));
  CHECK(cudaMallocManaged(&sums, kTile * 4));
  auto testMoves = [&](void (*kernel)(const int *, int *, int), int n) {
    for (int i = 0; i < kTile; ++i)
      out[i] = -1;
    kernel<<<1, kThreads>>>(d, out, n);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < kTile; ++i)
      EXPECT(out[i] == (i < n ? in[i] * 2 + i : -1));
  };
  for (int n : {kTile, 201}) {
    testMoves(moves<cub::BLOCK_LOAD_DIRECT, cub::BLOCK_STORE_TRANSPOSE>, n);
    testMoves(moves<cub::BLOCK_LOAD_VECTORIZE, cub::BLOCK_STORE_DIRECT>, n);
    testMoves(moves<cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_WARP_TRANSPOSE>, n);
    testMoves(moves<cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::BLOCK_STORE_VECTORIZE>, n);
  }
  auto testScan = [&](void (*kernel)(const int *, int *, int *)) {
    kernel<<<1, kThreads>>>(d, out, sums);
    CHECK(cudaDeviceSynchronize());
    int sum = 0, most = 0;
    for (int i = 0; i < kTile; ++i) {
      EXPECT(out[i] == sum);
      sum += in[i];
      if (i < kThreads)
        EXPECT(sums[i] == (most = std::max(most, in[i])));
    }
    EXPECT(sums[kThreads] == sum);
  };
  testScan(scans<cub::BLOCK_SCAN_RAKING>);
  testScan(scans<cub::BLOCK_SCAN_RAKING_MEMOIZE>);
  testScan(scans<cub::BLOCK_SCAN_WARP_SCANS>);
  long long *two;
  CHECK(cudaMallocManaged(&two, 16));
  for (int valid : {kThreads, 45}) {
    for (auto kernel : {reduces<cub::BLOCK_REDUCE_RAKING>, reduces<cub::BLOCK_REDUCE_WARP_REDUCTIONS>, reduces<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>}) {
      kernel<<<1, kThreads>>>(d, two, valid);
      CHECK(cudaDeviceSynchronize());
      long long sum = 0;
      for (int i = 0; i < valid; ++i)
        sum += in[i];
      EXPECT(two[0] == sum && two[1] == *std::min_element(in.begin(), in.begin() + kThreads));
    }
  }
  std::vector<unsigned> keys(kTile);
  for (unsigned &k : keys)
    k = unsigned(rand()) * 2654435761u;
  unsigned *dk = toDevice(keys), *ok;
  double *merged;
  CHECK(cudaMallocManaged(&ok, kTile * 4));
  CHECK(cudaMallocManaged(&merged, kTile * 8));
  sorts<<<1, kThreads>>>(dk, ok, out, merged);
  CHECK(cudaDeviceSynchronize());
  std::vector<int> order(kTile);
  std::vector<double> m(kTile);
  for (int i = 0; i < kTile; ++i)
    order[i] = i, m[i] = -double(keys[i]) / 3;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return (keys[a] >> 4 & 0xffffff) > (keys[b] >> 4 & 0xffffff); });
  std::sort(m.begin(), m.end());
  for (int i = 0; i < kTile; ++i)
    EXPECT(out[i] == order[i] && ok[i] == keys[order[i]] && merged[i] == m[i]);
  int *heads = out, *differences = out + kTile, *striped = out + 2 * kTile, *shuffled = out + 3 * kTile;
  others<<<1, kThreads>>>(d, heads, differences, sums, striped, shuffled);
  CHECK(cudaDeviceSynchronize());
  int bins[16] = {};
  for (int i = 0; i < kTile; ++i) {
    int v = in[i] / 50, before = i ? in[i - 1] / 50 : 0;
    EXPECT(heads[i] == (i == 0 || v != before) && differences[i] == (i ? v - before : v));
    EXPECT(striped[i] == in[i] / 50);
    ++bins[in[i] % 16];
  }
  for (int i = 0; i < 16; ++i)
    EXPECT(sums[i] == bins[i]);
  for (int i = 0; i + 3 < kThreads; ++i)
    EXPECT(shuffled[i] == in[i + 3]);
  warps<<<1, kThreads>>>(d, out, out + kTile);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < kThreads; ++i) {
    int x = 0, sum = 0;
    for (int j = i / 16 * 16; j < i / 16 * 16 + 16; ++j)
      sum += in[j], x += j <= i ? in[j] : 0;
    EXPECT(out[i] == x + 100000 * (sum % 100));
    if (i % 8 == 0 || i % 3 == 0) {
      int seg = 0;
      for (int j = i; j < i / 8 * 8 + 8 && (j == i || j % 3); ++j)
        seg += in[j];
      EXPECT(out[64 + i] == seg);
    }
  }
  for (int w = 0; w < 2; ++w)
    std::sort(in.begin() + w * 64, in.begin() + w * 64 + 64);
  EXPECT(std::equal(in.begin(), in.begin() + 128, out + kTile));
  return done();
}
