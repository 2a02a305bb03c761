// Sorting, merging, searching.

// Each block sorts 2 * blockDim keys in shared memory; the number is known at run time.
extern "C" __global__ void bitonicSort(unsigned *keys) {
  extern __shared__ unsigned s[];
  unsigned t = threadIdx.x, n = 2 * blockDim.x, base = blockIdx.x * n;
  s[t] = keys[base + t];
  s[t + blockDim.x] = keys[base + t + blockDim.x];
  for (unsigned k = 2; k <= n; k *= 2)
    for (unsigned j = k / 2; j > 0; j /= 2) {
      __syncthreads();
      unsigned a = 2 * t - (t & (j - 1)), b = a + j;
      bool isUp = (a & k) == 0;
      unsigned u = s[a], v = s[b];
      if ((u > v) == isUp) s[a] = v, s[b] = u;
    }
  __syncthreads();
  keys[base + t] = s[t];
  keys[base + t + blockDim.x] = s[t + blockDim.x];
}

extern "C" __global__ void oddEvenSort(int *keys) {
  __shared__ int s[128];
  int t = threadIdx.x, base = blockIdx.x * 128;
  s[t] = keys[base + t];
  s[t + 64] = keys[base + t + 64];
  __syncthreads();
  for (int round = 0; round < 128; ++round) {
    int a = 2 * t + (round & 1);
    if (a + 1 < 128 && s[a] > s[a + 1]) {
      int v = s[a];
      s[a] = s[a + 1];
      s[a + 1] = v;
    }
    __syncthreads();
  }
  keys[base + t] = s[t];
  keys[base + t + 64] = s[t + 64];
}

// Digit counts of a radix pass: 16 digits, a column of counts for each block.
extern "C" __global__ void radixCount(int n, int shift, const unsigned *keys, int *counts) {
  __shared__ int mine[16];
  int t = threadIdx.x;
  if (t < 16) mine[t] = 0;
  __syncthreads();
  for (int k = 0; k < 4; ++k) {
    int i = blockIdx.x * 1024 + k * 256 + t;
    if (i < n) atomicAdd(&mine[keys[i] >> shift & 15], 1);
  }
  __syncthreads();
  if (t < 16) counts[t * gridDim.x + blockIdx.x] = mine[t];
}

// A stable split of each block's 256 keys by four bits, one bit after the other, ranks by ballots.
extern "C" __global__ void radixSplit(int shift, const unsigned *in, unsigned *out) {
  __shared__ unsigned s[256];
  __shared__ int zeros[8];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  unsigned key = in[blockIdx.x * 256 + t];
  for (int bit = 0; bit < 4; ++bit) {
    bool isOne = key >> (shift + bit) & 1;
    unsigned ones = __ballot_sync(~0u, isOne);
    if (lane == 0) zeros[warp] = 32 - __popc(ones);
    __syncthreads();
    int before = 0, all = 0;
    for (int w = 0; w < 8; ++w) {
      if (w < warp) before += zeros[w];
      all += zeros[w];
    }
    int onesBelow = __popc(ones & ((1u << lane) - 1));
    int place = isOne ? all + (warp * 32 - before) + onesBelow : before + lane - onesBelow;
    s[place] = key;
    __syncthreads();
    key = s[t];
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = key;
}

// Merges two sorted sequences: each thread finds its diagonal and merges 16.
extern "C" __global__ void mergePath(int na, int nb, const int *a, const int *b, int *out) {
  int diagonal = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
  if (diagonal >= na + nb) return;
  int low = max(0, diagonal - nb), high = min(diagonal, na);
  while (low < high) {
    int middle = (low + high) / 2;
    if (a[middle] <= b[diagonal - 1 - middle]) low = middle + 1;
    else high = middle;
  }
  int i = low, j = diagonal - low;
  for (int k = diagonal; k < min(diagonal + 16, na + nb); ++k)
    if (j >= nb || (i < na && a[i] <= b[j])) out[k] = a[i++];
    else out[k] = b[j++];
}

extern "C" __global__ void binarySearch(int n, int length, const int *sorted, const int *wanted, int *place) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int key = wanted[i], low = 0, high = length;
  while (low < high) {
    int middle = (low + high) / 2;
    if (sorted[middle] < key) low = middle + 1;
    else high = middle;
  }
  place[i] = low;
}

// Places by counting smaller keys, all in shared memory.
extern "C" __global__ void rankSort(const float *in, float *out) {
  __shared__ float s[256];
  int t = threadIdx.x, base = blockIdx.x * 256, place = 0;
  float v = in[base + t];
  s[t] = v;
  __syncthreads();
  for (int k = 0; k < 256; ++k) place += s[k] < v || (s[k] == v && k < t);
  out[base + place] = v;
}
