// Calls: not inlined, recursive, through pointers, from divergent code.

static __device__ __noinline__ int mix(int a, int b) {
  int r = a * 31 + b;
  if (r & 1) r ^= b << 3;
  for (int k = 0; k < (a & 3); ++k) r += k * b;
  return r;
}

extern "C" __global__ void plainCall(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int r = mix(in[i], i);
  if (in[i] & 4) r = mix(r, 3);
  for (int k = 0; k < (in[i] >> 4 & 3); ++k) r += mix(k, r);
  out[i] = r;
}
CASE(plainCall, grid(2), block(70), in(140), out(140), 140)

struct Pair {
  int first;
  float second;
  long long third;
};
static __device__ __noinline__ Pair combine(Pair a, const Pair &b, int *count) {
  ++*count;
  Pair r = {a.first + b.first, a.second * 2.0f, a.third ^ b.third};
  if (a.first > b.first) r.first = -r.first, ++*count;
  return r;
}
extern "C" __global__ void structCall(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int count = 0;
  Pair p = {in[i] & 0xffff, 1.0f, i}, q = {i * 300, 0.5f, 77};
  for (int k = 0; k < 3; ++k) p = combine(p, q, &count);
  out[i] = p.first + static_cast<int>(p.second) + static_cast<int>(p.third) + count * 100000;
}
CASE(structCall, grid(2), block(64), in(128), out(128), 128)

static __device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
extern "C" __global__ void recursion(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = fibonacci(in[i] & 7) + (i & 1 ? fibonacci(i % 9) : 0);
}
CASE(recursion, grid(2), block(40), in(80), out(80), 80)

static __device__ __noinline__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}
extern "C" __global__ void deepRecursion(int *out) {
  int i = threadIdx.x;
  out[i] = ackermann(i & 1, i % 5) * 100 + ackermann(2, i & 3);
}
CASE(deepRecursion, grid(1), block(40), out(40))

static __device__ __noinline__ bool isOdd(unsigned n);
static __device__ __noinline__ bool isEven(unsigned n) { return n == 0 ? true : isOdd(n - 1); }
static __device__ __noinline__ bool isOdd(unsigned n) { return n == 0 ? false : isEven(n - 1); }
extern "C" __global__ void mutualRecursion(const unsigned *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = isEven(in[i] % 23) * 2 + isOdd(i % 10u);
}
CASE(mutualRecursion, grid(2), block(40), in(80), out(80), 80)

static __device__ __noinline__ int twice(int x) { return 2 * x; }
static __device__ __noinline__ int square(int x) { return x * x; }
static __device__ __noinline__ int negate(int x) { return x > 100 ? x : -x; }
static __device__ __noinline__ int digits(int x) {
  int count = 0;
  for (unsigned v = x; v; v /= 10) ++count;
  return count;
}
typedef int (*Unary)(int);
static __device__ Unary operations[4] = {twice, square, negate, digits};

extern "C" __global__ void functionPointers(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int r = in[i] & 0xfff;
  for (int k = 0; k < 3; ++k) r = operations[(in[i] >> (12 + 2 * k)) & 3](r);
  out[i] = r;
}
CASE(functionPointers, grid(2), block(70), in(140), out(140), 140)

extern "C" __global__ void uniformFunctionPointer(const int *in, int *out, int which, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Unary f = operations[which & 3];
  if (i < n) out[i] = f(in[i] & 0xffff);
}
CASE(uniformFunctionPointer, grid(2), block(70), in(140), out(140), 3, 140)

// A tree walked by recursion with a path of its own in every lane.
static __device__ __noinline__ int walk(const int *tree, int node, int key, int depth) {
  if (node >= 127 || depth > 10) return depth;
  int v = tree[node] & 1023;
  if (v == key) return 1000 + depth;
  if (v < key) return walk(tree, 2 * node + 1, key, depth + 1) + 1;
  return walk(tree, 2 * node + 2, key - 1, depth + 1) * 2;
}
extern "C" __global__ void treeWalk(const int *tree, const int *keys, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = walk(tree, 0, keys[i] & 1023, 0);
}
CASE(treeWalk, grid(2), block(40), in(127, random(1)), in(80, random(2)), out(80), 80)

static __device__ __noinline__ void meet(int *shared, int value) {
  shared[threadIdx.x] = value;
  __syncthreads();
}
extern "C" __global__ void barrierInCall(const int *in, int *out) {
  __shared__ int staged[96];
  int t = threadIdx.x, v = in[blockIdx.x * blockDim.x + t], r = 0;
  for (int k = 0; k < 4; ++k) {
    meet(staged, v + k);
    r = r * 3 + staged[(t + 5 * k + 1) % blockDim.x];
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + t] = r;
}
CASE(barrierInCall, grid(2), block(96), in(192), out(192))
CASE(barrierInCall, grid(2), block(45), in(90), out(90))

static __device__ __noinline__ int lastLane(int v) {
  return __shfl_sync(0xffffffffu, v, 31) + __popc(__ballot_sync(0xffffffffu, v & 1));
}
extern "C" __global__ void warpOperationInCall(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int r = in[i];
  for (int k = 0; k < 3; ++k) r = r * 5 + lastLane(r);
  out[i] = r;
}
CASE(warpOperationInCall, grid(2), block(64), in(128), out(128))
