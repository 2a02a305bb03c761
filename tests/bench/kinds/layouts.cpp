// Shapes of blocks and of data.
#include <algorithm>
#include <cmath>

#include "tests/bench/kinds/kinds.h"

namespace ptxrun::bench::kinds {
namespace {

/// By tiles, each written to a small copy first: what is read and written lies in rows.
void transpose(int width, int height, const float *__restrict in, float *__restrict out) {
  constexpr int side = 16;
  for (int y0 = 0; y0 < height; y0 += side)
    for (int x0 = 0; x0 < width; x0 += side) {
      float tile[side][side];
      for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x)
          tile[x][y] = in[(y0 + y) * width + x0 + x];
      for (int x = 0; x < side; ++x)
        std::memcpy(out + (x0 + x) * height + y0, tile[x], sizeof tile[x]);
    }
}

void transposes(Kinds::Group &group, Dim grid, Dim block) {
  constexpr int width = 2048, height = 1024;
  Data<float> in(width * height), out(width * height);
  fill(in, 1, -1, 1);
  group.measure({.grid = grid,
                 .block = block,
                 .arguments = args(width, height, in, out),
                 .loop = [&] { transpose(width, height, in.get(), out.get()); },
                 .outputs = {bits(out)}});
}
void naiveTranspose(Kinds::Group &group) { transposes(group, {128, 64}, {16, 16}); }
void tiledTranspose(Kinds::Group &group) { transposes(group, {64, 32}, {32, 8}); }

void oddBlend(Kinds::Group &group) {
  constexpr int width = 1500, height = 1400;
  Data<float> a(width * height), b(width * height), out(width * height);
  fill(a, 1, -1, 1);
  fill(b, 2, -1, 1);
  group.measure({.grid = {75, 70},
                 .block = {20, 20},
                 .arguments = args(width, height, a, b, out),
                 .loop =
                     [&] {
                       const float *p = a.get(), *q = b.get();
                       float *to = out.get();
#pragma omp simd
                       for (int i = 0; i < width * height; ++i)
                         to[i] = 0.3f * p[i] + 0.7f * q[i] * p[i];
                     },
                 .outputs = {near(out, 1e-5)}});
}

void average4(int width, int height, const float *__restrict in, float *__restrict out) {
  for (int y = 1; y < height - 1; ++y)
#pragma omp simd
    for (int x = 1; x < width - 1; ++x) {
      const float *p = in + y * width + x;
      out[y * width + x] = 0.25f * (p[-width] + p[width] + p[-1] + p[1]);
    }
}

void oddStaged(Kinds::Group &group) {
  constexpr int width = 1502, height = 1402;
  Data<float> in(width * height), out(width * height);
  fill(in, 1, -1, 1);
  group.measure({.grid = {75, 70},
                 .block = {20, 20},
                 .arguments = args(width, in, out),
                 .loop = [&] { average4(width, height, in.get(), out.get()); },
                 .outputs = {near(out, 1e-5)}});
}

void oddVolume(Kinds::Group &group) {
  constexpr int nx = 140, ny = 100, nz = 150;
  Data<float> in(nx * ny * nz), out(nx * ny * nz);
  fill(in, 1, -1, 1);
  group.measure({.grid = {20, 20, 50},
                 .block = {7, 5, 3},
                 .arguments = args(nx, ny, nz, in, out),
                 .loop =
                     [&] {
                       const float *from = in.get();
                       float *to = out.get();
#pragma omp simd
                       for (int i = 0; i < nx * ny * nz; ++i)
                         to[i] = from[i] * from[i] + 2.0f * from[i];
                     },
                 .outputs = {near(out, 1e-5)}});
}

void normalise3(Kinds::Group &group) {
  constexpr int n = 1 << 20;
  Data<float> in(3 * n), out(3 * n);
  fill(in, 1, 0.1, 1);
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(n, in, out),
                 .loop =
                     [&] {
                       const float *p = in.get();
                       float *q = out.get();
#pragma omp simd
                       for (int i = 0; i < n; ++i) {
                         float x = p[3 * i], y = p[3 * i + 1], z = p[3 * i + 2];
                         float s = 1 / sqrtf(x * x + y * y + z * z);
                         q[3 * i] = x * s;
                         q[3 * i + 1] = y * s;
                         q[3 * i + 2] = z * s;
                       }
                     },
                 .outputs = {near(out, 1e-5)}});
}

struct Particle {
  float x, y, z, mass, vx, vy, vz;
};

void moveParticles(Kinds::Group &group) {
  constexpr int n = 1 << 19;
  Data<Particle> p(n);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> value(0, 1);
  for (int i = 0; i < n; ++i)
    p[i] = {value(random), value(random), value(random), 1, value(random), 0.5f, value(random)};
  const float dt = 0.1f;
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(n, dt, p),
                 .loop =
                     [&] {
                       Particle *of = p.get();
#pragma omp simd
                       for (int i = 0; i < n; ++i) {
                         Particle a = of[i];
                         a.x += dt * a.vx;
                         a.y += dt * a.vy;
                         a.z += dt * a.vz;
                         a.vx = a.x < 0 || a.x > 1 ? -a.vx : a.vx;
                         a.vy = a.y < 0 || a.y > 1 ? -a.vy : a.vy;
                         a.vz = a.z < 0 || a.z > 1 ? -a.vz : a.vz;
                         of[i] = a;
                       }
                     },
                 .outputs = {bits(p)},
                 .prepare = restorer(p)});
}

void gatherDouble4(Kinds::Group &group) {
  constexpr int n = 1 << 19, from = 1 << 15;
  Data<int> index(n);
  Data<double> in(4 * from), out(n);
  fill(index, 1, 0, from);
  fill(in, 2, -1, 1);
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(n, index, in, out),
                 .loop =
                     [&] {
                       for (int i = 0; i < n; ++i) {
                         const double *v = in.get() + 4 * index[i];
                         out[i] = v[0] * v[1] + v[2] * v[3];
                       }
                     },
                 .outputs = {near(out, 1e-6)}});
}

void insertionSort(Kinds::Group &group) {
  constexpr int n = 20000;
  Data<int> in(16 * n), out(16 * n);
  fill(in, 1, -1e6, 1e6);
  group.measure({.grid = {blocksFor(n, 128)},
                 .block = {128},
                 .arguments = args(n, in, out),
                 .loop =
                     [&] {
                       for (int t = 0; t < n; ++t) {
                         int *a = out.get() + 16 * t;
                         std::copy(in.get() + 16 * t, in.get() + 16 * t + 16, a);
                         for (int k = 1; k < 16; ++k) {
                           int v = a[k], j = k;
                           for (; j > 0 && a[j - 1] > v; --j)
                             a[j] = a[j - 1];
                           a[j] = v;
                         }
                       }
                     },
                 .outputs = {bits(out)}});
}

void localCounts(Kinds::Group &group) {
  constexpr int n = 8192, length = 200;
  Data<uint8_t> in(static_cast<size_t>(n) * length);
  Data<int> out(n);
  fill(in, 1, 0, 256);
  group.measure({.grid = {n / 128},
                 .block = {128},
                 .arguments = args(n, length, in, out),
                 .loop =
                     [&] {
                       std::vector<int> counts(static_cast<size_t>(n) * 32);
                       for (int k = 0; k < length; ++k)
                         for (int t = 0; t < n; ++t)
                           ++counts[t * 32 + (in[static_cast<size_t>(k) * n + t] & 31)];
                       for (int t = 0; t < n; ++t)
                         out[t] = static_cast<int>(std::max_element(counts.begin() + t * 32,
                                                                    counts.begin() + t * 32 + 32) -
                                                   (counts.begin() + t * 32));
                     },
                 .outputs = {bits(out)}});
}

void fillTree(Data<float> &keys, int node, int &next) {
  if (node >= static_cast<int>(keys.size()))
    return;
  fillTree(keys, 2 * node + 1, next);
  keys[node] = static_cast<float>(next++);
  fillTree(keys, 2 * node + 2, next);
}

int countBetween(int nodes, const float *keys, float a, float b) {
  int stack[32], depth = 0, count = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    int node = stack[--depth];
    float key = keys[node];
    count += key >= a && key <= b;
    if (key <= b && 2 * node + 2 < nodes)
      stack[depth++] = 2 * node + 2;
    if (key >= a && 2 * node + 1 < nodes)
      stack[depth++] = 2 * node + 1;
  }
  return count;
}

void stackSearch(Kinds::Group &group) {
  constexpr int n = 8192, nodes = 16383;
  Data<float> keys(nodes), low(n), high(n);
  Data<int> found(n);
  int next = 0;
  fillTree(keys, 0, next);
  fill(low, 1, 0, nodes);
  fill(high, 2, 0, 30);
  for (int t = 0; t < n; ++t)
    high[t] += low[t];
  group.measure({.grid = {n / 128},
                 .block = {128},
                 .arguments = args(n, nodes, keys, low, high, found),
                 .loop =
                     [&] {
                       for (int t = 0; t < n; ++t)
                         found[t] = countBetween(nodes, keys.get(), low[t], high[t]);
                     },
                 .outputs = {bits(found)}});
}

} // namespace

void measureLayouts(Kinds &kinds) {
  kinds.measureAll("layouts", {{"naiveTranspose", naiveTranspose},
                               {"tiledTranspose", tiledTranspose},
                               {"paddedTranspose", tiledTranspose},
                               {"oddBlend", oddBlend},
                               {"oddStaged", oddStaged},
                               {"oddVolume", oddVolume},
                               {"normalise3", normalise3},
                               {"moveParticles", moveParticles},
                               {"gatherDouble4", gatherDouble4},
                               {"insertionSort", insertionSort},
                               {"localCounts", localCounts},
                               {"stackSearch", stackSearch}});
}

} // namespace ptxrun::bench::kinds
