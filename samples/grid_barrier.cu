// Heat along a rod, all time steps in one launch: every block of the cooperative grid keeps its part of the rod, and after each step the
// whole grid meets. `heat` meets by cooperative groups, `heatByAtomics` by a barrier of its own: a counter of arrivals and a generation.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ void step(const unsigned *from, unsigned *to, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned left = from[i == 0 ? n - 1 : i - 1], right = from[i == n - 1 ? 0 : i + 1];
    to[i] = (left + 2 * from[i] + right) / 4;
  }
}

extern "C" __global__ void heat(unsigned *a, unsigned *b, int n, int steps) {
  cg::grid_group grid = cg::this_grid();
  for (int s = 0; s < steps; ++s) {
    step(s % 2 ? b : a, s % 2 ? a : b, n);
    grid.sync();
  }
}

struct Barrier {
  unsigned arrived, generation;
};

/// The last block to arrive starts the next generation; the others wait for it.
__device__ void meet(Barrier *barrier) {
  __syncthreads();
  if (threadIdx.x == 0) {
    volatile unsigned *generation = &barrier->generation;
    const unsigned now = *generation;
    __threadfence();
    if (atomicAdd(&barrier->arrived, 1) == gridDim.x - 1) {
      barrier->arrived = 0;
      __threadfence();
      *generation = now + 1;
    } else {
      while (*generation == now) {}
    }
    __threadfence();
  }
  __syncthreads();
}

extern "C" __global__ void heatByAtomics(unsigned *a, unsigned *b, int n, int steps, Barrier *barrier) {
  for (int s = 0; s < steps; ++s) {
    step(s % 2 ? b : a, s % 2 ? a : b, n);
    meet(barrier);
  }
}
