// C++ on the device: recursion, function pointers in tables, lambdas handed to kernels, variadic templates, new and delete, placement new, polymorphism
// with multiple inheritance, constexpr, initializer lists, local classes, bit fields, unions, pointers to members.
// nvcc: -arch=compute_75 --extended-lambda
#include "check.h"
#include <new>

__device__ int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
__device__ long long fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ bool isOdd(int n);
__device__ bool isEven(int n) { return n == 0 || isOdd(n - 1); }
__device__ bool isOdd(int n) { return n != 0 && isEven(n - 1); }
__global__ void recursion(long long *out) {
  int i = threadIdx.x;
  out[i] = i < 8 ? ackermann(2, i) : i < 24 ? fibonacci(i - 4) : isEven(i * 3) + 10;
}

typedef float (*Operation)(float, float);
__device__ float plus(float a, float b) { return a + b; }
__device__ float times(float a, float b) { return a * b; }
__device__ float power(float a, float b) { return powf(a, b); }
__device__ Operation operations[] = {plus, times, power};
__device__ Operation chosen = times;
__global__ void pointers(const int *which, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = operations[which[i]](float(i % 7), 2.0f) + chosen(3, float(i));
}
__global__ void called(Operation f, float *out) { out[threadIdx.x] = f(threadIdx.x, 3); }

template <class F> __global__ void apply(F f, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    f(i);
}
template <class... T> __device__ auto sumOf(T... t) { return (t + ...); }
template <int N> struct Power {
  static __device__ constexpr double of(double x) { return x * Power<N - 1>::of(x); }
};
template <> struct Power<0> {
  static __device__ constexpr double of(double) { return 1; }
};
__global__ void templates(double *out) {
  int i = threadIdx.x;
  out[i] = sumOf(i, 2.5, 3.0f, short(4)) + Power<5>::of(i);
}

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
  __device__ virtual int corners() const { return 0; }
};
struct Named {
  int id = 7;
  __device__ virtual int name() const { return id; }
};
struct Square : Shape, Named {
  float side;
  __device__ Square(float s) : side(s) { id = 100; }
  __device__ float area() const override { return side * side; }
  __device__ int corners() const override { return 4; }
  __device__ int name() const override { return id + int(side); }
};
struct Circle : Shape {
  float r;
  int *count;
  __device__ Circle(float r, int *count) : r(r), count(count) {}
  __device__ ~Circle() { atomicAdd(count, 1); }
  __device__ float area() const override { return 3 * r * r; }
};
__global__ void shapes(float *out, int *destroyed, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  Shape *s;
  if (i % 3 == 0)
    s = new Square(i);
  else
    s = new Circle(i, destroyed);
  out[i] = s->area() * 10 + s->corners();
  if (i % 3 == 0)
    out[i] += static_cast<Named *>(static_cast<Square *>(s))->name();
  delete s;
  alignas(8) char place[sizeof(Circle)];
  Circle *c = new (place) Circle(1, destroyed);
  out[i] += c->area();
  c->~Circle();
  int *list = new int[i % 10 + 1];
  for (int k = 0; k <= i % 10; ++k)
    list[k] = k;
  for (int k = 0; k <= i % 10; ++k)
    out[i] += list[k];
  delete[] list;
}

struct Bits {
  unsigned a : 5;
  int b : 7;
  unsigned c : 20;
};
union Word {
  float f;
  unsigned u;
  unsigned char b[4];
};
struct Point {
  int x, y;
  __device__ int dot(const Point &o) const { return x * o.x + y * o.y; }
  __device__ int cross(const Point &o) const { return x * o.y - y * o.x; }
};
enum class Kind : unsigned char { none, some, all };
__global__ void language(int *out) {
  int i = threadIdx.x;
  Bits bits = {};
  bits.a = i, bits.b = -i, bits.c = i * 1000;
  Word w;
  w.f = i + 0.5f;
  int Point::*member = i % 2 ? &Point::x : &Point::y;
  int (Point::*method)(const Point &) const = i % 3 ? &Point::dot : &Point::cross;
  Point p = {i, 2}, q = {3, i + 1};
  struct Local {
    int v;
    __device__ Local &operator+=(int k) { return v += k, *this; }
  } local{1};
  (local += 2) += i;
  auto [x, y] = p;
  Kind kind = Kind(i % 3);
  int value = 0;
  switch (kind) {
  case Kind::none: value = 1; break;
  case Kind::some: value = 2; // falls through
  case Kind::all: value += 4;
  }
  int r = bits.a + bits.b * 2 + bits.c * 3;
  for (int k : {1, 2, 3})
    r += k * x;
  static __shared__ int shared[64];
  shared[i] = y;
  __syncthreads();
  out[i] = r + int(w.u >> 20) + w.b[3] + p.*member + (p.*method)(q) + local.v + value + shared[63 - i];
}

int main() {
  long long *ll;
  CHECK(cudaMallocManaged(&ll, 64 * 8));
  CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 16384));
  recursion<<<1, 64>>>(ll);
  CHECK(cudaDeviceSynchronize());
  long long fib[64] = {0, 1};
  for (int i = 2; i < 64; ++i)
    fib[i] = fib[i - 1] + fib[i - 2];
  for (int i = 0; i < 64; ++i)
    EXPECT(ll[i] == (i < 8 ? 2 * i + 3 : i < 24 ? fib[i - 4] : (i * 3 % 2 == 0) + 10));
  const int n = 1000;
  std::vector<int> which(n);
  for (int i = 0; i < n; ++i)
    which[i] = i * 5 % 3;
  int *w = toDevice(which);
  float *out;
  CHECK(cudaMallocManaged(&out, n * 4));
  pointers<<<4, 250>>>(w, out, n);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) {
    float a = i % 7;
    EXPECT(std::fabs(out[i] - ((which[i] == 0 ? a + 2 : which[i] == 1 ? a * 2 : a * a) + 3.0f * i)) < 1e-3);
  }
  Operation f, list[3];
  CHECK(cudaMemcpyFromSymbol(&f, chosen, sizeof f));
  called<<<1, 32>>>(f, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(out[5] == 15);
  CHECK(cudaMemcpyFromSymbol(list, operations, sizeof list));
  called<<<1, 32>>>(list[0], out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(out[5] == 8);
  CHECK(cudaMemcpyToSymbol(chosen, &list[0], sizeof f));
  pointers<<<4, 250>>>(w, out, n);
  CHECK(cudaDeviceSynchronize());
  EXPECT(out[0] == 2 + 3);
  float scale = 4, *o = out;
  apply<<<8, 128>>>([=] __device__(int i) { o[i] = scale * i; }, n);
  CHECK(cudaDeviceSynchronize());
  EXPECT(out[999] == 3996);
  auto composed = [=] __device__(int i) {
    auto inner = [&](float v) { return v + o[i]; };
    o[i] = inner(1) * 2;
  };
  apply<<<8, 128>>>(composed, n);
  CHECK(cudaDeviceSynchronize());
  EXPECT(out[999] == 2 * 3997 && out[0] == 2);
  double *d;
  CHECK(cudaMallocManaged(&d, 32 * 8));
  templates<<<1, 32>>>(d);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i)
    EXPECT(d[i] == i + 9.5 + std::pow(i, 5));
  int *count;
  CHECK(cudaMallocManaged(&count, 4));
  *count = 0;
  shapes<<<4, 250>>>(out, count, n);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) {
    float want = i % 3 == 0 ? float(i) * i * 10 + 4 + 100 + i : 30.0f * i * i;
    want += 3 + (i % 10) * (i % 10 + 1) / 2;
    EXPECT(std::fabs(out[i] - want) <= 1e-6f * want);
  }
  EXPECT(*count == n + n - (n + 2) / 3);
  language<<<1, 64>>>(w);
  std::vector<int> got = toHost(w, 64);
  for (int i = 0; i < 64; ++i) {
    int b = -i & 127;
    b = b > 63 ? b - 128 : b;
    int r = (i & 31) + b * 2 + i * 3000 + 6 * i;
    float v = i + 0.5f;
    unsigned u;
    memcpy(&u, &v, 4);
    int px = i, py = 2, qx = 3, qy = i + 1;
    r += int(u >> 20) + int(u >> 24) + (i % 2 ? px : py) + (i % 3 ? px * qx + py * qy : px * qy - py * qx) + 3 + i + (i % 3 == 0 ? 1 : i % 3 == 1 ? 6 : 4) + 2;
    EXPECT(got[i] == r);
  }
  return done();
}
