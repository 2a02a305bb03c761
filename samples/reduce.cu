// Sum of n floats: a grid-stride loop per thread, shuffles within the warp, shared memory among warps, one atomic per block.
__device__ float warpSum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  return value;
}

extern "C" __global__ void reduce(int n, const float *__restrict__ x, float *sum) {
  __shared__ float warps[32];
  float mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += x[i];
  mine = warpSum(mine);
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0) warps[warp] = mine;
  __syncthreads();
  if (warp == 0) {
    mine = lane < blockDim.x / 32 ? warps[lane] : 0.0f;
    mine = warpSum(mine);
    if (lane == 0) atomicAdd(sum, mine);
  }
}
