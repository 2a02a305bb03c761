// The other file of linked_main.cu.
__device__ int counter = 100;
__constant__ float scales[4];
extern __device__ int called[2];
extern __device__ float callBack(float);
static __device__ float twice(float x) { return 3 * x; }
static __device__ int hidden = 33;
static __device__ float negative(float x) { return -x; }
typedef float (*Function)(float);
__device__ Function chosen = negative;
__device__ float apply(float x, int which) { return x * scales[which]; }
__global__ void otherKernel(float *x) {
  x[threadIdx.x] += twice(hidden);
  if (threadIdx.x == 0)
    atomicAdd(&called[1], 1);
}
void launchOther(float *x, cudaStream_t s) { otherKernel<<<1, 64, 0, s>>>(x); }
