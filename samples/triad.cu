// STREAM's triad in double precision: a = b + s * c.
extern "C" __global__ void triad(int n, double s, double *a, const double *b, const double *c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = b[i] + s * c[i];
}
