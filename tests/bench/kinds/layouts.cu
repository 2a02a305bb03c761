// Shapes of blocks and of data: transposes, rows that are no multiple of 8, structures, arrays indexed by lane.

extern "C" __global__ void naiveTranspose(int width, int height, const float *in, float *out) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < width && y < height) out[x * height + y] = in[y * width + x];
}

template <int pad> __device__ void tiled(int width, int height, const float *in, float *out) {
  __shared__ float tile[32][32 + pad];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) out[(y + k) * height + x] = tile[threadIdx.x][threadIdx.y + k];
}
extern "C" __global__ void tiledTranspose(int width, int height, const float *in, float *out) { tiled<0>(width, height, in, out); }
extern "C" __global__ void paddedTranspose(int width, int height, const float *in, float *out) { tiled<1>(width, height, in, out); }

// Blocks of 20 x 20.
extern "C" __global__ void oddBlend(int width, int height, const float *a, const float *b, float *out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    int i = y * width + x;
    out[i] = 0.3f * a[i] + 0.7f * b[i] * a[i];
  }
}

// Blocks of 20 x 20 that stage their part and a halo.
extern "C" __global__ void oddStaged(int width, const float *in, float *out) {
  __shared__ float s[22][22];
  int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 20 + tx, y = blockIdx.y * 20 + ty;
  for (int k = ty * 20 + tx; k < 22 * 22; k += 400)
    s[k / 22][k % 22] = in[(blockIdx.y * 20 + k / 22) * width + blockIdx.x * 20 + k % 22];
  __syncthreads();
  out[(y + 1) * width + x + 1] = 0.25f * (s[ty][tx + 1] + s[ty + 2][tx + 1] + s[ty + 1][tx] + s[ty + 1][tx + 2]);
}

// Blocks of 7 x 5 x 3.
extern "C" __global__ void oddVolume(int nx, int ny, int nz, const float *in, float *out) {
  int x = blockIdx.x * 7 + threadIdx.x, y = blockIdx.y * 5 + threadIdx.y, z = blockIdx.z * 3 + threadIdx.z;
  if (x < nx && y < ny && z < nz) {
    int i = (z * ny + y) * nx + x;
    out[i] = in[i] * in[i] + 2.0f * in[i];
  }
}

extern "C" __global__ void normalise3(int n, const float3 *in, float3 *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float3 v = in[i];
  float s = rsqrtf(v.x * v.x + v.y * v.y + v.z * v.z);
  out[i] = make_float3(v.x * s, v.y * s, v.z * s);
}

struct Particle {
  float x, y, z, mass, vx, vy, vz;
};
extern "C" __global__ void moveParticles(int n, float dt, Particle *p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Particle a = p[i];
  a.x += dt * a.vx;
  a.y += dt * a.vy;
  a.z += dt * a.vz;
  if (a.x < 0 || a.x > 1) a.vx = -a.vx;
  if (a.y < 0 || a.y > 1) a.vy = -a.vy;
  if (a.z < 0 || a.z > 1) a.vz = -a.vz;
  p[i] = a;
}

// Structures of doubles, gathered.
extern "C" __global__ void gatherDouble4(int n, const int *index, const double4_16a *in, double *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double4_16a v = in[index[i]];
  out[i] = v.x * v.y + v.z * v.w;
}

// Sorts 16 numbers in a local array by insertion: indices differ from lane to lane.
extern "C" __global__ void insertionSort(int n, const int *in, int *out) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  int a[16];
  for (int k = 0; k < 16; ++k) a[k] = in[t * 16 + k];
  for (int k = 1; k < 16; ++k) {
    int v = a[k], j = k;
    for (; j > 0 && a[j - 1] > v; --j) a[j] = a[j - 1];
    a[j] = v;
  }
  for (int k = 0; k < 16; ++k) out[t * 16 + k] = a[k];
}

// A small table for each thread, indexed by its data.
extern "C" __global__ void localCounts(int n, int length, const unsigned char *in, int *out) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  int counts[32];
  for (int k = 0; k < 32; ++k) counts[k] = 0;
  for (int k = 0; k < length; ++k) ++counts[in[k * n + t] & 31];
  int best = 0;
  for (int k = 1; k < 32; ++k)
    if (counts[k] > counts[best]) best = k;
  out[t] = best;
}

// A stack of its own for each thread: depth-first search in a complete binary tree of keys.
extern "C" __global__ void stackSearch(int n, int nodes, const float *keys, const float *low, const float *high, int *found) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  int stack[32], depth = 0, count = 0;
  float a = low[t], b = high[t];
  stack[depth++] = 0;
  while (depth > 0) {
    int node = stack[--depth];
    float key = keys[node];
    if (key >= a && key <= b) ++count;
    if (key <= b && 2 * node + 2 < nodes) stack[depth++] = 2 * node + 2;
    if (key >= a && 2 * node + 1 < nodes) stack[depth++] = 2 * node + 1;
  }
  found[t] = count;
}
