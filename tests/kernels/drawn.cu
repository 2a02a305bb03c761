// Written by draw.py 101 6.
struct Triple { float x, y, z; };
struct Pixel { unsigned char r, g, b; };
struct Mixed { unsigned short kind; unsigned value; unsigned char flag; };
struct alignas(16) Quad { unsigned x, y, z, w; };

extern "C" __global__ void drawn101(const double *doubles, const float *floats, unsigned char *out, int n, unsigned *bins) {
  __shared__ unsigned char tile3[96];
  const int tx = threadIdx.x, tid = (threadIdx.y) * blockDim.x + tx;
  const int g = (blockIdx.y * gridDim.x + blockIdx.x) * 96 + tid;
  const int ty = threadIdx.y;
  float s1 = 0;
  unsigned s2 = 1;
  atomicMin(&bins[(unsigned)(0 - tid + 95) & 15], (213u | (unsigned)(int)(doubles[tid * 32 + (size_t)ty * 2 + (size_t)tx * 32 + 1] * 1000)));
  tile3[tx * 3 + ty] = (unsigned char)((((unsigned)(((int)(doubles[0 - g + 289] * 100) / 5)) & (unsigned)(int)(doubles[(size_t)n + tx * 3 + g * 4 + 2] * 1000)) % ((unsigned)(int)(((const Triple *)floats)[g * 2 + tid].x * 1000.0f) | 1)));
  __syncthreads();
  for (int h4 = 96 / 2; h4 > 0; h4 >>= 1) {
    if (tid < h4) tile3[tid] += tile3[tid + h4];
    __syncthreads();
  }
  s2 += tile3[0];
  __syncthreads();
  out[5 * 288 + g] = (unsigned char)(s2);
  s2 ^= __ballot_sync(0xffffffffu, (tid > 65) ? 1 : 0);
  unsigned w6 = (s2 >> 2);
  while (w6 > 100) {
    s1 += (float)floats[(size_t)tx * 17] * 1.0f;
    w6 >>= 3;
  }
  out[((long long)tx + n * 2 + g * 32) % 8 * 288 + g] += (unsigned char)(int)(s1 * 0.001f);
  out[((long long)n + (long long)tx + (long long)g * 17) % 8 * 288 + g] += (unsigned char)s2;
}
CASE(drawn101, grid(3, 1, 1), block(32, 3, 1), in(4096, random(90)), in(8192, random(8)), inout(2304, zeros()), 368, inout(16, random(7)))

extern "C" __global__ void drawn102(const double *__restrict__ doubles, const int *__restrict__ small, const float *__restrict__ floats, const unsigned char *__restrict__ bytes, unsigned *__restrict__ out, int n, unsigned *bins) {
  const int tx = threadIdx.x, tid = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + tx;
  const int g = (blockIdx.y * gridDim.x + blockIdx.x) * 128 + tid;
  const int ty = threadIdx.y;
  float s1 = tx;
  unsigned s2 = 0;
  unsigned long long s3 = tx;
  #pragma unroll 1
  for (int i4 = 0; i4 <= (int)(g & 15); i4 += 1) {
    unsigned w5 = (unsigned)(int)(floats[i4 * 16 + ty] * 1000.0f);
    while (w5 > 100) {
      s3 = s3 * 33u + ((s3 + (unsigned long long)bytes[0 - i4 - n + 417]) - (unsigned long long)bytes[i4 * 3 + tid * 16 + 1]);
      w5 >>= 3;
    }
    s1 = s1 * 0.5f + (float)small[(size_t)i4 * 3 + g * 17] * 0.5f;
    for (unsigned i6 = 0; i6 < 3; i6 += 1) {
      switch ((142u - s2) % 7) {
      case 0: {
        atomicMin(&bins[(unsigned)(ty * 17 + tx * 2 + small[i6 * 3 + n * 3 + 2] * 1) & 31], ((unsigned)((g - ((const Pixel *)bytes)[i6 * 2 + 1].r)) & (unsigned)(((int)i6 + (-2)))));
      }
      case 1: {
        s3 = s3 * 33u + ((unsigned long long)((Pixel *)bytes)[i6 * 2 + tid * 16].g * s3);
      }
        break;
      case 2: {
        s2 = s2 * 31u + ((unsigned)(((int)(doubles[4095 - (i4 * 2 + n * 3 + 141)] * 100) & g)) + (s2 * s2));
      }
        break;
      case 3: {
        s3 = s3 * 31u + -(((unsigned long long)((unsigned)((448))) * s3));
      }
        break;
      case 4: {
        out[(tid * 16 + ty * 17) % 8 * 384 + g] = (((g | (int)(floats[(long long)i4 + (size_t)ty * 4] * 100.0f)) != (i4 % 5)) ? s2 : ((unsigned)(bytes[0 - i4 + tx * 17 + 15]) * 1785290378u));
      }
        break;
      case 5: {
        s3 ^= ((unsigned long long)(int)(floats[(size_t)tid * 32 + i4 * 16 + n] * 1000.0f) >> 32 | s3 << 32);
      }
        break;
      default:
        s2 -= (((960u + 872u) ^ s2) ^ ((unsigned)(int)(floats[i6 + (long long)i6 * 16 + 2] * 1000.0f) << 14 | (unsigned)(int)(floats[i6 + (long long)i6 * 16 + 2] * 1000.0f) >> 18));
      }
    }
  }
  s1 = (s1 > (float)small[tid * 4 + ty * 3] ? s1 : (float)small[tid * 4 + ty * 3]) * 0.5f;
  atomicMin(&bins[(size_t)ty * 3 + 2], (unsigned)bytes[g * 2]);
  s2 = s2 * 33u + 1076674726u;
  out[(tx * 32 + 43) % 8 * 384 + g] += (unsigned)(int)(s1 * 0.001f);
  out[((size_t)tx * 4 + (size_t)tid * 32 + 293) % 8 * 384 + g] += (unsigned)s2;
  out[(0 - g + ty * 16 + 385) % 8 * 384 + g] += (unsigned)s3;
}
CASE(drawn102, grid(3, 1, 1), block(16, 4, 2), in(4096, random(21)), in(8192, small(16)), in(8192, random(51)), in(8192, random(49)), inout(3072, zeros()), 209, inout(61, random(7)))

static __device__ __noinline__ float drawn103_helper3(float x, float y, int turns) {
  for (int k = 0; k < 4; ++k) {
    if (x > 100.0f) return x * 0.5f;
    x = x * 0.5f + y * 0.25f;
  }
  return x;
}
extern "C" __global__ void drawn103(const unsigned *words, const double *doubles, const unsigned long long *longs, const float *floats, unsigned *out, int n, unsigned *bins) {
  const int tx = threadIdx.x, tid = (threadIdx.y) * 128 + tx;
  const int g = (blockIdx.y * gridDim.x + blockIdx.x) * 128 + tid;
  float s1 = 0;
  if (g >= 210) return;
  if ((((unsigned)(int)(doubles[4095 - (0 - tx + 128)] * 1000) * 1974072133u) >= ((unsigned)(int)(floats[(n * 32 + 1) % 8192] * 1000.0f) + words[(size_t)g * 3 + (long long)tid + (long long)tx * 32 + 1]))) {
    for (int i2 = 0; i2 < 2; i2 += 1) {
      if (((i2 + n) > (i2 << 3))) {
        s1 = drawn103_helper3(s1, (floats[min((int)((size_t)i2 + g * 128 + 2), 8191)] + (float)(longs[(size_t)i2 + (size_t)i2 + 2] & 1023)), tx & 7);
      }
    }
  } else {
    s1 = ((float)((tid / 2)) - ((const Triple *)floats)[min((int)(tx * 4 + n * 128 + tid * 4 + 34), 2729)].x) * 0.5f;
  }
  unsigned long long s4 = (longs[(size_t)g * 3 + tx] | (unsigned long long)(int)(doubles[(unsigned)(words[g * 3 + tid * 32 + 2]) % 4096] * 1000));
  atomicXor(&bins[min((int)(n + tx * 3 + (long long)g * 128 + 1), 63)], (unsigned)longs[(size_t)n * 3]);
  float a5[4];
  for (int i6 = 0; i6 < 4; ++i6) a5[i6] = (float)doubles[(unsigned)(n * 32 + tid * 4 + 24) & 4095];
  for (int i6 = 1; i6 < 4; ++i6) a5[i6] = fabsf((float)(words[i6 * 3 + tx * 2 + 74] & 1023));
  a5[(unsigned)(n + tid * 4 + (size_t)tx * 32) & 3] = floats[(unsigned)(words[(unsigned)(words[(unsigned)(0 - tid + g * 128 + 127) % 8192u]) & 8191]) % 8192];
  out[0 * 256 + g] += (unsigned)(int)(s1 * 0.001f);
  out[0 * 256 + g] += (unsigned)s4;
}
CASE(drawn103, grid(1, 2, 1), block(128, 1, 1), in(8192, random(52)), in(4096, random(89)), in(4096, random(85)), in(8192, random(98)), inout(256, zeros()), 233, inout(64, zeros()))

extern "C" __global__ void drawn104(const unsigned *words, const double *doubles, const unsigned char *bytes, int *out, int n, unsigned *bins) {
  const int tx = threadIdx.x, tid = (threadIdx.y) * 1 + tx;
  const int g = (blockIdx.y * gridDim.x + blockIdx.x) * 8 + tid;
  const int ty = threadIdx.y;
  float s1 = tx;
  if ((((-1) - ((const Mixed *)words)[(size_t)tid * 32].flag) < bytes[(unsigned)(words[(unsigned)(words[g]) % 8192]) & 8191])) {
    unsigned a2[3];
    for (int i3 = 0; i3 < 3; ++i3) a2[i3] = (unsigned)((bytes[ty] - tx));
    for (int i3 = 0; i3 < 3; ++i3) a2[i3] = ((unsigned)(int)(doubles[i3 + (size_t)i3 * 2 + 2] * 1000) & a2[(unsigned)((long long)i3 * 32 + (long long)i3 * 2 + 1) % 3u]);
    a2[(tx + (size_t)g * 17 + 1) % 3] = (a2[((size_t)ty) % 3] + (unsigned)(int)(doubles[(size_t)tx] * 1000));
    for (size_t i4 = 0; i4 < 17; i4 += 1) {
      if ((((unsigned)bytes[(size_t)i4 * 32 + ty * 4 + 223] << 17) & 3)) break;
      atomicMax(&bins[(ty * 3 + 3) % 16], 1u);
    }
  }
  s1 = s1 * 0.5f + (float)(words[8191 - ((long long)ty * 3 + g - n + 402)] & 1023) * 0.5f;
  out[0 * 16 + g] += (int)(int)(s1 * 0.001f);
}
CASE(drawn104, grid(2, 1, 1), block(1, 8, 1), in(8192, random(6)), in(4096, random(24)), in(8192, random(51)), inout(16, zeros()), 52, inout(16, zeros()))

extern "C" __global__ void drawn105(const short *__restrict__ shorts, const int *__restrict__ small, const unsigned char *__restrict__ bytes, const double *__restrict__ doubles, unsigned long long *__restrict__ out, int n, unsigned *bins) {
  const int tx = threadIdx.x, tid = (threadIdx.y) * 64 + tx;
  const int g = (blockIdx.y * gridDim.x + blockIdx.x) * 64 + tid;
  double s1 = 0;
  unsigned long long s2 = tx;
  s2 = s2 * 5u + (unsigned long long)((unsigned)(((unsigned long long)((int)(doubles[(size_t)tx * 2 - tid + g + 183] * 100)) >> 32 | 3ull << 32) >> 17));
  out[(g * 4 + 160) % 2 * 384 + g] = ((1932832103ull + s2) >> 32 | ((unsigned long long)(int)(doubles[(long long)n + 231] * 1000) % (unsigned)n) << 32);
  for (int i4 = tx; i4 < n + g; i4 += 64) {
    if (((small[8191 - (0 - i4 + i4 * 2 + 803)] & tid) == (tx + tid))) break;
    {
      const int end6 = g * 5 + (int)(small[(unsigned)(i4 * 32 + (size_t)n * 3) & 8191] & 7);
    #pragma unroll 1
      for (int i5 = g * 5; i5 < end6; ++i5) {
      s2 = s2 * 31u + (((unsigned long long)((const Pixel *)bytes)[(i5 * 3 + (long long)i5 * 64 + 2 + small[(size_t)g * 17 + n + small[0 - i4 + (long long)tx + 785] * 1] * 16) % 2730].b - (unsigned long long)small[8191 - (i5 * 3 + (long long)i4 * 2 + 2)]) >> 32 | (unsigned long long)(int)(doubles[(unsigned)(i4 * 4 + (size_t)i5 * 3 + 1) & 4095] * 1000) << 32);
      for (size_t i8 = tid; i8 < 187; i8 += 256) {
        s2 += ((unsigned long long)shorts[(long long)i4 - tid + 103] / 3);
        atomicOr(&bins[min((int)((long long)i5 + tid + 1), 60)], 1u);
        s1 = s1 * -0.5f + (-fabs((double)((const Pixel *)bytes)[(unsigned)(i8 * 64 + n * 64) & 2047].g)) * 0.5f;
      }
      float a9[8];
      for (int i10 = 0; i10 < 8; ++i10) a9[i10] = (float)shorts[(long long)i5 * 2 + n * 2];
      for (int i10 = 0; i10 < 8; ++i10) a9[i10] = sqrtf(fabsf(a9[min((int)(i10 * 17 - i5 + 1928), 7)]));
      a9[(tid * 32 + 1) % 8] = fabsf(a9[min((int)(i4 * 3 + tx + 2), 7)]);
      }
    }
  }
  for (unsigned i11 = 0; i11 < (tx & 3); i11 += 1) {
    atomicOr(&bins[(unsigned)(i11 * 32 + tid * 32 + 2) & 31], ((unsigned)(int)(doubles[i11 * 64 + tid * 17] * 1000) + (unsigned)(int)(doubles[(long long)i11 * 32 + (size_t)g] * 1000)));
    atomicOr(&bins[min((int)((size_t)i11 * 17 + (size_t)tid * 4), 60)], (836u | (unsigned)(int)(doubles[i11 * 4 + tid * 64 + 1] * 1000)));
  }
  out[(tid) % 2 * 384 + g] += (unsigned long long)(int)(s1 * 0.001f);
  out[(n + tx * 2 + (long long)g * 4 + 1) % 2 * 384 + g] += (unsigned long long)s2;
}
CASE(drawn105, grid(3, 2, 1), block(64, 1, 1), in(8192, random(65)), in(8192, small(66)), in(8192, random(9)), in(4096, random(52)), inout(768, zeros()), 64, inout(61, zeros()))

extern "C" __global__ void drawn106(const unsigned *__restrict__ words, const short *__restrict__ shorts, const int *__restrict__ small, unsigned char *__restrict__ out, int n) {
  const int tx = threadIdx.x, tid = (threadIdx.y) * blockDim.x + tx;
  const int g = (blockIdx.y * gridDim.x + blockIdx.x) * 256 + tid;
  double s1 = 0;
  unsigned long long s2 = 0;
  if (g >= 1429) return;
  out[g * 8 + (g + n * 4 + 1) % 8] = (unsigned char)((unsigned)(((g <= 138) ? (unsigned long long)small[(size_t)tid * 3 + g + 146] : s2) >> 17));
  s1 = 1.5 * 0.5f;
  s2 -= ~((781ull + (unsigned long long)shorts[(long long)tx + (size_t)n + 1]));
  out[g * 8 + 7] += (unsigned char)(int)(s1 * 0.001f);
  out[g * 8 + ((long long)g * 17) % 8] += (unsigned char)s2;
}
CASE(drawn106, grid(5, 2, 1), block(256, 1, 1), in(8192, random(75)), in(8192, random(13)), in(8192, small(79)), inout(20480, zeros()), 312)

