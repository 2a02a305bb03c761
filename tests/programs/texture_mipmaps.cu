// Mipmaps: levels filled by surfaces, sampled by level, by gradients, between levels, with bias and clamps; a pyramid that kernels reduce; views of a
// part of the levels.
#include "check.h"
#include <algorithm>
// nvcc: -arch=compute_90
const int kSize = 64, kLevels = 7;

__global__ void paint(cudaSurfaceObject_t s, float v, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < n)
    surf2Dwrite(v, s, x * sizeof(float), y);
}
__global__ void byLevel(cudaTextureObject_t t, const float *levels, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = tex2DLod<float>(t, 0.3f, 0.7f, levels[i]);
}
__global__ void byGradient(cudaTextureObject_t t, const float *texelsPerPixel, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float d = texelsPerPixel[i] / kSize;
  out[i] = tex2DGrad<float>(t, 0.5f, 0.5f, make_float2(d, 0), make_float2(0, d));
}
__global__ void reduce(cudaTextureObject_t from, cudaSurfaceObject_t to, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n)
    surf2Dwrite(tex2D<float>(from, 2 * x + 1.0f, 2 * y + 1.0f), to, x * sizeof(float), y);
}

__global__ void plain(cudaTextureObject_t t, float *out) { *out = tex2D<float>(t, 0.3f, 0.7f); }

static cudaTextureObject_t texture(cudaMipmappedArray_t mips, cudaTextureFilterMode between, float bias, float least, float most) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeMipmappedArray, r.res.mipmap.mipmap = mips;
  cudaTextureDesc t = {};
  t.addressMode[0] = t.addressMode[1] = cudaAddressModeClamp;
  t.filterMode = cudaFilterModePoint, t.mipmapFilterMode = between, t.normalizedCoords = 1;
  t.mipmapLevelBias = bias, t.minMipmapLevelClamp = least, t.maxMipmapLevelClamp = most;
  cudaTextureObject_t made;
  CHECK(cudaCreateTextureObject(&made, &r, &t, nullptr));
  return made;
}
static cudaSurfaceObject_t surface(cudaArray_t array) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray, r.res.array.array = array;
  cudaSurfaceObject_t made;
  CHECK(cudaCreateSurfaceObject(&made, &r));
  return made;
}

int main() {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMipmappedArray_t mips;
  CHECK(cudaMallocMipmappedArray(&mips, &format, make_cudaExtent(kSize, kSize, 0), kLevels, cudaArraySurfaceLoadStore));
  for (int l = 0; l < kLevels; ++l) { // each level one colour: 10 times its number
    cudaArray_t level;
    CHECK(cudaGetMipmappedArrayLevel(&level, mips, l));
    cudaChannelFormatDesc f;
    cudaExtent e;
    unsigned flags;
    CHECK(cudaArrayGetInfo(&f, &e, &flags, level));
    EXPECT(int(e.width) == kSize >> l && int(e.height) == kSize >> l);
    cudaSurfaceObject_t s = surface(level);
    paint<<<dim3(2, kSize >> l), 32>>>(s, 10.0f * l, kSize >> l);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaDestroySurfaceObject(s));
  }
  const int n = 41;
  std::vector<float> levels(n);
  for (int i = 0; i < n; ++i)
    levels[i] = -1 + i * 0.2f;
  float *in = toDevice(levels), *out;
  CHECK(cudaMalloc(&out, n * 4));
  struct {
    cudaTextureFilterMode mode;
    float bias, least, most;
  } cases[] = {{cudaFilterModeLinear, 0, 0, 6}, {cudaFilterModePoint, 0, 0, 6}, {cudaFilterModeLinear, 1.5f, 0, 6}, {cudaFilterModeLinear, 0, 1.25f, 3.5f}, {cudaFilterModePoint, -2, 1, 4}};
  for (auto &c : cases) {
    cudaTextureObject_t t = texture(mips, c.mode, c.bias, c.least, c.most);
    byLevel<<<1, 64>>>(t, in, out, n);
    std::vector<float> got = toHost(out, n);
    for (int i = 0; i < n; ++i) {
      float level = std::min(std::max(levels[i] + c.bias, c.least), c.most);
      if (c.mode == cudaFilterModeLinear)
        EXPECT(std::fabs(got[i] - 10 * level) < 0.05); // weights of 8 bits
      else if (std::fabs(level - std::floor(level) - 0.5f) > 0.01)
        EXPECT(got[i] == 10 * std::floor(level + 0.5f));
    }
    CHECK(cudaDestroyTextureObject(t));
  }
  // A fetch that names no level: level 0 without the bias, within the range (as an RTX 3060 does it).
  struct {
    cudaTextureFilterMode mode;
    float bias, least, want;
  } plainCases[] = {{cudaFilterModePoint, 1.5f, 0, 0}, {cudaFilterModePoint, -1, 0.75f, 10}, {cudaFilterModeLinear, 2, 1.25f, 12.5f}, {cudaFilterModeLinear, 0, -3, 0}};
  for (auto &c : plainCases) {
    cudaTextureObject_t t = texture(mips, c.mode, c.bias, c.least, 6);
    plain<<<1, 1>>>(t, out);
    EXPECT(toHost(out, 1)[0] == c.want);
    CHECK(cudaDestroyTextureObject(t));
  }
  // The bias is cut towards zero to steps of 1/256 (there, too): 0.3 to 76/256, -0.3 to -76/256. Which level is nearest tells.
  for (float bias : {0.3f, -0.3f}) {
    cudaTextureObject_t t = texture(mips, cudaFilterModePoint, bias, 0, 6);
    float *place = toDevice(std::vector<float>{bias > 0 ? 0.2015f : 0.798f});
    byLevel<<<1, 1>>>(t, place, out, 1);
    EXPECT(toHost(out, 1)[0] == (bias > 0 ? 0 : 10));
    CHECK(cudaFree(place));
    CHECK(cudaDestroyTextureObject(t));
  }
  // So is the weight of the second level: 0.3 is 76/256, and 0.5 / 256 is none.
  const float places[] = {0.3f, 1 + 0.5f / 256, 2.999f}, wants[] = {10 * 76 / 256.0f, 10, 20 + 10 * 255 / 256.0f};
  for (int i = 0; i < 3; ++i) {
    cudaTextureObject_t t = texture(mips, cudaFilterModeLinear, 0, 0, 6);
    float *place = toDevice(std::vector<float>{places[i]});
    byLevel<<<1, 1>>>(t, place, out, 1);
    EXPECT(toHost(out, 1)[0] == wants[i]);
    CHECK(cudaFree(place));
    CHECK(cudaDestroyTextureObject(t));
  }
  cudaTextureObject_t t = texture(mips, cudaFilterModeLinear, 0, 0, 6);
  std::vector<float> scales = {0.25f, 0.5f, 1, 2, 4, 8, 16, 32, 64, 500};
  float *ds = toDevice(scales);
  byGradient<<<1, 32>>>(t, ds, out, int(scales.size()));
  std::vector<float> got = toHost(out, scales.size());
  for (size_t i = 0; i < scales.size(); ++i) {
    float level = std::min(std::max(std::log2(scales[i]), 0.0f), 6.0f);
    EXPECT(std::fabs(got[i] - 10 * level) < 0.2);
  }
  // a pyramid of means
  std::vector<float> image(kSize * kSize);
  double mean = 0;
  for (int i = 0; i < kSize * kSize; ++i)
    mean += image[i] = float((i * 7919) % 256);
  cudaArray_t level, next;
  CHECK(cudaGetMipmappedArrayLevel(&level, mips, 0));
  CHECK(cudaMemcpy2DToArray(level, 0, 0, image.data(), kSize * 4, kSize * 4, kSize, cudaMemcpyHostToDevice));
  for (int l = 1; l < kLevels; ++l) {
    CHECK(cudaGetMipmappedArrayLevel(&next, mips, l));
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray, r.res.array.array = level;
    cudaTextureDesc d = {};
    d.addressMode[0] = d.addressMode[1] = cudaAddressModeClamp, d.filterMode = cudaFilterModeLinear;
    cudaTextureObject_t from;
    CHECK(cudaCreateTextureObject(&from, &r, &d, nullptr));
    cudaSurfaceObject_t to = surface(next);
    reduce<<<dim3(4, 4), dim3(16, 16)>>>(from, to, kSize >> l);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaDestroyTextureObject(from));
    CHECK(cudaDestroySurfaceObject(to));
    level = next;
  }
  float top = 0;
  CHECK(cudaMemcpy2DFromArray(&top, 4, level, 0, 0, 4, 1, cudaMemcpyDeviceToHost));
  EXPECT(std::fabs(top - mean / (kSize * kSize)) < 1e-2);
  EXPECT(cudaGetMipmappedArrayLevel(&next, mips, kLevels) == cudaErrorInvalidValue);
  cudaGetLastError();
  CHECK(cudaFreeMipmappedArray(mips));
  return done();
}
