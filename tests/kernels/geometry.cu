// Blocks and grids of every dimension, partial warps, special registers.

extern "C" __global__ void allIndices(int *out) {
  unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  out[block * threads + thread] = threadIdx.x + threadIdx.y * 100 + threadIdx.z * 10000 + blockIdx.x * 1000000 + blockIdx.y * 10000000 +
                                  blockIdx.z * 100000000;
}
CASE(allIndices, grid(2, 3, 2), block(5, 7, 3), out(2 * 3 * 2 * 5 * 7 * 3))
CASE(allIndices, grid(1, 1, 4), block(1, 1, 37), out(4 * 37))
CASE(allIndices, grid(3, 2), block(16, 16), out(6 * 256))
CASE(allIndices, grid(1), block(8, 4, 2), out(64))
CASE(allIndices, grid(2), block(33), out(66))
CASE(allIndices, grid(1), block(1, 50), out(50))
CASE(allIndices, grid(1), block(1024), out(1024))
CASE(allIndices, grid(1, 2), block(3), out(6))

extern "C" __global__ void twoDimensional(const int *in, int *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int left = x > 0 ? in[y * width + x - 1] : 0, below = y + 1 < height ? in[(y + 1) * width + x] : 7;
  out[y * width + x] = in[y * width + x] * 3 - left + (below >> 2);
}
CASE(twoDimensional, grid(3, 4), block(16, 8), in(1470), out(1470), 42, 35)
CASE(twoDimensional, grid(6, 5), block(7, 7), in(1470), out(1470), 42, 35)
CASE(twoDimensional, grid(2, 35), block(32, 1), in(1470), out(1470), 42, 35)

extern "C" __global__ void rowSums(const int *in, int *out, int width) {
  // Uniform per row of the block, consecutive across it.
  __shared__ int row[16];
  int x = threadIdx.x, y = threadIdx.y;
  if (x == 0) row[y] = 0;
  __syncthreads();
  int sum = 0;
  for (int k = x; k < width; k += blockDim.x) sum += in[y * width + k] * (y + 1);
  atomicAdd(&row[y], sum);
  __syncthreads();
  out[y * blockDim.x + x] = row[y] + x;
}
CASE(rowSums, grid(1), block(16, 16), in(1600), out(256), 100)
CASE(rowSums, grid(1), block(8, 5), in(500), out(40), 100)

// Branches on the geometry: whole warps, half warps, single lanes.
extern "C" __global__ void branchByPlace(int *out) {
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, r = 0;
  if (t < 32) r += 1;
  if (t >= 16) r += 2;
  if ((t & 31) == 31) r += 4;
  if (t / 32 == blockIdx.x) r += 8;
  if (t == static_cast<int>(blockDim.x) - 1) r += 16;
  if (blockIdx.x == gridDim.x - 1) r += 32;
  if (t & blockDim.x) r += 64;
  out[i] = r;
}
CASE(branchByPlace, grid(3), block(100), out(300))

extern "C" __global__ void threadProducts(int *out, int n) {
  // Products of thread numbers wrap in 32 bits and must not be taken for consecutive addresses.
  int t = threadIdx.x;
  unsigned square = t * t * 70001u, cube = square * t;
  if (t < n) out[t] = static_cast<int>(square ^ cube >> 7) + static_cast<int>((t * 3) % 7) + t / 5;
}
CASE(threadProducts, grid(1), block(256), out(250), 250)
