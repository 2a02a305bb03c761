// As compilers of tiles write kernels.
#include <algorithm>
#include <cmath>

#include "tests/bench/kinds/kinds.h"
#include "tests/bench/kinds/rows.h"

namespace ptxrun::bench::kinds {
namespace {

constexpr int kCount = 200004, kRows = 512, kColumns = 784, kSide = 1024;

void tileBlend(Kinds::Group &group) {
  Data<float> x(kCount), y(kCount), z(kCount);
  fill(x, 1, -1, 1);
  fill(y, 2, -1, 1);
  const float s = 0.25F;
  group.measure({.grid = {(kCount + 1023) / 1024},
                 .block = {128},
                 .arguments = args(kCount, s, x, y, z),
                 .loop =
                     [&] {
                       const float *a = x.get(), *b = y.get();
                       float *__restrict to = z.get();
#pragma omp simd
                       for (int i = 0; i < kCount; ++i)
                         to[i] = a[i] + s * b[i];
                     },
                 .outputs = {near(z, 1e-6)}});
}

void tileSoftmax(Kinds::Group &group) {
  Data<float> x(kRows * kColumns), y(kRows * kColumns);
  fill(x, 1, -4, 4);
  group.measure({.grid = {kRows},
                 .block = {128},
                 .arguments = args(kColumns, x, y),
                 .loop =
                     [&] {
                       for (int r = 0; r < kRows; ++r) {
                         const float *row = x.get() + r * kColumns;
                         softmax(row, greatest(row, kColumns), y.get() + r * kColumns, kColumns);
                       }
                     },
                 .outputs = {near(y, 1e-4)}});
}

void tileQuantise(Kinds::Group &group) {
  Data<float> x(kRows * kColumns), scales(kRows);
  Data<int8_t> y(kRows * kColumns);
  fill(x, 1, -4, 4);
  group.measure({.grid = {kRows},
                 .block = {128},
                 .arguments = args(kColumns, x, y, scales),
                 .loop =
                     [&] {
                       for (int r = 0; r < kRows; ++r) {
                         const float *row = x.get() + r * kColumns;
                         int8_t *__restrict to = y.get() + r * kColumns;
                         float most = 0;
#pragma omp simd reduction(max : most)
                         for (int c = 0; c < kColumns; ++c)
                           most = std::max(most, std::fabs(row[c]));
                         const float by = 127 / most;
#pragma omp simd
                         for (int c = 0; c < kColumns; ++c)
                           to[c] = int8_t(std::rint(row[c] * by));
                         scales[size_t(r)] = most / 127;
                       }
                     },
                 .outputs = {bits(y), bits(scales)}});
}

void tileProduct(Kinds::Group &group) {
  Data<float> m(kSide * kSide), x(kSide), y(kSide);
  fill(m, 1, -1, 1);
  fill(x, 2, -1, 1);
  group.measure({.grid = {kSide / 16},
                 .block = {128},
                 .arguments = args(kSide, m, x, y),
                 .loop =
                     [&] {
                       const float *v = x.get();
                       for (int r = 0; r < kSide; ++r)
                         y[size_t(r)] = dot(m.get() + r * kSide, v, kSide);
                     },
                 .outputs = {near(y, 1e-4)}});
}

} // namespace

void measureTiles(Kinds &kinds) {
  kinds.measureAll("tiles", {{"tileBlend", tileBlend},
                             {"tileSoftmax", tileSoftmax},
                             {"tileQuantise", tileQuantise},
                             {"tileProduct", tileProduct}});
}

} // namespace ptxrun::bench::kinds
