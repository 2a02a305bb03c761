// What language models are made of besides products: halves, bfloats, and rows read as float4.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define KERNEL extern "C" __global__ void
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL addHalves(int n, const __half2 *a, const __half2 *b, __half2 *c) {
  int i = INDEX;
  if (i < n) c[i] = __hadd2(a[i], b[i]);
}

KERNEL fmaHalves(int n, const __half2 *a, const __half2 *b, __half2 *c) {
  int i = INDEX;
  if (i < n) c[i] = __hfma2(a[i], b[i], a[i]);
}

// 16 bytes at a time.
KERNEL scaleHalves(int n, float s, const uint4 *a, uint4 *c) {
  int i = INDEX;
  if (i >= n) return;
  uint4 x = a[i], y;
  const __half2 *from = (const __half2 *)&x;
  __half2 *to = (__half2 *)&y;
  for (int k = 0; k < 4; ++k) {
    float2 f = __half22float2(from[k]);
    to[k] = __floats2half2_rn(f.x * s, f.y * s);
  }
  c[i] = y;
}

KERNEL toHalves(int n, const float4 *a, uint2 *c) {
  int i = INDEX;
  if (i >= n) return;
  float4 x = a[i];
  __half2 low = __floats2half2_rn(x.x, x.y), high = __floats2half2_rn(x.z, x.w);
  c[i] = make_uint2(*(unsigned *)&low, *(unsigned *)&high);
}

KERNEL fromHalves(int n, const uint2 *a, float4 *c) {
  int i = INDEX;
  if (i >= n) return;
  uint2 x = a[i];
  float2 low = __half22float2(*(__half2 *)&x.x), high = __half22float2(*(__half2 *)&x.y);
  c[i] = make_float4(low.x, low.y, high.x, high.y);
}

KERNEL toBfloats(int n, const float4 *a, uint2 *c) {
  int i = INDEX;
  if (i >= n) return;
  float4 x = a[i];
  __nv_bfloat162 low = __floats2bfloat162_rn(x.x, x.y), high = __floats2bfloat162_rn(x.z, x.w);
  c[i] = make_uint2(*(unsigned *)&low, *(unsigned *)&high);
}

__device__ float warpSum(float v) {
  for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(~0u, v, d);
  return v;
}
__device__ float warpMax(float v) {
  for (int d = 16; d > 0; d >>= 1) v = fmaxf(v, __shfl_xor_sync(~0u, v, d));
  return v;
}
// All threads get what combine makes of the warps' values; `none` changes nothing.
template <class Combine> __device__ float overBlock(float v, float none, Combine combine) {
  __shared__ float ofWarps[32];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  v = combine(v);
  __syncthreads();
  if (lane == 0) ofWarps[warp] = v;
  __syncthreads();
  return combine(lane < blockDim.x / 32 ? ofWarps[lane] : none);
}

KERNEL sumQuads(int n, const float4 *x, float *out) {
  float s = 0;
  for (int i = INDEX; i < n; i += gridDim.x * blockDim.x) {
    float4 v = x[i];
    s += v.x + v.y + v.z + v.w;
  }
  s = overBlock(s, 0, warpSum);
  if (threadIdx.x == 0) atomicAdd(out, s);
}

// A warp a row.
KERNEL gemvQuads(int rows, int columns, const float4 *m, const float4 *x, float *out) {
  int r = INDEX / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float s = 0;
  for (int c = lane; c < columns; c += 32) {
    float4 a = m[r * columns + c], b = x[c];
    s += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
  }
  s = warpSum(s);
  if (lane == 0) out[r] = s;
}

KERNEL gemvHalves(int rows, int columns, const uint4 *m, const uint4 *x, float *out) {
  int r = INDEX / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float s = 0;
  for (int c = lane; c < columns; c += 32) {
    uint4 a = m[r * columns + c], b = x[c];
    const __half2 *p = (const __half2 *)&a, *q = (const __half2 *)&b;
    for (int k = 0; k < 4; ++k) {
      float2 u = __half22float2(p[k]), v = __half22float2(q[k]);
      s += u.x * v.x + u.y * v.y;
    }
  }
  s = warpSum(s);
  if (lane == 0) out[r] = s;
}

// Blocks walk along rows, whose length is in float4.
KERNEL rmsNorm(int columns, float eps, const float4 *x, const float4 *weight, float4 *y) {
  const float4 *row = x + blockIdx.x * columns;
  float s = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    float4 v = row[c];
    s += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  float r = rsqrtf(overBlock(s, 0, warpSum) / (4 * columns) + eps);
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    float4 v = row[c], w = weight[c];
    y[blockIdx.x * columns + c] = make_float4(v.x * r * w.x, v.y * r * w.y, v.z * r * w.z, v.w * r * w.w);
  }
}

KERNEL softmaxQuads(int columns, const float4 *x, float4 *y) {
  const float4 *row = x + blockIdx.x * columns;
  float m = -1e30f, s = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    float4 v = row[c];
    m = fmaxf(m, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
  }
  m = overBlock(m, -1e30f, warpMax);
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    float4 v = row[c];
    s += __expf(v.x - m) + __expf(v.y - m) + __expf(v.z - m) + __expf(v.w - m);
  }
  float r = 1 / overBlock(s, 0, warpSum);
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    float4 v = row[c];
    y[blockIdx.x * columns + c] =
        make_float4(__expf(v.x - m) * r, __expf(v.y - m) * r, __expf(v.z - m) * r, __expf(v.w - m) * r);
  }
}

KERNEL rowMaxima(int columns, const float4 *x, float *out) {
  const float4 *row = x + blockIdx.x * columns;
  float m = -1e30f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    float4 v = row[c];
    m = fmaxf(m, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
  }
  m = overBlock(m, -1e30f, warpMax);
  if (threadIdx.x == 0) out[blockIdx.x] = m;
}
