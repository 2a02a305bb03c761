// Arrays, textures and surfaces by the runtime API, as nvcc builds programs. Prints what is wrong; exit code 0 if nothing is.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static int failures = 0;

#define CHECK(expression)                                                                            \
  do {                                                                                               \
    if (cudaError_t error = (expression); error != cudaSuccess) {                                    \
      printf("line %d: %s: %s\n", __LINE__, #expression, cudaGetErrorName(error));                   \
      exit(1);                                                                                       \
    }                                                                                                \
  } while (0)

static void expect(bool isRight, const char *what) {
  if (!isRight) {
    printf("%s: wrong\n", what);
    ++failures;
  }
}
static bool isNear(float a, double b) { return std::fabs(a - b) <= 1e-5 * (1 + std::fabs(b)); }

constexpr int kWidth = 64, kHeight = 32, kLayers = 5;

__global__ void rotate(cudaTextureObject_t t, float *out, float angle) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= kWidth || y >= kHeight)
    return;
  float u = float(x) / kWidth - 0.5f, v = float(y) / kHeight - 0.5f;
  out[y * kWidth + x] = tex2D<float>(t, u * cosf(angle) - v * sinf(angle) + 0.5f, v * cosf(angle) + u * sinf(angle) + 0.5f);
}
__global__ void pixels(cudaTextureObject_t t, float4 *out) {
  int x = threadIdx.x, y = blockIdx.x;
  out[y * kWidth + x] = tex2D<float4>(t, x + 1.0f, y + 0.75f);
}
__global__ void elements(cudaTextureObject_t t, uchar4 *out) {
  int x = threadIdx.x, y = blockIdx.x;
  out[y * kWidth + x] = tex2D<uchar4>(t, x, y);
}
__global__ void fetch(cudaTextureObject_t t, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = tex1Dfetch<int>(t, i - 5);
}
__global__ void layered(cudaTextureObject_t t, float *out) {
  out[(blockIdx.y * kHeight + blockIdx.x) * kWidth + threadIdx.x] =
      2 * tex2DLayered<float>(t, threadIdx.x + 0.5f, blockIdx.x + 0.5f, blockIdx.y);
}
__global__ void volume(cudaTextureObject_t t, float *out, int depth) {
  out[(blockIdx.y * kHeight + blockIdx.x) * kWidth + threadIdx.x] =
      tex3D<float>(t, (threadIdx.x + 0.5f) / kWidth, (blockIdx.x + 0.5f) / kHeight, float(blockIdx.y) / depth);
}
__global__ void levels(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex2DLod<float>(t, 0.5f, 0.5f, threadIdx.x * 0.25f); }
__global__ void cube(cudaTextureObject_t t, float *out) {
  const float d[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  out[threadIdx.x] = texCubemap<float>(t, d[threadIdx.x][0], d[threadIdx.x][1], d[threadIdx.x][2]);
}
__global__ void gatherFour(cudaTextureObject_t t, float4 *out) { out[threadIdx.x] = tex2Dgather<float4>(t, threadIdx.x + 1.0f, 1.0f, 0); }
__global__ void invert(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
  int x = threadIdx.x, y = blockIdx.x;
  float value = surf2Dread<float>(from, x * 4, y);
  surf2Dwrite(1 - value, to, (kWidth - 1 - x) * 4, y);
  surf2Dwrite(7.0f, to, 4 * kWidth + x * 4, y, cudaBoundaryModeZero);
}
__global__ void chosen(const cudaTextureObject_t *textures, float *out) {
  out[threadIdx.x] = tex2D<float>(textures[threadIdx.x % 3], 0.5f, 0.5f);
}

static double bilinear(const std::vector<float> &image, double x, double y) {
  double fx = std::floor((x - 0.5) * 256 + 0.5) / 256, fy = std::floor((y - 0.5) * 256 + 0.5) / 256;
  double i = std::floor(fx), j = std::floor(fy), a = fx - i, b = fy - j;
  auto at = [&](double cx, double cy) {
    int px = (int(cx) % kWidth + kWidth) % kWidth, py = (int(cy) % kHeight + kHeight) % kHeight;
    return double(image[py * kWidth + px]);
  };
  return (1 - a) * (1 - b) * at(i, j) + a * (1 - b) * at(i + 1, j) + (1 - a) * b * at(i, j + 1) + a * b * at(i + 1, j + 1);
}

static cudaTextureObject_t make(const cudaResourceDesc &r, cudaTextureAddressMode mode, cudaTextureFilterMode filter, cudaTextureReadMode read,
                                bool isNormalized) {
  cudaTextureDesc d = {};
  d.addressMode[0] = d.addressMode[1] = d.addressMode[2] = mode;
  d.filterMode = d.mipmapFilterMode = filter;
  d.readMode = read;
  d.normalizedCoords = isNormalized;
  d.maxMipmapLevelClamp = 99;
  cudaTextureObject_t t = 0;
  CHECK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  return t;
}
static cudaResourceDesc ofArray(cudaArray_t array) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = array;
  return r;
}
template <class T> static std::vector<T> take(const T *device, size_t count) {
  std::vector<T> host(count);
  CHECK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
  return host;
}

int main() {
  std::vector<float> image(kWidth * kHeight);
  for (size_t i = 0; i < image.size(); ++i)
    image[i] = float(i * 37 % 256) / 255;
  float *out;
  CHECK(cudaMalloc(&out, 1 << 20));

  // Filtered, wrapped, normalised; a rotation.
  cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &floats, kWidth, kHeight));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, image.data(), kWidth * 4, kWidth * 4, kHeight, cudaMemcpyHostToDevice));
  cudaTextureObject_t t = make(ofArray(array), cudaAddressModeWrap, cudaFilterModeLinear, cudaReadModeElementType, true);
  rotate<<<dim3(kWidth / 8, kHeight / 8), dim3(8, 8)>>>(t, out, 0.5f);
  CHECK(cudaDeviceSynchronize());
  auto rotated = take(out, image.size());
  double worst = 0; // a weight may be off by a unit where coordinates round differently
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      double u = double(x) / kWidth - 0.5, v = double(y) / kHeight - 0.5;
      double s = u * std::cos(0.5) - v * std::sin(0.5) + 0.5, r = v * std::cos(0.5) + u * std::sin(0.5) + 0.5;
      s -= std::floor(s), r -= std::floor(r);
      worst = std::fmax(worst, std::fabs(rotated[y * kWidth + x] - bilinear(image, s * kWidth, r * kHeight)));
    }
  expect(worst < 0.01, "rotation");
  CHECK(cudaDestroyTextureObject(t));

  // Bytes as fractions, four channels, between texels; and as elements. Pitched memory.
  std::vector<uchar4> bytes(kWidth * kHeight);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = make_uchar4(i * 7, i * 11, i * 13, i * 17);
  uchar4 *pitched;
  size_t pitch;
  CHECK(cudaMallocPitch(&pitched, &pitch, kWidth * 4, kHeight));
  CHECK(cudaMemcpy2D(pitched, pitch, bytes.data(), kWidth * 4, kWidth * 4, kHeight, cudaMemcpyHostToDevice));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypePitch2D;
  r.res.pitch2D = {pitched, cudaCreateChannelDesc<uchar4>(), kWidth, kHeight, pitch};
  t = make(r, cudaAddressModeClamp, cudaFilterModeLinear, cudaReadModeNormalizedFloat, false);
  pixels<<<kHeight, kWidth>>>(t, reinterpret_cast<float4 *>(out));
  auto mixed = take(reinterpret_cast<float4 *>(out), bytes.size());
  bool isRight = true;
  for (int y = 0; y + 1 < kHeight; ++y)
    for (int x = 0; x + 1 < kWidth; ++x) {
      auto at = [&](int i, int j) { return double(bytes[j * kWidth + i].y) / 255; };
      double wanted = 0.5 * 0.75 * (at(x, y) + at(x + 1, y)) + 0.5 * 0.25 * (at(x, y + 1) + at(x + 1, y + 1));
      isRight &= isNear(mixed[y * kWidth + x].y, wanted);
    }
  expect(isRight, "bytes as fractions");
  cudaTextureObject_t whole = make(r, cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeElementType, false);
  elements<<<kHeight, kWidth>>>(whole, reinterpret_cast<uchar4 *>(out));
  auto same = take(reinterpret_cast<uchar4 *>(out), bytes.size());
  isRight = true;
  for (size_t i = 0; i < bytes.size(); ++i)
    isRight &= same[i].x == bytes[i].x && same[i].w == bytes[i].w;
  expect(isRight, "elements");

  // Linear memory, past both ends.
  std::vector<int> numbers(1000);
  for (int i = 0; i < 1000; ++i)
    numbers[i] = i * i;
  int *linear;
  CHECK(cudaMalloc(&linear, 4000));
  CHECK(cudaMemcpy(linear, numbers.data(), 4000, cudaMemcpyHostToDevice));
  r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear = {linear, cudaCreateChannelDesc<int>(), 4000};
  t = make(r, cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeElementType, false);
  fetch<<<4, 256>>>(t, reinterpret_cast<int *>(out), 1000);
  auto fetched = take(reinterpret_cast<int *>(out), 1024);
  isRight = true;
  for (int i = 0; i < 1024; ++i)
    isRight &= fetched[i] == (i < 5 || i >= 1005 ? 0 : numbers[i - 5]);
  expect(isRight, "linear memory");
  size_t most = 0;
  CHECK(cudaDeviceGetTexture1DLinearMaxWidth(&most, &r.res.linear.desc, 0));
  expect(most >= 1 << 27, "the widest linear texture");

  // Layers and volumes by 3D copies, and back.
  std::vector<float> stack(kWidth * kHeight * kLayers);
  for (size_t i = 0; i < stack.size(); ++i)
    stack[i] = float(i % 1013);
  for (bool isVolume : {false, true}) {
    cudaArray_t deep;
    CHECK(cudaMalloc3DArray(&deep, &floats, make_cudaExtent(kWidth, kHeight, kLayers), isVolume ? 0 : cudaArrayLayered));
    cudaMemcpy3DParms c = {};
    c.srcPtr = make_cudaPitchedPtr(stack.data(), kWidth * 4, kWidth, kHeight);
    c.dstArray = deep;
    c.extent = make_cudaExtent(kWidth, kHeight, kLayers);
    c.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&c));
    t = make(ofArray(deep), cudaAddressModeClamp, cudaFilterModeLinear, cudaReadModeElementType, isVolume);
    if (isVolume)
      volume<<<dim3(kHeight, kLayers), kWidth>>>(t, out, kLayers);
    else
      layered<<<dim3(kHeight, kLayers), kWidth>>>(t, out);
    auto seen = take(out, stack.size());
    isRight = true;
    for (int z = 0; z < kLayers; ++z)
      for (int i = 0; i < kWidth * kHeight; ++i) {
        double here = stack[z * kWidth * kHeight + i], before = stack[(z ? z - 1 : 0) * kWidth * kHeight + i];
        isRight &= isNear(seen[z * kWidth * kHeight + i], isVolume ? (here + before) / 2 : 2 * here);
      }
    expect(isRight, isVolume ? "volume" : "layers");
    std::vector<float> part(10 * 3 * 2);
    cudaMemcpy3DParms back = {};
    back.srcArray = deep;
    back.srcPos = make_cudaPos(5, 6, 1);
    back.dstPtr = make_cudaPitchedPtr(part.data(), 40, 10, 3);
    back.extent = make_cudaExtent(10, 3, 2);
    back.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&back));
    expect(part[0] == stack[(kHeight + 6) * kWidth + 5] && part[59] == stack[(2 * kHeight + 8) * kWidth + 14], "part of an array");
    cudaChannelFormatDesc d;
    cudaExtent extent;
    unsigned flags;
    CHECK(cudaArrayGetInfo(&d, &extent, &flags, deep));
    expect(d.x == 32 && d.y == 0 && d.f == cudaChannelFormatKindFloat && extent.depth == kLayers && flags == (isVolume ? 0 : cudaArrayLayered),
           "what an array says of itself");
    CHECK(cudaFreeArray(deep));
  }

  // A mipmap: level n holds n everywhere.
  cudaMipmappedArray_t mipmap;
  CHECK(cudaMallocMipmappedArray(&mipmap, &floats, make_cudaExtent(16, 16, 0), 5));
  for (int n = 0; n < 5; ++n) {
    std::vector<float> level((16 >> n) * (16 >> n), float(n));
    cudaArray_t a;
    CHECK(cudaGetMipmappedArrayLevel(&a, mipmap, n));
    CHECK(cudaMemcpy2DToArray(a, 0, 0, level.data(), (16 >> n) * 4, (16 >> n) * 4, 16 >> n, cudaMemcpyHostToDevice));
  }
  r = {};
  r.resType = cudaResourceTypeMipmappedArray;
  r.res.mipmap.mipmap = mipmap;
  t = make(r, cudaAddressModeClamp, cudaFilterModeLinear, cudaReadModeElementType, true);
  levels<<<1, 32>>>(t, out);
  auto lods = take(out, 32);
  isRight = true;
  for (int i = 0; i < 32; ++i)
    isRight &= isNear(lods[i], std::fmin(i * 0.25, 4));
  expect(isRight, "mipmap");
  CHECK(cudaFreeMipmappedArray(mipmap));

  // A cube: face n holds n.
  cudaArray_t faces;
  CHECK(cudaMalloc3DArray(&faces, &floats, make_cudaExtent(8, 8, 6), cudaArrayCubemap));
  std::vector<float> six(8 * 8 * 6);
  for (size_t i = 0; i < six.size(); ++i)
    six[i] = float(i / 64);
  cudaMemcpy3DParms c = {};
  c.srcPtr = make_cudaPitchedPtr(six.data(), 32, 8, 8);
  c.dstArray = faces;
  c.extent = make_cudaExtent(8, 8, 6);
  c.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&c));
  t = make(ofArray(faces), cudaAddressModeWrap, cudaFilterModeLinear, cudaReadModeElementType, true);
  cube<<<1, 6>>>(t, out);
  auto sides = take(out, 6);
  for (int i = 0; i < 6; ++i)
    expect(sides[i] == i, "cube");

  // Gather.
  cudaArray_t gathered;
  CHECK(cudaMallocArray(&gathered, &floats, kWidth, kHeight, cudaArrayTextureGather));
  CHECK(cudaMemcpyToArray(gathered, 0, 0, image.data(), image.size() * 4, cudaMemcpyHostToDevice));
  t = make(ofArray(gathered), cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeElementType, false);
  gatherFour<<<1, 32>>>(t, reinterpret_cast<float4 *>(out));
  auto fours = take(reinterpret_cast<float4 *>(out), 32);
  isRight = true;
  for (int i = 0; i < 32; ++i)
    isRight &= fours[i].x == image[kWidth + i] && fours[i].y == image[kWidth + i + 1] && fours[i].z == image[i + 1] && fours[i].w == image[i];
  expect(isRight, "gather");

  // Surfaces.
  cudaArray_t from, to;
  CHECK(cudaMallocArray(&from, &floats, kWidth, kHeight, cudaArraySurfaceLoadStore));
  CHECK(cudaMallocArray(&to, &floats, kWidth, kHeight, cudaArraySurfaceLoadStore));
  CHECK(cudaMemcpy2DArrayToArray(from, 0, 0, array, 0, 0, kWidth * 4, kHeight));
  cudaResourceDesc rf = ofArray(from), rt = ofArray(to);
  cudaSurfaceObject_t sf, st;
  CHECK(cudaCreateSurfaceObject(&sf, &rf));
  CHECK(cudaCreateSurfaceObject(&st, &rt));
  invert<<<kHeight, kWidth>>>(sf, st);
  std::vector<float> inverted(image.size());
  CHECK(cudaMemcpy2DFromArray(inverted.data(), kWidth * 4, to, 0, 0, kWidth * 4, kHeight, cudaMemcpyDeviceToHost));
  isRight = true;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x)
      isRight &= inverted[y * kWidth + kWidth - 1 - x] == 1 - image[y * kWidth + x];
  expect(isRight, "surfaces");
  CHECK(cudaDestroySurfaceObject(sf));
  CHECK(cudaDestroySurfaceObject(st));

  // A texture of its own for each thread.
  cudaTextureObject_t three[3];
  for (int n = 0; n < 3; ++n) {
    float value = float(n + 1);
    cudaArray_t one;
    CHECK(cudaMallocArray(&one, &floats, 1, 1));
    CHECK(cudaMemcpy2DToArray(one, 0, 0, &value, 4, 4, 1, cudaMemcpyHostToDevice));
    three[n] = make(ofArray(one), cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeElementType, false);
  }
  cudaTextureObject_t *handles;
  CHECK(cudaMalloc(&handles, sizeof three));
  CHECK(cudaMemcpy(handles, three, sizeof three, cudaMemcpyHostToDevice));
  chosen<<<1, 64>>>(handles, out);
  auto own = take(out, 64);
  isRight = true;
  for (int i = 0; i < 64; ++i)
    isRight &= own[i] == i % 3 + 1;
  expect(isRight, "textures by thread");

  // What objects say, and what is refused.
  cudaResourceDesc said;
  cudaTextureDesc how;
  CHECK(cudaGetTextureObjectResourceDesc(&said, three[0]));
  CHECK(cudaGetTextureObjectTextureDesc(&how, whole));
  expect(said.resType == cudaResourceTypeArray && how.addressMode[0] == cudaAddressModeClamp && how.readMode == cudaReadModeElementType,
         "what objects say");
  cudaChannelFormatDesc wrong = cudaCreateChannelDesc(32, 16, 0, 0, cudaChannelFormatKindFloat);
  expect(cudaMallocArray(&from, &wrong, 4, 4) == cudaErrorInvalidChannelDescriptor, "a descriptor that is none");
  expect(cudaMemcpy2DToArray(to, 0, 1, image.data(), kWidth * 4, kWidth * 4, kHeight, cudaMemcpyHostToDevice) == cudaErrorInvalidValue,
         "a copy that leaves the array");
  cudaGetLastError();
  CHECK(cudaFreeArray(array));
  CHECK(cudaDeviceSynchronize());
  printf(failures ? "FAILED\n" : "passed\n");
  return failures != 0;
}
