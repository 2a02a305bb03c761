// Functions of float and double.
#include <cmath>

#include "tests/bench/kinds/kinds.h"

namespace ptxrun::bench::kinds {
namespace {

constexpr int kCount = 1 << 20;

/// y[i] = f(i); results are held against the loop's with a tolerance of some ulp.
template <class T, class F>
void map(Kinds::Group &group, int n, Data<T> &y, const Arguments &arguments, F f) {
  measureMap(group, n, y, arguments, near(y, 1e-5), f);
}

void sineCosine(Kinds::Group &group) {
  Data<float> x(kCount), s(kCount), c(kCount);
  fill(x, 1, -100, 100);
  group.measure({.grid = {kCount / 256},
                 .block = {256},
                 .arguments = args(kCount, x, s, c),
                 .loop =
                     [&] {
                       const float *from = x.get();
                       float *sines = s.get(), *cosines = c.get();
#pragma omp simd
                       for (int i = 0; i < kCount; ++i) {
                         sines[i] = sinf(from[i]);
                         cosines[i] = cosf(from[i]);
                       }
                     },
                 .outputs = {near(s, 1e-5), near(c, 1e-5)}});
}

void powers(Kinds::Group &group) {
  Data<float> x(kCount), e(kCount), y(kCount);
  fill(x, 1, 0.1, 10);
  fill(e, 2, -5, 5);
  map(group, kCount, y, args(kCount, x, e, y),
      [p = x.get(), q = e.get()](int i) { return powf(p[i], q[i]); });
}

void exponentials(Kinds::Group &group) {
  Data<float> x(kCount), y(kCount);
  fill(x, 1, -20, 20);
  map(group, kCount, y, args(kCount, x, y),
      [p = x.get()](int i) { return expf(p[i]) + logf(fabsf(p[i]) + 1.0f); });
}

void errorFunction(Kinds::Group &group) {
  Data<float> x(kCount), y(kCount);
  fill(x, 1, -4, 4);
  map(group, kCount, y, args(kCount, x, y), [p = x.get()](int i) { return erff(p[i]); });
}

void gelu(Kinds::Group &group) {
  Data<float> x(kCount), y(kCount);
  fill(x, 1, -4, 4);
  map(group, kCount, y, args(kCount, x, y), [p = x.get()](int i) {
    float v = p[i];
    return 0.5f * v * (1 + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
  });
}

void rootsAndQuotients(Kinds::Group &group) {
  Data<float> a(kCount), b(kCount), y(kCount);
  fill(a, 1, 0, 100);
  fill(b, 2, 1, 100);
  map(group, kCount, y, args(kCount, a, b, y),
      [p = a.get(), q = b.get()](int i) { return sqrtf(p[i]) / q[i]; });
}

void exponentialsDouble(Kinds::Group &group) {
  constexpr int n = kCount / 2;
  Data<double> x(n), y(n);
  fill(x, 1, -20, 20);
  map(group, n, y, args(n, x, y), [p = x.get()](int i) { return exp(p[i]); });
}

void sinesDouble(Kinds::Group &group) {
  constexpr int n = kCount / 4;
  Data<double> x(n), y(n);
  fill(x, 1, -20, 20);
  map(group, n, y, args(n, x, y),
      [p = x.get()](int i) { return sin(p[i]) * log(2 + p[i] * p[i]); });
}

void scaleDouble(Kinds::Group &group) {
  constexpr int n = 2 * kCount;
  const double a = 0.75;
  Data<double> x(n), y(n);
  fill(x, 1, -1, 1);
  fill(y, 2, -1, 1);
  group.measure({.grid = {128},
                 .block = {256},
                 .arguments = args(n, a, x, y),
                 .loop =
                     [&] {
                       const double *from = x.get();
                       double *to = y.get();
#pragma omp simd
                       for (int i = 0; i < n; ++i)
                         to[i] = a * from[i] + to[i];
                     },
                 .outputs = {near(y, 1e-6)},
                 .prepare = restorer(y)});
}

void polynomialDouble(Kinds::Group &group) {
  Data<double> x(kCount), y(kCount);
  fill(x, 1, -1, 1);
  map(group, kCount, y, args(kCount, x, y), [from = x.get()](int i) {
    double v = from[i], p = 1;
    for (int k = 0; k < 40; ++k)
      p = p * v + (1.0 + k);
    return p;
  });
}

void cubicRoots(Kinds::Group &group) {
  constexpr int n = kCount / 8;
  Data<double> a(n), y(n);
  fill(a, 1, 1, 100);
  map(group, n, y, args(n, a, y), [p = a.get()](int i) {
    double x = 1;
    for (int k = 0; k < 12; ++k)
      x = x - (x * x * x - p[i]) / (3 * x * x);
    return x;
  });
}

} // namespace

void measureFunctions(Kinds &kinds) {
  kinds.measureAll("functions", {{"sineCosine", sineCosine},
                                 {"powers", powers},
                                 {"exponentials", exponentials},
                                 {"errorFunction", errorFunction},
                                 {"gelu", gelu},
                                 {"rootsAndQuotients", rootsAndQuotients},
                                 {"exponentialsDouble", exponentialsDouble},
                                 {"sinesDouble", sinesDouble},
                                 {"scaleDouble", scaleDouble},
                                 {"polynomialDouble", polynomialDouble},
                                 {"cubicRoots", cubicRoots}});
}

} // namespace ptxrun::bench::kinds
