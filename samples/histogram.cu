// 256 bins of bytes, four to a word: counted in shared memory, added to the result once per block and bin.
extern "C" __global__ void histogram(int words, const unsigned *__restrict__ data, unsigned *bins) {
  __shared__ unsigned mine[256];
  for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) mine[bin] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
    unsigned word = data[i];
    atomicAdd(&mine[word & 255], 1u);
    atomicAdd(&mine[(word >> 8) & 255], 1u);
    atomicAdd(&mine[(word >> 16) & 255], 1u);
    atomicAdd(&mine[word >> 24], 1u);
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < 256; bin += blockDim.x)
    if (mine[bin]) atomicAdd(&bins[bin], mine[bin]);
}
