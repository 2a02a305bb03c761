// Indices made of the thread's number that mostly lie in rows: wrapped round, cut off at both ends, taken apart by division, of
// elements of every width, under masks, and where a narrow index overflows on the way; quotients by numbers that all lanes share.

extern "C" __global__ void wrapAround(const int *a, int *b, int width, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int x = i % width, y = i / width, left = (x + width - 1) % width, right = (x + 1) % width;
  b[y * width + right] = a[y * width + left] * 3 + a[i];
}
CASE(wrapAround, grid(2), block(64), in(128), out(128), 32, 128)
CASE(wrapAround, grid(2), block(64), in(128), out(128), 128, 128)
CASE(wrapAround, grid(3), block(50), in(150), out(150), 25, 150)
CASE(wrapAround, grid(3), block(40), in(120), out(120), 7, 119)
CASE(wrapAround, grid(1), block(70), in(70), out(70), 1, 70)

extern "C" __global__ void cutOffBothEnds(const double *a, double *b, int shift, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double sum = 0;
  for (int k = -shift; k <= shift; ++k) sum = sum * 2 + a[min(max(i + k, 0), n - 1)];
  b[i] = sum;
}
CASE(cutOffBothEnds, grid(2), block(96), in(192), out(192), 3, 192)
CASE(cutOffBothEnds, grid(2), block(96), in(192), out(192), 40, 100)

extern "C" __global__ void permuteBytes(const unsigned char *a, unsigned char *b, unsigned nx, unsigned ny, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || i % 5 == 4) return;
  unsigned x = i % nx, y = i / nx % ny, z = i / (nx * ny);
  b[(y * 2 + z) * nx + x] = a[i] + 1;
}
CASE(permuteBytes, grid(2), block(128), in(240), out(240), 40, 3, 240)
CASE(permuteBytes, grid(2), block(120), in(240), out(240), 12, 10, 240)

extern "C" __global__ void shortRows(const short *a, short *b, int width) {
  int x = threadIdx.x, y = threadIdx.y, i = (threadIdx.z * blockDim.y + y) * width + x;
  b[i] = a[i] - 1;
}
CASE(shortRows, grid(1), block(20, 20), in(20 * 24), out(20 * 24), 24)
CASE(shortRows, grid(1), block(7, 5, 3), in(15 * 9), out(15 * 9), 9)
CASE(shortRows, grid(1), block(40, 3), in(3 * 50), out(3 * 50), 50)

// The 32-bit index overflows between lanes, and the element is elsewhere.
extern "C" __global__ void overflowingIndex(const int *a, int *b, unsigned start, unsigned width) {
  unsigned i = threadIdx.x + start + (threadIdx.x / width) * 5;
  b[(i - start) & 1023] = a[(unsigned)(i % width + 1)];
}
CASE(overflowingIndex, grid(1), block(64), in(128), out(1024), 0xfffffff0u, 100)
CASE(overflowingIndex, grid(1), block(64), in(128), out(1024), 17, 64)

extern "C" __global__ void sharedSwaps(int *a, int n) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = a[t];
  s[t + 64] = a[t + 64];
  for (int j = n; j > 0; j /= 2) {
    __syncthreads();
    int low = 2 * t - (t & (j - 1)), high = low + j;
    if (s[low] > s[high]) {
      int v = s[low];
      s[low] = s[high];
      s[high] = v;
    }
  }
  __syncthreads();
  a[t] = s[t];
  a[t + 64] = s[t + 64];
}
CASE(sharedSwaps, grid(1), block(64), inout(128, random(3)), 64)
CASE(sharedSwaps, grid(1), block(64), inout(128, random(3)), 4)

// At, below and above multiples of the divisor.
extern "C" __global__ void quotients(unsigned *q, int *r, unsigned d, int e, int rounds) {
  for (int k = 0; k < rounds; ++k) {
    int i = k * blockDim.x + threadIdx.x;
    unsigned near = 0xffffffffu / d / (i + 1) * d + (i % 3 - 1);
    q[i] = near / d + (near % d) * 3;
    int low = (int)(0x80000000u + (unsigned)(i + 1) * 12345u);
    r[i] = low / e * 5 + low % e;
  }
}
CASE(quotients, grid(1), block(64), out(512), out(512), 1u, -1, 8)
CASE(quotients, grid(1), block(64), out(512), out(512), 3u, -3, 8)
CASE(quotients, grid(1), block(64), out(512), out(512), 0xffffffffu, 0x7fffffff, 8)
CASE(quotients, grid(1), block(64), out(512), out(512), 0x80000001u, -2147483647, 8)
CASE(quotients, grid(1), block(50), out(512), out(512), 65537u, 10, 10)

// Rows of a block that no gang divides: loops that threads leave at different times, atomics, arrays indexed by lane, early exits.
static __device__ int triangle(int n) {
  int sum = 0;
  for (int k = 0; k < n; ++k) sum += k;
  return sum;
}
extern "C" __global__ void rowsOfThreads(const int *a, int *b, int *count, int n) {
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  int i = ((blockIdx.x * blockDim.z + z) * blockDim.y + y) * blockDim.x + x, local[8];
  if (i >= n || (x + y) % 7 == 6) return;
  for (int k = 0; k < 8; ++k) local[k] = a[i] + k;
  local[(x * 3 + z) & 7] = triangle(a[i] & 15);
  atomicAdd(&count[(x + y) & 3], 1);
  if (a[i] & 1) atomicMax(&count[4 + z], x);
  b[i] = local[a[i] >> 4 & 7] * 1000 + x * 100 + y * 10 + z;
}
CASE(rowsOfThreads, grid(2), block(20, 3), in(120), out(120), out(8), 115)
CASE(rowsOfThreads, grid(2), block(7, 5, 3), in(210), out(210), out(8), 210)
CASE(rowsOfThreads, grid(3), block(31, 1, 2), in(186), out(186), out(8), 186)
CASE(rowsOfThreads, grid(1), block(24, 4), in(96), out(96), out(8), 90)
CASE(rowsOfThreads, grid(1), block(48, 2), in(96), out(96), out(8), 96)
CASE(rowsOfThreads, grid(2), block(9, 2, 2), in(72), out(72), out(8), 72)
CASE(rowsOfThreads, grid(2), block(3, 11), in(66), out(66), out(8), 66)
