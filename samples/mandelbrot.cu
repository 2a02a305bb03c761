// Iterations until z = z^2 + c leaves the circle of radius 2, per pixel; every product and sum is rounded on its own.
extern "C" __global__ void mandelbrot(int width, int height, int limit, float left, float top, float step, int *iterations) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  float cx = __fadd_rn(left, __fmul_rn(step, (float)px)), cy = __fsub_rn(top, __fmul_rn(step, (float)py));
  float x = 0, y = 0, xx = 0, yy = 0;
  int count = 0;
  while (count < limit && __fadd_rn(xx, yy) <= 4.0f) {
    float xy = __fmul_rn(x, y);
    y = __fadd_rn(__fadd_rn(xy, xy), cy);
    x = __fadd_rn(__fsub_rn(xx, yy), cx);
    xx = __fmul_rn(x, x);
    yy = __fmul_rn(y, y);
    ++count;
  }
  iterations[py * width + px] = count;
}
