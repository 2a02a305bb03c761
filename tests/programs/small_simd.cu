// The SIMD functions on bytes and half words in a register, and bit functions, beside loops over the parts.
#include "check.h"
#include <algorithm>
// nvcc: -arch=compute_90
#define FUNCTIONS(F)                                                                                                                  \
  F(__vadd4, 8, false, a + b) F(__vsub4, 8, false, a - b) F(__vaddss4, 8, true, clampS(a + b, 8)) F(__vaddus4, 8, false, clampU(a + b, 8))   \
  F(__vsubss4, 8, true, clampS(a - b, 8)) F(__vsubus4, 8, false, clampU(a - b, 8)) F(__vavgs4, 8, true, half(a + b)) F(__vavgu4, 8, false, (a + b + 1) >> 1) \
  F(__vhaddu4, 8, false, (a + b) >> 1) F(__vmaxs4, 8, true, std::max(a, b)) F(__vmaxu4, 8, false, std::max(a, b)) F(__vmins4, 8, true, std::min(a, b)) \
  F(__vminu4, 8, false, std::min(a, b)) F(__vabsdiffs4, 8, true, std::abs(a - b)) F(__vabsdiffu4, 8, false, std::abs(a - b))          \
  F(__vcmpeq4, 8, false, a == b ? -1 : 0) F(__vcmpges4, 8, true, a >= b ? -1 : 0) F(__vcmpgtu4, 8, false, a > b ? -1 : 0)             \
  F(__vcmples4, 8, true, a <= b ? -1 : 0) F(__vcmpltu4, 8, false, a < b ? -1 : 0) F(__vcmpne4, 8, false, a != b ? -1 : 0)             \
  F(__vseteq4, 8, false, a == b) F(__vsetgeu4, 8, false, a >= b) F(__vsetlts4, 8, true, a < b)                                        \
  F(__vadd2, 16, false, a + b) F(__vsub2, 16, false, a - b) F(__vaddss2, 16, true, clampS(a + b, 16)) F(__vaddus2, 16, false, clampU(a + b, 16)) \
  F(__vsubss2, 16, true, clampS(a - b, 16)) F(__vsubus2, 16, false, clampU(a - b, 16)) F(__vavgs2, 16, true, half(a + b))             \
  F(__vavgu2, 16, false, (a + b + 1) >> 1) F(__vmaxs2, 16, true, std::max(a, b)) F(__vminu2, 16, false, std::min(a, b))               \
  F(__vabsdiffs2, 16, true, std::abs(a - b)) F(__vcmpgts2, 16, true, a > b ? -1 : 0) F(__vcmpleu2, 16, false, a <= b ? -1 : 0)        \
  F(__vsetne2, 16, false, a != b) F(__vsetles2, 16, true, a <= b) F(__vhaddu2, 16, false, (a + b) >> 1)

#define COUNT(...) +1
const int kFunctions = 0 FUNCTIONS(COUNT);

__global__ void simd(const unsigned *x, const unsigned *y, unsigned *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, f = 0;
  if (i >= n)
    return;
#define CALL(name, ...) out[f++ * n + i] = name(x[i], y[i]);
  FUNCTIONS(CALL)
#undef CALL
}
__global__ void single(const unsigned *x, const unsigned *y, unsigned *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned a = x[i], b = y[i];
  unsigned long long w = (unsigned long long)a << 32 | b;
  unsigned r[] = {__vabs4(a), __vneg4(a), __vabsss2(a), __vnegss4(a), __vsads4(a, b), __vsadu4(a, b), __vsadu2(a, b), (unsigned)__popc(a),
                  (unsigned)__popcll(w), (unsigned)__clz(a), (unsigned)__clzll(w >> (b & 63)), (unsigned)__ffs(b), (unsigned)__ffsll(w & -(1ull << (a & 63))),
                  __brev(a), (unsigned)(__brevll(w) >> 16), __byte_perm(a, b, 0x3625), __funnelshift_l(a, b, b & 63), __funnelshift_r(a, b, a & 63),
                  __funnelshift_lc(a, b, b & 63), __funnelshift_rc(a, b, b & 63), (unsigned)__mulhi(int(a), int(b)), __umulhi(a, b),
                  (unsigned)__umul64hi(w, w * 3), (unsigned)__mul24(a, b), (unsigned)__umul24(a, b), (unsigned)__sad(int(a), int(b), 5), __usad(a, b, 7),
                  (unsigned)__hadd(int(a), int(b)), (unsigned)__rhadd(int(a), int(b)), __uhadd(a, b), (unsigned)__dp4a(int(a), int(b), 100), __dp4a(a, b, 1u),
                  (unsigned)__dp2a_lo(int(a), int(b), 3), __dp2a_hi(a, b, 9u), (unsigned)__vimax3_s32(int(a), int(b), 17)};
  for (int k = 0; k < int(sizeof r / 4); ++k)
    out[k * n + i] = r[k];
}

typedef long long L;
static L part(unsigned v, int bits, int at, bool isSigned) {
  unsigned p = v >> at & ((1u << bits) - 1);
  return isSigned && p >> (bits - 1) ? L(p) - (1 << bits) : p;
}
static L clampS(L v, int bits) { return std::min(std::max(v, -(1ll << (bits - 1))), (1ll << (bits - 1)) - 1); }
static L clampU(L v, int bits) { return std::min(std::max(v, 0ll), (1ll << bits) - 1); }
static L half(L v) { return (v + (v >= 0)) >> 1; } // to nearest, a half away from zero

template <class F> static unsigned parts(unsigned x, unsigned y, int bits, bool isSigned, F f) {
  unsigned out = 0;
  for (int at = 0; at < 32; at += bits)
    out |= unsigned(f(part(x, bits, at, isSigned), part(y, bits, at, isSigned)) & ((1u << bits) - 1)) << at;
  return out;
}

int main() {
  const int n = 4000;
  srand(9);
  std::vector<unsigned> x(n), y(n);
  const unsigned special[] = {0, ~0u, 0x80808080, 0x7f7f7f7f, 0x80008000, 0x7fff7fff, 0x01010101, 0x00ff00ff};
  for (int i = 0; i < n; ++i) {
    x[i] = i < 64 ? special[i / 8] : unsigned(rand()) * 2654435761u ^ rand();
    y[i] = i < 64 ? special[i % 8] : i % 5 == 0 ? x[i] ^ (1u << i % 32) : unsigned(rand()) * 2246822519u ^ rand();
  }
  unsigned *dx = toDevice(x), *dy = toDevice(y), *out;
  CHECK(cudaMalloc(&out, (kFunctions + 48) * n * 4));
  simd<<<(n + 127) / 128, 128>>>(dx, dy, out, n);
  std::vector<unsigned> got = toHost(out, kFunctions * n);
  int f = 0;
#define TEST(name, bits, isSigned, ...)                                                                                               \
  for (int i = 0, wrong = 0; i < n; ++i) {                                                                                             \
    unsigned want = parts(x[i], y[i], bits, isSigned, [](L a, L b) -> L { return __VA_ARGS__; });                                     \
    if (got[f * n + i] != want && wrong++ == 0)                                                                                       \
      printf(#name "(%08x, %08x) is %08x, not %08x\n", x[i], y[i], got[f * n + i], want), ++failures;                                 \
  }                                                                                                                                   \
  ++f;
  FUNCTIONS(TEST)
  single<<<(n + 127) / 128, 128>>>(dx, dy, out, n);
  got = toHost(out, 48 * n);
  for (int i = 0; i < n; ++i) {
    unsigned a = x[i], b = y[i];
    unsigned long long w = (unsigned long long)a << 32 | b;
    auto sums = [&](int bits, bool s) {
      L sum = 0;
      for (int at = 0; at < 32; at += bits)
        sum += std::abs(part(a, bits, at, s) - part(b, bits, at, s));
      return unsigned(sum);
    };
    auto dot4 = [&](bool s, L c) {
      for (int at = 0; at < 32; at += 8)
        c += part(a, 8, at, s) * part(b, 8, at, s);
      return unsigned(c);
    };
    auto reversed = [](unsigned long long v, int bits) {
      unsigned long long r = 0;
      for (int k = 0; k < bits; ++k)
        r |= (v >> k & 1) << (bits - 1 - k);
      return r;
    };
    auto bytes = [&](unsigned selector) {
      unsigned r = 0;
      unsigned long long both = (unsigned long long)b << 32 | a;
      for (int k = 0; k < 4; ++k)
        r |= unsigned(both >> ((selector >> 4 * k & 7) * 8) & 255) << 8 * k;
      return r;
    };
    auto leading = [](unsigned long long v, int bits) {
      int c = 0;
      while (c < bits && !(v >> (bits - 1 - c) & 1))
        ++c;
      return unsigned(c);
    };
    auto first = [](unsigned long long v) { return unsigned(v ? __builtin_ctzll(v) + 1 : 0); };
    unsigned long long hl = (unsigned long long)b << 32 | a; // funnel: high b, low a
    unsigned s1 = b & 31, s2 = a & 31, s3 = std::min(b & 63, 32u);
    L a24 = int(a << 8) >> 8, b24 = int(b << 8) >> 8;
    unsigned want[] = {parts(a, b, 8, true, [](L v, L) { return std::abs(v); }),
                       parts(a, b, 8, true, [](L v, L) { return -v; }),
                       parts(a, b, 16, true, [](L v, L) { return clampS(std::abs(v), 16); }),
                       parts(a, b, 8, true, [](L v, L) { return clampS(-v, 8); }),
                       sums(8, true), sums(8, false), sums(16, false), unsigned(__builtin_popcount(a)), unsigned(__builtin_popcountll(w)), leading(a, 32),
                       leading(w >> (b & 63), 64), first(b), first(w & -(1ull << (a & 63))), unsigned(reversed(a, 32)), unsigned(reversed(w, 64) >> 16),
                       bytes(0x3625), unsigned((hl << s1) >> 32), unsigned(hl >> s2), unsigned(s3 == 32 ? a : (hl << s3) >> 32), unsigned(hl >> s3),
                       unsigned((L(int(a)) * int(b)) >> 32), unsigned(((unsigned long long)a * b) >> 32), unsigned((unsigned long long)(((unsigned __int128)w * (w * 3)) >> 64)),
                       unsigned(a24 * b24), unsigned((unsigned long long)(a & 0xffffff) * (b & 0xffffff)), unsigned(std::abs(L(int(a)) - int(b)) + 5),
                       unsigned((a > b ? a - b : b - a) + 7), unsigned((L(int(a)) + int(b)) >> 1), unsigned((L(int(a)) + int(b) + 1) >> 1),
                       unsigned(((unsigned long long)a + b) >> 1), dot4(true, 100), dot4(false, 1),
                       unsigned(part(a, 16, 0, true) * part(b, 8, 0, true) + part(a, 16, 16, true) * part(b, 8, 8, true) + 3),
                       unsigned(part(a, 16, 0, false) * part(b, 8, 16, false) + part(a, 16, 16, false) * part(b, 8, 24, false) + 9),
                       unsigned(std::max(std::max(int(a), int(b)), 17))};
    for (int k = 0; k < int(sizeof want / 4); ++k)
      if (got[k * n + i] != want[k] && failures++ < 10)
        printf("function %d of (%08x, %08x) is %08x, not %08x\n", k, a, b, got[k * n + i], want[k]);
  }
  return done();
}
