// Sorts each run of 1024 keys in shared memory, 512 threads per block, by Batcher's bitonic network.
constexpr int kKeys = 1024;

extern "C" __global__ void bitonic(unsigned *keys) {
  __shared__ unsigned run[kKeys];
  int thread = threadIdx.x;
  unsigned *mine = keys + blockIdx.x * kKeys;
  run[thread] = mine[thread];
  run[thread + kKeys / 2] = mine[thread + kKeys / 2];
#pragma unroll
  for (int size = 2; size <= kKeys; size *= 2) {
#pragma unroll
    for (int distance = size / 2; distance > 0; distance /= 2) {
      __syncthreads();
      int low = 2 * thread - (thread & (distance - 1)), high = low + distance;
      unsigned first = run[low], second = run[high];
      bool isAscending = (low & size) == 0;
      if ((first > second) == isAscending) {
        run[low] = second;
        run[high] = first;
      }
    }
  }
  __syncthreads();
  mine[thread] = run[thread];
  mine[thread + kKeys / 2] = run[thread + kKeys / 2];
}
