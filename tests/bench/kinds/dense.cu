// Dense linear algebra, transforms, dynamic programming.

extern "C" __global__ void multiplyNaive(int n, const float *a, const float *b, float *c) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
  c[y * n + x] = sum;
}

extern "C" __global__ void multiplyTiled(int n, const float *a, const float *b, float *c) {
  __shared__ float sa[32][32], sb[32][32];
  int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 32 + ty;
  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += 32) {
    sa[ty][tx] = a[y * n + k0 + tx];
    sb[ty][tx] = b[(k0 + ty) * n + x];
    __syncthreads();
    for (int k = 0; k < 32; ++k) sum += sa[ty][k] * sb[k][tx];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

// 64 x 64 for each block of 256 threads, 4 x 4 for each thread.
extern "C" __global__ void multiplyBlocked(int n, const float *a, const float *b, float *c) {
  __shared__ float sa[16][64], sb[16][64];
  int t = threadIdx.x, tx = t % 16, ty = t / 16, x0 = blockIdx.x * 64, y0 = blockIdx.y * 64;
  float sum[4][4] = {};
  for (int k0 = 0; k0 < n; k0 += 16) {
    for (int k = t; k < 1024; k += 256) {
      sa[k % 16][k / 16] = a[(y0 + k / 16) * n + k0 + k % 16];
      sb[k / 64][k % 64] = b[(k0 + k / 64) * n + x0 + k % 64];
    }
    __syncthreads();
    for (int k = 0; k < 16; ++k) {
      float p[4], q[4];
      for (int i = 0; i < 4; ++i) p[i] = sa[k][ty * 4 + i], q[i] = sb[k][tx * 4 + i];
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] += p[i] * q[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[(y0 + ty * 4 + i) * n + x0 + tx * 4 + j] = sum[i][j];
}

extern "C" __global__ void multiplyDouble(int n, const double *a, const double *b, double *c) {
  __shared__ double sa[16][16], sb[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  double sum = 0;
  for (int k0 = 0; k0 < n; k0 += 16) {
    sa[ty][tx] = a[y * n + k0 + tx];
    sb[ty][tx] = b[(k0 + ty) * n + x];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += sa[ty][k] * sb[k][tx];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

// A row for each thread, and a row for each warp.
extern "C" __global__ void gemvRows(int rows, int columns, const float *a, const float *x, float *y) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int k = 0; k < columns; ++k) sum += a[r * columns + k] * x[k];
  y[r] = sum;
}
extern "C" __global__ void gemvWarps(int rows, int columns, const float *a, const float *x, float *y) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float sum = 0;
  for (int k = lane; k < columns; k += 32) sum += a[r * columns + k] * x[k];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (lane == 0) y[r] = sum;
}
extern "C" __global__ void gemvTransposed(int rows, int columns, const float *a, const float *x, float *y) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= columns) return;
  float sum = 0;
  for (int k = 0; k < rows; ++k) sum += a[k * columns + c] * x[k];
  y[c] = sum;
}

// LU of a 6 x 6 matrix for each thread, without pivoting; matrices lie one behind the other.
extern "C" __global__ void smallLu(int n, float *a) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  float m[6][6];
  for (int i = 0; i < 36; ++i) m[i / 6][i % 6] = a[t * 36 + i];
#pragma unroll
  for (int k = 0; k < 6; ++k) {
    float inverse = 1 / m[k][k];
#pragma unroll
    for (int i = k + 1; i < 6; ++i) {
      m[i][k] *= inverse;
#pragma unroll
      for (int j = k + 1; j < 6; ++j) m[i][j] -= m[i][k] * m[k][j];
    }
  }
  for (int i = 0; i < 36; ++i) a[t * 36 + i] = m[i / 6][i % 6];
}

// Gram-Schmidt on 4 x 4 for each thread; element (i, j) of all matrices lies together.
extern "C" __global__ void smallQr(int n, const float *a, float *q, float *r) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  float m[4][4], u[4][4];
  for (int i = 0; i < 16; ++i) m[i / 4][i % 4] = a[i * n + t];
#pragma unroll
  for (int j = 0; j < 4; ++j) {
#pragma unroll
    for (int k = 0; k < j; ++k) {
      float dot = 0;
      for (int i = 0; i < 4; ++i) dot += m[i][k] * m[i][j];
      u[k][j] = dot;
      for (int i = 0; i < 4; ++i) m[i][j] -= dot * m[i][k];
    }
    float square = 0;
    for (int i = 0; i < 4; ++i) square += m[i][j] * m[i][j];
    u[j][j] = sqrtf(square);
    float inverse = 1 / u[j][j];
    for (int i = 0; i < 4; ++i) m[i][j] *= inverse;
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      q[(i * 4 + j) * n + t] = m[i][j];
      if (i <= j) r[(i * 4 + j) * n + t] = u[i][j];
    }
}

// One round of Floyd-Warshall.
extern "C" __global__ void floydRound(int n, int k, float *d) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= n) return;
  float through = d[i * n + k] + d[k * n + j];
  if (through < d[i * n + j]) d[i * n + j] = through;
}

// DCT of 8 x 8 blocks, one for each 8 x 8 threads, rows then columns in shared memory.
__constant__ float kCosines[64] = {
    0.35355339f,  0.35355339f,  0.35355339f,  0.35355339f,  0.35355339f,  0.35355339f,  0.35355339f,  0.35355339f,
    0.49039264f,  0.41573481f,  0.27778512f,  0.09754516f,  -0.09754516f, -0.27778512f, -0.41573481f, -0.49039264f,
    0.46193977f,  0.19134172f,  -0.19134172f, -0.46193977f, -0.46193977f, -0.19134172f, 0.19134172f,  0.46193977f,
    0.41573481f,  -0.09754516f, -0.49039264f, -0.27778512f, 0.27778512f,  0.49039264f,  0.09754516f,  -0.41573481f,
    0.35355339f,  -0.35355339f, -0.35355339f, 0.35355339f,  0.35355339f,  -0.35355339f, -0.35355339f, 0.35355339f,
    0.27778512f,  -0.49039264f, 0.09754516f,  0.41573481f,  -0.41573481f, -0.09754516f, 0.49039264f,  -0.27778512f,
    0.19134172f,  -0.46193977f, 0.46193977f,  -0.19134172f, -0.19134172f, 0.46193977f,  -0.46193977f, 0.19134172f,
    0.09754516f,  -0.27778512f, 0.41573481f,  -0.49039264f, 0.49039264f,  -0.41573481f, 0.27778512f,  -0.09754516f};
extern "C" __global__ void dct8(int width, const float *in, float *out) {
  __shared__ float s[8][8], r[8][8];
  int x = threadIdx.x, y = threadIdx.y, at = (blockIdx.y * 8 + y) * width + blockIdx.x * 8 + x;
  s[y][x] = in[at];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += s[y][k] * kCosines[x * 8 + k];
  r[y][x] = sum;
  __syncthreads();
  sum = 0;
  for (int k = 0; k < 8; ++k) sum += r[k][x] * kCosines[y * 8 + k];
  out[at] = sum;
}

// FFT of 512 complex numbers for each block of 256 threads: radix 2, in shared memory.
extern "C" __global__ void fft2(const float2 *in, float2 *out) {
  __shared__ float2 s[512];
  int t = threadIdx.x, base = blockIdx.x * 512;
  s[__brev(t) >> 23] = in[base + t];
  s[__brev(t + 256) >> 23] = in[base + t + 256];
  for (int half = 1; half < 512; half *= 2) {
    __syncthreads();
    int k = t & (half - 1), a = 2 * t - k, b = a + half;
    float angle = -3.14159265f * k / half, sine, cosine;
    __sincosf(angle, &sine, &cosine);
    float2 u = s[a], v = s[b];
    float2 w = make_float2(v.x * cosine - v.y * sine, v.x * sine + v.y * cosine);
    s[a] = make_float2(u.x + w.x, u.y + w.y);
    s[b] = make_float2(u.x - w.x, u.y - w.y);
  }
  __syncthreads();
  out[base + t] = s[t];
  out[base + t + 256] = s[t + 256];
}

// FFT of 256: radix 4 (Stockham), 64 threads, twiddles from a table.
extern "C" __global__ void fft4(const float2 *twiddle, const float2 *in, float2 *out) {
  __shared__ float2 s[2][256];
  int t = threadIdx.x, base = blockIdx.x * 256, now = 0;
  for (int k = 0; k < 4; ++k) s[0][t + 64 * k] = in[base + t + 64 * k];
  __syncthreads();
  for (int length = 1; length < 256; length *= 4) {
    int k = t & (length - 1);
    float2 v[4];
    for (int j = 0; j < 4; ++j) {
      float2 x = s[now][t + 64 * j], w = twiddle[j * k * (64 / length)];
      v[j] = make_float2(x.x * w.x - x.y * w.y, x.x * w.y + x.y * w.x);
    }
    float2 a = make_float2(v[0].x + v[2].x, v[0].y + v[2].y), b = make_float2(v[0].x - v[2].x, v[0].y - v[2].y);
    float2 c = make_float2(v[1].x + v[3].x, v[1].y + v[3].y), d = make_float2(v[1].y - v[3].y, v[3].x - v[1].x);
    int to = (t - k) * 4 + k;
    now = 1 - now;
    s[now][to] = make_float2(a.x + c.x, a.y + c.y);
    s[now][to + length] = make_float2(b.x + d.x, b.y + d.y);
    s[now][to + 2 * length] = make_float2(a.x - c.x, a.y - c.y);
    s[now][to + 3 * length] = make_float2(b.x - d.x, b.y - d.y);
    __syncthreads();
  }
  for (int k = 0; k < 4; ++k) out[base + t + 64 * k] = s[now][t + 64 * k];
}

// Needleman-Wunsch: a pair of strings of 64 for each block, by anti-diagonals in shared memory.
extern "C" __global__ void align(const char *first, const char *second, int *score) {
  __shared__ int s[65][65];
  __shared__ char a[64], b[64];
  int t = threadIdx.x;
  a[t] = first[blockIdx.x * 64 + t];
  b[t] = second[blockIdx.x * 64 + t];
  s[0][t] = -t;
  s[t][0] = -t;
  if (t == 0) s[0][64] = s[64][0] = -64;
  __syncthreads();
  for (int d = 0; d < 127; ++d) {
    int i = t, j = d - t;
    if (j >= 0 && j < 64) {
      int diagonal = s[i][j] + (a[i] == b[j] ? 1 : -1);
      s[i + 1][j + 1] = max(diagonal, max(s[i][j + 1], s[i + 1][j]) - 1);
    }
    __syncthreads();
  }
  if (t == 0) score[blockIdx.x] = s[64][64];
}
