// Simulation, random numbers, geometry, divergence.

extern "C" __global__ void bodies(int n, const float4 *body, float3 *force) {
  __shared__ float4 s[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  float4 me = body[i];
  float x = 0, y = 0, z = 0;
  for (int base = 0; base < n; base += 256) {
    s[threadIdx.x] = body[base + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 256; ++k) {
      float dx = s[k].x - me.x, dy = s[k].y - me.y, dz = s[k].z - me.z;
      float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), f = s[k].w * r * r * r;
      x += f * dx;
      y += f * dy;
      z += f * dz;
    }
    __syncthreads();
  }
  force[i] = make_float3(x, y, z);
}

extern "C" __global__ void bodiesDouble(int n, const double *px, const double *py, const double *mass, double *fx, double *fy) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double x = 0, y = 0;
  for (int k = 0; k < n; ++k) {
    double dx = px[k] - px[i], dy = py[k] - py[i], r2 = dx * dx + dy * dy + 0.01, f = mass[k] / (r2 * sqrt(r2));
    x += f * dx;
    y += f * dy;
  }
  fx[i] = x;
  fy[i] = y;
}

extern "C" __global__ void mandelbrot(int width, int limit, int *out) {
  int px = blockIdx.x * 16 + threadIdx.x, py = blockIdx.y * 16 + threadIdx.y;
  float cx = -2 + 3.0f * px / width, cy = -1.5f + 3.0f * py / width, x = 0, y = 0;
  int k = 0;
  while (k < limit && x * x + y * y < 4) {
    float t = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = t;
    ++k;
  }
  out[py * width + px] = k;
}

extern "C" __global__ void juliaDouble(int width, int limit, double cx, double cy, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double x = -1.5 + 3.0 * (i % width) / width, y = -1.5 + 3.0 * (i / width) / width;
  int k = 0;
  for (; k < limit && x * x + y * y < 4; ++k) {
    double t = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = t;
  }
  out[i] = k;
}

// Pi with Marsaglia's xorwow, a generator for each thread.
extern "C" __global__ void piXorwow(int rounds, const unsigned *seeds, int *hits) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, inside = 0;
  unsigned x = seeds[t], y = 362436069, z = 521288629, w = 88675123, v = 5783321, d = 6615241;
  auto next = [&] {
    unsigned u = x ^ x >> 2;
    x = y;
    y = z;
    z = w;
    w = v;
    v = v ^ v << 4 ^ u ^ u << 1;
    return (d += 362437) + v;
  };
  for (int k = 0; k < rounds; ++k) {
    float a = next() * 2.3283064e-10f, b = next() * 2.3283064e-10f;
    inside += a * a + b * b < 1.0f;
  }
  hits[t] = inside;
}

extern "C" __global__ void philox(int n, uint2 seed, uint4 *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint4 c = make_uint4(i, 0, 0, 0);
  for (int r = 0; r < 10; ++r) {
    unsigned h0 = __umulhi(0xd2511f53u, c.x), l0 = 0xd2511f53u * c.x, h1 = __umulhi(0xcd9e8d57u, c.z), l1 = 0xcd9e8d57u * c.z;
    c = make_uint4(h1 ^ c.y ^ seed.x, l1, h0 ^ c.w ^ seed.y, l0);
    seed.x += 0x9e3779b9u;
    seed.y += 0xbb67ae85u;
  }
  out[i] = c;
}

// Paths of a random walk: as many steps as each path wants.
extern "C" __global__ void optionPaths(int paths, int steps, float drift, float volatility, float *payoff) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= paths) return;
  unsigned state = i * 747796405u + 2891336453u;
  float log = 0;
  for (int k = 0; k < steps; ++k) {
    state = state * 747796405u + 2891336453u;
    unsigned word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
    word = word >> 22 ^ word;
    log += drift + volatility * ((int)word * 4.656613e-10f);
  }
  payoff[i] = fmaxf(expf(log) - 1, 0);
}

struct Sphere {
  float x, y, z, radius;
};
extern "C" __global__ void raySpheres(int width, int count, const Sphere *spheres, float *depth, int *which) {
  int px = blockIdx.x * 16 + threadIdx.x, py = blockIdx.y * 16 + threadIdx.y;
  float dx = (px + 0.5f) / width - 0.5f, dy = (py + 0.5f) / width - 0.5f, dz = 1;
  float scale = rsqrtf(dx * dx + dy * dy + dz * dz);
  dx *= scale, dy *= scale, dz *= scale;
  float nearest = 1e30f;
  int hit = -1;
  for (int k = 0; k < count; ++k) {
    Sphere s = spheres[k];
    float b = dx * s.x + dy * s.y + dz * s.z, c = s.x * s.x + s.y * s.y + s.z * s.z - s.radius * s.radius, disc = b * b - c;
    if (disc < 0) continue;
    float t = b - sqrtf(disc);
    if (t > 0 && t < nearest) nearest = t, hit = k;
  }
  depth[py * width + px] = nearest;
  which[py * width + px] = hit;
}

extern "C" __global__ void kmeansAssign(int n, int clusters, const float2 *point, const float2 *centre, int *nearest) {
  extern __shared__ float2 c[];
  for (int k = threadIdx.x; k < clusters; k += blockDim.x) c[k] = centre[k];
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float2 p = point[i];
  float best = 1e30f;
  int at = 0;
  for (int k = 0; k < clusters; ++k) {
    float dx = p.x - c[k].x, dy = p.y - c[k].y, d = dx * dx + dy * dy;
    if (d < best) best = d, at = k;
  }
  nearest[i] = at;
}

extern "C" __global__ void collatz(int n, int *steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = i + 1;
  int k = 0;
  while (v != 1) {
    v = v & 1 ? 3 * v + 1 : v / 2;
    ++k;
  }
  steps[i] = k;
}

// Each thread another case.
extern "C" __global__ void switchCases(int n, const unsigned char *what, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  switch (what[i]) {
  case 0: v = v * v + 1; break;
  case 1: v = sqrtf(fabsf(v)); break;
  case 2: v = 1 / (v * v + 1); break;
  case 3: v = v * 3 - 1; break;
  case 4: v = fabsf(v) + v * v * v; break;
  case 5: v = fmaxf(v, 0.5f); break;
  case 6: v = floorf(v * 8); break;
  default: v = -v;
  }
  y[i] = v;
}

// Leaves as soon as it knows.
extern "C" __global__ void firstDivisor(int n, const unsigned *x, unsigned *divisor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = x[i];
  if (v % 2 == 0) {
    divisor[i] = 2;
    return;
  }
  for (unsigned d = 3; d * d <= v; d += 2)
    if (v % d == 0) {
      divisor[i] = d;
      return;
    }
  divisor[i] = v;
}

__device__ __noinline__ unsigned ackermannLike(unsigned depth, unsigned x) {
  if (depth == 0) return x * 3 + 1;
  unsigned v = ackermannLike(depth - 1, x ^ depth);
  return v & 1 ? v + ackermannLike(depth - 1, x + 1) : v;
}
extern "C" __global__ void recursion(int n, unsigned depth, unsigned *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = ackermannLike(depth, i);
}

// Marks multiples of each prime within a block's range, in shared memory.
extern "C" __global__ void sieve(int primes, const int *prime, int *counts) {
  __shared__ unsigned char composite[4096];
  __shared__ int total;
  int t = threadIdx.x, low = blockIdx.x * 4096 + 4096;
  for (int k = t; k < 4096; k += blockDim.x) composite[k] = 0;
  if (t == 0) total = 0;
  __syncthreads();
  for (int k = t; k < primes; k += blockDim.x) {
    int p = prime[k];
    for (int m = (low + p - 1) / p * p - low; m < 4096; m += p) composite[m] = 1;
  }
  __syncthreads();
  int mine = 0;
  for (int k = t; k < 4096; k += blockDim.x) mine += !composite[k];
  atomicAdd(&total, mine);
  __syncthreads();
  if (t == 0) counts[blockIdx.x] = total;
}

extern "C" __global__ void bisectRoots(int n, const float *target, float *root) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float low = 0, high = 4, t = target[i];
  while (high - low > 1e-5f) {
    float middle = 0.5f * (low + high);
    if (middle * middle * middle + middle < t) low = middle;
    else high = middle;
  }
  root[i] = low;
}
