// Integer and floating point arithmetic, exact in every bit.

extern "C" __global__ void integers(const int *a, const int *b, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int x = a[i], y = b[i];
  unsigned u = x, v = y;
  unsigned r = u * v + (u >> (v & 31)) - (v << (u & 31));
  r ^= __umulhi(u, v);
  r += __popc(u) + __clz(x) * 3 + __ffs(y) * 5 + __brev(v);
  r = r * 31 + __byte_perm(u, v, 0x3516);
  r = r * 31 + __funnelshift_l(u, v, y & 31) + __funnelshift_r(u, v, x & 31);
  r += static_cast<unsigned>(x >> (y & 31));
  r += (u & v) ^ (~u | v);
  r += static_cast<unsigned>(min(x, y)) + max(u, v);
  out[i] = r;
}
CASE(integers, grid(4), block(64), in(250, random(8)), in(250, random(9)), out(250), 250)

extern "C" __global__ void divisions(const int *a, const int *b, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int x = a[i], y = b[i] >> (i & 31);
  unsigned u = x, v = y;
  int r = 0;
  if (y != 0 && !(x == static_cast<int>(0x80000000) && y == -1)) r = x / y * 3 + x % y;
  if (v != 0) r ^= static_cast<int>(u / v * 5 + u % v);
  r += x / 7 + x % 10 + static_cast<int>(u / 641 + u % 6700417);
  out[i] = r;
}
CASE(divisions, grid(4), block(64), in(250, random(8)), in(250, random(9)), out(250), 250)

extern "C" __global__ void longs64(const long long *a, const long long *b, long long *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long u = a[i], v = b[i];
  unsigned long long r = u * v + (u >> (v & 63)) - (v << (u & 63));
  long long y = b[i] >> (i & 63);
  if (y != 0 && y != -1) r += a[i] / y + a[i] % y;
  if (v >> 20) r ^= u / (v >> 20);
  r += a[i] < b[i] ? 1 : 2;
  r += u < v ? 4 : 8;
  out[i] = r;
}
CASE(longs64, grid(4), block(64), in(250, random(8)), in(250, random(9)), out(250), 250)

extern "C" __global__ void narrow(const signed char *a, const unsigned short *b, short *out, unsigned char *outBytes, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  short s = static_cast<short>(a[i] * b[i]);
  out[i] = static_cast<short>(s >> 3) ^ static_cast<short>(b[i] / (a[i] | 1));
  outBytes[i] = static_cast<unsigned char>((a[i] + b[i]) >> 1);
}
CASE(narrow, grid(4), block(64), in(250, random(8)), in(250, random(9)), out(250), out(250), 250)

extern "C" __global__ void floats(const float *a, const float *b, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = a[i] * 100, y = b[i];
  float r = x * y + x / y - sqrtf(fabsf(x));
  r += fmaf(x, y, r) + fminf(x, y) * 2 + fmaxf(x, -y);
  r += floorf(x) + ceilf(y * 10) + truncf(x * y) + rintf(x * 3);
  r = copysignf(r, y);
  if (x < y) r += 1;
  if (!(x >= y * 50)) r *= 0.5f;
  out[i] = r;
}
CASE(floats, grid(4), block(64), in(250, random(8)), in(250, random(9)), out(250), 250)

extern "C" __global__ void doubles(const double *a, const double *b, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double x = a[i] * 100, y = b[i];
  double r = x * y + x / y - sqrt(fabs(x));
  r += fma(x, y, r) + fmin(x, y) * 2 + fmax(x, -y);
  r += floor(x) + ceil(y * 10) + trunc(x * y) + rint(x * 3);
  if (x < y) r += 1;
  out[i] = r;
}
CASE(doubles, grid(4), block(64), in(250, random(8)), in(250, random(9)), out(250), 250)

extern "C" __global__ void conversions(const int *in, const float *f, long long *out, float *outFloat, double *outDouble, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = f[i] * 1000;
  long long r = static_cast<int>(x) + static_cast<long long>(x * 1e6f) + static_cast<unsigned>(fabsf(x)) + static_cast<short>(in[i]) +
                static_cast<unsigned char>(in[i] >> 3);
  out[i] = r;
  outFloat[i] = static_cast<float>(in[i]) + static_cast<float>(static_cast<unsigned>(in[i])) + static_cast<float>(r);
  outDouble[i] = static_cast<double>(in[i]) * 0.5 + static_cast<double>(r) + x;
}
CASE(conversions, grid(4), block(64), in(250, random(8)), in(250, random(9)), out(250), out(250), out(250), 250)

// NaN, infinities, signed zeros, subnormals, in lanes of their own.
extern "C" __global__ void specials(const float *in, float *out, int *flags) {
  int i = threadIdx.x;
  float v;
  switch (i & 7) {
  case 0: v = __int_as_float(0x7f800000); break;
  case 1: v = __int_as_float(0xff800000); break;
  case 2: v = 0.0f; break;
  case 3: v = -0.0f; break;
  case 4: v = __int_as_float(0x00000007); break;
  case 5: v = __int_as_float(0x807fffff); break;
  case 6: v = __int_as_float(0x7f7fffff); break;
  default: v = in[i]; break;
  }
  float w = in[63 - i];
  out[i * 4] = v * w;
  out[i * 4 + 1] = v + w;
  out[i * 4 + 2] = v / w;
  out[i * 4 + 3] = v * 0.5f - w * 1e-38f;
  flags[i] = (v < w) | (v > w) << 1 | (v == w) << 2 | (v != v) << 3 | (v <= 0) << 4 | (v >= 0) << 5 | (__float_as_int(v) < 0) << 6 |
             !(v < 1) << 7;
}
CASE(specials, grid(1), block(64), in(64), out(256), out(64))

// Sums whose order matters: the loop must not be reassociated.
extern "C" __global__ void orderedSums(const float *in, float *out, int terms, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0, product = 1;
  for (int k = 0; k < terms; ++k) {
    sum += in[(i * 3 + k * 7) % n] * (k & 1 ? 1000.0f : 0.001f);
    product *= 1.0f + in[(i + k) % n] * 0.1f;
    if (sum > 500) sum -= 500;
  }
  out[i] = sum + product;
}
CASE(orderedSums, grid(2), block(100), in(200), out(200), 37, 200)

extern "C" __global__ void fusedWhereWritten(const float *a, const float *b, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float product = a[i] * b[i];
  out[2 * i] = product - a[(i + 1) % n];                // two roundings
  out[2 * i + 1] = fmaf(a[i], b[i], -product);          // the first one's error, exactly
}
CASE(fusedWhereWritten, grid(2), block(64), in(120, random(8)), in(120, random(9)), out(240), 120)
