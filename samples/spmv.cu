// y = A * x with A in compressed sparse rows, one warp per row.
extern "C" __global__ void spmv(int rows, const int *__restrict__ rowStart, const int *__restrict__ column,
                                const float *__restrict__ value, const float *__restrict__ x, float *__restrict__ y) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  int lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int k = rowStart[row] + lane; k < rowStart[row + 1]; k += 32) sum += value[k] * x[column[k]];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (lane == 0) y[row] = sum;
}
