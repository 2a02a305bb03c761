// Loads and stores of every width and shape.

__constant__ int table[16] = {5, 3, -8, 100, 77, 0, 1, 2, -1, -2, 9, 10, 11, 1 << 20, -(1 << 20), 42};
__device__ int scratch[4] = {1, 2, 3, 4};
struct Mixed {
  char a;
  short b;
  int c;
  double d;
  float e[3];
};

extern "C" __global__ void constantTable(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[in[i] & 15] + table[3] + scratch[in[i] & 3];
}
CASE(constantTable, grid(3), block(70), in(200), out(200), 200)

extern "C" __global__ void localArray(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int mine[17];
  for (int k = 0; k < 17; ++k) mine[k] = k * i;
  unsigned v = in[i];
  for (int k = 0; k < 20; ++k) {
    v = v * 1664525u + 1013904223u;
    mine[(v >> 8) % 17] += mine[(v >> 16) % 17] ^ k;
  }
  int r = 0;
  for (int k = 0; k < 17; ++k) r = r * 3 + mine[k];
  out[i] = r;
}
CASE(localArray, grid(2), block(70), in(140), out(140), 140)

extern "C" __global__ void localStruct(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Mixed all[3];
  for (int k = 0; k < 3; ++k) {
    all[k].a = static_cast<char>(in[i] + k);
    all[k].b = static_cast<short>(in[i] >> 4);
    all[k].c = in[i] ^ k;
    all[k].d = k * 0.5 + i;
    for (int j = 0; j < 3; ++j) all[k].e[j] = static_cast<float>(j + i);
  }
  Mixed &one = all[(in[i] & 0xff) % 3];
  one.c += one.b;
  one.a = static_cast<char>(one.a * 2);
  out[i] = all[0].a + all[1].b + all[2].c + static_cast<int>(all[1].d) + static_cast<int>(one.e[i % 3]) + one.a;
}
CASE(localStruct, grid(2), block(64), in(128), out(128), 128)

extern "C" __global__ void strides(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int r = in[i] + in[n - 1 - i] * 3 + in[(i * 2) % n] * 5 + in[(i * 7 + 3) % n] * 7 + in[0] + in[i / 2] * 11 + in[i & ~3];
  out[i] = r;
}
CASE(strides, grid(4), block(64), in(250), out(256), 250)

extern "C" __global__ void scatterPermutation(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[(i * 77 + 5) % n] = in[i] + i;
}
CASE(scatterPermutation, grid(4), block(64), in(256), out(256), 256)

extern "C" __global__ void scatterReversed(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[n - 1 - i] = in[i] * 2;
}
CASE(scatterReversed, grid(4), block(64), in(200), out(256), 200)

// Consecutive in 64 bits only: the 32-bit sum wraps in the middle of a warp.
extern "C" __global__ void indexWraps(const int *in, int *out, unsigned base, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned index = base + i;
  out[i] = in[index & 127] + (index < 1000 ? 1 : 2);
  unsigned scaled = (base + i) * 4u;
  out[n + i] = in[(scaled >> 2) & 63];
}
CASE(indexWraps, grid(2), block(64), in(128), out(256), value(int64_t{0xfffffff0}), 128)
CASE(indexWraps, grid(2), block(64), in(128), out(256), value(int64_t{0x3ffffffa}), 128)

extern "C" __global__ void indexNearWrap(const int *in, int *out, unsigned base, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  // Addresses that wrap: base + i runs through 2^32, so the upper lanes read from the start of the buffer.
  unsigned index = base + i;
  out[i] = in[index >= 0xffffff00u ? index - 0xffffff00u : index + 256];
}
CASE(indexNearWrap, grid(2), block(64), in(512), out(128), value(int64_t{0xffffffd3}), 128)

extern "C" __global__ void signedOffsets(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int *middle = in + n;
  out[i] = middle[-i - 1] - middle[i] + middle[(i - 40) / 3];
}
CASE(signedOffsets, grid(2), block(64), in(240), out(120), 120)

extern "C" __global__ void bytesAndShorts(const unsigned char *bytes, const short *shorts, unsigned char *outBytes, short *outShorts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  outBytes[i] = static_cast<unsigned char>(bytes[i] * 3 + bytes[n - 1 - i]);
  outShorts[i] = static_cast<short>(shorts[i] - shorts[(i + 9) % n] + static_cast<signed char>(bytes[i]));
}
CASE(bytesAndShorts, grid(3), block(64), in(190, random(1)), in(190, random(2)), out(190), out(190), 190)

extern "C" __global__ void longs(const long long *in, long long *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * 3 - in[n - 1 - i] / 7 + (in[i] >> 13);
}
CASE(longs, grid(2), block(64), in(120), out(120), 120)

extern "C" __global__ void vectors(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int4 v = reinterpret_cast<const int4 *>(in)[i];
  int2 w = reinterpret_cast<const int2 *>(in)[n - 1 - i];
  reinterpret_cast<int4 *>(out)[i] = make_int4(v.w + w.x, v.z, v.x - w.y, v.y ^ i);
}
CASE(vectors, grid(2), block(50), in(400), out(400), 100)

extern "C" __global__ void structures(const int *in, int *out, int n) {
  struct Three {
    int a, b, c;
  };
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Three v = reinterpret_cast<const Three *>(in)[i];
  Three r = {v.c + i, v.a * 2, v.b - v.a};
  if (v.a & 1) r.b = 0;
  reinterpret_cast<Three *>(out)[i] = r;
}
CASE(structures, grid(2), block(50), in(300), out(300), 100)

// A pointer that is shared memory in some lanes, global in others, local in the rest.
extern "C" __global__ void genericPointers(const int *in, int *out, int n) {
  __shared__ int staged[64], written[64];
  int mine[4];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  staged[t] = in[i] * 10;
  for (int k = 0; k < 4; ++k) mine[k] = in[i] + k;
  __syncthreads();
  const int *p = in[i] % 3 == 0 ? &staged[63 - t] : in[i] % 3 == 1 ? &in[(i + 1) % n] : &mine[i & 3];
  int *q = (t & 1) ? &out[i] : &written[t];
  *q = *p;
  __syncthreads();
  if (!(t & 1)) out[i] = written[t] + 1;
}
CASE(genericPointers, grid(3), block(64), in(192), out(192), 192)

extern "C" __global__ void sharedRows(const int *in, int *out) {
  __shared__ int rows[8][33];
  int x = threadIdx.x, y = threadIdx.y, i = (blockIdx.x * 8 + y) * 32 + x;
  rows[y][x] = in[i];
  if (x == 0) rows[y][32] = in[i] * 2;
  __syncthreads();
  out[i] = rows[7 - y][31 - x] + rows[x & 7][y] * 3 + rows[y][x + 1] * 5 + rows[x / 4][32];
}
CASE(sharedRows, grid(2), block(32, 8), in(512), out(512))

extern "C" __global__ void dynamicShared(const int *in, int *out) {
  DYNAMIC_SHARED(int, memory);
  int t = threadIdx.x, n = blockDim.x, i = blockIdx.x * n + t;
  int *first = memory, *second = memory + n;
  first[t] = in[i];
  second[n - 1 - t] = in[i] ^ 5;
  __syncthreads();
  out[i] = first[(t * 3) % n] + second[t];
}
CASE_SHARED(dynamicShared, grid(2), block(100), 800, in(200), out(200))

// Strings of different lengths, copied byte by byte.
extern "C" __global__ void copyStrings(const unsigned char *text, const unsigned *start, unsigned char *out, int length, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned at = start[i] % length;
  int k = 0;
  while (k < 15 && (text[at] & 15) != 0) {
    out[i * 16 + k++] = text[at];
    at = (at + 1) % length;
  }
  out[i * 16 + 15] = static_cast<unsigned char>(k);
}
CASE(copyStrings, grid(2), block(64), in(300, random(1)), in(128, random(2)), out(2048), 300, 128)

// Stores under a condition right beside memory that must stay as it is.
extern "C" __global__ void maskedStores(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (in[i] & 1) out[i] = in[i];
  if ((in[i] & 6) == 6) out[n + (i ^ 1)] = i;
  if (in[i] % 5 == 0) reinterpret_cast<unsigned char *>(out)[8 * n + i] = 9;
}
CASE(maskedStores, grid(2), block(64), in(128), inout(300, iota()), 128)

// Loads through a pointer that only some lanes may follow.
extern "C" __global__ void linkedLists(const int *next, const int *start, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int at = start[i] & 255, sum = 0, steps = 0;
  while ((at & 15) != 3 && steps < 50) {
    sum += at;
    at = (next[at] ^ steps) & 255;
    ++steps;
  }
  out[i] = sum * 64 + steps;
}
CASE(linkedLists, grid(2), block(64), in(256, random(1)), in(128, random(2)), out(128), 128)

extern "C" __global__ void gridStride(const int *in, int *out, int n) {
  int stride = gridDim.x * blockDim.x, sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) sum += in[i] * (i & 3);
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
CASE(gridStride, grid(3), block(40), in(1000), out(120), 1000)

// Structures read element by element, in some order; the last reads come behind a write that may change what they see.
extern "C" __global__ void structuresByElements(const float *in, float *out, int n) {
  __shared__ float staged[8 * 64];
  int t = threadIdx.x, width = blockDim.x;
  for (int k = 0; k < 8; ++k) staged[k * width + t] = in[k * width + t];
  __syncthreads();
  const float *own = &staged[8 * t];
  float a = own[3], b = own[0], c = own[7], d = own[1], e = own[2], f = own[6], g = own[5], h = own[4];
  out[t] = ((a - b) * c + d) * e - f * g + h;
  const float *pair = &in[2 * t];
  out[width + t] = pair[1] * 3.0f - pair[0];
  float *four = &out[2 * width + 4 * t];
  four[0] = a, four[1] = b + n, four[2] = c, four[3] = d;
  out[2 * width + 4 * t + 2] = four[1] + four[3];
  out[6 * width + t] = four[2] - four[0];
}
CASE(structuresByElements, grid(1), block(64), in(512), out(448), 3)
CASE(structuresByElements, grid(1), block(40), in(512), out(448), 3)

struct alignas(8) TwoInts { int x, y; };
struct alignas(16) FourInts { int x, y, z, w; };
struct alignas(8) FourShorts { short a, b, c, d; };
extern "C" __global__ void vectorsTakenApart(const int *quads, const int *pairs, const short *shorts, int *out, int *sums, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  FourInts q = ((const FourInts *)quads)[i];
  TwoInts p = ((const TwoInts *)pairs)[i];
  FourShorts s = ((const FourShorts *)shorts)[i];
  ((FourInts *)out)[i] = FourInts{q.w + p.x, q.x - p.y, q.z ^ s.a, q.y * s.d};
  ((TwoInts *)sums)[i] = TwoInts{q.x + q.y + s.b, p.x - s.c};
}
CASE(vectorsTakenApart, grid(3), block(64), in(768), in(384), in(768), out(768), out(384), 192)
CASE(vectorsTakenApart, grid(3), block(64), in(768), in(384), in(768), out(768), out(384), 150)
