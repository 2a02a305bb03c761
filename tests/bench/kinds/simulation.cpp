// Simulation, random numbers, geometry, divergence.
#include <algorithm>
#include <cmath>

#include "tests/bench/kinds/kinds.h"

namespace ptxrun::bench::kinds {
namespace {

void forces(int n, const float *body, const float *px, const float *py, const float *pz,
            float *force) {
  for (int i = 0; i < n; ++i) {
    float x = 0, y = 0, z = 0;
    const float mx = px[i], my = py[i], mz = pz[i];
#pragma omp simd reduction(+ : x, y, z)
    for (int k = 0; k < n; ++k) {
      float dx = px[k] - mx, dy = py[k] - my, dz = pz[k] - mz;
      float r = 1 / sqrtf(dx * dx + dy * dy + dz * dz + 0.01f), f = body[4 * k + 3] * r * r * r;
      x += f * dx;
      y += f * dy;
      z += f * dz;
    }
    force[3 * i] = x;
    force[3 * i + 1] = y;
    force[3 * i + 2] = z;
  }
}

void bodies(Kinds::Group &group) {
  constexpr int n = 2048;
  Data<float> body(4 * n), force(3 * n);
  fill(body, 1, 0, 1);
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(n, body, force),
                 .loop =
                     [&] {
                       std::vector<float> p(3 * n);
                       for (int k = 0; k < 3 * n; ++k)
                         p[k % 3 * n + k / 3] = body[k / 3 * 4 + k % 3];
                       forces(n, body.get(), p.data(), p.data() + n, p.data() + 2 * n, force.get());
                     },
                 .outputs = {near(force, 1e-2)}});
}

void bodiesDouble(Kinds::Group &group) {
  constexpr int n = 1024;
  Data<double> px(n), py(n), mass(n), fx(n), fy(n);
  fill(px, 1, 0, 1);
  fill(py, 2, 0, 1);
  fill(mass, 3, 0, 1);
  group.measure({.grid = {n / 128},
                 .block = {128},
                 .arguments = args(n, px, py, mass, fx, fy),
                 .loop =
                     [&] {
                       const double *xs = px.get(), *ys = py.get(), *m = mass.get();
                       for (int i = 0; i < n; ++i) {
                         double x = 0, y = 0;
#pragma omp simd reduction(+ : x, y)
                         for (int k = 0; k < n; ++k) {
                           double dx = xs[k] - xs[i], dy = ys[k] - ys[i];
                           double r2 = dx * dx + dy * dy + 0.01, f = m[k] / (r2 * sqrt(r2));
                           x += f * dx;
                           y += f * dy;
                         }
                         fx[i] = x;
                         fy[i] = y;
                       }
                     },
                 .outputs = {near(fx, 1e-4), near(fy, 1e-4)}});
}

/// Escape times of 16 points at once, the rounds of the slowest.
template <class T, size_t lanes>
void escape(int limit, const T *startX, const T *startY, const T *cx, const T *cy, int *out) {
  T x[lanes], y[lanes];
  int count[lanes] = {};
  std::copy(startX, startX + lanes, x);
  std::copy(startY, startY + lanes, y);
  for (int k = 0; k < limit; ++k) {
    int running = 0;
#pragma omp simd reduction(+ : running)
    for (size_t m = 0; m < lanes; ++m) {
      const bool isInside = x[m] * x[m] + y[m] * y[m] < 4;
      const T t = x[m] * x[m] - y[m] * y[m] + cx[m];
      y[m] = isInside ? 2 * x[m] * y[m] + cy[m] : y[m];
      x[m] = isInside ? t : x[m];
      count[m] += isInside;
      running += isInside;
    }
    if (running == 0)
      break;
  }
  std::copy(count, count + lanes, out);
}

/// Escape times where fma and rounding at the border of the set may differ in a few points.
Output almost(Data<int> &data) {
  return {data.get(), data.bytes(), [&data](const std::byte *expected) -> std::string {
            const int *wanted = reinterpret_cast<const int *>(expected);
            size_t differing = 0;
            for (size_t k = 0; k < data.size(); ++k)
              differing += data[k] != wanted[k];
            return differing * 50 > data.size() ? std::to_string(differing) + " differ" : "";
          }};
}

void mandelbrot(Kinds::Group &group) {
  constexpr int width = 256;
  const int limit = 100;
  Data<int> out(width * width);
  group.measure({.grid = {width / 16, width / 16},
                 .block = {16, 16},
                 .arguments = args(width, limit, out),
                 .loop =
                     [&] {
                       const float zero[16] = {};
                       float cx[16], cy[16];
                       for (int i = 0; i < width * width; i += 16) {
                         for (int m = 0; m < 16; ++m) {
                           cx[m] = -2 + 3.0f * static_cast<float>((i + m) % width) / width;
                           cy[m] = -1.5f + 3.0f * static_cast<float>(i / width) / width;
                         }
                         escape<float, 16>(limit, zero, zero, cx, cy, out.get() + i);
                       }
                     },
                 .outputs = {almost(out)}});
}

void juliaDouble(Kinds::Group &group) {
  constexpr int width = 256;
  const int limit = 100;
  const double a = -0.7, b = 0.27;
  Data<int> out(width * width);
  group.measure({.grid = {width * width / 128},
                 .block = {128},
                 .arguments = args(width, limit, a, b, out),
                 .loop =
                     [&] {
                       double x[8], y[8], cx[8], cy[8];
                       std::fill(cx, cx + 8, a);
                       std::fill(cy, cy + 8, b);
                       for (int i = 0; i < width * width; i += 8) {
                         for (int m = 0; m < 8; ++m) {
                           x[m] = -1.5 + 3.0 * ((i + m) % width) / width;
                           y[m] = -1.5 + 3.0 * (i / width) / width; // NOLINT: whole rows
                         }
                         escape<double, 8>(limit, x, y, cx, cy, out.get() + i);
                       }
                     },
                 .outputs = {almost(out)}});
}

/// Hits of 16 generators at once.
void hitsOf(int rounds, const unsigned *seeds, int *hits) {
  unsigned s[5][16], d = 6615241;
  int inside[16] = {};
  std::copy(seeds, seeds + 16, s[0]);
  for (int m = 0; m < 16; ++m)
    s[1][m] = 362436069, s[2][m] = 521288629, s[3][m] = 88675123, s[4][m] = 5783321;
  for (int k = 0; k < rounds; ++k) {
    float value[2][16];
    for (float(&draw)[16] : value) {
      d += 362437;
#pragma omp simd
      for (int m = 0; m < 16; ++m) {
        const unsigned u = s[0][m] ^ s[0][m] >> 2, v = s[4][m] ^ s[4][m] << 4 ^ u ^ u << 1;
        s[0][m] = s[1][m], s[1][m] = s[2][m], s[2][m] = s[3][m], s[3][m] = s[4][m], s[4][m] = v;
        draw[m] = static_cast<float>(d + v) * 2.3283064e-10f;
      }
    }
#pragma omp simd
    for (int m = 0; m < 16; ++m)
      inside[m] += value[0][m] * value[0][m] + value[1][m] * value[1][m] < 1.0f;
  }
  std::copy(inside, inside + 16, hits);
}

void piXorwow(Kinds::Group &group) {
  constexpr int n = 8192;
  const int rounds = 200;
  Data<unsigned> seeds(n);
  Data<int> hits(n);
  fill(seeds, 1, 1, 4e9);
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(rounds, seeds, hits),
                 .loop =
                     [&] {
                       for (int t = 0; t < n; t += 16)
                         hitsOf(rounds, seeds.get() + t, hits.get() + t);
                     },
                 .outputs = {bits(hits)}});
}

void philoxOf(int n, unsigned k0, unsigned k1, unsigned *out) {
#pragma omp simd
  for (int i = 0; i < n; ++i) {
    unsigned x = static_cast<unsigned>(i), y = 0, z = 0, w = 0, a = k0, b = k1;
    for (int r = 0; r < 10; ++r) {
      const uint64_t p = 0xd2511f53ull * x, q = 0xcd9e8d57ull * z;
      x = static_cast<unsigned>(q >> 32) ^ y ^ a;
      y = static_cast<unsigned>(q);
      z = static_cast<unsigned>(p >> 32) ^ w ^ b;
      w = static_cast<unsigned>(p);
      a += 0x9e3779b9u;
      b += 0xbb67ae85u;
    }
    out[4 * i] = x;
    out[4 * i + 1] = y;
    out[4 * i + 2] = z;
    out[4 * i + 3] = w;
  }
}

void philox(Kinds::Group &group) {
  constexpr int n = 1 << 18;
  const uint64_t seed = 0x123456789abcdef;
  Data<unsigned> out(4 * n);
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(n, seed, out),
                 .loop = [&] { philoxOf(n, 0x89abcdef, 0x1234567, out.get()); },
                 .outputs = {bits(out)}});
}

/// Payoffs of 16 paths at once.
void payoffsOf(unsigned first, int steps, float drift, float volatility, float *payoff) {
  unsigned state[16];
  float log[16] = {};
  for (unsigned m = 0; m < 16; ++m)
    state[m] = (first + m) * 747796405u + 2891336453u;
  for (int k = 0; k < steps; ++k)
#pragma omp simd
    for (int m = 0; m < 16; ++m) {
      state[m] = state[m] * 747796405u + 2891336453u;
      unsigned word = ((state[m] >> ((state[m] >> 28) + 4)) ^ state[m]) * 277803737u;
      word = word >> 22 ^ word;
      log[m] += drift + volatility * (static_cast<float>(static_cast<int>(word)) * 4.656613e-10f);
    }
#pragma omp simd
  for (int m = 0; m < 16; ++m)
    payoff[m] = std::max(expf(log[m]) - 1, 0.0f);
}

void optionPaths(Kinds::Group &group) {
  constexpr int paths = 16384;
  const int steps = 250;
  const float drift = 0.0001f, volatility = 0.02f;
  Data<float> payoff(paths);
  group.measure({.grid = {paths / 256},
                 .block = {256},
                 .arguments = args(paths, steps, drift, volatility, payoff),
                 .loop =
                     [&] {
                       for (unsigned i = 0; i < paths; i += 16)
                         payoffsOf(i, steps, drift, volatility, payoff.get() + i);
                     },
                 .outputs = {near(payoff, 1e-3)}});
}

/// The nearest hits of 16 rays at once.
void raysOf(float scale, int px, int py, int count, const float *s, float *depth, int *which) {
  float dx[16], dy[16], dz[16], nearest[16];
  int hit[16];
#pragma omp simd
  for (int m = 0; m < 16; ++m) {
    const float x = (static_cast<float>(px + m) + 0.5f) * scale - 0.5f;
    const float y = (static_cast<float>(py) + 0.5f) * scale - 0.5f;
    const float inverse = 1 / sqrtf(x * x + y * y + 1);
    dx[m] = x * inverse, dy[m] = y * inverse, dz[m] = inverse;
    nearest[m] = 1e30f;
    hit[m] = -1;
  }
  for (int k = 0; k < count; ++k) {
    const float x = s[4 * k], y = s[4 * k + 1], z = s[4 * k + 2], r = s[4 * k + 3];
    const float c = x * x + y * y + z * z - r * r;
#pragma omp simd
    for (int m = 0; m < 16; ++m) {
      const float b = dx[m] * x + dy[m] * y + dz[m] * z, disc = b * b - c;
      const float t = b - sqrtf(disc < 0 ? 0 : disc);
      const bool isHit = (disc >= 0) & (t > 0) & (t < nearest[m]);
      nearest[m] = isHit ? t : nearest[m];
      hit[m] = isHit ? k : hit[m];
    }
  }
  std::copy(nearest, nearest + 16, depth);
  std::copy(hit, hit + 16, which);
}

void raySpheres(Kinds::Group &group) {
  constexpr int width = 256, count = 64;
  Data<float> spheres(4 * count), depth(width * width);
  Data<int> which(width * width);
  fill(spheres, 1, -1, 1);
  for (int k = 0; k < count; ++k) {
    spheres[4 * k + 2] = 4 + spheres[4 * k + 2];
    spheres[4 * k + 3] = 0.2f + 0.1f * spheres[4 * k + 3];
  }
  group.measure({.grid = {width / 16, width / 16},
                 .block = {16, 16},
                 .arguments = args(width, count, spheres, depth, which),
                 .loop =
                     [&] {
                       for (int i = 0; i < width * width; i += 16)
                         raysOf(1.0f / width, i % width, i / width, count, spheres.get(),
                                depth.get() + i, which.get() + i);
                     },
                 .outputs = {almost(which)}});
}

/// The nearest of some points to 16 others.
void nearestOf(const float *p, int clusters, const float *c, int *nearest) {
  float best[16];
  int at[16] = {};
  std::fill(best, best + 16, 1e30f);
  for (int k = 0; k < clusters; ++k)
#pragma omp simd
    for (int m = 0; m < 16; ++m) {
      const float dx = p[2 * m] - c[2 * k], dy = p[2 * m + 1] - c[2 * k + 1];
      const float d = dx * dx + dy * dy;
      at[m] = d < best[m] ? k : at[m];
      best[m] = d < best[m] ? d : best[m];
    }
  std::copy(at, at + 16, nearest);
}

void kmeansAssign(Kinds::Group &group) {
  constexpr int n = 1 << 17, clusters = 32;
  Data<float> point(2 * n), centre(2 * clusters);
  Data<int> nearest(n);
  fill(point, 1, 0, 1);
  fill(centre, 2, 0, 1);
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(n, clusters, point, centre, nearest),
                 .loop =
                     [&] {
                       for (int i = 0; i < n; i += 16)
                         nearestOf(point.get() + 2 * i, clusters, centre.get(), nearest.get() + i);
                     },
                 .outputs = {almost(nearest)},
                 .shared = clusters * 8});
}

void collatz(Kinds::Group &group) {
  constexpr int n = 1 << 16;
  Data<int> steps(n);
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(n, steps),
                 .loop =
                     [&] {
                       for (int i = 0; i < n; ++i) {
                         unsigned v = static_cast<unsigned>(i) + 1;
                         int k = 0;
                         for (; v != 1; ++k)
                           v = v & 1 ? 3 * v + 1 : v / 2;
                         steps[i] = k;
                       }
                     },
                 .outputs = {bits(steps)}});
}

/// All cases at once, and then the one wanted.
inline float caseOf(int what, float v) {
  float y = -v;
  y = what == 0 ? v * v + 1 : y;
  y = what == 1 ? sqrtf(fabsf(v)) : y;
  y = what == 2 ? 1 / (v * v + 1) : y;
  y = what == 3 ? v * 3 - 1 : y;
  y = what == 4 ? fabsf(v) + v * v * v : y;
  y = what == 5 ? (v > 0.5f ? v : 0.5f) : y;
  return what == 6 ? floorf(v * 8) : y;
}

void switchCases(Kinds::Group &group) {
  constexpr int n = 1 << 20;
  Data<uint8_t> what(n);
  Data<float> x(n), y(n);
  fill(what, 1, 0, 8);
  fill(x, 2, -2, 2);
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(n, what, x, y),
                 .loop =
                     [&] {
                       const uint8_t *cases = what.get();
                       const float *from = x.get();
                       float *to = y.get();
#pragma omp simd
                       for (int i = 0; i < n; ++i)
                         to[i] = caseOf(cases[i], from[i]);
                     },
                 .outputs = {near(y, 1e-5)}});
}

void firstDivisor(Kinds::Group &group) {
  constexpr int n = 1 << 16;
  Data<unsigned> x(n), divisor(n);
  fill(x, 1, 2, 1e6);
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(n, x, divisor),
                 .loop =
                     [&] {
                       for (int i = 0; i < n; ++i) {
                         unsigned v = x[i], found = v % 2 == 0 ? 2 : 0;
                         for (unsigned d = 3; found == 0 && d * d <= v; d += 2)
                           if (v % d == 0)
                             found = d;
                         divisor[i] = found == 0 ? v : found;
                       }
                     },
                 .outputs = {bits(divisor)}});
}

unsigned deeper(unsigned depth, unsigned x) {
  if (depth == 0)
    return x * 3 + 1;
  unsigned v = deeper(depth - 1, x ^ depth);
  return v & 1 ? v + deeper(depth - 1, x + 1) : v;
}

void recursion(Kinds::Group &group) {
  constexpr int n = 1 << 14;
  const unsigned depth = 8;
  Data<unsigned> out(n);
  group.measure({.grid = {n / 128},
                 .block = {128},
                 .arguments = args(n, depth, out),
                 .loop =
                     [&] {
                       for (unsigned i = 0; i < n; ++i)
                         out[i] = deeper(depth, i);
                     },
                 .outputs = {bits(out)}});
}

void sieve(Kinds::Group &group) {
  constexpr int blocks = 128;
  std::vector<int> found;
  for (int v = 2; v * v <= (blocks + 1) * 4096; ++v)
    if (std::none_of(found.begin(), found.end(), [&](int p) { return v % p == 0; }))
      found.push_back(v);
  Data<int> prime(found.size()), counts(blocks);
  std::copy(found.begin(), found.end(), prime.get());
  const int primes = static_cast<int>(found.size());
  group.measure({.grid = {blocks},
                 .block = {256},
                 .arguments = args(primes, prime, counts),
                 .loop =
                     [&] {
                       for (int b = 0; b < blocks; ++b) {
                         uint8_t composite[4096] = {};
                         const int low = b * 4096 + 4096;
                         for (int k = 0; k < primes; ++k)
                           for (int p = prime[k], m = (low + p - 1) / p * p - low; m < 4096; m += p)
                             composite[m] = 1;
                         counts[b] = static_cast<int>(std::count(composite, composite + 4096, 0));
                       }
                     },
                 .outputs = {bits(counts)}});
}

void bisectRoots(Kinds::Group &group) {
  constexpr int n = 1 << 18;
  Data<float> target(n), root(n);
  fill(target, 1, 0, 60);
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(n, target, root),
                 .loop =
                     [&] {
                       const float *from = target.get();
                       float *to = root.get();
#pragma omp simd
                       for (int i = 0; i < n; ++i) {
                         float low = 0, high = 4;
                         for (int k = 0; k < 19; ++k) { // 4 / 2^19 is below the limit
                           float middle = 0.5f * (low + high);
                           bool isLess = middle * middle * middle + middle < from[i];
                           low = isLess ? middle : low;
                           high = isLess ? high : middle;
                         }
                         to[i] = low;
                       }
                     },
                 .outputs = {near(root, 1e-4)}});
}

} // namespace

void measureSimulation(Kinds &kinds) {
  kinds.measureAll("simulation", {{"bodies", bodies},
                                  {"bodiesDouble", bodiesDouble},
                                  {"mandelbrot", mandelbrot},
                                  {"juliaDouble", juliaDouble},
                                  {"piXorwow", piXorwow},
                                  {"philox", philox},
                                  {"optionPaths", optionPaths},
                                  {"raySpheres", raySpheres},
                                  {"kmeansAssign", kmeansAssign},
                                  {"collatz", collatz},
                                  {"switchCases", switchCases},
                                  {"firstDivisor", firstDivisor},
                                  {"recursion", recursion},
                                  {"sieve", sieve},
                                  {"bisectRoots", bisectRoots}});
}

} // namespace ptxrun::bench::kinds
