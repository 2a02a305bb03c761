// Breadth-first search of a small graph (compressed rows), one source vertex per block, the frontier in shared memory.
constexpr int kMaxVertices = 1024;

extern "C" __global__ void bfs(int vertices, const int *__restrict__ first, const int *__restrict__ neighbour,
                               const int *__restrict__ source, int *distance) {
  __shared__ int queue[2][kMaxVertices];
  __shared__ int length[2];
  int *mine = distance + blockIdx.x * vertices;
  for (int v = threadIdx.x; v < vertices; v += blockDim.x) mine[v] = -1;
  __syncthreads();
  if (threadIdx.x == 0) {
    int start = source[blockIdx.x];
    mine[start] = 0;
    queue[0][0] = start;
    length[0] = 1;
    length[1] = 0;
  }
  __syncthreads();
  for (int level = 1, now = 0; length[now] > 0; ++level, now ^= 1) {
    for (int k = threadIdx.x; k < length[now]; k += blockDim.x) {
      int vertex = queue[now][k];
      for (int e = first[vertex]; e < first[vertex + 1]; ++e) {
        int other = neighbour[e];
        if (atomicCAS(&mine[other], -1, level) == -1) queue[now ^ 1][atomicAdd(&length[now ^ 1], 1)] = other;
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) length[now] = 0;
    __syncthreads();
  }
}
