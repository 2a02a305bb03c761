// A system of a sparse matrix by conjugate gradients, three ways: kernels in a stream, one captured iteration launched again, and one cooperative kernel whose grid
// meets between the steps.
// nvcc: -arch=compute_75
#include "check.h"
#include <algorithm>
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

struct Matrix {
  int n;
  const int *rows, *columns;
  const double *values;
};
__device__ double rowTimes(const Matrix &a, const double *x, int row) {
  double s = 0;
  for (int k = a.rows[row]; k < a.rows[row + 1]; ++k)
    s += a.values[k] * x[a.columns[k]];
  return s;
}
__device__ double blockSum(double v) {
  __shared__ double part[32];
  for (int k = 16; k; k /= 2)
    v += __shfl_xor_sync(~0u, v, k);
  __syncthreads();
  if (threadIdx.x % 32 == 0)
    part[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
  for (int k = 16; k; k /= 2)
    v += __shfl_xor_sync(~0u, v, k);
  return v;
}
__global__ void multiply(Matrix a, const double *p, double *ap, double *dot) {
  double s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < a.n; i += gridDim.x * blockDim.x) {
    ap[i] = rowTimes(a, p, i);
    s += ap[i] * p[i];
  }
  s = blockSum(s);
  if (threadIdx.x == 0)
    atomicAdd(dot, s);
}
__global__ void advance(int n, double *x, double *r, const double *p, const double *ap, const double *rr, const double *pap, double *next) {
  double alpha = *rr / *pap, s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    x[i] += alpha * p[i];
    r[i] -= alpha * ap[i];
    s += r[i] * r[i];
  }
  s = blockSum(s);
  if (threadIdx.x == 0)
    atomicAdd(next, s);
}
__global__ void direction(int n, double *p, const double *r, const double *rr, const double *next) {
  double beta = *next / *rr;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    p[i] = r[i] + beta * p[i];
}
__global__ void roll(double *s) { s[0] = s[2], s[1] = s[2] = 0; }

__global__ void together(Matrix a, double *x, double *r, double *p, double *ap, double *s, int iterations, int *used) {
  cg::grid_group grid = cg::this_grid();
  int first = grid.thread_rank(), step = grid.size();
  for (int it = 0; it < iterations; ++it) {
    double sum = 0;
    for (int i = first; i < a.n; i += step) {
      ap[i] = rowTimes(a, p, i);
      sum += ap[i] * p[i];
    }
    sum = blockSum(sum);
    if (threadIdx.x == 0)
      atomicAdd(&s[1], sum);
    grid.sync();
    double alpha = s[0] / s[1];
    sum = 0;
    for (int i = first; i < a.n; i += step) {
      x[i] += alpha * p[i];
      r[i] -= alpha * ap[i];
      sum += r[i] * r[i];
    }
    sum = blockSum(sum);
    if (threadIdx.x == 0)
      atomicAdd(&s[2], sum);
    grid.sync();
    double beta = s[2] / s[0];
    for (int i = first; i < a.n; i += step)
      p[i] = r[i] + beta * p[i];
    double left = s[2];
    grid.sync();
    if (first == 0)
      s[0] = s[2], s[1] = s[2] = 0, *used = it + 1;
    grid.sync();
    if (left < 1e-20)
      break;
  }
}

int main() {
  const int side = 40, n = side * side;
  std::vector<int> rows = {0}, columns;
  std::vector<double> values, b(n), solution(n);
  for (int i = 0; i < n; ++i) {
    int x = i % side, y = i / side;
    auto put = [&](int c, double v) { columns.push_back(c), values.push_back(v); };
    if (y > 0)
      put(i - side, -1);
    if (x > 0)
      put(i - 1, -1);
    put(i, 4.1);
    if (x + 1 < side)
      put(i + 1, -1);
    if (y + 1 < side)
      put(i + side, -1);
    rows.push_back(int(columns.size()));
    solution[i] = std::sin(i * 0.37) + 2;
  }
  for (int i = 0; i < n; ++i)
    for (int k = rows[i]; k < rows[i + 1]; ++k)
      b[i] += values[k] * solution[columns[k]];
  Matrix a = {n, toDevice(rows), toDevice(columns), toDevice(values)};
  double *x, *r, *p, *ap, *s, bb = 0;
  for (double **v : {&x, &r, &p, &ap})
    CHECK(cudaMalloc(v, n * 8));
  CHECK(cudaMalloc(&s, 24));
  for (double v : b)
    bb += v * v;
  int *used;
  CHECK(cudaMallocManaged(&used, 4));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  auto begin = [&] {
    double scalars[3] = {bb, 0, 0};
    CHECK(cudaMemset(x, 0, n * 8));
    CHECK(cudaMemcpy(r, b.data(), n * 8, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(p, b.data(), n * 8, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(s, scalars, 24, cudaMemcpyHostToDevice));
  };
  auto iteration = [&] {
    multiply<<<8, 128, 0, stream>>>(a, p, ap, s + 1);
    advance<<<8, 128, 0, stream>>>(n, x, r, p, ap, s, s + 1, s + 2);
    direction<<<8, 128, 0, stream>>>(n, p, r, s, s + 2);
    roll<<<1, 1, 0, stream>>>(s);
  };
  auto check = [&](const char *how, int iterations) {
    std::vector<double> got = toHost(x, n);
    double worst = 0;
    for (int i = 0; i < n; ++i)
      worst = std::max(worst, std::fabs(got[i] - solution[i]));
    if (!(worst < 1e-8))
      printf("%s: off by %g after %d iterations\n", how, worst, iterations), ++failures;
  };
  begin();
  for (int i = 0; i < 90; ++i)
    iteration();
  CHECK(cudaStreamSynchronize(stream));
  check("launches", 90);
  begin();
  cudaGraph_t graph;
  cudaGraphExec_t run;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  iteration();
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&run, graph, 0));
  for (int i = 0; i < 90; ++i)
    CHECK(cudaGraphLaunch(run, stream));
  CHECK(cudaStreamSynchronize(stream));
  check("a graph", 90);
  begin();
  int iterations = 200;
  void *arguments[] = {&a, &x, &r, &p, &ap, &s, &iterations, &used};
  CHECK(cudaLaunchCooperativeKernel((const void *)together, dim3(6), dim3(128), arguments, 0, stream));
  CHECK(cudaStreamSynchronize(stream));
  check("a cooperative grid", *used);
  EXPECT(*used > 20 && *used < 200);
  return done();
}
