// Inclusive prefix sum in three launches: blocks of 1024 (256 threads, four elements each), their totals, the offsets.
constexpr int kThreads = 256;
constexpr int kPerThread = 4;

__device__ unsigned warpScan(unsigned value) {
  int lane = threadIdx.x % 32;
  for (int offset = 1; offset < 32; offset *= 2) {
    unsigned below = __shfl_up_sync(0xffffffffu, value, offset);
    if (lane >= offset) value += below;
  }
  return value;
}

/// Inclusive scan of one value per thread over the block.
__device__ unsigned blockScan(unsigned value) {
  __shared__ unsigned warps[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  value = warpScan(value);
  if (lane == 31) warps[warp] = value;
  __syncthreads();
  if (warp == 0) {
    unsigned total = lane < blockDim.x / 32 ? warps[lane] : 0;
    warps[lane] = warpScan(total);
  }
  __syncthreads();
  if (warp > 0) value += warps[warp - 1];
  return value;
}

extern "C" __global__ void scanBlocks(int n, const uint4 *__restrict__ in, uint4 *out, unsigned *totals) {
  int i = blockIdx.x * kThreads + threadIdx.x;
  uint4 v = i * kPerThread < n ? in[i] : make_uint4(0, 0, 0, 0);
  v.y += v.x;
  v.z += v.y;
  v.w += v.z;
  unsigned last = blockScan(v.w);
  unsigned before = last - v.w;
  if (i * kPerThread < n) out[i] = make_uint4(v.x + before, v.y + before, v.z + before, v.w + before);
  if (threadIdx.x == kThreads - 1) totals[blockIdx.x] = last;
}

/// One block turns the totals of all blocks into their inclusive prefix sums, in place.
extern "C" __global__ void scanTotals(int blocks, unsigned *totals) {
  __shared__ unsigned carry;
  if (threadIdx.x == 0) carry = 0;
  __syncthreads();
  for (int base = 0; base < blocks; base += blockDim.x) {
    int i = base + threadIdx.x;
    unsigned value = i < blocks ? totals[i] : 0;
    unsigned sum = blockScan(value) + carry;
    if (i < blocks) totals[i] = sum;
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1) carry = sum;
    __syncthreads();
  }
}

extern "C" __global__ void addOffsets(int n, const unsigned *__restrict__ totals, uint4 *out) {
  int i = blockIdx.x * kThreads + threadIdx.x;
  if (blockIdx.x == 0 || i * kPerThread >= n) return;
  unsigned before = totals[blockIdx.x - 1];
  uint4 v = out[i];
  out[i] = make_uint4(v.x + before, v.y + before, v.z + before, v.w + before);
}
