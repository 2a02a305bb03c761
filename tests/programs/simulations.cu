// Grids that evolve: the game of life, heat with a halo in shared memory, bodies that attract each other, a wave in three dimensions.
#include "check.h"

__global__ void life(const unsigned char *a, unsigned char *b, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h)
    return;
  int n = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      n += (dx || dy) && a[(y + dy + h) % h * w + (x + dx + w) % w];
  b[y * w + x] = n == 3 || (n == 2 && a[y * w + x]);
}
__global__ void heat(const float *a, float *b, int n) {
  __shared__ float s[18][18];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  auto at = [&](int x, int y) { return x < 0 || y < 0 || x >= n || y >= n ? 0.f : a[y * n + x]; };
  s[ty][tx] = at(x, y);
  if (tx == 1)
    s[ty][0] = at(x - 1, y), s[ty][17] = at(x + 16, y);
  if (ty == 1)
    s[0][tx] = at(x, y - 1), s[17][tx] = at(x, y + 16);
  __syncthreads();
  b[y * n + x] = s[ty][tx] + 0.125f * (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx] - 4 * s[ty][tx]);
}
__global__ void forces(const float4 *p, float4 *f, int n) {
  extern __shared__ float4 tile[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 me = p[i], sum = make_float4(0, 0, 0, 0);
  for (int t = 0; t < n; t += blockDim.x) {
    tile[threadIdx.x] = p[t + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < blockDim.x; ++j) {
      float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z, d = dx * dx + dy * dy + dz * dz + 0.01f, k = tile[j].w * rsqrtf(d * d * d);
      sum.x += dx * k, sum.y += dy * k, sum.z += dz * k;
    }
    __syncthreads();
  }
  f[i] = sum;
}
__global__ void wave(const float *a, float *b, dim3 size) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
  if (x == 0 || y == 0 || z == 0 || x + 1 >= size.x || y + 1 >= size.y || z + 1 >= size.z)
    return;
  int i = (z * size.y + y) * size.x + x, row = size.x, slice = size.x * size.y;
  b[i] = 1.25f * a[i] - b[i] + 0.125f * (a[i - 1] + a[i + 1] + a[i - row] + a[i + row] + a[i - slice] + a[i + slice]);
}

int main() {
  const int w = 50, h = 33;
  std::vector<unsigned char> a(w * h), b(w * h);
  for (int i = 0; i < w * h; ++i)
    a[i] = i * 2654435761u >> 30 == 1;
  unsigned char *la = toDevice(a), *lb = toDevice(a);
  for (int r = 0; r < 10; ++r) {
    life<<<dim3(7, 5), dim3(8, 8)>>>(la, lb, w, h);
    std::swap(la, lb);
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        int n = 0;
        for (int k = 0; k < 9; ++k)
          n += k != 4 && a[(y + k / 3 - 1 + h) % h * w + (x + k % 3 - 1 + w) % w];
        b[y * w + x] = n == 3 || (n == 2 && a[y * w + x]);
      }
    a.swap(b);
  }
  EXPECT(toHost(la, w * h) == a);
  const int n = 64;
  std::vector<float> t(n * n), next(n * n);
  for (int i = 0; i < n * n; ++i)
    t[i] = i * 31 % 97;
  float *ta = toDevice(t), *tb = toDevice(t);
  for (int r = 0; r < 5; ++r) {
    heat<<<dim3(4, 4), dim3(16, 16)>>>(ta, tb, n);
    std::swap(ta, tb);
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x)
        next[y * n + x] = t[y * n + x] + 0.125f * ((x ? t[y * n + x - 1] : 0) + (x + 1 < n ? t[y * n + x + 1] : 0) + (y ? t[(y - 1) * n + x] : 0) +
                                                   (y + 1 < n ? t[(y + 1) * n + x] : 0) - 4 * t[y * n + x]);
    t.swap(next);
  }
  std::vector<float> got = toHost(ta, n * n);
  for (int i = 0; i < n * n; ++i)
    EXPECT(std::fabs(got[i] - t[i]) < 1e-4f);
  std::vector<float4> p(256);
  for (int i = 0; i < 256; ++i)
    p[i] = make_float4(std::sin(i), std::cos(i * 1.3f), std::sin(i * 0.7f), 1 + i % 3);
  float4 *dp = toDevice(p), *df = toDevice(p);
  forces<<<4, 64, 64 * sizeof(float4)>>>(dp, df, 256);
  std::vector<float4> f = toHost(df, 256);
  for (int i = 0; i < 256; i += 17) {
    double sum = 0;
    for (int j = 0; j < 256; ++j) {
      double dx = p[j].x - p[i].x, dy = p[j].y - p[i].y, dz = p[j].z - p[i].z;
      sum += dx * p[j].w * std::pow(dx * dx + dy * dy + dz * dz + 0.01, -1.5);
    }
    EXPECT(std::fabs(f[i].x - sum) < 1e-3 * (1 + std::fabs(sum)));
  }
  dim3 size(20, 12, 9);
  std::vector<float> u(20 * 12 * 9, 0.f), v = u;
  u[(4 * 12 + 6) * 20 + 10] = 8;
  float *du = toDevice(u), *dv = toDevice(v);
  for (int r = 0; r < 4; ++r) {
    wave<<<dim3(2, 3, 9), dim3(16, 4)>>>(du, dv, size);
    std::swap(du, dv);
    for (int z = 1; z < 8; ++z)
      for (int y = 1; y < 11; ++y)
        for (int x = 1; x < 19; ++x) {
          int i = (z * 12 + y) * 20 + x;
          v[i] = 1.25f * u[i] - v[i] + 0.125f * (u[i - 1] + u[i + 1] + u[i - 20] + u[i + 20] + u[i - 240] + u[i + 240]);
        }
    u.swap(v);
  }
  got = toHost(du, u.size());
  for (size_t i = 0; i < u.size(); ++i)
    EXPECT(std::fabs(got[i] - u[i]) < 1e-4f);
  return done();
}
