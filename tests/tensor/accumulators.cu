// Accumulators of mma through every sort of control flow: one place may hold them only while nobody needs what was there before. All
// elements of A and B are 1, so that each mma adds 16. Compiled as samples/compile.sh does, for sm_80.
#include <cstdint>

struct Acc {
  float x[4];
};

__device__ Acc start(float first) { return {first, first + 1, first + 2, first + 3}; }

__device__ Acc add16(const Acc &c) {
  const uint32_t one = 0x3c003c00;
  Acc d;
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%5, %6, %7, %8};"
               : "=f"(d.x[0]), "=f"(d.x[1]), "=f"(d.x[2]), "=f"(d.x[3])
               : "r"(one), "f"(c.x[0]), "f"(c.x[1]), "f"(c.x[2]), "f"(c.x[3]));
  return d;
}

__device__ void give(float *out, const Acc &a) {
  for (int i = 0; i < 4; ++i)
    out[threadIdx.x * 4 + i] = a.x[i];
}

__device__ Acc sum(const Acc &a, const Acc &b) { return {a.x[0] + b.x[0], a.x[1] + b.x[1], a.x[2] + b.x[2], a.x[3] + b.x[3]}; }

extern "C" __global__ void loop(float *out, int n) {
  Acc a = start(threadIdx.x), b = start(1000);
  for (int i = 0; i < n; ++i) {
    a = add16(a);
    b = add16(add16(b));
  }
  give(out, sum(a, b));
}

extern "C" __global__ void fork(float *out, int n) {
  Acc c = start(threadIdx.x), d = c;
  for (int i = 0; i < n; ++i) {
    d = add16(c);  // c is still needed
    c = add16(add16(c));
  }
  give(out, sum(c, d));
}

extern "C" __global__ void exchange(float *out, int n) {
  Acc x = start(threadIdx.x), y = start(500);
  for (int i = 0; i < n; ++i) {
    const Acc old = x;
    x = add16(y);
    y = old;
  }
  give(out, sum(x, x));
  give(out + 4 * blockDim.x, y);
}

extern "C" __global__ void nested(float *out, int n) {
  Acc total = start(0);
  for (int i = 0; i < n; ++i) {
    Acc part = start(i);  // anew each time
    for (int k = 0; k <= i; ++k)
      part = add16(part);
    total = sum(total, part);
    __syncthreads();
  }
  give(out, total);
}

extern "C" __global__ void choice(float *out, int n) {
  Acc a = start(threadIdx.x), b = start(100);
  for (int i = 0; i < n; ++i)
    if (i % 3 == 0)
      a = add16(a);
    else if (i % 3 == 1)
      b = add16(b);
    else
      a = b;
  give(out, a);
  give(out + 4 * blockDim.x, b);
}

extern "C" __global__ void between(float *out, int n) {
  Acc a = start(threadIdx.x), seen = start(0);
  for (int i = 0; i < n; ++i) {
    const Acc before = a;
    a = add16(a);
    seen = sum(seen, before);  // read after it was overwritten
    if (i == 2)
      for (float &x : a.x)
        x = x * 2;  // not by mma
  }
  give(out, a);
  give(out + 4 * blockDim.x, seen);
}

extern "C" __global__ void leave(float *out, int n) {
  Acc a = start(threadIdx.x), last = start(-7);
  for (int i = 0; i < 100; ++i) {
    a = add16(a);
    if (i == n)
      break;
    last = a;
    a = add16(a);
  }
  give(out, a);
  give(out + 4 * blockDim.x, last);
}
