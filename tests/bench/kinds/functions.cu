// Functions as nvcc expands them, and double precision.

extern "C" __global__ void sineCosine(int n, const float *x, float *s, float *c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sincosf(x[i], &s[i], &c[i]);
}
extern "C" __global__ void powers(int n, const float *x, const float *e, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = powf(x[i], e[i]);
}
extern "C" __global__ void exponentials(int n, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = expf(x[i]) + logf(fabsf(x[i]) + 1.0f);
}
extern "C" __global__ void errorFunction(int n, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = erff(x[i]);
}
extern "C" __global__ void gelu(int n, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  y[i] = 0.5f * v * (1 + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
}
extern "C" __global__ void rootsAndQuotients(int n, const float *a, const float *b, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sqrtf(a[i]) / b[i];
}
extern "C" __global__ void exponentialsDouble(int n, const double *x, double *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = exp(x[i]);
}
extern "C" __global__ void sinesDouble(int n, const double *x, double *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sin(x[i]) * log(2 + x[i] * x[i]);
}
extern "C" __global__ void scaleDouble(int n, double a, const double *x, double *y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void polynomialDouble(int n, const double *x, double *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double v = x[i], p = 1;
  for (int k = 0; k < 40; ++k) p = p * v + (1.0 + k);
  y[i] = p;
}
extern "C" __global__ void cubicRoots(int n, const double *a, double *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double x = 1;
  for (int k = 0; k < 12; ++k) x = x - (x * x * x - a[i]) / (3 * x * x);
  y[i] = x;
}
