// nvcc: -arch=compute_75 -rdc=true --extended-lambda
// Objects with virtual functions made on the device, in its heap and in shared memory; function pointers in tables, copied from symbols;
// recursion; templates; lambdas (extended).
#include "check.h"
#include <new>

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~Shape() {}
};
__device__ int destroyed;
struct Circle : Shape {
  float r;
  __device__ Circle(float r) : r(r) {}
  __device__ float area() const override { return 3 * r * r; }
  __device__ ~Circle() { atomicAdd(&destroyed, 1); }
};
struct Box : Shape {
  float a, b;
  __device__ Box(float a, float b) : a(a), b(b) {}
  __device__ float area() const override { return a * b; }
};
struct Cube : Box {
  __device__ Cube(float a) : Box(a, a) {}
  __device__ float area() const override { return 6 * Box::area(); }
};
__global__ void create(Shape **shapes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  shapes[i] = i % 3 == 0 ? (Shape *)new Circle(i) : i % 3 == 1 ? (Shape *)new Box(i, 2) : new Cube(i);
}
__global__ void measure(Shape **shapes, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = shapes[i]->area();
}
__global__ void destroy(Shape **shapes) { delete shapes[blockIdx.x * blockDim.x + threadIdx.x]; }
__global__ void inShared(float *out) {
  __shared__ alignas(16) char space[32][sizeof(Box)];
  Shape *s = threadIdx.x & 1 ? (Shape *)new (space[threadIdx.x]) Cube(threadIdx.x) : new (space[threadIdx.x]) Box(threadIdx.x, 3);
  __syncthreads();
  out[threadIdx.x] = ((Shape *)space[threadIdx.x ^ 1])->area();
  __syncthreads();
  s->~Shape();
}

typedef float (*Function)(float, float);
__device__ float add(float a, float b) { return a + b; }
__device__ float mul(float a, float b) { return a * b; }
__device__ float power(float a, float b) { return b <= 0 ? 1 : a * power(a, b - 1); }
__device__ Function table[3] = {add, mul, power};
__device__ Function single = power;
__global__ void viaTable(float *out) { out[threadIdx.x] = table[threadIdx.x % 3](threadIdx.x % 7, threadIdx.x % 5); }
__global__ void viaArgument(Function f, float *out) { out[threadIdx.x] = f(threadIdx.x % 4, 3); }
__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
__global__ void recursive(unsigned *out) { out[threadIdx.x] = ackermann(2, threadIdx.x % 6); }
template <class F> __global__ void each(int n, F f) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    f(i);
}

int main() {
  const int n = 192;
  Shape **shapes;
  float *out;
  CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 16384));
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
  CHECK(cudaMalloc(&shapes, n * sizeof *shapes));
  CHECK(cudaMallocManaged(&out, n * sizeof *out));
  create<<<3, 64>>>(shapes);
  measure<<<6, 32>>>(shapes, out);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i)
    EXPECT(out[i] == (i % 3 == 0 ? 3.f * i * i : i % 3 == 1 ? 2.f * i : 6.f * i * i));
  destroy<<<3, 64>>>(shapes);
  int dead = 0;
  CHECK(cudaMemcpyFromSymbol(&dead, destroyed, sizeof dead));
  EXPECT(dead == 64);
  inShared<<<1, 32>>>(out);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i)
    EXPECT(out[i] == ((i ^ 1) & 1 ? 6.f * (i ^ 1) * (i ^ 1) : 3.f * (i ^ 1)));
  viaTable<<<1, 96>>>(out);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 96; ++i) {
    float a = i % 7, b = i % 5;
    EXPECT(out[i] == (i % 3 == 0 ? a + b : i % 3 == 1 ? a * b : std::pow(a, b)));
  }
  Function f;
  CHECK(cudaMemcpyFromSymbol(&f, single, sizeof f));
  viaArgument<<<1, 64>>>(f, out);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; ++i)
    EXPECT(out[i] == (i % 4) * (i % 4) * (i % 4));
  unsigned *u = (unsigned *)out;
  recursive<<<1, 32>>>(u);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i)
    EXPECT(u[i] == 2u * (i % 6) + 3);
  each<<<2, 32>>>(n, [=] __device__(int i) { out[i] = i * 1.5f + dead; });
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i)
    EXPECT(out[i] == i * 1.5f + 64);
  return done();
}
