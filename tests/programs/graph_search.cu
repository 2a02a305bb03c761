// Breadth-first search by levels with a flag that the host reads back, by queues with atomics, and shortest paths by relaxation.
#include "check.h"
#include <queue>

__global__ void levels(const int *start, const int *to, int *level, int now, int n, bool *again) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || level[v] != now)
    return;
  for (int e = start[v]; e < start[v + 1]; ++e)
    if (level[to[e]] < 0) {
      level[to[e]] = now + 1;
      *again = true;
    }
}
__global__ void expand(const int *start, const int *to, int *level, const int *queue, int count, int *next, int *nextCount) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  int v = queue[i];
  for (int e = start[v]; e < start[v + 1]; ++e)
    if (atomicCAS(&level[to[e]], -1, level[v] + 1) == -1)
      next[atomicAdd(nextCount, 1)] = to[e];
}
__global__ void relax(const int *start, const int *to, const int *weight, int *distance, int n, int *changed) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || distance[v] == 1 << 29)
    return;
  for (int e = start[v]; e < start[v + 1]; ++e) {
    int d = distance[v] + weight[e];
    if (atomicMin(&distance[to[e]], d) > d)
      *changed = 1;
  }
}

int main() {
  const int n = 3000;
  std::vector<int> start{0}, to, weight;
  for (int v = 0; v < n; ++v) {
    for (int k = 0; k < v % 5; ++k)
      to.push_back((v * 31 + k * 977 + 13) % n), weight.push_back(1 + (v + k) % 9);
    start.push_back(to.size());
  }
  std::vector<int> want(n, -1), distance(n, 1 << 29);
  std::queue<int> q({4});
  want[4] = 0, distance[4] = 0;
  for (; !q.empty(); q.pop())
    for (int e = start[q.front()]; e < start[q.front() + 1]; ++e)
      if (want[to[e]] < 0)
        want[to[e]] = want[q.front()] + 1, q.push(to[e]);
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    for (int v = 0; v < n; ++v)
      for (int e = start[v]; e < start[v + 1]; ++e)
        if (distance[v] + weight[e] < distance[to[e]] && distance[v] < 1 << 29)
          distance[to[e]] = distance[v] + weight[e], isChanged = true;
  }
  std::vector<int> level(n, -1), far(n, 1 << 29);
  level[4] = 0, far[4] = 0;
  int *ds = toDevice(start), *dt = toDevice(to), *dw = toDevice(weight), *dl = toDevice(level), *dl2 = toDevice(level), *dd = toDevice(far);
  bool *again, host;
  CHECK(cudaMalloc(&again, 1));
  int now = 0;
  do {
    host = false;
    CHECK(cudaMemcpy(again, &host, 1, cudaMemcpyHostToDevice));
    levels<<<(n + 255) / 256, 256>>>(ds, dt, dl, now++, n, again);
    CHECK(cudaMemcpy(&host, again, 1, cudaMemcpyDeviceToHost));
  } while (host);
  EXPECT(toHost(dl, n) == want);
  std::vector<int> first(n, 4);
  int *queue = toDevice(first), *next = toDevice(first), *count, c = 1;
  CHECK(cudaMallocManaged(&count, 4));
  while (c) {
    *count = 0;
    expand<<<(c + 63) / 64, 64>>>(ds, dt, dl2, queue, c, next, count);
    CHECK(cudaDeviceSynchronize());
    c = *count;
    std::swap(queue, next);
  }
  EXPECT(toHost(dl2, n) == want);
  do {
    *count = 0;
    relax<<<(n + 127) / 128, 128>>>(ds, dt, dw, dd, n, count);
    CHECK(cudaDeviceSynchronize());
  } while (*count);
  EXPECT(toHost(dd, n) == distance);
  return done();
}
