// Matrix product by stream-K: the multiply-add steps of all tiles of C, in a row, are cut into as many equal pieces as there are blocks. A
// block that ends a tile's steps without having begun them leaves its part in the workspace and raises a flag; the block that began the tile
// waits for the flags of the others, adds their parts and writes C. Integers, so that the order of additions does not matter.
// Blocks are numbered by an atomic ticket, from the last piece to the first: whoever waits, waits for blocks that have started.
constexpr unsigned kTile = 16, kDepth = 8;  // a step: a tile of 16 x 16, 8 deep

extern "C" __global__ void __launch_bounds__(kTile *kTile)
    streamK(unsigned m, unsigned n, unsigned k, const unsigned *__restrict__ a, const unsigned *__restrict__ b, unsigned *c,
            unsigned *workspace, unsigned *flags, unsigned *ticket) {
  __shared__ unsigned tileA[kDepth][kTile + 1], tileB[kDepth][kTile + 1], piece;
  const unsigned x = threadIdx.x % kTile, y = threadIdx.x / kTile;
  if (threadIdx.x == 0) piece = gridDim.x - 1 - atomicAdd(ticket, 1);
  __syncthreads();

  const unsigned tilesN = n / kTile, depth = k / kDepth, steps = m / kTile * tilesN * depth;
  const unsigned share = (steps + gridDim.x - 1) / gridDim.x;
  unsigned step = piece * share;
  const unsigned end = step + share < steps ? step + share : steps;
  while (step < end) {
    const unsigned tile = step / depth, first = step % depth, row = tile / tilesN * kTile, column = tile % tilesN * kTile;
    const unsigned tileEnd = (tile + 1) * depth, stop = tileEnd < end ? tileEnd : end;
    unsigned sum = 0;
    for (; step < stop; ++step) {
      const unsigned at = step % depth * kDepth;
      if (y < kDepth) tileB[y][x] = b[(at + y) * n + column + x];
      if (x < kDepth) tileA[x][y] = a[(row + y) * k + at + x];
      __syncthreads();
      for (unsigned d = 0; d < kDepth; ++d) sum += tileA[d][y] * tileB[d][x];
      __syncthreads();
    }
    if (first != 0) {  // somebody else began this tile
      workspace[piece * kTile * kTile + threadIdx.x] = sum;
      __threadfence();
      __syncthreads();
      if (threadIdx.x == 0) atomicExch(&flags[piece], 1);
      continue;
    }
    for (unsigned at = stop, other = piece + 1; at < tileEnd; at += share, ++other) {
      if (threadIdx.x == 0)
        while (atomicAdd(&flags[other], 0) == 0) {}
      __syncthreads();
      __threadfence();
      sum += workspace[other * kTile * kTile + threadIdx.x];
    }
    c[(row + y) * n + column + x] = sum;
  }
}
