// Textures of one, two and three dimensions with every address mode, filter and kind of coordinates, beside the programming guide's formulas in double
// precision.
#include "check.h"
#include <algorithm>
// nvcc: -arch=compute_90
__global__ void fetch1D(cudaTextureObject_t t, const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = tex1D<float>(t, x[i]);
}
__global__ void fetch2D(cudaTextureObject_t t, const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = tex2D<float>(t, x[i], x[n + i]);
}
__global__ void fetch3D(cudaTextureObject_t t, const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = tex3D<float>(t, x[i], x[n + i], x[2 * n + i]);
}

static const int kSize[3] = {13, 9, 6}; // texels along x, y, z
static const int kPoints = 600;

/// The texel that index i means along an axis of n, or -1 where that is the border.
static int texel(int i, int n, cudaTextureAddressMode mode) {
  switch (mode) {
  case cudaAddressModeWrap:
    return ((i % n) + n) % n;
  case cudaAddressModeMirror: {
    int m = ((i % (2 * n)) + 2 * n) % (2 * n);
    return m < n ? m : 2 * n - 1 - m;
  }
  case cudaAddressModeBorder:
    return i < 0 || i >= n ? -1 : i;
  default:
    return std::min(std::max(i, 0), n - 1);
  }
}
static double at(const std::vector<float> &data, const int *index, int axes, cudaTextureAddressMode mode) {
  int where = 0, stride = 1;
  for (int a = 0; a < axes; ++a) {
    int i = texel(index[a], kSize[a], mode);
    if (i < 0)
      return 0;
    where += i * stride;
    stride *= kSize[a];
  }
  return data[where];
}
static double model(const std::vector<float> &data, const double *x, int axes, cudaTextureAddressMode mode, bool linear) {
  int base[3];
  double weight[3];
  for (int a = 0; a < axes; ++a) {
    double at = linear ? x[a] - 0.5 : x[a];
    base[a] = int(std::floor(at));
    weight[a] = std::floor((at - base[a]) * 256 + 0.5) / 256;
  }
  if (!linear)
    return at(data, base, axes, mode);
  double sum = 0;
  for (int corner = 0; corner < 1 << axes; ++corner) {
    int index[3];
    double w = 1;
    for (int a = 0; a < axes; ++a) {
      int up = corner >> a & 1;
      index[a] = base[a] + up;
      w *= up ? weight[a] : 1 - weight[a];
    }
    sum += w * at(data, index, axes, mode);
  }
  return sum;
}

int main() {
  srand(5);
  int tested = 0;
  for (int axes = 1; axes <= 3; ++axes) {
    int n = 1;
    for (int a = 0; a < axes; ++a)
      n *= kSize[a];
    std::vector<float> data(n);
    for (float &v : data)
      v = rand() % 1000 / 8.0f;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    if (axes == 3)
      CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(kSize[0], kSize[1], kSize[2])));
    else
      CHECK(cudaMallocArray(&array, &format, kSize[0], axes == 2 ? kSize[1] : 0, 0));
    if (axes == 3) {
      cudaMemcpy3DParms copy = {};
      copy.srcPtr = make_cudaPitchedPtr(data.data(), kSize[0] * 4, kSize[0], kSize[1]);
      copy.dstArray = array;
      copy.extent = make_cudaExtent(kSize[0], kSize[1], kSize[2]);
      copy.kind = cudaMemcpyHostToDevice;
      CHECK(cudaMemcpy3D(&copy));
    } else
      CHECK(cudaMemcpy2DToArray(array, 0, 0, data.data(), kSize[0] * 4, kSize[0] * 4, axes == 2 ? kSize[1] : 1, cudaMemcpyHostToDevice));
    for (int mode = 0; mode < 4; ++mode)
      for (int linear = 0; linear < 2; ++linear)
        for (int normalized = 0; normalized < 2; ++normalized) {
          cudaTextureAddressMode asked = cudaTextureAddressMode(mode), does = asked;
          if (!normalized && (asked == cudaAddressModeWrap || asked == cudaAddressModeMirror))
            does = cudaAddressModeClamp; // the others work for normalized coordinates only
          cudaResourceDesc resource = {};
          resource.resType = cudaResourceTypeArray;
          resource.res.array.array = array;
          cudaTextureDesc how = {};
          how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = asked;
          how.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
          how.readMode = cudaReadModeElementType;
          how.normalizedCoords = normalized;
          cudaTextureObject_t texture;
          CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
          std::vector<float> x(3 * kPoints);
          std::vector<double> texels(3 * kPoints);
          for (int a = 0; a < 3; ++a)
            for (int i = 0; i < kPoints; ++i) {
              // in 64ths of a texel, from three widths before to three behind
              double t = (rand() % (7 * 64 * kSize[a]) - 3 * 64 * kSize[a]) / 64.0 + 1 / 256.0;
              x[a * kPoints + i] = float(normalized ? t / kSize[a] : t);
              texels[a * kPoints + i] = normalized ? double(x[a * kPoints + i]) * kSize[a] : x[a * kPoints + i];
            }
          float *in = toDevice(x), *out;
          CHECK(cudaMalloc(&out, kPoints * 4));
          auto kernel = axes == 1 ? fetch1D : axes == 2 ? fetch2D : fetch3D;
          kernel<<<(kPoints + 127) / 128, 128>>>(texture, in, out, kPoints);
          CHECK(cudaGetLastError());
          std::vector<float> got = toHost(out, kPoints);
          int wrong = 0;
          for (int i = 0; i < kPoints; ++i) {
            double p[3] = {texels[i], texels[kPoints + i], texels[2 * kPoints + i]};
            double want = model(data, p, axes, does, linear);
            // a weight may be a 256th off where rounding decides
            double slack = linear ? 125.0 * axes / 256 + 1e-3 : 0;
            if (std::fabs(got[i] - want) > slack && wrong++ < 3)
              printf("%dD, mode %d, linear %d, normalized %d, at %g %g %g: %g, not %g\n", axes, mode, linear, normalized, p[0], p[1], p[2], got[i], want);
          }
          EXPECT(wrong == 0);
          tested += kPoints;
          CHECK(cudaFree(in));
          CHECK(cudaFree(out));
          CHECK(cudaDestroyTextureObject(texture));
        }
    CHECK(cudaFreeArray(array));
  }
  printf("%d fetches\n", tested);
  return done();
}
