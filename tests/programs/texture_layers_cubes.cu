// Layered textures of one and two dimensions, cubemaps and layered cubemaps: faces and layers written by surfaces, read by textures; what
// textures answer about themselves.
#include "check.h"
#include <algorithm>
// nvcc: -arch=compute_90
const int kEdge = 16, kLayers = 4;

__global__ void writeLayers(cudaSurfaceObject_t s) {
  int x = threadIdx.x, y = blockIdx.x, layer = blockIdx.y;
  surf2DLayeredwrite(float(x + 100 * y + 10000 * layer), s, x * sizeof(float), y, layer);
}
__global__ void readLayers(cudaTextureObject_t t, float *out) {
  int x = threadIdx.x, y = blockIdx.x, layer = blockIdx.y;
  out[(layer * kEdge + y) * kEdge + x] = tex2DLayered<float>(t, x + 0.5f, y + 0.5f, layer);
}
__global__ void halfway(cudaTextureObject_t t, float *out) {
  int layer = threadIdx.x; // layers outside are clamped
  out[threadIdx.x] = tex2DLayered<float>(t, 3.0f, 5.0f, layer);
}
__global__ void writeCube(cudaSurfaceObject_t s, int cubes) {
  int x = threadIdx.x, y = blockIdx.x, face = blockIdx.y;
  if (cubes == 1)
    surfCubemapwrite(make_float2(face, x * kEdge + y), s, x * sizeof(float2), y, face);
  else
    surfCubemapLayeredwrite(make_float2(face, x * kEdge + y), s, x * sizeof(float2), y, face);
}
/// The direction to the middle of texel (x, y) of a face.
__host__ __device__ void direction(int face, float x, float y, float *d) {
  float u = 2 * (x + 0.5f) / kEdge - 1, v = 2 * (y + 0.5f) / kEdge - 1;
  switch (face) {
  case 0: d[0] = 1, d[1] = -v, d[2] = -u; break;
  case 1: d[0] = -1, d[1] = -v, d[2] = u; break;
  case 2: d[0] = u, d[1] = 1, d[2] = v; break;
  case 3: d[0] = u, d[1] = -1, d[2] = -v; break;
  case 4: d[0] = u, d[1] = -v, d[2] = 1; break;
  default: d[0] = -u, d[1] = -v, d[2] = -1; break;
  }
}
__global__ void readCube(cudaTextureObject_t t, const float *directions, float2 *out, int cubes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float *d = directions + 3 * i;
  if (cubes == 1)
    out[i] = texCubemap<float2>(t, d[0], d[1], d[2]);
  else
    out[i] = texCubemapLayered<float2>(t, d[0], d[1], d[2], blockIdx.x / (6 * kEdge));
}
__global__ void line(cudaSurfaceObject_t s, cudaTextureObject_t t, int *out) {
  int x = threadIdx.x, layer = blockIdx.x;
  surf1DLayeredwrite(x * 7 + layer, s, x * 4, layer);
  __syncthreads();
  int back = 0;
  surf1DLayeredread(&back, s, (blockDim.x - 1 - x) * 4, layer);
  out[layer * blockDim.x + x] = back;
}

static cudaTextureObject_t makeTexture(cudaArray_t array, bool normalized, cudaTextureFilterMode filter) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray, r.res.array.array = array;
  cudaTextureDesc t = {};
  t.addressMode[0] = t.addressMode[1] = t.addressMode[2] = cudaAddressModeClamp;
  t.filterMode = filter, t.readMode = cudaReadModeElementType, t.normalizedCoords = normalized;
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &r, &t, nullptr));
  cudaResourceDesc again;
  cudaTextureDesc how;
  CHECK(cudaGetTextureObjectResourceDesc(&again, texture));
  CHECK(cudaGetTextureObjectTextureDesc(&how, texture));
  EXPECT(again.resType == cudaResourceTypeArray && again.res.array.array == array);
  EXPECT(how.filterMode == filter && how.normalizedCoords == int(normalized) && how.addressMode[0] == cudaAddressModeClamp);
  return texture;
}
static cudaSurfaceObject_t makeSurface(cudaArray_t array) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray, r.res.array.array = array;
  cudaSurfaceObject_t surface;
  CHECK(cudaCreateSurfaceObject(&surface, &r));
  return surface;
}

int main() {
  cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  cudaArray_t layers;
  CHECK(cudaMalloc3DArray(&layers, &format, make_cudaExtent(kEdge, kEdge, kLayers), cudaArrayLayered | cudaArraySurfaceLoadStore));
  cudaSurfaceObject_t surface = makeSurface(layers);
  cudaTextureObject_t texture = makeTexture(layers, false, cudaFilterModeLinear);
  writeLayers<<<dim3(kEdge, kLayers), kEdge>>>(surface);
  float *d;
  CHECK(cudaMalloc(&d, kEdge * kEdge * kLayers * 4));
  readLayers<<<dim3(kEdge, kLayers), kEdge>>>(texture, d);
  std::vector<float> all = toHost(d, kEdge * kEdge * kLayers);
  for (int i = 0; i < kEdge * kEdge * kLayers; ++i)
    EXPECT(all[i] == i % kEdge + 100 * (i / kEdge % kEdge) + 10000 * (i / kEdge / kEdge));
  halfway<<<1, 8>>>(texture, d);
  std::vector<float> some = toHost(d, 8);
  for (int i = 0; i < 8; ++i) // between texels 2 and 3, 4 and 5, and never between layers
    EXPECT(some[i] == 2.5f + 450 + 10000 * std::min(i, kLayers - 1));
  // a layer to the host and back to another layer
  std::vector<float> plane(kEdge * kEdge);
  cudaMemcpy3DParms copy = {};
  copy.srcArray = layers, copy.srcPos = make_cudaPos(0, 0, 2), copy.extent = make_cudaExtent(kEdge, kEdge, 1);
  copy.dstPtr = make_cudaPitchedPtr(plane.data(), kEdge * 4, kEdge, kEdge), copy.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&copy));
  EXPECT(plane[0] == 20000 && plane[kEdge * kEdge - 1] == 20000 + 1515);
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaDestroySurfaceObject(surface));
  CHECK(cudaFreeArray(layers));

  cudaChannelFormatDesc pair = cudaCreateChannelDesc(32, 32, 0, 0, cudaChannelFormatKindFloat);
  for (int cubes = 1; cubes <= 3; cubes += 2) {
    cudaArray_t array;
    unsigned flags = cudaArrayCubemap | cudaArraySurfaceLoadStore | (cubes > 1 ? cudaArrayLayered : 0);
    CHECK(cudaMalloc3DArray(&array, &pair, make_cudaExtent(kEdge, kEdge, 6 * cubes), flags));
    cudaChannelFormatDesc back;
    cudaExtent extent;
    unsigned had;
    CHECK(cudaArrayGetInfo(&back, &extent, &had, array));
    EXPECT(had == flags && extent.depth == size_t(6 * cubes) && back.y == 32);
    surface = makeSurface(array);
    writeCube<<<dim3(kEdge, 6 * cubes), kEdge>>>(surface, cubes);
    texture = makeTexture(array, true, cudaFilterModePoint);
    std::vector<float> directions;
    for (int face = 0; face < 6 * cubes; ++face)
      for (int y = 0; y < kEdge; ++y)
        for (int x = 0; x < kEdge; ++x) {
          float v[3], scale = 0.25f + (x * 5 + y) % 7;
          direction(face % 6, x, y, v);
          for (float c : v)
            directions.push_back(c * scale);
        }
    float *in = toDevice(directions);
    float2 *out;
    int n = 6 * cubes * kEdge * kEdge;
    CHECK(cudaMalloc(&out, n * sizeof(float2)));
    readCube<<<n / kEdge, kEdge>>>(texture, in, out, cubes);
    std::vector<float2> got = toHost(out, n);
    for (int i = 0; i < n; ++i)
      EXPECT(got[i].x == i / kEdge / kEdge && got[i].y == i % kEdge * kEdge + i / kEdge % kEdge);
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFreeArray(array));
  }
  cudaChannelFormatDesc ints = cudaCreateChannelDesc<int>();
  cudaArray_t lines;
  CHECK(cudaMalloc3DArray(&lines, &ints, make_cudaExtent(64, 0, 3), cudaArrayLayered | cudaArraySurfaceLoadStore));
  surface = makeSurface(lines);
  int *di;
  CHECK(cudaMalloc(&di, 64 * 3 * 4));
  line<<<3, 64>>>(surface, 0, di);
  std::vector<int> values = toHost(di, 192);
  for (int i = 0; i < 192; ++i)
    EXPECT(values[i] == (63 - i % 64) * 7 + i / 64);
  return done();
}
