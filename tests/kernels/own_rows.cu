// Each thread reads a row of its own: of every width of element, forwards and backwards, from global and shared memory, under masks,
// and where what it stores in the loop may be what it reads there.

extern "C" __global__ void rowSum(const float *a, float *sums, int n, int length) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float sum = 0;
  for (int k = 0; k < length; ++k) sum = sum + a[row * length + k];
  sums[row] = sum;
}
CASE(rowSum, grid(1), block(32), in(32 * 64), out(32), 32, 64)
CASE(rowSum, grid(2), block(64), in(100 * 77), out(100), 100, 77)
CASE(rowSum, grid(3), block(40), in(101 * 16), out(101), 101, 16)
CASE(rowSum, grid(1), block(96), in(96 * 3), out(96), 96, 3)
CASE(rowSum, grid(1), block(33), in(33), out(33), 33, 0)

extern "C" __global__ void rowProductDouble(const double *a, const double *x, double *y, long long n, int length) {
  long long row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  double sum = 0;
  for (int k = 0; k < length; ++k) sum = sum + a[row * length + k] * x[k];
  y[row] = sum;
}
CASE(rowProductDouble, grid(2), block(64), in(128 * 40), in(40), out(128), 128, 40)
CASE(rowProductDouble, grid(1), block(50), in(45 * 19), in(19), out(45), 45, 19)

// From the end to the front, three bytes ahead of any alignment of rows.
extern "C" __global__ void rowBackwards(const unsigned char *a, unsigned *out, int length) {
  int row = threadIdx.x;
  unsigned hash = 1;
  for (int k = length; k-- > 0;) hash = hash * 31 + a[row * length + k + 3];
  out[row] = hash;
}
CASE(rowBackwards, grid(1), block(64), in(64 * 50 + 3), out(64), 50)
CASE(rowBackwards, grid(1), block(70), in(70 * 64 + 3), out(70), 64)

extern "C" __global__ void rowOfShorts(const short *a, int *out, int length) {
  int row = threadIdx.x, sum = 0;
#pragma unroll 8
  for (int k = 0; k < length; ++k) sum += a[row * length + k] * (k + 1);
  out[row] = sum;
}
CASE(rowOfShorts, grid(1), block(64), in(64 * 72), out(64), 72)
CASE(rowOfShorts, grid(1), block(48), in(48 * 31), out(48), 31)

extern "C" __global__ void rowOfBytesInShared(const unsigned char *a, int *out, int rounds) {
  __shared__ unsigned char rows[64 * 36];
  int t = threadIdx.x, sum = 0;
  for (int k = t; k < 64 * 36; k += blockDim.x) rows[k] = a[k];
  __syncthreads();
  for (int r = 0; r < rounds; ++r)
#pragma unroll 16
    for (int k = 0; k < 32; ++k) sum += rows[(63 - t) * 36 + k] ^ r;
  out[t] = sum;
}
CASE(rowOfBytesInShared, grid(1), block(64), in(64 * 36), out(64), 3)

// Rows at a distance known when the kernel is compiled, some of them under a mask.
extern "C" __global__ void rowOfFixedLength(const long long *a, long long *out, int length) {
  int row = threadIdx.x;
  long long sum = 0;
  for (int k = 0; k < length; ++k) {
    sum += a[row * 48 + k];
    if ((row + k) % 5 < 2) sum ^= a[row * 48 + (47 - k)];
  }
  out[row] = sum;
}
CASE(rowOfFixedLength, grid(1), block(64), in(64 * 48), out(64), 48)
CASE(rowOfFixedLength, grid(1), block(64), in(64 * 48), out(64), 21)

// Rows of different lengths, one behind the other.
extern "C" __global__ void rowOfItsLength(const int *starts, const int *a, int *out, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  int sum = 0, first = (starts[row] & 15) + row * 40;
  for (int k = first; k < first + (starts[row + 1] & 31); ++k) sum = sum * 3 + a[k];
  out[row] = sum;
}
CASE(rowOfItsLength, grid(2), block(64), in(101), in(100 * 40 + 50, random(7)), out(100), 100)

// The nearest of some centres, by all their coordinates.
extern "C" __global__ void nearestCentre(const float *points, const float *centres, int *nearest, int n, int numCentres, int dimensions) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= n) return;
  int best = 0;
  float least = 1e30f;
  for (int c = 0; c < numCentres; ++c) {
    float distance = 0;
    for (int d = 0; d < dimensions; ++d) {
      float off = points[p * dimensions + d] - centres[c * dimensions + d];
      distance = distance + off * off;
    }
    if (distance < least) {
      least = distance;
      best = c;
    }
  }
  nearest[p] = best;
}
CASE(nearestCentre, grid(2), block(128), in(200 * 24), in(7 * 24, random(5)), out(200), 200, 7, 24)
CASE(nearestCentre, grid(1), block(32), in(32 * 16), in(4 * 16, random(5)), out(32), 32, 4, 16)

// sum[i] is stored in each round, as the language demands.
extern "C" __global__ void rowSumInPlace(float *a, float *x, float *sums, int n, int length) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < n)
    for (int k = 0; k < length; ++k) sums[row] = sums[row] + a[row * length + k] * x[k];
}
CASE(rowSumInPlace, grid(2), block(64), in(100 * 48), in(48), inout(100, iota()), 100, 48)
CASE(rowSumInPlace, grid(1), block(64), in(64 * 21), in(21), inout(64, iota()), 64, 21)
CASE(rowSumInPlace, grid(1), block(64), in(64), in(1), inout(64, iota()), 64, 0)

// Two sums that might be one place for all the compiler knows.
extern "C" __global__ void twoSumsInPlace(float *a, float *b, float *x, float *s, float *t, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < n)
    for (int k = 0; k < n; ++k) {
      s[row] = s[row] + a[row * n + k] * x[k];
      t[row] = t[row] + b[row * n + k] * x[k];
    }
}
CASE(twoSumsInPlace, grid(1), block(64), in(64 * 64), in(64 * 64, random(2)), in(64), inout(64, iota()), inout(64, zeros()), 64)
CASE(twoSumsInPlace, grid(2), block(32), in(50 * 50), in(50 * 50, random(2)), in(50), inout(50, iota()), inout(50, zeros()), 50)

// As above, but both are the same place.
extern "C" __global__ void oneSumTwice(float *a, float *s, int n, int apart) {
  int row = threadIdx.x;
  float *t = s + apart;
  for (int k = 0; k < n; ++k) {
    s[row] = s[row] * 0.5f + a[row * n + k];
    t[row] = t[row] + a[k];
  }
}
CASE(oneSumTwice, grid(1), block(64), in(64 * 20), inout(128, iota()), 20, 0)
CASE(oneSumTwice, grid(1), block(64), in(64 * 20), inout(128, iota()), 20, 64)

// What a thread stores lies in the row it reads: at its start, its end, in the middle, or behind it.
extern "C" __global__ void sumIntoOwnRow(int *a, int length, int place) {
  int row = threadIdx.x, stride = length + 4;
  for (int k = 0; k < length; ++k) a[row * stride + place] += a[row * stride + k];
}
CASE(sumIntoOwnRow, grid(1), block(64), inout(64 * 36, iota()), 32, 0)
CASE(sumIntoOwnRow, grid(1), block(64), inout(64 * 36, iota()), 32, 31)
CASE(sumIntoOwnRow, grid(1), block(64), inout(64 * 36, iota()), 32, 17)
CASE(sumIntoOwnRow, grid(1), block(64), inout(64 * 36, iota()), 32, 33)
CASE(sumIntoOwnRow, grid(1), block(64), inout(64 * 36, iota()), 32, 32)

// The same for some threads only, and downwards through a column.
extern "C" __global__ void sumIntoOwnColumn(int *a, const int *places, int n, int step) {
  int column = threadIdx.x, width = blockDim.x, at = step > 0 ? 0 : n - 1;
  int *sum = a + (places[column] & 63) * width + column;
  for (int k = 0; k < n; ++k, at += step) *sum = *sum + a[at * width + column] * (k + 1);
}
CASE(sumIntoOwnColumn, grid(1), block(64), inout(64 * 64, iota()), in(64), 40, 1)
CASE(sumIntoOwnColumn, grid(1), block(64), inout(64 * 64, iota()), in(64), 40, -1)

// The product of matrices as in PolyBench: every round adds to c.
extern "C" __global__ void productInPlace(float *a, float *b, float *c, float alpha, float beta, int n) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j < n) {
    c[i * n + j] *= beta;
    for (int k = 0; k < n; ++k) c[i * n + j] = c[i * n + j] + alpha * a[i * n + k] * b[k * n + j];
  }
}
CASE(productInPlace, grid(2, 8), block(32, 8), in(50 * 50), in(50 * 50, random(3)), inout(50 * 50, iota()), 1.5, 0.5, 50)
CASE(productInPlace, grid(1, 4), block(32, 8), in(32 * 32), in(32 * 32, random(3)), inout(32 * 32, iota()), 1.5, 0.5, 32)
