// Kernels of recorded_program.cpp. `nvcc -arch=compute_80 -ptx -O3 -o recorded.ptx recorded.cu` makes the PTX beside this file.
#include <cstdio>
#define GLOBAL extern "C" __global__ void

__device__ unsigned counter;
__device__ float table[64];
__constant__ float factors[4] = {1, 2, 3, 4};

__device__ __forceinline__ unsigned all() { return blockIdx.x * blockDim.x + threadIdx.x; }

GLOBAL scale(float *y, const float *x, float a, unsigned n) {
  for (unsigned i = all(); i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + factors[i % 4];
}
GLOBAL sum_in_any_order(float *sum, const float *x, unsigned n) {
  if (all() < n) atomicAdd(sum, x[all()]);
}
GLOBAL slots(unsigned *out) { out[atomicAdd(&counter, 1)] = all(); }
GLOBAL race(volatile unsigned *x) { x[0] = x[0] + all(); }
GLOBAL locked(unsigned *lock, volatile unsigned *last) {
  if (threadIdx.x) return;
  while (atomicExch(lock, 1)) {}
  __threadfence();
  last[0] = last[0] * 3 + blockIdx.x;
  __threadfence();
  atomicExch(lock, 0);
}
GLOBAL add_to(unsigned *m, unsigned n) { if (all() < n) m[all()] += counter + all(); }
GLOBAL fill_table(float v) { table[threadIdx.x] = v + threadIdx.x; }
GLOBAL from_table(float *out) { out[all()] = table[all() % 64]; }
GLOBAL say(int x) { printf("block %d says %d\n", blockIdx.x, x); }
GLOBAL list(unsigned long long *head, unsigned n) { // of blocks from malloc, each pointing to the one before
  if (all() >= n) return;
  unsigned long long *node = (unsigned long long *)malloc(16);
  node[1] = all();
  node[0] = atomicExch(head, (unsigned long long)node);
}
GLOBAL walk(unsigned long long *head, unsigned long long *sum) {
  for (unsigned long long *node = (unsigned long long *)*head; node;) {
    *sum = *sum * 31 + node[1];
    unsigned long long *next = (unsigned long long *)node[0];
    free(node);
    node = next;
  }
  *head = 0;
}
GLOBAL pointers(float **rows, unsigned n) { if (all() < n) rows[all() % 2][all()] = all() * 0.5f; }
GLOBAL timed(unsigned long long *out) {
  const long long start = clock64();
  for (unsigned i = 0; i < 100; ++i) out[1 + all()] += i * start;
  out[0] = clock64() - start;
}
GLOBAL reversed(unsigned *x, unsigned n) { // in place
  const unsigned i = all();
  if (i < n / 2) { const unsigned a = x[i]; x[i] = x[n - 1 - i]; x[n - 1 - i] = a; }
}
GLOBAL grid_sum(unsigned *x, unsigned *arrived) { // blocks wait for each other: launched cooperatively
  if (threadIdx.x == 0) {
    atomicAdd(x, blockIdx.x + 1);
    __threadfence();
    atomicAdd(arrived, 1);
    while (*(volatile unsigned *)arrived < gridDim.x) {}
    x[1 + blockIdx.x] = *(volatile unsigned *)x;
  }
}
GLOBAL shifted(unsigned *x, unsigned n) { // threads of one block race for what their neighbours had
  if (threadIdx.x && threadIdx.x < n) x[threadIdx.x] = x[threadIdx.x - 1] + 1;
}
GLOBAL same_places(unsigned *out) { out[threadIdx.x & 7] = threadIdx.x; }
GLOBAL textured(float *out, cudaTextureObject_t texture, unsigned n) {
  if (all() < n) out[all()] = tex2D<float>(texture, all() % 16 + 0.25f, all() / 16 + 0.75f);
}
GLOBAL levels(float *out, cudaTextureObject_t texture) { // of a mipmap, and between them
  out[all()] = tex2DLod<float>(texture, (all() % 8 + 0.4f) / 8, (all() / 8 % 8 + 0.6f) / 8, all() / 64 * 0.5f);
}
GLOBAL elements(int *out, cudaTextureObject_t texture, unsigned n) { if (all() < n) out[all()] = tex1Dfetch<int>(texture, (int)all() - 3); }
GLOBAL layers(float *out, cudaTextureObject_t texture) {
  out[all()] = tex2DLayered<float>(texture, threadIdx.x % 8 + 0.5f, threadIdx.x / 8 + 0.5f, blockIdx.x);
}
GLOBAL draw(cudaSurfaceObject_t surface, float value) { surf2Dwrite(value + threadIdx.x * 100 + blockIdx.x, surface, threadIdx.x * 4, blockIdx.x); }
GLOBAL blur(cudaSurfaceObject_t surface) { // reads what its neighbours may have written
  const float left = surf2Dread<float>(surface, threadIdx.x * 4 - 4, blockIdx.x, cudaBoundaryModeClamp);
  surf2Dwrite(left + 0.5f * surf2Dread<float>(surface, threadIdx.x * 4, blockIdx.x), surface, threadIdx.x * 4, blockIdx.x);
}
GLOBAL nans(double *out, const double *x, const double *y, unsigned n) { // of two different ones
  for (unsigned i = all(); i < n; i += gridDim.x * blockDim.x) {
    out[4 * i] = x[i] + y[i];
    out[4 * i + 1] = x[i] * y[n - 1 - i];
    out[4 * i + 2] = fma(x[i], y[i], x[n - 1 - i]);
    double sum = y[i];
    for (unsigned k = 0; k < 5; ++k) sum = x[(i + k) % n] - sum * y[(i + 2 * k) % n];
    out[4 * i + 3] = sum;
  }
}
GLOBAL nan_sum(double *sum, const double *x, unsigned n) { if (all() < n) atomicAdd(sum, x[all()]); }
GLOBAL bad_address(unsigned *x) { if (all() == 77) *(unsigned *)(x[0] + 64ull) = 1; }
