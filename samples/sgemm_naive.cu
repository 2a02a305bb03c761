// C = A * B, row-major n x n, one element per thread, blocks of 16x16, everything from global memory.
extern "C" __global__ void sgemmNaive(int n, const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= n || row >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
