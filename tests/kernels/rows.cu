// Threads whose rows share what they read: matrix products in all stages of tiling, with edges, early ends and rows that go their own way.

extern "C" __global__ void productNaive(const float *a, const float *b, float *c, int n, int depth) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  float sum = 0;
  for (int k = 0; k < depth; ++k) sum = sum + a[row * depth + k] * b[k * n + column];
  c[row * n + column] = sum;
}
CASE(productNaive, grid(2, 2), block(16, 16), in(32 * 24), in(24 * 32), out(32 * 32), 32, 24)
CASE(productNaive, grid(3, 3), block(16, 16), in(37 * 19), in(19 * 37), out(37 * 37), 37, 19)
CASE(productNaive, grid(2, 8), block(32, 8), in(50 * 7), in(7 * 50), out(50 * 50), 50, 7)
CASE(productNaive, grid(5, 1), block(8, 32), in(33 * 4), in(4 * 33), out(33 * 33), 33, 4)
CASE(productNaive, grid(2, 2), block(16, 16), in(64), in(64), out(32 * 32), 32, 0)

// As in every CUDA course: tiles of both matrices in shared memory, zero beyond the edges.
extern "C" __global__ void productTiled(const float *a, const float *b, float *c, int n) {
  __shared__ float tileA[16][16], tileB[16][16];
  int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
  float sum = 0;
  for (int base = 0; base < n; base += 16) {
    tileA[y][x] = row < n && base + x < n ? a[row * n + base + x] : 0.0f;
    tileB[y][x] = column < n && base + y < n ? b[(base + y) * n + column] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum = sum + tileA[y][k] * tileB[k][x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}
CASE(productTiled, grid(2, 2), block(16, 16), in(32 * 32), in(32 * 32), out(32 * 32), 32)
CASE(productTiled, grid(3, 3), block(16, 16), in(41 * 41), in(41 * 41), out(41 * 41), 41)

// Rows skip terms of their own: the ways part inside the loop.
extern "C" __global__ void productOfSome(const float *a, const float *b, float *c, int n) {
  int column = threadIdx.x, row = threadIdx.y;
  float sum = 0;
  int skipped = 0;
  for (int k = 0; k < n; ++k) {
    float factor = b[k * blockDim.x + column];
    if ((k & row) == 0)
      sum = sum + a[row * n + k] * factor;
    else
      skipped += k;
  }
  c[row * blockDim.x + column] = sum - skipped;
}
CASE(productOfSome, grid(1), block(16, 16), in(16 * 40), in(40 * 16), out(256), 40)
CASE(productOfSome, grid(1), block(32, 8), in(8 * 9), in(9 * 32), out(256), 9)

// Rows of a triangle end one after the other.
extern "C" __global__ void productOfTriangle(const float *a, const float *b, float *c, int n) {
  int column = threadIdx.x, row = threadIdx.y;
  float sum = 0;
  for (int k = 0; k <= row; ++k) sum = sum + a[row * n + k] * b[k * blockDim.x + column];
  c[row * blockDim.x + column] = sum;
  for (int k = row; k < n; ++k) sum = sum + a[row * n + k] * b[k * blockDim.x + column];
  c[(n + row) * blockDim.x + column] = sum;
}
CASE(productOfTriangle, grid(1), block(16, 16), in(16 * 16), in(16 * 16), out(512), 16)
CASE(productOfTriangle, grid(1), block(32, 4), in(4 * 4), in(4 * 32), out(256), 4)

// Each step is written where the next one reads it, row by row (and no row reads another's).
extern "C" __global__ void relaxRows(const float *weights, float *state, int steps) {
  int column = threadIdx.x, row = threadIdx.y, width = blockDim.x;
  for (int k = 0; k < steps; ++k) {
    float weight = weights[k * width + column];
    float own = state[row * width + column];
    state[row * width + column] = own * 0.5f + weight;
    if (own > 4.0f) state[row * width + column] = weight;
  }
}
CASE(relaxRows, grid(1), block(16, 16), in(12 * 16), inout(256, iota()), 12)
CASE(relaxRows, grid(1), block(32, 8), in(5 * 32), inout(256, iota()), 5)

// Warps vote with a barrier whether anybody still has work; sums and flags live over it.
extern "C" __global__ void sumUntilAllDone(const int *lengths, const int *values, int *sums, int *rounds) {
  __shared__ int shared[64];
  int t = threadIdx.x, sum = 0, round = 0;
  int length = lengths[t] & 7;
  bool goesOn;
  do {
    if (t < 64) shared[t] = values[(round * 64 + t) & 255];
    __syncthreads();
    if (round < length) sum += shared[(t + round) & 63];
    ++round;
    goesOn = __syncthreads_or(round < length);
  } while (goesOn);
  sums[t] = sum + __syncthreads_count(sum & 1) * 1000;
  rounds[t] = round;
}
CASE(sumUntilAllDone, grid(1), block(256), in(256), in(256), out(256), out(256))
CASE(sumUntilAllDone, grid(1), block(96), in(96), in(256), out(96), out(96))

// A small array in local memory and a scalar live over barriers in nested loops.
extern "C" __global__ void historyOverBarriers(const int *in, int *out, int outer, int inner) {
  __shared__ int staged[128];
  int t = threadIdx.x, n = blockDim.x, history[4] = {0, 0, 0, 0}, carried = in[t];
  for (int i = 0; i < outer; ++i) {
    staged[t] = carried;
    __syncthreads();
    for (int j = 0; j < inner + (i & 1); ++j) {
      int seen = staged[(t + j + 1) % n];
      __syncthreads();
      history[(seen + j) & 3] += seen;
      staged[t] = seen ^ i;
      __syncthreads();
    }
    carried = staged[(t * 3) % n] + history[i & 3];
    __syncthreads();
  }
  for (int k = 0; k < 4; ++k) out[k * n + t] = history[k] + carried;
}
CASE(historyOverBarriers, grid(1), block(128), in(128), out(512), 5, 3)
CASE(historyOverBarriers, grid(1), block(64), in(64), out(256), 3, 0)

// A warp for each row, lanes 32 apart: those of the last round have one more. The compiler runs what is left over of four rounds first.
extern "C" __global__ void sumsOfWarps(const float *a, const int *x, float *sums, int *most, int rows, int columns) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  int largest = -1;
  for (int k = lane; k < columns; k += 32) {
    sum = sum + a[row * columns + k];
    largest = max(largest, x[row * columns + k] ^ k);
  }
  sums[row * 32 + lane] = sum;
  most[row * 32 + lane] = largest;
}
CASE(sumsOfWarps, grid(2), block(128), in(8 * 200), in(8 * 200), out(256), out(256), 8, 200)
CASE(sumsOfWarps, grid(2), block(128), in(7 * 325), in(7 * 325), out(256), out(256), 7, 325)
CASE(sumsOfWarps, grid(1), block(256), in(8 * 128), in(8 * 128), out(256), out(256), 8, 128)
CASE(sumsOfWarps, grid(1), block(96), in(3 * 37), in(3 * 37), out(96), out(96), 3, 37)
CASE(sumsOfWarps, grid(1), block(64), in(64), in(64), out(64), out(64), 2, 9)

// The same where the stride is the block's, and neighbours divide by a number that lies across warps: three values or more.
extern "C" __global__ void sumsOfBlocks(const int *a, int *sums, int columns, int divisor) {
  int t = threadIdx.x, rounds = (columns - t / 3) / divisor, sum = 0;
  for (int k = 0; k < rounds; ++k) sum = sum * 3 + a[(k * 16 + t) & 255];
  sums[blockIdx.x * blockDim.x + t] = sum;
}
CASE(sumsOfBlocks, grid(1), block(128), in(256), out(128), 90, 5)
CASE(sumsOfBlocks, grid(2), block(64), in(256), out(128), 60, 16)
CASE(sumsOfBlocks, grid(1), block(96), in(256), out(96), 200, 7)
