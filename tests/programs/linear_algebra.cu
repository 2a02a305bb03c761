// Sparse products in two formats, an LU decomposition, all shortest paths, a transpose, conjugate gradients, dot products in double.
#include "check.h"

__global__ void rows(const int *start, const int *column, const double *value, const double *x, double *y, int n) { // a warp a row
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= n)
    return;
  double sum = 0;
  for (int i = start[row] + lane; i < start[row + 1]; i += 32)
    sum += value[i] * x[column[i]];
  for (int d = 16; d; d /= 2)
    sum += __shfl_down_sync(~0u, sum, d);
  if (lane == 0)
    y[row] = sum;
}
__global__ void padded(const int *column, const double *value, const double *x, double *y, int n, int width) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n)
    return;
  double sum = 0;
  for (int k = 0; k < width; ++k)
    if (column[k * n + row] >= 0)
      sum += value[k * n + row] * x[column[k * n + row]];
  y[row] = sum;
}
__global__ void dot(const double *a, const double *b, double *out, int n) {
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    sum += a[i] * b[i];
  atomicAdd(out, sum);
}
__global__ void axpy(double a, const double *x, double *y, double b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + b * y[i];
}
__global__ void eliminate(float *a, int n, int k) {
  int i = k + 1 + blockIdx.x;
  float f = a[i * n + k] / a[k * n + k];
  for (int j = k + 1 + threadIdx.x; j < n; j += blockDim.x)
    a[i * n + j] -= f * a[k * n + j];
  __syncthreads();
  if (threadIdx.x == 0)
    a[i * n + k] = f;
}
__global__ void paths(int *d, int n, int k) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
  if (j < n)
    d[i * n + j] = min(d[i * n + j], d[i * n + k] + d[k * n + j]);
}
__global__ void transpose(const float *in, float *out, int w, int h) {
  __shared__ float t[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < w && y + j < h)
      t[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < h && y + j < w)
      out[(y + j) * h + x] = t[threadIdx.x][threadIdx.y + j];
}

int main() {
  const int n = 400, width = 5;
  std::vector<int> start{0}, column, ell(n * width, -1);
  std::vector<double> value, ellValue(n * width, 0.), x(n), want(n, 0.);
  for (int i = 0; i < n; ++i) {
    x[i] = std::sin(i);
    int k = 0;
    for (int j : {i - 20, i - 1, i, i + 1, i + 20})
      if (j >= 0 && j < n) {
        column.push_back(j), value.push_back(j == i ? 4.5 : -1);
        ell[k * n + i] = j, ellValue[k++ * n + i] = value.back();
      }
    start.push_back(column.size());
  }
  for (int i = 0; i < n; ++i)
    for (int e = start[i]; e < start[i + 1]; ++e)
      want[i] += value[e] * x[column[e]];
  int *ds = toDevice(start), *dc = toDevice(column), *de = toDevice(ell);
  double *dv = toDevice(value), *dev = toDevice(ellValue), *dx = toDevice(x), *y1 = toDevice(x), *y2 = toDevice(x);
  rows<<<(n * 32 + 127) / 128, 128>>>(ds, dc, dv, dx, y1, n);
  padded<<<(n + 63) / 64, 64>>>(de, dev, dx, y2, n, width);
  std::vector<double> g1 = toHost(y1, n), g2 = toHost(y2, n);
  for (int i = 0; i < n; ++i)
    EXPECT(std::fabs(g1[i] - want[i]) < 1e-12 && std::fabs(g2[i] - want[i]) < 1e-12);

  // Conjugate gradients: the solution of A z = y1 is x.
  std::vector<double> zero(n, 0.);
  double *z = toDevice(zero), *r = toDevice(g1), *p = toDevice(g1), *q = toDevice(zero), *scalar;
  CHECK(cudaMallocManaged(&scalar, 8));
  auto product = [&](const double *a, const double *b) {
    CHECK(cudaDeviceSynchronize());
    *scalar = 0;
    dot<<<3, 96>>>(a, b, scalar, n);
    CHECK(cudaDeviceSynchronize());
    return *scalar;
  };
  double rr = product(r, r);
  int rounds = 0;
  for (; rr > 1e-22 && rounds < 200; ++rounds) {
    rows<<<(n * 32 + 127) / 128, 128>>>(ds, dc, dv, p, q, n);
    double alpha = rr / product(p, q), before = rr;
    axpy<<<4, 128>>>(alpha, p, z, 1, n);
    axpy<<<4, 128>>>(-alpha, q, r, 1, n);
    rr = product(r, r);
    axpy<<<4, 128>>>(1, r, p, rr / before, n);
  }
  std::vector<double> solved = toHost(z, n);
  for (int i = 0; i < n; ++i)
    EXPECT(std::fabs(solved[i] - x[i]) < 1e-9);

  const int m = 40;
  std::vector<float> a(m * m), lu;
  for (int i = 0; i < m * m; ++i)
    a[i] = (i * 37 % 19 - 9) * 0.25f + (i % (m + 1) == 0 ? 30 : 0);
  float *da = toDevice(a);
  for (int k = 0; k + 1 < m; ++k)
    eliminate<<<m - 1 - k, 32>>>(da, m, k);
  lu = toHost(da, m * m);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) {
      double sum = 0;
      for (int k = 0; k <= std::min(i, j); ++k)
        sum += (k == i ? 1. : lu[i * m + k]) * lu[k * m + j];
      EXPECT(std::fabs(sum - a[i * m + j]) < 1e-3);
    }
  std::vector<int> d(m * m);
  for (int i = 0; i < m * m; ++i)
    d[i] = i % (m + 1) == 0 ? 0 : i * 7 % 11 ? 1 + i * 13 % 50 : 1 << 20;
  int *dd = toDevice(d);
  for (int k = 0; k < m; ++k) {
    paths<<<dim3(2, m), 32>>>(dd, m, k);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < m; ++j)
        d[i * m + j] = std::min(d[i * m + j], d[i * m + k] + d[k * m + j]);
  }
  EXPECT(toHost(dd, m * m) == d);
  std::vector<float> in(70 * 45);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = i;
  float *di = toDevice(in), *dt = toDevice(in);
  transpose<<<dim3(3, 2), dim3(32, 8)>>>(di, dt, 70, 45);
  std::vector<float> t = toHost(dt, in.size());
  for (int i = 0; i < 70 * 45; ++i)
    EXPECT(t[i % 70 * 45 + i / 70] == i);
  return done();
}
