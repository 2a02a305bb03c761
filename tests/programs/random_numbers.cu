// cuRAND's device functions (headers only): every generator, initialised per thread, with moments of what they draw; pi by Monte Carlo.
#include "check.h"
#include <curand_kernel.h>
#include <curand_precalc.h>

template <class State> __global__ void draw(float *uniform, float *normal, unsigned *poisson, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  State s;
  curand_init(1234ull, t, 0, &s);
  for (int i = 0; i < n; ++i) {
    uniform[t * n + i] = curand_uniform(&s), normal[t * n + i] = curand_normal(&s), poisson[t * n + i] = curand_poisson(&s, 4.0);
  }
}
__global__ void setup(curandState *s, unsigned long long seed) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  curand_init(seed, t, 0, &s[t]);
}
__global__ void pi(curandState *states, unsigned *hits, int rounds) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  curandState s = states[t];
  unsigned n = 0;
  for (int i = 0; i < rounds; ++i) {
    float x = curand_uniform(&s), y = curand_uniform(&s);
    n += x * x + y * y <= 1;
  }
  states[t] = s;
  atomicAdd(hits, n);
}
__global__ void wide(double *out, float4 *four) {
  curandStatePhilox4_32_10_t s;
  curand_init(99, threadIdx.x, 5, &s);
  out[threadIdx.x] = curand_normal_double(&s);
  four[threadIdx.x] = curand_uniform4(&s);
  skipahead(10, &s);
  out[threadIdx.x + 32] = curand_log_normal(&s, 0.f, 0.25f);
}
template <class State> static void test() {
  const int threads = 256, n = 40;
  float *u, *g;
  unsigned *p;
  CHECK(cudaMallocManaged(&u, threads * n * 4));
  CHECK(cudaMallocManaged(&g, threads * n * 4));
  CHECK(cudaMallocManaged(&p, threads * n * 4));
  draw<State><<<4, threads / 4>>>(u, g, p, n);
  CHECK(cudaDeviceSynchronize());
  double m = 0, v = 0, gm = 0, gv = 0, pm = 0;
  for (int i = 0; i < threads * n; ++i) {
    EXPECT(u[i] > 0 && u[i] <= 1);
    m += u[i], v += u[i] * u[i], gm += g[i], gv += g[i] * g[i], pm += p[i];
  }
  double k = threads * n;
  EXPECT(std::fabs(m / k - 0.5) < 0.015 && std::fabs(v / k - 1 / 3.) < 0.015 && std::fabs(gm / k) < 0.05 && std::fabs(gv / k - 1) < 0.06 && std::fabs(pm / k - 4) < 0.1);
}

int main() {
  test<curandStateXORWOW_t>();
  test<curandStateMRG32k3a_t>();
  test<curandStatePhilox4_32_10_t>();
  curandState *states;
  unsigned *hits;
  CHECK(cudaMalloc(&states, 2048 * sizeof(curandState)));
  CHECK(cudaMallocManaged(&hits, 4));
  *hits = 0;
  setup<<<8, 256>>>(states, 42);
  for (int i = 0; i < 2; ++i)
    pi<<<8, 256>>>(states, hits, 200);
  CHECK(cudaDeviceSynchronize());
  EXPECT(std::fabs(4. * *hits / (2048 * 400) - 3.14159265) < 0.01);
  double *out;
  float4 *four;
  CHECK(cudaMallocManaged(&out, 512));
  CHECK(cudaMallocManaged(&four, 512));
  wide<<<1, 32>>>(out, four);
  CHECK(cudaDeviceSynchronize());
  EXPECT(four[0].x != four[1].x && four[5].w > 0 && out[40] > 0);
  return done();
}
