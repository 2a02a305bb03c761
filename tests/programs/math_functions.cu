// Every function of math.h that kernels have, in float and double, over ordinary and special arguments, against the host's in long double.
#include "check.h"
#include <string>

#define UNARY(F)                                                                                                                           \
  F(sin) F(cos) F(tan) F(asin) F(acos) F(atan) F(sinh) F(cosh) F(tanh) F(asinh) F(acosh) F(atanh) F(exp) F(exp2) F(exp10) F(expm1) F(log)  \
      F(log2) F(log10) F(log1p) F(sqrt) F(cbrt) F(erf) F(erfc) F(tgamma) F(lgamma) F(j0) F(j1) F(y0) F(y1) F(floor) F(ceil) F(trunc)       \
          F(round) F(rint) F(fabs) F(logb)
#define BINARY(F) F(pow) F(atan2) F(fmod) F(hypot) F(remainder) F(fmax) F(fmin) F(fdim) F(copysign) F(nextafter)
enum {
#define ENTRY(f) kUnary_##f,
  UNARY(ENTRY) kUnary
#undef ENTRY
};
enum {
#define ENTRY(f) kBinary_##f,
  BINARY(ENTRY) kBinary
#undef ENTRY
};
template <class T> __global__ void unary(const T *x, T *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
#define ENTRY(f) out[kUnary_##f * n + i] = f(x[i]);
  UNARY(ENTRY)
#undef ENTRY
}
template <class T> __global__ void binary(const T *x, const T *y, T *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
#define ENTRY(f) out[kBinary_##f * n + i] = f(x[i], y[i]);
  BINARY(ENTRY)
#undef ENTRY
}
template <class T> __global__ void others(const T *x, T *out, int n) {
  int i = threadIdx.x, e;
  T a = x[i], s, c, whole, *o = out + i * 20;
  sincos(a, &s, &c);
  o[0] = s, o[1] = c, o[2] = frexp(a, &e), o[3] = e, o[4] = modf(a, &whole), o[5] = whole, o[6] = ldexp(a, i % 40 - 20);
  o[7] = fma(a, a, T(-1)), o[8] = remquo(a, T(3), &e), o[9] = e & 7, o[10] = ilogb(a), o[11] = rsqrt(fabs(a)), o[12] = normcdf(a);
  o[13] = erfcinv(T(0.5) + i / T(100)), o[14] = sinpi(a), o[15] = norm3d(a, T(2), T(3)), o[16] = rhypot(a, T(2)), o[17] = isnan(a) + 2 * isinf(a) + 4 * signbit(a);
  o[18] = jn(2, a), o[19] = cyl_bessel_i0(a);
}
static long double exp10_(long double x) { return powl(10, x); }
template <class T> static bool near(T got, long double want, double ulp, const char *name, T x, T y = 0) {
  if (std::isnan(want) ? std::isnan(got) : got == (T)want)
    return true;
  long double size = std::fmax(std::fabs((T)want), std::numeric_limits<T>::min());
  if (std::fabs((long double)got - want) <= ulp * size * std::numeric_limits<T>::epsilon())
    return true;
  printf("%s%zu(%.17g, %.17g) = %.17g, not %.17Lg\n", name, sizeof(T), (double)x, (double)y, (double)got, want);
  return false;
}
template <class T> static void test() {
  std::vector<T> x, y;
  for (double v : {0., -0., 1., -1., 0.5, -0.5, 2., 3., 10., -10., 1e-3, -1e-3, 0.7071, 1.5707963, 3.14159265, 100., -20., 1e-30, 37.5, 0.999, 1.001, 88., -100., 1e5})
    x.push_back(v), y.push_back(x.size() % 5 - 1.5);
  for (double v : {(double)INFINITY, -(double)INFINITY, (double)NAN})
    x.push_back(v), y.push_back(2);
  int n = x.size();
  T *dx = toDevice(x), *dy = toDevice(y), *out;
  CHECK(cudaMallocManaged(&out, (kUnary + 20) * n * sizeof(T)));
  unary<<<(n + 31) / 32, 32>>>(dx, out, n);
  CHECK(cudaDeviceSynchronize());
  auto bound = [](const std::string &f) {
    for (const char *loose : {"j0", "j1", "y0", "y1", "lgamma", "tgamma", "erfc"})
      if (f == loose)
        return sizeof(T) == 4 ? 5e3 : 1e5; // near their zeros the bound of CUDA's tables is absolute
    return 4.;
  };
#define exp10l exp10_
#define ENTRY(f)                                                                                                                           \
  for (int i = 0; i < n; ++i)                                                                                                              \
    EXPECT(near(out[kUnary_##f * n + i], f##l((long double)x[i]), bound(#f), #f, x[i]));
  UNARY(ENTRY)
#undef ENTRY
  binary<<<(n + 31) / 32, 32>>>(dx, dy, out, n);
  CHECK(cudaDeviceSynchronize());
#define ENTRY(f)                                                                                                                           \
  if (std::string(#f) != "nextafter")                                                                                                      \
    for (int i = 0; i < n; ++i)                                                                                                            \
      EXPECT(near(out[kBinary_##f * n + i], f##l((long double)x[i], (long double)y[i]), 8, #f, x[i], y[i]));
  BINARY(ENTRY)
  for (int i = 0; i < n; ++i)
    EXPECT(near(out[kBinary_nextafter * n + i], (long double)std::nextafter(x[i], y[i]), 0, "nextafter", x[i], y[i]));
  others<<<1, n>>>(dx, out, n);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) {
    T a = x[i], *o = out + i * 20;
    int e = 0;
    long double whole;
    bool isFinite = std::isfinite(a);
    EXPECT(near(o[0], sinl(a), 2, "sin", a) && near(o[1], cosl(a), 2, "cos", a));
    EXPECT(near(o[2], frexpl(a, &e), 0, "frexp", a) && (!isFinite || o[3] == e));
    EXPECT(near(o[4], modfl(a, &whole), 0, "modf", a) && near(o[5], whole, 0, "modf", a) && near(o[6], ldexpl(a, i % 40 - 20), 0, "ldexp", a));
    EXPECT(near(o[7], (long double)std::fma(a, a, T(-1)), 0, "fma", a) && near(o[8], remquol(a, 3, &e), 0, "remquo", a));
    EXPECT(!isFinite || o[9] == (e & 7));
    EXPECT(a == 0 || !isFinite || o[10] == ilogbl(a));
    EXPECT(near(o[11], 1 / sqrtl(fabsl(a)), 2, "rsqrt", a) && near(o[15], sqrtl((long double)a * a + 13), 3, "norm3d", a));
    EXPECT(std::isnan(a) || std::isinf(a) || near(o[12], erfcl(-a / sqrtl(2)) / 2, 200, "normcdf", a));
    EXPECT(std::fabs(erfcl(o[13]) - (0.5 + i / 100.)) < 1e-5);
    EXPECT(!isFinite || near(o[16], 1 / hypotl(a, 2), 3, "rhypot", a));
    EXPECT(o[17] == std::isnan(a) + 2 * std::isinf(a) + 4 * std::signbit(a));
  }
}

int main() {
  test<float>();
  test<double>();
  return done();
}
