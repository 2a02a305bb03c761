// Kernels that come to an end under most schedules, and hang under others; fixed_* always end. Two blocks of 32 threads, 64 zeros.
// `nvcc -arch=compute_80 -ptx -O3 -o hangs.ptx hangs.cu` makes the PTX beside this file.
#define GLOBAL extern "C" __global__ void
#define FIRST (threadIdx.x == 0)
using Words = volatile unsigned *;

__device__ void take(unsigned *lock) { while (atomicCAS(lock, 0u, 1u)) {} __threadfence(); }
__device__ void give(unsigned *lock) { __threadfence(); atomicExch(lock, 0u); }

GLOBAL hang_two_locks(unsigned *x) { // each block holds the one that the other wants
  if (!FIRST) return;
  take(x + blockIdx.x);
  ((Words)x)[2] = ((Words)x)[2] + 1;
  take(x + 1 - blockIdx.x);
  ((Words)x)[3] = ((Words)x)[3] + 1;
  give(x + 1 - blockIdx.x);
  give(x + blockIdx.x);
}
GLOBAL fixed_two_locks(unsigned *x) {
  if (!FIRST) return;
  take(x);
  take(x + 1);
  ((Words)x)[3] = ((Words)x)[3] + 1;
  give(x + 1);
  give(x);
}
GLOBAL fixed_lock_kept(unsigned *x) {
  if (!FIRST) return;
  take(x);
  ((Words)x)[1] = ((Words)x)[1] + 1;
  give(x);
  take(x);
  ((Words)x)[2] = ((Words)x)[2] + 1;
  give(x);
}
GLOBAL hang_lost_count(unsigned *x) { // a barrier of the program's own, whose count is no atomic
  if (!FIRST) return;
  ((Words)x)[0] = ((Words)x)[0] + 1;
  while (((Words)x)[0] < gridDim.x) {}
  x[2 + blockIdx.x] = 1;
}
GLOBAL fixed_lost_count(unsigned *x) {
  if (!FIRST) return;
  atomicAdd(x, 1);
  while (((Words)x)[0] < gridDim.x) {}
  x[2 + blockIdx.x] = 1;
}
GLOBAL fixed_turns(unsigned *x) { // a thousand turns, and in most of the time both only spin
  if (!FIRST) return;
  for (unsigned i = 0; i < 1000; ++i) {
    while (((Words)x)[0] % 2 != blockIdx.x) {}
    __threadfence();
    ((Words)x)[1] = ((Words)x)[1] + 1;
    __threadfence();
    ((Words)x)[0] = ((Words)x)[0] + 1;
  }
}
