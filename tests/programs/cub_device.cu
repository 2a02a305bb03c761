// nvcc: -arch=compute_80
// CUB: device-wide sort, scan, select, histogram, run lengths, segmented reduction and sort, top of pairs; block and warp collectives.
#include "check.h"
#include <algorithm>
#include <cub/cub.cuh>
#include <cuda/functional>

struct Even {
  __host__ __device__ bool operator()(unsigned x) const { return x % 2 == 0; }
};
struct Less {
  __host__ __device__ bool operator()(float a, float b) const { return a < b; }
};
template <class F> static void twice(F f) { // asks for the size, then runs
  size_t bytes = 0;
  CHECK(f(nullptr, bytes));
  void *space;
  CHECK(cudaMalloc(&space, bytes + 1));
  CHECK(f(space, bytes));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(space));
}
__global__ void blockwise(const int *in, int *out) {
  typedef cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_TRANSPOSE> Load;
  typedef cub::BlockStore<int, 128, 4, cub::BLOCK_STORE_WARP_TRANSPOSE> Store;
  typedef cub::BlockRadixSort<int, 128, 4> Sort;
  typedef cub::BlockScan<int, 128, cub::BLOCK_SCAN_RAKING> Scan;
  __shared__ union {
    Load::TempStorage load;
    Store::TempStorage store;
    Sort::TempStorage sort;
    Scan::TempStorage scan;
  } space;
  int items[4], sum;
  Load(space.load).Load(in + blockIdx.x * 512, items);
  __syncthreads();
  Sort(space.sort).SortDescending(items);
  __syncthreads();
  Scan(space.scan).InclusiveSum(items, items, sum);
  __syncthreads();
  Store(space.store).Store(out + blockIdx.x * 512, items);
  typedef cub::WarpReduce<int> Warp;
  __shared__ Warp::TempStorage warps[4];
  int most = Warp(warps[threadIdx.x / 32]).Reduce(in[blockIdx.x * 512 + threadIdx.x], cuda::maximum<>());
  if (threadIdx.x % 32 == 0)
    atomicMax(out + 512 * gridDim.x, most + sum * 0);
}

int main() {
  const int n = 20000;
  std::vector<unsigned> keys(n), values(n);
  for (int i = 0; i < n; ++i)
    keys[i] = i * 2654435761u % 1000, values[i] = i;
  unsigned *k = toDevice(keys), *v = toDevice(values), *k2 = toDevice(keys), *v2 = toDevice(values);
  twice([&](void *p, size_t &b) { return cub::DeviceRadixSort::SortPairs(p, b, k, k2, v, v2, n); });
  std::vector<unsigned> order = values;
  std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) { return keys[a] < keys[b]; });
  EXPECT(toHost(v2, n) == order);
  int *runs, *lengths, *count;
  CHECK(cudaMallocManaged(&runs, n * 4));
  CHECK(cudaMallocManaged(&lengths, n * 4));
  CHECK(cudaMallocManaged(&count, 4));
  twice([&](void *p, size_t &b) { return cub::DeviceRunLengthEncode::Encode(p, b, k2, runs, lengths, count, n); });
  EXPECT(*count == 1000 && runs[999] == 999 && lengths[0] == std::count(keys.begin(), keys.end(), 0u));
  int *bins;
  CHECK(cudaMallocManaged(&bins, 100 * 4));
  twice([&](void *p, size_t &b) { return cub::DeviceHistogram::HistogramEven(p, b, k, bins, 101, 0u, 1000u, n); });
  EXPECT(bins[17] == std::count_if(keys.begin(), keys.end(), [](unsigned x) { return x / 10 == 17; }));
  unsigned *scan;
  CHECK(cudaMallocManaged(&scan, n * 4));
  twice([&](void *p, size_t &b) { return cub::DeviceScan::ExclusiveSum(p, b, k, scan, n); });
  unsigned sum = 0;
  for (int i = 0; i < n; sum += keys[i++])
    EXPECT(scan[i] == sum);
  unsigned *total;
  CHECK(cudaMallocManaged(&total, 64));
  twice([&](void *p, size_t &b) { return cub::DeviceReduce::Sum(p, b, k, total, n); });
  EXPECT(*total == sum);
  cub::KeyValuePair<int, unsigned> *best;
  CHECK(cudaMallocManaged(&best, sizeof *best));
  twice([&](void *p, size_t &b) { return cub::DeviceReduce::ArgMax(p, b, k, best, n); });
  EXPECT(best->key == std::max_element(keys.begin(), keys.end()) - keys.begin() && best->value == 999);
  twice([&](void *p, size_t &b) { return cub::DeviceSelect::If(p, b, k, scan, count, n, Even()); });
  EXPECT(*count == std::count_if(keys.begin(), keys.end(), Even()));
  twice([&](void *p, size_t &b) { return cub::DevicePartition::If(p, b, k, scan, count, n, Even()); });
  EXPECT(scan[*count - 1] % 2 == 0 && scan[*count] % 2 == 1);
  std::vector<int> offsets{0, 5, 5, 1000, 7777, n};
  int *o = toDevice(offsets);
  twice([&](void *p, size_t &b) { return cub::DeviceSegmentedReduce::Max(p, b, k, total, 5, o, o + 1); });
  EXPECT(total[0] == *std::max_element(keys.begin(), keys.begin() + 5) && total[4] == 999);
  twice([&](void *p, size_t &b) { return cub::DeviceSegmentedSort::SortKeys(p, b, k, k2, n, 5, o, o + 1); });
  std::vector<unsigned> segment(keys.begin() + 1000, keys.begin() + 7777), sorted = toHost(k2, n);
  std::sort(segment.begin(), segment.end());
  EXPECT(std::equal(segment.begin(), segment.end(), sorted.begin() + 1000));
  std::vector<float> f(n);
  for (int i = 0; i < n; ++i)
    f[i] = std::sin(i) * 1000;
  float *df = toDevice(f), *df2 = toDevice(f);
  twice([&](void *p, size_t &b) { return cub::DeviceMergeSort::SortKeysCopy(p, b, df, df2, n, Less()); });
  std::sort(f.begin(), f.end());
  EXPECT(toHost(df2, n) == f);
  std::vector<int> in(1024);
  for (int i = 0; i < 1024; ++i)
    in[i] = i * 77 % 513;
  int *din = toDevice(in), *out;
  CHECK(cudaMallocManaged(&out, 1025 * 4));
  out[1024] = -1;
  blockwise<<<2, 128>>>(din, out);
  CHECK(cudaDeviceSynchronize());
  int most = 0;
  for (int block = 0; block < 2; ++block) {
    for (int i = 0; i < 128; ++i)
      most = std::max(most, in[block * 512 + i]);
    std::sort(in.begin() + block * 512, in.begin() + block * 512 + 512, std::greater<int>());
    for (int i = 0, s = 0; i < 512; ++i)
      EXPECT(out[block * 512 + i] == (s += in[block * 512 + i]));
  }
  EXPECT(out[1024] == most);
  return done();
}
