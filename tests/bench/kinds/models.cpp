// What language models are made of besides products: halves, bfloats, and rows read as float4.
#include <algorithm>
#include <bit>
#include <cmath>

#include "tests/bench/kinds/kinds.h"
#include "tests/bench/kinds/rows.h"

namespace ptxrun::bench::kinds {
namespace {

using Half = _Float16;
constexpr int kCount = 1 << 19, kRows = 512, kColumns = 1024;

/// c = each(a, b), element by element, two for each thread.
template <class Each> void halves(Kinds::Group &group, Each each) {
  Data<Half> a(kCount), b(kCount), c(kCount);
  fill(a, 1, -1, 1);
  fill(b, 2, -1, 1);
  group.measure({.grid = {kCount / 2 / 256},
                 .block = {256},
                 .arguments = args(kCount / 2, a, b, c),
                 .loop =
                     [&] {
                       const Half *x = a.get(), *y = b.get();
                       Half *__restrict to = c.get();
#pragma omp simd
                       for (int i = 0; i < kCount; ++i)
                         to[i] = Half(each(float(x[i]), float(y[i])));
                     },
                 .outputs = {near(c, 1e-3)}});
}
void addHalves(Kinds::Group &group) {
  halves(group, [](float x, float y) { return x + y; });
}
void fmaHalves(Kinds::Group &group) {
  halves(group, [](float x, float y) { return x * y + x; });
}

void scaleHalves(Kinds::Group &group) {
  Data<Half> a(kCount), c(kCount);
  fill(a, 1, -1, 1);
  const float s = 0.7F;
  group.measure({.grid = {kCount / 8 / 256},
                 .block = {256},
                 .arguments = args(kCount / 8, s, a, c),
                 .loop =
                     [&] {
                       const Half *x = a.get();
                       Half *__restrict to = c.get();
#pragma omp simd
                       for (int i = 0; i < kCount; ++i)
                         to[i] = Half(float(x[i]) * s);
                     },
                 .outputs = {bits(c)}});
}

/// A conversion, four elements for each thread.
template <class From, class To, class Each> void converts(Kinds::Group &group, Each each) {
  Data<From> a(kCount);
  Data<To> c(kCount);
  fill(a, 1, -1, 1);
  group.measure({.grid = {kCount / 4 / 256},
                 .block = {256},
                 .arguments = args(kCount / 4, a, c),
                 .loop =
                     [&] {
                       const From *x = a.get();
                       To *__restrict to = c.get();
#pragma omp simd
                       for (int i = 0; i < kCount; ++i)
                         to[i] = each(x[i]);
                     },
                 .outputs = {bits(c)}});
}
void toHalves(Kinds::Group &group) {
  converts<float, Half>(group, [](float x) { return Half(x); });
}
void fromHalves(Kinds::Group &group) {
  converts<Half, float>(group, [](Half x) { return float(x); });
}
void toBfloats(Kinds::Group &group) {
  converts<float, uint16_t>(group, [](float x) {
    const uint32_t bits = std::bit_cast<uint32_t>(x);
    return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  });
}

void sumQuads(Kinds::Group &group) {
  Data<float> x(kCount), out(1);
  fill(x, 1, 0, 1);
  group.measure({.grid = {32},
                 .block = {256},
                 .arguments = args(kCount / 4, x, out),
                 .loop =
                     [&] {
                       float sum = 0;
                       const float *from = x.get();
#pragma omp simd reduction(+ : sum)
                       for (int i = 0; i < kCount; ++i)
                         sum += from[i];
                       out[0] += sum;
                     },
                 .outputs = {near(out, 1e-3)},
                 .prepare = clearer(out)});
}

template <class T> void gemv(Kinds::Group &group) {
  constexpr int perThread = 16 / sizeof(T);
  Data<T> m(kRows * kColumns), x(kColumns);
  Data<float> out(kRows);
  fill(m, 1, -1, 1);
  fill(x, 2, -1, 1);
  group.measure({.grid = {kRows / 8},
                 .block = {256},
                 .arguments = args(kRows, kColumns / perThread, m, x, out),
                 .loop =
                     [&] {
                       for (int r = 0; r < kRows; ++r)
                         out[r] = dot(m.get() + r * kColumns, x.get(), kColumns);
                     },
                 .outputs = {near(out, 1e-3)}});
}
void gemvQuads(Kinds::Group &group) { gemv<float>(group); }
void gemvHalves(Kinds::Group &group) { gemv<Half>(group); }

void rmsNorm(Kinds::Group &group) {
  Data<float> x(kRows * kColumns), weight(kColumns), y(kRows * kColumns);
  fill(x, 1, -1, 1);
  fill(weight, 2, 0, 1);
  const float eps = 1e-5F;
  group.measure({.grid = {kRows},
                 .block = {256},
                 .arguments = args(kColumns / 4, eps, x, weight, y),
                 .loop =
                     [&] {
                       const float *w = weight.get();
                       for (int r = 0; r < kRows; ++r) {
                         const float *row = x.get() + r * kColumns;
                         float *__restrict to = y.get() + r * kColumns;
                         const float scale =
                             1 / std::sqrt(dot(row, row, kColumns) / kColumns + eps);
#pragma omp simd
                         for (int c = 0; c < kColumns; ++c)
                           to[c] = row[c] * scale * w[c];
                       }
                     },
                 .outputs = {near(y, 1e-3)}});
}

void softmaxQuads(Kinds::Group &group) {
  Data<float> x(kRows * kColumns), y(kRows * kColumns);
  fill(x, 1, -4, 4);
  group.measure({.grid = {kRows},
                 .block = {256},
                 .arguments = args(kColumns / 4, x, y),
                 .loop =
                     [&] {
                       for (int r = 0; r < kRows; ++r) {
                         const float *row = x.get() + r * kColumns;
                         float *__restrict to = y.get() + r * kColumns;
                         softmax(row, greatest(row, kColumns), to, kColumns);
                       }
                     },
                 .outputs = {near(y, 1e-3)}});
}

void rowMaxima(Kinds::Group &group) {
  Data<float> x(kRows * kColumns), out(kRows);
  fill(x, 1, -1, 1);
  group.measure({.grid = {kRows},
                 .block = {256},
                 .arguments = args(kColumns / 4, x, out),
                 .loop =
                     [&] {
                       for (int r = 0; r < kRows; ++r)
                         out[r] = greatest(x.get() + r * kColumns, kColumns);
                     },
                 .outputs = {bits(out)}});
}

} // namespace

void measureModels(Kinds &kinds) {
  kinds.measureAll("models", {{"addHalves", addHalves},
                              {"fmaHalves", fmaHalves},
                              {"scaleHalves", scaleHalves},
                              {"toHalves", toHalves},
                              {"fromHalves", fromHalves},
                              {"toBfloats", toBfloats},
                              {"sumQuads", sumQuads},
                              {"gemvQuads", gemvQuads},
                              {"gemvHalves", gemvHalves},
                              {"rmsNorm", rmsNorm},
                              {"softmaxQuads", softmaxQuads},
                              {"rowMaxima", rowMaxima}});
}

} // namespace ptxrun::bench::kinds
