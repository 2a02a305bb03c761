// Read-modify-write by lanes: histograms and scattered additions, with few and many conflicts, results used and unused.

extern "C" __global__ void sharedHistogram(int n, const unsigned char *x, unsigned *bins) {
  __shared__ unsigned mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[x[i]], 1);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

// The same code on data with few different values.
extern "C" __global__ void crowdedHistogram(int n, const unsigned char *x, unsigned *bins) {
  __shared__ unsigned mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[x[i]], 1);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

extern "C" __global__ void globalHistogram(int n, const unsigned *x, unsigned *bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[x[i] >> 16], 1);
}

extern "C" __global__ void crowdedGlobalHistogram(int n, const unsigned *x, unsigned *bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[x[i] >> 29], 1);
}

extern "C" __global__ void scatterAddFloat(int n, const int *index, const float *x, float *sums) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&sums[index[i]], x[i]);
}

extern "C" __global__ void sharedFloatSums(int n, const int *index, const float *x, float *sums) {
  __shared__ float mine[1024];
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) mine[k] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&mine[index[i] & 1023], x[i]);
  __syncthreads();
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) atomicAdd(&sums[k], mine[k]);
}

// Results used: each element takes the next free slot of its bucket.
extern "C" __global__ void bucketSlots(int n, int slots, const int *key, int *fillOf, int *bucket) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int b = key[i], slot = atomicAdd(&fillOf[b], 1);
  if (slot < slots) bucket[b * slots + slot] = i;
}

extern "C" __global__ void scatterMax(int n, const int *index, const int *x, int *most) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicMax(&most[index[i]], x[i]);
}

// A private table of 16 counters for each thread, in shared memory.
extern "C" __global__ void privateCounters(int length, const unsigned char *x, int *counts) {
  __shared__ unsigned char mine[16][128];
  int t = threadIdx.x;
  for (int b = 0; b < 16; ++b) mine[b][t] = 0;
  const unsigned char *row = x + (size_t)(blockIdx.x * 128) * length;
  for (int k = 0; k < length; ++k) mine[row[k * 128 + t] & 15][t]++;
  __syncthreads();
  if (t < 16) {
    int sum = 0;
    for (int k = 0; k < 128; ++k) sum += mine[t][k];
    atomicAdd(&counts[t], sum);
  }
}

// Doubles, by compare-and-swap as before sm_60.
extern "C" __global__ void casAddDouble(int n, const int *index, const double *x, unsigned long long *sums) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long *at = sums + index[i], old = *at, assumed;
  do {
    assumed = old;
    old = atomicCAS(at, assumed, __double_as_longlong(x[i] + __longlong_as_double(assumed)));
  } while (assumed != old);
}

// Hough transform: bright pixels vote for the lines through them.
extern "C" __global__ void brightVotes(int width, int height, int angles, int distances, const unsigned char *image, const float *cosine, const float *sine, int *votes) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height || image[y * width + x] < 240) return;
  for (int k = 0; k < angles; ++k) {
    int distance = (int)(x * cosine[k] + y * sine[k]) + distances / 2;
    atomicAdd(&votes[k * distances + distance], 1);
  }
}
