// As compilers of tiles write kernels: each access of 16 bytes under a guard of its own at the tile's
// edge, what is outside taken for a number that changes nothing, and sums and maxima of a block by
// one number for each of its four warps.
#define KERNEL extern "C" __global__ void __launch_bounds__(128)

__device__ float4 loadInside(const float *p, bool isInside, float outside) {
  float4 v;
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %5, 0; mov.f32 %0, %6; mov.f32 %1, %6; mov.f32 %2, %6; mov.f32 %3, %6;\n\t"
               "@p ld.global.v4.f32 {%0, %1, %2, %3}, [%4]; }"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(p), "r"(int(isInside)), "f"(outside));
  return v;
}
__device__ void storeInside(float *p, bool isInside, float4 v) {
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %5, 0;\n\t"
               "@p st.global.v4.f32 [%0], {%1, %2, %3, %4}; }" ::"l"(p), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w),
               "r"(int(isInside)));
}

// A tile of 1024 elements: two quads for each thread.
KERNEL tileBlend(int n, float s, const float *x, const float *y, float *z) {
  int i = blockIdx.x * 1024 + threadIdx.x * 4, j = i + 512;
  float4 a = loadInside(x + i, i < n, 0), b = loadInside(x + j, j < n, 0);
  float4 c = loadInside(y + i, i < n, 0), d = loadInside(y + j, j < n, 0);
  storeInside(z + i, i < n, make_float4(a.x + s * c.x, a.y + s * c.y, a.z + s * c.z, a.w + s * c.w));
  storeInside(z + j, j < n, make_float4(b.x + s * d.x, b.y + s * d.y, b.z + s * d.z, b.w + s * d.w));
}

template <class Both> __device__ float ofBlock(float v, float *ofWarps, Both both) {
  for (int d = 16; d > 0; d >>= 1) v = both(v, __shfl_xor_sync(~0u, v, d));
  __syncthreads();
  ofWarps[threadIdx.x / 32] = v;
  __syncthreads();
  v = ofWarps[threadIdx.x & 3];
  v = both(v, __shfl_xor_sync(~0u, v, 2));
  return both(v, __shfl_xor_sync(~0u, v, 1));
}

// A row of up to 1024 columns for each block.
KERNEL tileSoftmax(int columns, const float *x, float *y) {
  __shared__ float ofWarps[4];
  const float *row = x + (long)blockIdx.x * columns;
  int i = threadIdx.x * 4, j = i + 512;
  float outside = -__int_as_float(0x7f800000);
  float4 a = loadInside(row + i, i < columns, outside), b = loadInside(row + j, j < columns, outside);
  float most = fmaxf(fmaxf(fmaxf(a.x, a.y), fmaxf(a.z, a.w)), fmaxf(fmaxf(b.x, b.y), fmaxf(b.z, b.w)));
  most = ofBlock(most, ofWarps, [](float p, float q) { return fmaxf(p, q); });
  a = make_float4(__expf(a.x - most), __expf(a.y - most), __expf(a.z - most), __expf(a.w - most));
  b = make_float4(__expf(b.x - most), __expf(b.y - most), __expf(b.z - most), __expf(b.w - most));
  float sum = ofBlock(a.x + a.y + a.z + a.w + b.x + b.y + b.z + b.w, ofWarps, [](float p, float q) { return p + q; });
  float by = 1 / sum;
  float *to = y + (long)blockIdx.x * columns;
  storeInside(to + i, i < columns, make_float4(a.x * by, a.y * by, a.z * by, a.w * by));
  storeInside(to + j, j < columns, make_float4(b.x * by, b.y * by, b.z * by, b.w * by));
}

// Rows to bytes, each by its greatest magnitude.
KERNEL tileQuantise(int columns, const float *x, char4 *y, float *scales) {
  __shared__ float ofWarps[4];
  const float *row = x + (long)blockIdx.x * columns;
  int i = threadIdx.x * 4, j = i + 512;
  float4 a = loadInside(row + i, i < columns, 0), b = loadInside(row + j, j < columns, 0);
  float most = fmaxf(fmaxf(fmaxf(fabsf(a.x), fabsf(a.y)), fmaxf(fabsf(a.z), fabsf(a.w))),
                     fmaxf(fmaxf(fabsf(b.x), fabsf(b.y)), fmaxf(fabsf(b.z), fabsf(b.w))));
  most = ofBlock(most, ofWarps, [](float p, float q) { return fmaxf(p, q); });
  float by = 127 / most;
  char4 *to = y + (long)blockIdx.x * (columns / 4);
  if (i < columns) to[i / 4] = make_char4(rintf(a.x * by), rintf(a.y * by), rintf(a.z * by), rintf(a.w * by));
  if (j < columns) to[j / 4] = make_char4(rintf(b.x * by), rintf(b.y * by), rintf(b.z * by), rintf(b.w * by));
  if (threadIdx.x == 0) scales[blockIdx.x] = most / 127;
}

// Sixteen rows of a matrix for each block, 128 columns at a time: four rows for each warp, whose
// part of the vector comes by way of shared memory.
KERNEL tileProduct(int columns, const float *m, const float *x, float *y) {
  __shared__ float4 part[32];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float sums[4] = {0, 0, 0, 0};
  for (int c = 0; c < columns; c += 128) {
    float4 v[4];
    for (int r = 0; r < 4; ++r)
      v[r] = *(const float4 *)(m + (long)(blockIdx.x * 16 + r * 4 + warp) * columns + c + lane * 4);
    float mine = x[c + threadIdx.x];
    __syncthreads();
    ((float *)part)[threadIdx.x] = mine;
    __syncthreads();
    float4 p = part[lane];
    for (int r = 0; r < 4; ++r) {
      float sum = v[r].x * p.x + v[r].y * p.y + v[r].z * p.z + v[r].w * p.w;
      for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
      sums[r] += sum;
    }
  }
  if (lane == 0)
    for (int r = 0; r < 4; ++r) y[blockIdx.x * 16 + r * 4 + warp] = sums[r];
}
