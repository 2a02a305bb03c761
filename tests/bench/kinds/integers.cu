// Integers: 64 bits, 8 and 16 bits, byte permutations, division and remainder.
typedef unsigned long long u64;

extern "C" __global__ void mix64(int n, const u64 *x, u64 *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u64 z = x[i] + 0x9e3779b97f4a7c15ull;
  for (int k = 0; k < 4; ++k) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
  }
  y[i] = z;
}

extern "C" __global__ void divideUniform(int n, unsigned d, const unsigned *x, unsigned *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] / d * 7 + x[i] % d;
}

extern "C" __global__ void divideVarying(int n, const int *a, const int *b, int *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a[i] / b[i] + a[i] % b[i];
}

extern "C" __global__ void divide64(int n, const u64 *a, const u64 *b, u64 *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a[i] / b[i];
}

// An index taken apart: a permutation of axes.
extern "C" __global__ void permuteAxes(int nx, int ny, int nz, const float *in, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nx * ny * nz) return;
  int x = i % nx, y = i / nx % ny, z = i / (nx * ny);
  out[i] = in[(y * nz + z) * nx + x];
}

extern "C" __global__ void brighten8(int n, int add, const unsigned char *x, unsigned char *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = x[i] + add;
  y[i] = v > 255 ? 255 : v;
}

extern "C" __global__ void blend16(int n, const short *a, const short *b, short *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = (short)((a[i] * 3 + b[i] * 5) >> 3);
}

extern "C" __global__ void grey(int n, const uchar4 *in, unsigned char *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uchar4 p = in[i];
  out[i] = (77 * p.x + 150 * p.y + 29 * p.z) >> 8;
}

extern "C" __global__ void dotBytes(int rows, int length, const signed char *a, const signed char *x, int *y) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  int sum = 0;
  for (int k = lane; k < length; k += 32) sum += a[row * length + k] * x[k];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (lane == 0) y[row] = sum;
}

// Byte order, and bytes of neighbours.
extern "C" __global__ void swapBytes(int n, const unsigned *x, unsigned *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __byte_perm(x[i], 0, 0x0123) ^ __byte_perm(x[i], 0x5a5a5a5a, 0x2614);
}

extern "C" __global__ void countBits(int n, const unsigned *x, unsigned *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __popc(x[i]) + 100 * __clz(x[i]) + 10000 * (__brev(x[i]) >> 20);
}

extern "C" __global__ void gcds(int n, const unsigned *a, const unsigned *b, unsigned *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned u = a[i], v = b[i];
  while (v != 0) {
    unsigned r = u % v;
    u = v;
    v = r;
  }
  y[i] = u;
}

extern "C" __global__ void powerModulo(int n, u64 modulus, const u64 *base, const unsigned *exponent, u64 *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u64 result = 1, b = base[i];
  for (unsigned e = exponent[i]; e != 0; e >>= 1) {
    if (e & 1) result = result * b % modulus;
    b = b * b % modulus;
  }
  y[i] = result;
}

// The high half of a product of 64 bits.
extern "C" __global__ void multiplyHigh(int n, const u64 *a, const u64 *b, u64 *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __umul64hi(a[i], b[i]) + a[i] * 3;
}
