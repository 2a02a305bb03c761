// What neural networks are made of besides products: their training, quantised weights, and layers of images.
#include <cuda_fp16.h>

#include <cstdint>

struct Block8 {
  __half scale;
  int8_t weights[32];
};

extern "C" __global__ void dequantise8(int n, const Block8 *in, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = __half2float(in[i / 32].scale) * in[i / 32].weights[i % 32];
}

// A scale for every 32 numbers.
extern "C" __global__ void quantise8(int n, const float *in, int8_t *out, float *scales) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i], most = fabsf(x);
  for (int o = 16; o > 0; o >>= 1) most = fmaxf(most, __shfl_xor_sync(~0u, most, o));
  float scale = most / 127;
  out[i] = most == 0 ? 0 : int8_t(roundf(x / scale));
  if (i % 32 == 0) scales[i / 32] = scale;
}

// Rotary position embedding: halves of a head's vector are real and imaginary parts.
extern "C" __global__ void rotate(int n, int heads, int half, const float *in, const float *cosines, const float *sines, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int pair = i % half, head = i / half, position = head / heads;
  float c = cosines[position * half + pair], s = sines[position * half + pair];
  float x = in[head * 2 * half + pair], y = in[head * 2 * half + pair + half];
  out[head * 2 * half + pair] = x * c - y * s;
  out[head * 2 * half + pair + half] = x * s + y * c;
}

extern "C" __global__ void gatedSilu(int n, const float *a, const float *b, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] / (1 + expf(-a[i])) * b[i];
}

extern "C" __global__ void channelBias(int n, int size, int channels, const float *bias, float *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float y = x[i] + bias[i / size % channels];
  x[i] = y > 0 ? y : 0;
}

extern "C" __global__ void batchNorm(int n, int size, int channels, const float *in, const float *mean, const float *variance, const float *gain, const float *bias, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int c = i / size % channels;
  out[i] = (in[i] - mean[c]) * rsqrtf(variance[c] + 1e-5f) * gain[c] + bias[c];
}

// A warp for each row; the gradients of gain and bias are sums over all rows.
extern "C" __global__ void layerNormGradient(int rows, int columns, const float *dy, const float *in, const float *gain, const float *mean, const float *rstd, float *dx, float *dgain, float *dbias) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (row >= rows) return;
  float m = mean[row], r = rstd[row], sum = 0, dot = 0;
  for (int i = lane; i < columns; i += 32) {
    float x = (in[row * columns + i] - m) * r, d = gain[i] * dy[row * columns + i];
    sum += d;
    dot += d * x;
  }
  for (int o = 16; o > 0; o >>= 1) {
    sum += __shfl_xor_sync(~0u, sum, o);
    dot += __shfl_xor_sync(~0u, dot, o);
  }
  sum /= columns;
  dot /= columns;
  for (int i = lane; i < columns; i += 32) {
    float x = (in[row * columns + i] - m) * r, d = dy[row * columns + i];
    atomicAdd(&dbias[i], d);
    atomicAdd(&dgain[i], x * d);
    dx[row * columns + i] = (gain[i] * d - sum - x * dot) * r;
  }
}

extern "C" __global__ void embeddingGradient(int n, int columns, const int *tokens, const float *dy, float *table) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&table[tokens[i / columns] * columns + i % columns], dy[i]);
}

// Maximum and sum of a thread's elements in one pass.
__device__ inline void addExponentials(const float *row, int from, int end, int step, float &most, float &sum) {
  for (int i = from; i < end; i += step) {
    float x = row[i];
    if (x > most) {
      sum *= expf(most - x);
      most = x;
    }
    sum += expf(x - most);
  }
}

// The loss of a row of logits, which become its gradient.
extern "C" __global__ void crossEntropy(int columns, const int *targets, const float *logits, float *gradient, float *loss) {
  __shared__ float shared[8];
  const float *row = logits + blockIdx.x * columns;
  int t = threadIdx.x;
  float most = -1e30f, sum = 0;
  addExponentials(row, t, columns, 256, most, sum);
  float own = most;
  for (int o = 16; o > 0; o >>= 1) most = fmaxf(most, __shfl_xor_sync(~0u, most, o));
  if ((t & 31) == 0) shared[t / 32] = most;
  __syncthreads();
  for (int k = 0; k < 8; ++k) most = fmaxf(most, shared[k]);
  __syncthreads();
  sum *= expf(own - most);
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
  if ((t & 31) == 0) shared[t / 32] = sum;
  __syncthreads();
  sum = 0;
  for (int k = 0; k < 8; ++k) sum += shared[k];
  int target = targets[blockIdx.x];
  if (t == 0) loss[blockIdx.x] = logf(sum) - (row[target] - most);
  for (int i = t; i < columns; i += 256) gradient[blockIdx.x * columns + i] = expf(row[i] - most) / sum - (i == target ? 1.0f : 0.0f);
}

// A warp for each row, of which the first row % columns + 1 elements count.
extern "C" __global__ void causalSoftmax(int rows, int columns, const float *in, float *out) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (row >= rows) return;
  int last = row % columns;
  const float *x = in + row * columns;
  float most = -1e30f, sum = 0;
  addExponentials(x, lane, last + 1, 32, most, sum);
  float own = most;
  for (int o = 16; o > 0; o >>= 1) most = fmaxf(most, __shfl_xor_sync(~0u, most, o));
  sum *= expf(own - most);
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
  for (int i = lane; i < columns; i += 32) out[row * columns + i] = i <= last ? expf(x[i] - most) / sum : 0;
}

extern "C" __global__ void depthwise3(int n, int height, int width, const float *in, const float *weights, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int x = i % width, y = i / width % height, c = i / width / height;
  float sum = 0;
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) {
      int yy = y + a - 1, xx = x + b - 1;
      if (yy >= 0 && yy < height && xx >= 0 && xx < width) sum += in[(c * height + yy) * width + xx] * weights[c * 9 + a * 3 + b];
    }
  out[i] = sum;
}

extern "C" __global__ void upsample2(int height, int width, const float *in, float *out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.z;
  if (x >= 2 * width || y >= 2 * height) return;
  float fx = fmaxf((x + 0.5f) * 0.5f - 0.5f, 0), fy = fmaxf((y + 0.5f) * 0.5f - 0.5f, 0);
  int x0 = fx, y0 = fy, x1 = min(x0 + 1, width - 1), y1 = min(y0 + 1, height - 1);
  float u = fx - x0, v = fy - y0;
  const float *p = in + c * height * width;
  out[(c * 2 * height + y) * 2 * width + x] = (1 - v) * ((1 - u) * p[y0 * width + x0] + u * p[y0 * width + x1]) + v * ((1 - u) * p[y1 * width + x0] + u * p[y1 * width + x1]);
}
