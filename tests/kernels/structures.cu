// Arrays of structures, read and written element by element: of two to eight elements of every size, as a whole, in parts, in any
// order, and under masks.

extern "C" __global__ void scaleTriples(const float *__restrict__ in, float *__restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[3 * i], y = in[3 * i + 1], z = in[3 * i + 2], scale = x * x + y * y + z * z;
  out[3 * i] = x * scale;
  out[3 * i + 1] = y * scale;
  out[3 * i + 2] = z * scale;
}
CASE(scaleTriples, grid(2), block(64), in(3 * 128), out(3 * 128), 128)
CASE(scaleTriples, grid(2), block(64), in(3 * 101), out(3 * 101), 101)
CASE(scaleTriples, grid(1), block(40), in(3 * 40), out(3 * 40), 40)

// Colours of three bytes; nothing says that in and out are apart.
extern "C" __global__ void swapColours(const unsigned char *in, unsigned char *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[3 * i + 2] = 255 - in[3 * i];
  out[3 * i] = in[3 * i + 2] / 2;
  out[3 * i + 1] = in[3 * i + 1] ^ 15;
}
CASE(swapColours, grid(2), block(64), in(3 * 128), out(3 * 128), 128)
CASE(swapColours, grid(1), block(96), in(3 * 77), out(3 * 77), 77)

extern "C" __global__ void grayToColours(const unsigned char *__restrict__ in, unsigned char *__restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned char gray = in[i];
  out[4 * i + 3] = 255;
  out[4 * i] = gray;
  out[4 * i + 2] = gray >> 1;
  out[4 * i + 1] = gray + 1;
}
CASE(grayToColours, grid(2), block(64), in(128), out(4 * 128), 128)
CASE(grayToColours, grid(1), block(64), in(51), out(4 * 51), 51)

extern "C" __global__ void productsOfComplex(const double *__restrict__ a, const double *__restrict__ b, double *__restrict__ c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double x = a[2 * i], y = a[2 * i + 1], u = b[2 * i], v = b[2 * i + 1];
  c[2 * i] = x * u - y * v;
  c[2 * i + 1] = x * v + y * u;
}
CASE(productsOfComplex, grid(2), block(32), in(128), in(128, random(2)), out(128), 64)
CASE(productsOfComplex, grid(2), block(32), in(90), in(90, random(2)), out(90), 45)

struct Five {
  short a, b, c, d, e;
};
extern "C" __global__ void rotateFives(const short *in, short *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const Five *from = reinterpret_cast<const Five *>(in);
  Five *to = reinterpret_cast<Five *>(out);
  if (i < n) to[i] = {from[i].e, from[i].a, from[i].b, from[i].c, from[i].d};
}
CASE(rotateFives, grid(2), block(64), in(5 * 128), out(5 * 128), 128)
CASE(rotateFives, grid(2), block(50), in(5 * 90), out(5 * 90), 90)

// Only some elements of each structure are written, some of them by some threads only, and one twice.
extern "C" __global__ void writeSomeElements(const int *in, int *out, int n, int limit) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = in[i] & 1023;
  out[6 * i + 1] = v;
  if (v > limit) out[6 * i + 4] = v * 2;
  out[6 * i + 5] = -v;
  out[6 * i + 5] = out[6 * i + 5] + 1;
}
CASE(writeSomeElements, grid(2), block(64), in(128), inout(6 * 128, iota()), 128, 512)
CASE(writeSomeElements, grid(1), block(64), in(43), inout(6 * 43, iota()), 43, 100)

extern "C" __global__ void everySecond(const long long *in, long long *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[2 * i] = in[i] * 3;
}
CASE(everySecond, grid(2), block(64), in(128), inout(256, iota()), 128)
CASE(everySecond, grid(2), block(64), in(99), inout(198, iota()), 99)

// All eight words of a structure, which the next thread reads afterwards.
extern "C" __global__ void passEightOn(const int *in, int *out) {
  __shared__ int words[64 * 8];
  int t = threadIdx.x, v = in[t];
#pragma unroll
  for (int k = 0; k < 8; ++k) words[8 * t + k] = v + k * k;
  __syncthreads();
  int sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) sum = sum * 5 + words[8 * ((t + 1) & 63) + k];
  out[t] = sum;
}
CASE(passEightOn, grid(1), block(64), in(64), out(64))

// Each thread does four elements on end.
extern "C" __global__ void fourEach(const float *__restrict__ in, float *__restrict__ out, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (i + k < n) out[i + k] = in[i + k] + k;
}
CASE(fourEach, grid(2), block(32), in(256), out(256), 256)
CASE(fourEach, grid(2), block(32), in(250), out(250), 250)

// Nine elements each, and sixteen; what is written may be what is read next.
extern "C" __global__ void transposeSmall(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#pragma unroll
  for (int r = 0; r < 3; ++r)
#pragma unroll
    for (int c = 0; c < 3; ++c) out[9 * i + 3 * r + c] = in[9 * i + 3 * c + r] * 2;
}
CASE(transposeSmall, grid(2), block(64), in(9 * 128), out(9 * 128), 128)
CASE(transposeSmall, grid(1), block(64), in(9 * 33), out(9 * 33), 33)

extern "C" __global__ void sortSixteen(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) v[k] = in[16 * i + k];
  for (int k = 1; k < 16; ++k) {
    int x = v[k], j = k - 1;
    for (; j >= 0 && v[j] > x; --j) v[j + 1] = v[j];
    v[j + 1] = x;
  }
#pragma unroll
  for (int k = 0; k < 16; ++k) out[16 * i + k] = v[k];
}
CASE(sortSixteen, grid(2), block(64), in(16 * 128), out(16 * 128))
CASE(sortSixteen, grid(1), block(40), in(16 * 40), out(16 * 40))
