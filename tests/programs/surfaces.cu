// Surfaces and textures of every geometry by the runtime API: read and written by kernels, mipmaps made by kernels, layers, cubes, gathers,
// linear and pitched memory, normalised reads, borders.
#include "check.h"

__global__ void fill2D(cudaSurfaceObject_t s, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < w)
    surf2Dwrite(make_uchar4(x, y, x + y, 255), s, x * 4, y);
}
__global__ void smaller(cudaTextureObject_t from, cudaSurfaceObject_t to, int w) {
  int x = threadIdx.x, y = blockIdx.x;
  float4 c = tex2D<float4>(from, (x + 0.5f) / w, (y + 0.5f) / w);
  surf2Dwrite(make_uchar4(c.x * 255 + 0.5f, c.y * 255 + 0.5f, c.z * 255 + 0.5f, c.w * 255 + 0.5f), to, x * 4, y);
}
__global__ void sample(cudaTextureObject_t t, float4 *out, float u, float v) { out[threadIdx.x] = tex2DLod<float4>(t, u, v, threadIdx.x * 0.5f); }
__global__ void layers(cudaSurfaceObject_t s, cudaTextureObject_t t, float *out) {
  int x = threadIdx.x, l = blockIdx.x;
  float v;
  surf1DLayeredread(&v, s, x * 4, l);
  out[l * 32 + x] = v + 1000 * tex1DLayered<float>(t, x + 0.5f, l);
}
__global__ void volume(cudaSurfaceObject_t s, int add) {
  int v;
  surf3Dread(&v, s, threadIdx.x * 4, threadIdx.y, blockIdx.x, cudaBoundaryModeTrap);
  surf3Dwrite(v + add, s, threadIdx.x * 4, threadIdx.y, blockIdx.x);
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    surf3Dread(&v, s, 100, 0, 0, cudaBoundaryModeZero);
    surf3Dwrite(v + 5, s, 4000, 0, 0, cudaBoundaryModeZero); // nothing happens
  }
}
__global__ void linear(cudaTextureObject_t a, cudaTextureObject_t b, float *out, int n) {
  int i = threadIdx.x;
  out[i] = tex1Dfetch<float>(a, i) + tex2D<float>(b, i % 8 + 0.25f, i / 8 - 0.25f);
}
__global__ void cubes(cudaTextureObject_t t, float *out) {
  float d[6][3] = {{1, 0.1f, 0.2f}, {-1, 0.1f, 0.2f}, {0.1f, 1, 0.2f}, {0.1f, -1, 0.2f}, {0.1f, 0.2f, 1}, {0.1f, 0.2f, -1}};
  float *v = d[threadIdx.x];
  out[6 * blockIdx.x + threadIdx.x] = texCubemapLayered<float>(t, v[0], v[1], v[2], blockIdx.x);
}

int main() {
  const int w = 64;
  cudaChannelFormatDesc bytes = cudaCreateChannelDesc<uchar4>(), floats = cudaCreateChannelDesc<float>(), ints = cudaCreateChannelDesc<int>();
  cudaMipmappedArray_t mips;
  CHECK(cudaMallocMipmappedArray(&mips, &bytes, make_cudaExtent(w, w, 0), 7, cudaArraySurfaceLoadStore));
  cudaArray_t level, next;
  for (int l = 0; l < 7; ++l) {
    CHECK(cudaGetMipmappedArrayLevel(&next, mips, l));
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray, r.res.array.array = next;
    cudaSurfaceObject_t surface;
    CHECK(cudaCreateSurfaceObject(&surface, &r));
    if (l == 0)
      fill2D<<<dim3(2, w), 32>>>(surface, w, w);
    else {
      cudaTextureDesc t = {};
      t.addressMode[0] = t.addressMode[1] = cudaAddressModeClamp, t.filterMode = cudaFilterModeLinear, t.readMode = cudaReadModeNormalizedFloat;
      t.normalizedCoords = 1;
      r.res.array.array = level;
      cudaTextureObject_t texture;
      CHECK(cudaCreateTextureObject(&texture, &r, &t, nullptr));
      smaller<<<w >> l, w >> l>>>(texture, surface, w >> l);
      CHECK(cudaDeviceSynchronize());
      CHECK(cudaDestroyTextureObject(texture));
    }
    CHECK(cudaDestroySurfaceObject(surface));
    cudaExtent e;
    cudaChannelFormatDesc f;
    unsigned flags;
    CHECK(cudaArrayGetInfo(&f, &e, &flags, next));
    EXPECT(e.width == size_t(w >> l) && f.x == 8 && f.w == 8);
    level = next;
  }
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeMipmappedArray, r.res.mipmap.mipmap = mips;
  cudaTextureDesc t = {};
  t.addressMode[0] = t.addressMode[1] = cudaAddressModeWrap, t.filterMode = t.mipmapFilterMode = cudaFilterModeLinear, t.readMode = cudaReadModeNormalizedFloat;
  t.normalizedCoords = 1, t.maxMipmapLevelClamp = 6, t.maxAnisotropy = 4;
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &r, &t, nullptr));
  float4 *out;
  CHECK(cudaMallocManaged(&out, 16 * 64));
  sample<<<1, 13>>>(texture, out, 0.5f, 1.25f);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 12; ++i) // means of means: the middle of the ramp, all the way
    EXPECT(std::fabs(out[i].x * 255 - 31.5) < 1.6 && std::fabs(out[i].w - 1) < 0.01);
  EXPECT(std::fabs(out[0].y * 255 - 15.5) < 0.6);

  cudaArray_t array;
  CHECK(cudaMalloc3DArray(&array, &floats, make_cudaExtent(32, 0, 5), cudaArrayLayered | cudaArraySurfaceLoadStore));
  std::vector<float> host(160);
  for (int i = 0; i < 160; ++i)
    host[i] = i * 0.5f;
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(host.data(), 128, 32, 1), copy.dstArray = array, copy.extent = make_cudaExtent(32, 1, 5), copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  r = {};
  r.resType = cudaResourceTypeArray, r.res.array.array = array;
  t = {};
  cudaSurfaceObject_t surface;
  CHECK(cudaCreateSurfaceObject(&surface, &r));
  CHECK(cudaCreateTextureObject(&texture, &r, &t, nullptr));
  float *f = (float *)out;
  CHECK(cudaMallocManaged(&f, 4096));
  layers<<<5, 32>>>(surface, texture, f);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 160; ++i)
    EXPECT(f[i] == i * 0.5f * 1001);

  CHECK(cudaMalloc3DArray(&array, &ints, make_cudaExtent(8, 4, 3), cudaArraySurfaceLoadStore));
  std::vector<int> box(96, 11), back(96);
  copy = {};
  copy.srcPtr = make_cudaPitchedPtr(box.data(), 32, 8, 4), copy.dstArray = array, copy.extent = make_cudaExtent(8, 4, 3), copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  r.res.array.array = array;
  CHECK(cudaCreateSurfaceObject(&surface, &r));
  volume<<<3, dim3(8, 4)>>>(surface, 31);
  copy = {};
  copy.srcArray = array, copy.dstPtr = make_cudaPitchedPtr(back.data(), 32, 8, 4), copy.extent = make_cudaExtent(8, 4, 3), copy.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&copy));
  for (int v : back)
    EXPECT(v == 42);

  float *buffer = toDevice(host), *pitched;
  size_t pitch;
  CHECK(cudaMallocPitch(&pitched, &pitch, 32, 4));
  CHECK(cudaMemcpy2D(pitched, pitch, host.data(), 32, 32, 4, cudaMemcpyHostToDevice));
  r = {};
  r.resType = cudaResourceTypeLinear, r.res.linear.devPtr = buffer, r.res.linear.desc = floats, r.res.linear.sizeInBytes = 160 * 4;
  cudaTextureObject_t line, plane;
  CHECK(cudaCreateTextureObject(&line, &r, &t, nullptr));
  r = {};
  r.resType = cudaResourceTypePitch2D, r.res.pitch2D.devPtr = pitched, r.res.pitch2D.desc = floats, r.res.pitch2D.width = 8, r.res.pitch2D.height = 4, r.res.pitch2D.pitchInBytes = pitch;
  t.addressMode[0] = t.addressMode[1] = cudaAddressModeBorder;
  t.borderColor[0] = -3;
  CHECK(cudaCreateTextureObject(&plane, &r, &t, nullptr));
  linear<<<1, 32>>>(line, plane, f, 32);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i)
    EXPECT(f[i] == i * 0.5f + (i < 8 ? -3 : (i - 8) * 0.5f));

  CHECK(cudaMalloc3DArray(&array, &floats, make_cudaExtent(4, 4, 12), cudaArrayCubemap | cudaArrayLayered));
  host.resize(16 * 12);
  for (int i = 0; i < 16 * 12; ++i)
    host[i] = i / 16;
  copy = {};
  copy.srcPtr = make_cudaPitchedPtr(host.data(), 16, 4, 4), copy.dstArray = array, copy.extent = make_cudaExtent(4, 4, 12), copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  r = {};
  r.resType = cudaResourceTypeArray, r.res.array.array = array;
  t = {};
  t.normalizedCoords = 1, t.filterMode = cudaFilterModeLinear;
  CHECK(cudaCreateTextureObject(&texture, &r, &t, nullptr));
  cubes<<<2, 6>>>(texture, f);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 12; ++i)
    EXPECT(f[i] == i);
  return done();
}
