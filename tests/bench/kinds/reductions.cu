// Reductions: grid-stride loops, trees in shared memory with strides known at run time, shuffles.
#include <cfloat>

extern "C" __global__ void gridStrideSum(int n, const float *x, float *sum) {
  extern __shared__ float part[];
  float mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += x[i];
  part[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(sum, part[0]);
}

extern "C" __global__ void interleavedSum(const float *x, float *sums) {
  extern __shared__ float part[];
  unsigned t = threadIdx.x;
  part[t] = x[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (t % (2 * s) == 0) part[t] += part[t + s];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = part[0];
}

extern "C" __global__ void interleavedIndexSum(const float *x, float *sums) {
  extern __shared__ float part[];
  unsigned t = threadIdx.x;
  part[t] = x[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    unsigned index = 2 * s * t;
    if (index < blockDim.x) part[index] += part[index + s];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = part[0];
}

extern "C" __global__ void sequentialSum(const float *x, float *sums) {
  extern __shared__ float part[];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
  part[t] = x[i] + x[i + blockDim.x];
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) part[t] += part[t + s];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = part[0];
}

__device__ float warpSum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(~0u, value, offset);
  return value;
}

extern "C" __global__ void shuffleSum4(int n, const float4 *x, float *sum) {
  float mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float4 v = x[i];
    mine += v.x + v.y + v.z + v.w;
  }
  mine = warpSum(mine);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

extern "C" __global__ void dotDouble(int n, const double *x, const double *y, double *sum) {
  __shared__ double part[8];
  double mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += x[i] * y[i];
  for (int offset = 16; offset > 0; offset /= 2) mine += __shfl_xor_sync(~0u, mine, offset);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < blockDim.x / 32; ++w) mine += part[w];
    atomicAdd(sum, mine);
  }
}

// The greatest number's place, the first of equal ones: one result for each block.
extern "C" __global__ void argMax(int n, const float *x, int *place) {
  __shared__ float bestOf[32];
  __shared__ int placeOf[32];
  float best = -FLT_MAX;
  int at = 0x7fffffff;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    if (x[i] > best) best = x[i], at = i;
  for (int offset = 16; offset > 0; offset /= 2) {
    float other = __shfl_down_sync(~0u, best, offset);
    int where = __shfl_down_sync(~0u, at, offset);
    if (other > best || (other == best && where < at)) best = other, at = where;
  }
  if (threadIdx.x % 32 == 0) bestOf[threadIdx.x / 32] = best, placeOf[threadIdx.x / 32] = at;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < blockDim.x / 32; ++w)
      if (bestOf[w] > best || (bestOf[w] == best && placeOf[w] < at)) best = bestOf[w], at = placeOf[w];
    place[blockIdx.x] = at;
  }
}

extern "C" __global__ void rowSoftmax(int columns, const float *x, float *y) {
  __shared__ float part[256];
  const float *row = x + (size_t)blockIdx.x * columns;
  float *to = y + (size_t)blockIdx.x * columns;
  int t = threadIdx.x;
  float most = -FLT_MAX;
  for (int k = t; k < columns; k += blockDim.x) most = fmaxf(most, row[k]);
  part[t] = most;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) part[t] = fmaxf(part[t], part[t + s]);
    __syncthreads();
  }
  most = part[0];
  __syncthreads();
  float sum = 0;
  for (int k = t; k < columns; k += blockDim.x) {
    float e = expf(row[k] - most);
    to[k] = e;
    sum += e;
  }
  part[t] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) part[t] += part[t + s];
    __syncthreads();
  }
  float scale = 1 / part[0];
  for (int k = t; k < columns; k += blockDim.x) to[k] *= scale;
}

// A warp normalises a row.
extern "C" __global__ void layerNorm(int rows, int columns, const float *x, const float *gain, const float *bias, float *y) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float *from = x + (size_t)row * columns;
  float sum = 0, squares = 0;
  for (int k = lane; k < columns; k += 32) {
    float v = from[k];
    sum += v;
    squares += v * v;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(~0u, sum, offset);
    squares += __shfl_xor_sync(~0u, squares, offset);
  }
  float mean = sum / columns, scale = rsqrtf(squares / columns - mean * mean + 1e-5f);
  for (int k = lane; k < columns; k += 32) y[(size_t)row * columns + k] = (from[k] - mean) * scale * gain[k] + bias[k];
}

// Each thread a range of its own, one after the other.
extern "C" __global__ void rangeSum(int length, const int *x, int *sums) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  for (int k = 0; k < length; ++k) sum += x[t * length + k];
  sums[t] = sum;
}

extern "C" __global__ void columnSum(int rows, int columns, const float *x, float *sums) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= columns) return;
  float sum = 0;
  for (int r = 0; r < rows; ++r) sum += x[(size_t)r * columns + c];
  sums[c] = sum;
}

// The block that is done last adds up what the others left.
extern "C" __global__ void lastBlockSum(int n, const float *x, volatile float *partial, unsigned *done, float *sum) {
  __shared__ float part[256];
  __shared__ bool isLast;
  int t = threadIdx.x;
  float mine = 0;
  for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) mine += x[i];
  part[t] = mine;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (t < s) part[t] += part[t + s];
    __syncthreads();
  }
  if (t == 0) {
    partial[blockIdx.x] = part[0];
    __threadfence();
    isLast = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!isLast) return;
  mine = 0;
  for (int i = t; i < gridDim.x; i += 256) mine += partial[i];
  part[t] = mine;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (t < s) part[t] += part[t + s];
    __syncthreads();
  }
  if (t == 0) *sum = part[0];
}
