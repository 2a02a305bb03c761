// Integer, bit, SIMD-in-a-word and conversion intrinsics, each against plain C++.
#include "check.h"
#include <algorithm>
#include <cstdint>
#include <cstring>

#define N 64
__global__ void bits(const unsigned *a, const unsigned *b, long long *out) {
  int i = threadIdx.x;
  unsigned x = a[i], y = b[i];
  unsigned long long w = (unsigned long long)x << 32 | y;
  long long *o = out + i * 32;
  o[0] = __clz(x), o[1] = __clzll(w), o[2] = __ffs(x), o[3] = __ffsll(w), o[4] = __popc(x), o[5] = __popcll(w), o[6] = __brev(x);
  o[7] = __brevll(w), o[8] = __byte_perm(x, y, 0x2516), o[9] = __funnelshift_l(x, y, 37), o[10] = __funnelshift_rc(x, y, 37);
  o[11] = __mulhi(x, y), o[12] = __umulhi(x, y), o[13] = __umul64hi(w, w), o[14] = __mul64hi(w, ~w), o[15] = __mul24(x, y);
  o[16] = __umul24(x, y), o[17] = __sad(x, y, 7), o[18] = __usad(x, y, 7), o[19] = __hadd(x, y), o[20] = __rhadd(x, y);
  o[21] = __uhadd(x, y), o[22] = __urhadd(x, y), o[23] = __dp4a((int)x, (int)y, 5), o[24] = __dp4a(x, y, 5u), o[25] = __dp2a_lo((int)x, (int)y, 3);
  o[26] = __dp2a_hi(x, y, 3u), o[27] = __fns(x, 8, 2), o[28] = __float_as_int(__int_as_float(x)), o[29] = min(x, y) + max((int)x, (int)y);
  o[30] = __shfl_sync(~0u, w, i + 1), o[31] = abs((int)x);
}
__global__ void video(const unsigned *a, const unsigned *b, unsigned *out) {
  int i = threadIdx.x;
  unsigned x = a[i], y = b[i], *o = out + i * 24;
  o[0] = __vadd4(x, y), o[1] = __vaddss4(x, y), o[2] = __vaddus2(x, y), o[3] = __vsub4(x, y), o[4] = __vsubss2(x, y), o[5] = __vavgu4(x, y);
  o[6] = __vabsdiffu4(x, y), o[7] = __vmaxs2(x, y), o[8] = __vminu4(x, y), o[9] = __vcmpgtu4(x, y), o[10] = __vseteq4(x, x ^ (y & 0xff)), o[11] = __vsadu4(x, y);
  o[12] = __vabs4(x), o[13] = __vneg2(x), o[14] = __vhaddu4(x, y), o[15] = __vsadu2(x, y), o[16] = __viaddmax_s32(x, y, 9), o[17] = __vimax3_u32(x, y, 70000);
  o[18] = __vibmax_u16x2(x, y, nullptr == (bool *)&o ? nullptr : (bool *)(o + 22), (bool *)(o + 22) + 1), o[19] = __viaddmin_s16x2_relu(x, y, x);
  o[20] = __vimin_s32_relu(x, y), o[21] = __vabsdiffs2(x, y);
}
__global__ void conversions(const double *d, long long *out) {
  int i = threadIdx.x;
  double x = d[i];
  float f = x;
  long long *o = out + i * 16;
  o[0] = __double2int_rd(x), o[1] = __double2int_ru(x), o[2] = __double2int_rn(x), o[3] = __double2int_rz(x), o[4] = __float2ll_rn(f), o[5] = __double2ll_rd(x);
  o[6] = __float2uint_rz(f), o[7] = __double2hiint(x), o[8] = __double2loint(x), o[9] = __double_as_longlong(__hiloint2double(i, 5));
  o[10] = __float_as_int(__ll2float_rd(o[5] * 123456789)), o[11] = __double_as_longlong(__ull2double_rz(~0ull - i)), o[12] = __float_as_int(__double2float_ru(x));
  o[13] = __float_as_int(__fadd_rd(f, 1e-9f)), o[14] = __double_as_longlong(__ddiv_ru(x, 3)), o[15] = __float_as_int(__fsqrt_rz(fabsf(f)));
}
template <class F> static unsigned lanes(unsigned x, unsigned y, int size, F f) {
  unsigned r = 0, m = size == 8 ? 0xff : 0xffff;
  for (int s = 0; s < 32; s += size)
    r |= (unsigned(f(x >> s & m, y >> s & m)) & m) << s;
  return r;
}
static int s8(unsigned x) { return (int8_t)x; }
static int s16(unsigned x) { return (int16_t)x; }

int main() {
  std::vector<unsigned> a(N), b(N);
  for (int i = 0; i < N; ++i)
    a[i] = i * 2654435761u ^ (i << 7), b[i] = i % 5 == 0 ? a[i] : ~i * 40503u * 65537u;
  a[0] = 0, a[1] = 0x80000000, a[2] = 0xffffffff, a[3] = 0x80807f7f;
  unsigned *da = toDevice(a), *db = toDevice(b), *u;
  long long *o;
  CHECK(cudaMallocManaged(&o, N * 32 * 8));
  CHECK(cudaMallocManaged(&u, N * 24 * 4));
  bits<<<1, N>>>(da, db, o);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < N; ++i) {
    unsigned x = a[i], y = b[i];
    unsigned long long w = (unsigned long long)x << 32 | y, reversed = 0;
    long long *r = o + i * 32;
    for (int k = 0; k < 64; ++k)
      reversed |= (w >> k & 1) << (63 - k);
    EXPECT(r[0] == (x ? __builtin_clz(x) : 32) && r[1] == (w ? __builtin_clzll(w) : 64) && r[2] == __builtin_ffs(x) && r[3] == __builtin_ffsll(w));
    EXPECT(r[4] == __builtin_popcount(x) && r[5] == __builtin_popcountll(w) && r[7] == (long long)reversed);
    unsigned char bytes[8];
    memcpy(bytes, &x, 4), memcpy(bytes + 4, &y, 4);
    EXPECT(r[8] == ((unsigned)bytes[2] << 24 | bytes[5] << 16 | bytes[1] << 8 | bytes[6]));
    unsigned long long both = (unsigned long long)y << 32 | x;
    EXPECT((unsigned)r[9] == unsigned(both << 5 >> 32) && (unsigned)r[10] == y);
    EXPECT((int)r[11] == int((long long)(int)x * (int)y >> 32) && (unsigned)r[12] == (unsigned)((unsigned long long)x * y >> 32));
    EXPECT((unsigned long long)r[13] == (unsigned long long)((unsigned __int128)w * w >> 64) && r[14] == (long long)((__int128)(long long)w * (long long)~w >> 64));
    EXPECT((int)r[15] == int((long long)((int)(x << 8) >> 8) * ((int)(y << 8) >> 8)) && (unsigned)r[16] == (x & 0xffffff) * (y & 0xffffff));
    EXPECT((unsigned)r[17] == 7 + (unsigned)std::llabs((long long)(int)x - (int)y) && (unsigned)r[18] == 7 + (x > y ? x - y : y - x));
    EXPECT(r[19] == ((long long)(int)x + (int)y) >> 1 && r[20] == ((long long)(int)x + (int)y + 1) >> 1);
    EXPECT((unsigned)r[21] == (unsigned)(((unsigned long long)x + y) >> 1) && (unsigned)r[22] == (unsigned)(((unsigned long long)x + y + 1) >> 1));
    int dot = 5, lo = 3;
    unsigned udot = 5, hi = 3;
    for (int k = 0; k < 4; ++k)
      dot += s8(x >> 8 * k) * s8(y >> 8 * k), udot += (x >> 8 * k & 255) * (y >> 8 * k & 255);
    for (int k = 0; k < 2; ++k)
      lo += s16(x >> 16 * k) * s8(y >> 8 * k), hi += (x >> 16 * k & 65535) * (y >> (16 + 8 * k) & 255);
    EXPECT((int)r[23] == dot && (unsigned)r[24] == udot && (int)r[25] == lo && (unsigned)r[26] == hi);
    int seen = 0, fns = -1;
    for (int k = 8; k < 32 && fns < 0; ++k)
      if (x >> k & 1 && ++seen == 2)
        fns = k;
    EXPECT((int)r[27] == fns && (int)r[28] == (int)x && (int)r[31] == (int)(x >> 31 ? -x : x));
    int next = i / 32 * 32 + (i + 1) % 32;
    EXPECT((unsigned long long)r[30] == ((unsigned long long)a[next] << 32 | b[next]));
  }
  video<<<1, N>>>(da, db, u);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < N; ++i) {
    unsigned x = a[i], y = b[i], *r = u + i * 24;
    auto clamp = [](int v, int lo, int hi) { return std::min(std::max(v, lo), hi); };
    EXPECT(r[0] == lanes(x, y, 8, [](int p, int q) { return p + q; }));
    EXPECT(r[1] == lanes(x, y, 8, [&](int p, int q) { return clamp(s8(p) + s8(q), -128, 127); }));
    EXPECT(r[2] == lanes(x, y, 16, [&](int p, int q) { return clamp(p + q, 0, 65535); }));
    EXPECT(r[3] == lanes(x, y, 8, [](int p, int q) { return p - q; }));
    EXPECT(r[4] == lanes(x, y, 16, [&](int p, int q) { return clamp(s16(p) - s16(q), -32768, 32767); }));
    EXPECT(r[5] == lanes(x, y, 8, [](int p, int q) { return (p + q + 1) / 2; }));
    EXPECT(r[6] == lanes(x, y, 8, [](int p, int q) { return std::abs(p - q); }));
    EXPECT(r[7] == lanes(x, y, 16, [](int p, int q) { return std::max(s16(p), s16(q)); }));
    EXPECT(r[8] == lanes(x, y, 8, [](int p, int q) { return std::min(p, q); }));
    EXPECT(r[9] == lanes(x, y, 8, [](int p, int q) { return p > q ? 255 : 0; }));
    EXPECT(r[10] == lanes(x, x ^ (y & 0xff), 8, [](int p, int q) { return p == q; }));
    unsigned sad4 = 0, sad2 = 0;
    for (int k = 0; k < 4; ++k)
      sad4 += std::abs(int(x >> 8 * k & 255) - int(y >> 8 * k & 255));
    for (int k = 0; k < 2; ++k)
      sad2 += std::abs(int(x >> 16 * k & 65535) - int(y >> 16 * k & 65535));
    EXPECT(r[11] == sad4 && r[15] == sad2);
    EXPECT(r[12] == lanes(x, y, 8, [](int p, int) { return std::abs(s8(p)); }) && r[13] == lanes(x, y, 16, [](int p, int) { return -s16(p); }));
    EXPECT(r[14] == lanes(x, y, 8, [](int p, int q) { return (p + q) / 2; }));
    EXPECT((int)r[16] == std::max(int(x + y), 9) && r[17] == std::max({x, y, 70000u}));
    EXPECT(r[18] == lanes(x, y, 16, [](int p, int q) { return std::max(p, q); }));
    bool *which = (bool *)(r + 22);
    EXPECT(which[0] == (x >> 16 >= y >> 16) && which[1] == ((x & 65535) >= (y & 65535)));
    EXPECT(r[19] == lanes(lanes(x, y, 16, [](int p, int q) { return p + q; }), x, 16, [](int p, int q) { return std::max(0, std::min(s16(p), s16(q))); }));
    EXPECT((int)r[20] == std::max(0, std::min((int)x, (int)y)) && r[21] == lanes(x, y, 16, [](int p, int q) { return std::abs(s16(p) - s16(q)); }));
  }
  std::vector<double> d(N);
  for (int i = 0; i < N; ++i)
    d[i] = (i - 31) * 1.25 + (i % 3) * 1e-7;
  double *dd = toDevice(d);
  conversions<<<1, N>>>(dd, o);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < N; ++i) {
    double x = d[i];
    float f = x;
    long long *r = o + i * 16, whole;
    memcpy(&whole, &x, 8);
    EXPECT(r[0] == std::floor(x) && r[1] == std::ceil(x) && r[2] == std::nearbyint(x) && r[3] == std::trunc(x) && r[4] == std::nearbyint(f) && r[5] == std::floor(x));
    EXPECT((unsigned)r[6] == (f < 0 ? 0u : (unsigned)f) && (int)r[7] == int(whole >> 32) && (int)r[8] == (int)whole && r[9] == ((long long)i << 32 | 5));
    long long product = r[5] * 123456789;
    float down = product;
    if ((double)down > product)
      down = std::nextafter(down, -INFINITY);
    int want;
    memcpy(&want, &down, 4);
    EXPECT((int)r[10] == want && r[11] == 0x43EFFFFFFFFFFFFF);
    float up = x;
    if (up < x)
      up = std::nextafter(up, INFINITY);
    memcpy(&want, &up, 4);
    EXPECT((int)r[12] == want);
    float sum;
    memcpy(&sum, &r[13], 4);
    EXPECT((double)sum <= (double)f + 1e-9f && (double)std::nextafter(sum, INFINITY) > (double)f + 1e-9f);
    double third;
    memcpy(&third, &r[14], 8);
    EXPECT(third == 0 || (std::fma(third, 3, -x) >= 0 && std::fma(std::nextafter(third, -INFINITY), 3, -x) < 0));
    float root;
    memcpy(&root, &r[15], 4);
    EXPECT((double)root * root <= std::fabs(f) && (f == 0 || (double)std::nextafter(root, INFINITY) * std::nextafter(root, INFINITY) > std::fabs(f)));
  }
  return done();
}
