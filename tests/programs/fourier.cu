// A fast Fourier transform of complex numbers (Stockham, radix 4 and 2, in shared memory; rows and columns of an image with a transposition between), beside the
// definition in double precision; convolution by it.
#include "check.h"
#include <algorithm>
#include <complex>
// nvcc: -arch=compute_90
const int kN = 256;

__device__ float2 times(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
__device__ float2 plus(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ float2 minus(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }

/// One row of kN by a block of kN / 4 threads.
__global__ void rows(float2 *data, float sign) {
  __shared__ float2 buffer[2][kN];
  float2 *row = data + blockIdx.x * kN;
  int t = threadIdx.x;
  for (int k = 0; k < 4; ++k)
    buffer[0][t + k * kN / 4] = row[t + k * kN / 4];
  int now = 0;
  for (int size = 1; size < kN; size *= 4, now ^= 1) {
    __syncthreads();
    int j = t % size;
    float2 v[4];
    for (int k = 0; k < 4; ++k) {
      float s, c;
      sincospif(sign * 2 * j * k / (4.0f * size), &s, &c);
      v[k] = times(buffer[now][t + k * kN / 4], make_float2(c, s));
    }
    float2 a = plus(v[0], v[2]), b = minus(v[0], v[2]), c = plus(v[1], v[3]), d = minus(v[1], v[3]);
    float2 e = make_float2(-sign * d.y, sign * d.x);
    int at = (t - j) * 4 + j;
    buffer[now ^ 1][at] = plus(a, c);
    buffer[now ^ 1][at + size] = plus(b, e);
    buffer[now ^ 1][at + 2 * size] = minus(a, c);
    buffer[now ^ 1][at + 3 * size] = minus(b, e);
  }
  __syncthreads();
  for (int k = 0; k < 4; ++k)
    row[t + k * kN / 4] = buffer[now][t + k * kN / 4];
}
__global__ void transpose(const float2 *in, float2 *out) {
  __shared__ float2 tile[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * kN + x];
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x, y = blockIdx.x * 16 + threadIdx.y;
  out[y * kN + x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void multiply(float2 *a, const float2 *b, float by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float2 v = times(a[i], b[i]);
  a[i] = make_float2(v.x * by, v.y * by);
}
static void transform(float2 *d, float2 *work, float sign) {
  rows<<<kN, kN / 4>>>(d, sign);
  transpose<<<dim3(kN / 16, kN / 16), dim3(16, 16)>>>(d, work);
  rows<<<kN, kN / 4>>>(work, sign);
  transpose<<<dim3(kN / 16, kN / 16), dim3(16, 16)>>>(work, d);
}

int main() {
  srand(8);
  std::vector<float2> line(kN * 3);
  for (float2 &v : line)
    v = make_float2(rand() % 1000 / 500.0f - 1, rand() % 1000 / 500.0f - 1);
  float2 *d = toDevice(line);
  rows<<<3, kN / 4>>>(d, -1);
  CHECK(cudaGetLastError());
  std::vector<float2> got = toHost(d, kN * 3);
  double worst = 0;
  for (int r = 0; r < 3; ++r)
    for (int k = 0; k < kN; ++k) {
      std::complex<double> sum = 0;
      for (int i = 0; i < kN; ++i)
        sum += std::complex<double>(line[r * kN + i].x, line[r * kN + i].y) * std::polar(1.0, -2 * M_PI * (i * k % kN) / kN);
      worst = std::max({worst, std::fabs(sum.real() - got[r * kN + k].x), std::fabs(sum.imag() - got[r * kN + k].y)});
    }
  EXPECT(worst < 1e-4);
  // an image blurred by a kernel of 5 x 5, around the edges
  std::vector<float2> image(kN * kN), filter(kN * kN);
  for (int i = 0; i < kN * kN; ++i)
    image[i] = make_float2(float(rand() % 256), 0), filter[i] = make_float2(0, 0);
  for (int y = -2; y <= 2; ++y)
    for (int x = -2; x <= 2; ++x)
      filter[(y + kN) % kN * kN + (x + kN) % kN].x = float((3 - abs(x)) * (3 - abs(y))) / 81;
  float2 *a = toDevice(image), *b = toDevice(filter), *work;
  CHECK(cudaMalloc(&work, kN * kN * sizeof(float2)));
  transform(a, work, -1);
  transform(b, work, -1);
  multiply<<<kN, kN>>>(a, b, 1.0f / (kN * kN));
  transform(a, work, 1);
  CHECK(cudaDeviceSynchronize());
  got = toHost(a, kN * kN);
  worst = 0;
  for (int y = 0; y < kN; y += 5)
    for (int x = 0; x < kN; x += 3) {
      double want = 0;
      for (int v = -2; v <= 2; ++v)
        for (int u = -2; u <= 2; ++u)
          want += image[(y - v + kN) % kN * kN + (x - u + kN) % kN].x * filter[(v + kN) % kN * kN + (u + kN) % kN].x;
      worst = std::max({worst, std::fabs(got[y * kN + x].x - want), double(std::fabs(got[y * kN + x].y))});
    }
  EXPECT(worst < 2e-3);
  return done();
}
