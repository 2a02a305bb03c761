// Irregular access: sparse matrices, graphs, lists, hash tables.
typedef unsigned long long u64;

extern "C" __global__ void csrScalar(int rows, const int *start, const int *column, const float *value, const float *x, float *y) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int k = start[r]; k < start[r + 1]; ++k) sum += value[k] * x[column[k]];
  y[r] = sum;
}

// A row of y for each row of the matrix: `columns` numbers of it, a thread for each.
extern "C" __global__ void csrDense(int rows, int columns, const int *start, const int *column, const float *value, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, r = i / columns, c = i % columns;
  if (r >= rows) return;
  float sum = 0;
  for (int k = start[r]; k < start[r + 1]; ++k) sum += value[k] * x[column[k] * columns + c];
  y[r * columns + c] = sum;
}

extern "C" __global__ void csrVector(int rows, const int *start, const int *column, const float *value, const float *x, float *y) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float sum = 0;
  for (int k = start[r] + lane; k < start[r + 1]; k += 32) sum += value[k] * x[column[k]];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (lane == 0) y[r] = sum;
}

// Entries by columns of a rectangle; unused ones have column -1.
extern "C" __global__ void ell(int rows, int width, const int *column, const float *value, const float *x, float *y) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int k = 0; k < width; ++k) {
    int c = column[k * rows + r];
    if (c >= 0) sum += value[k * rows + r] * x[c];
  }
  y[r] = sum;
}

// One level of breadth-first search over all vertices.
extern "C" __global__ void bfsLevel(int n, int level, const int *start, const int *edge, int *distance, int *changed) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || distance[v] != level) return;
  for (int k = start[v]; k < start[v + 1]; ++k) {
    int to = edge[k];
    if (distance[to] < 0) {
      distance[to] = level + 1;
      *changed = 1;
    }
  }
}

extern "C" __global__ void gatherSum(int n, int degree, const int *neighbour, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < degree; ++k) sum += x[neighbour[k * n + i]];
  y[i] = sum;
}

extern "C" __global__ void pointerChase(int n, int steps, const int *next, int *last) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int at = i;
  for (int k = 0; k < steps; ++k) at = next[at];
  last[i] = at;
}

__device__ unsigned hashOf(unsigned key) {
  key ^= key >> 16;
  key *= 0x85ebca6bu;
  key ^= key >> 13;
  key *= 0xc2b2ae35u;
  return key ^ key >> 16;
}

// Open addressing; 0 is an empty place.
extern "C" __global__ void hashInsert(int n, unsigned mask, const unsigned *keys, unsigned *table) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned key = keys[i], at = hashOf(key) & mask;
  while (true) {
    unsigned old = atomicCAS(&table[at], 0u, key);
    if (old == 0 || old == key) return;
    at = (at + 1) & mask;
  }
}

extern "C" __global__ void hashLookup(int n, unsigned mask, const unsigned *keys, const unsigned *table, int *found) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned key = keys[i], at = hashOf(key) & mask;
  while (table[at] != 0 && table[at] != key) at = (at + 1) & mask;
  found[i] = table[at] == key ? (int)at : -1;
}

// The root of each tree of a forest, paths halved on the way.
extern "C" __global__ void findRoots(int n, const int *parent, int *root) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int at = i;
  while (parent[at] != at) at = parent[at];
  root[i] = at;
}

// Triangles of a graph whose edges lead to higher numbers, in rows that rise: common neighbours of both ends of each edge.
extern "C" __global__ void triangles(int n, const int *start, const int *edge, int *found) {
  int u = blockIdx.x * blockDim.x + threadIdx.x;
  if (u >= n) return;
  int count = 0;
  for (int k = start[u]; k < start[u + 1]; ++k) {
    int i = start[u], j = start[edge[k]], end = start[edge[k] + 1];
    while (i < start[u + 1] && j < end) {
      int a = edge[i], b = edge[j];
      count += a == b;
      if (a <= b) ++i;
      if (b <= a) ++j;
    }
  }
  found[u] = count;
}
