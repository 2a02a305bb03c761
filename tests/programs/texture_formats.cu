// Texels of every format: 8, 16 and 32 bits, signed, unsigned, half and float, one, two and four channels, as elements and as normalized floats; linear
// memory, pitched memory and gathers.
#include "check.h"
#include <cuda_fp16.h>
// nvcc: -arch=compute_90
template <class T, class R> __global__ void read(cudaTextureObject_t t, R *out, int w) {
  int x = threadIdx.x, y = blockIdx.x;
  out[y * w + x] = tex2D<R>(t, x + 0.5f, y + 0.5f);
}
template <class T> __global__ void fetch(cudaTextureObject_t t, T *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = tex1Dfetch<T>(t, n - 1 - i);
}
__global__ void gather(cudaTextureObject_t t, float4 *out, int channel) {
  float x = threadIdx.x + 1, y = 2;
  if (channel == 0)
    out[threadIdx.x] = tex2Dgather<float4>(t, x, y, 0);
  else if (channel == 1)
    out[threadIdx.x] = tex2Dgather<float4>(t, x, y, 1);
  else
    out[threadIdx.x] = tex2Dgather<float4>(t, x, y, 3);
}

const int w = 32, h = 8;

template <class T> static cudaTextureObject_t arrayTexture(const std::vector<T> &data, cudaTextureReadMode mode, cudaArray_t *array, unsigned flags = 0) {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
  CHECK(cudaMallocArray(array, &format, w, h, flags));
  CHECK(cudaMemcpy2DToArray(*array, 0, 0, data.data(), w * sizeof(T), w * sizeof(T), h, cudaMemcpyHostToDevice));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray, r.res.array.array = *array;
  cudaTextureDesc t = {};
  t.addressMode[0] = t.addressMode[1] = cudaAddressModeClamp;
  t.filterMode = cudaFilterModePoint, t.readMode = mode;
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &r, &t, nullptr));
  return texture;
}
template <class T, class R, class F> static void elements(const char *name, cudaTextureReadMode mode, F expected) {
  std::vector<T> data(w * h);
  for (size_t i = 0; i < sizeof(T) * w * h; ++i)
    ((unsigned char *)data.data())[i] = (unsigned char)(i * 37 + i / 11);
  cudaArray_t array;
  cudaTextureObject_t texture = arrayTexture(data, mode, &array);
  R *out;
  CHECK(cudaMalloc(&out, sizeof(R) * w * h));
  read<T, R><<<h, w>>>(texture, out, w);
  CHECK(cudaGetLastError());
  std::vector<R> got = toHost(out, w * h);
  int wrong = 0;
  for (int i = 0; i < w * h; ++i)
    if (!expected(data[i], got[i]) && wrong++ == 0)
      printf("%s: texel %d is wrong\n", name, i);
  EXPECT(wrong == 0);
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFree(out));
  CHECK(cudaFreeArray(array));
}
static bool near(float a, double b) { return std::fabs(a - b) < 1e-6; }

int main() {
  auto same = [](auto a, auto b) { return memcmp(&a, &b, sizeof a) == 0; };
  elements<signed char, signed char>("char", cudaReadModeElementType, same);
  elements<unsigned char, unsigned char>("uchar", cudaReadModeElementType, same);
  elements<char2, char2>("char2", cudaReadModeElementType, same);
  elements<uchar4, uchar4>("uchar4", cudaReadModeElementType, same);
  elements<short, short>("short", cudaReadModeElementType, same);
  elements<ushort2, ushort2>("ushort2", cudaReadModeElementType, same);
  elements<short4, short4>("short4", cudaReadModeElementType, same);
  elements<int, int>("int", cudaReadModeElementType, same);
  elements<uint2, uint2>("uint2", cudaReadModeElementType, same);
  elements<int4, int4>("int4", cudaReadModeElementType, same);
  elements<float2, float2>("float2", cudaReadModeElementType, [](float2 a, float2 b) { return (a.x == b.x || a.x != a.x) && (a.y == b.y || a.y != a.y); });
  elements<unsigned char, float>("uchar as float", cudaReadModeNormalizedFloat, [](unsigned char a, float b) { return near(b, a / 255.0); });
  elements<signed char, float>("char as float", cudaReadModeNormalizedFloat, [](signed char a, float b) { return near(b, std::max(a / 127.0, -1.0)); });
  elements<ushort2, float2>("ushort2 as float", cudaReadModeNormalizedFloat,
                            [](ushort2 a, float2 b) { return near(b.x, a.x / 65535.0) && near(b.y, a.y / 65535.0); });
  elements<short4, float4>("short4 as float", cudaReadModeNormalizedFloat, [](short4 a, float4 b) {
    auto value = [](short v) { return std::max(v / 32767.0, -1.0); };
    return near(b.x, value(a.x)) && near(b.y, value(a.y)) && near(b.z, value(a.z)) && near(b.w, value(a.w));
  });

  // halves are read as floats
  std::vector<__half> halves(w * h);
  for (int i = 0; i < w * h; ++i)
    halves[i] = __float2half(i * 0.25f - 20);
  cudaChannelFormatDesc format = cudaCreateChannelDescHalf();
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &format, w, h));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, halves.data(), w * 2, w * 2, h, cudaMemcpyHostToDevice));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray, r.res.array.array = array;
  cudaTextureDesc t = {};
  t.filterMode = cudaFilterModeLinear, t.addressMode[0] = t.addressMode[1] = cudaAddressModeClamp;
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &r, &t, nullptr));
  float *out;
  CHECK(cudaMalloc(&out, w * h * 4));
  read<float, float><<<h, w>>>(texture, out, w);
  std::vector<float> got = toHost(out, w * h);
  for (int i = 0; i < w * h; ++i)
    EXPECT(got[i] == i * 0.25f - 20);

  // linear memory: beyond its end there are zeros
  std::vector<int4> line(1000);
  for (int i = 0; i < 1000; ++i)
    line[i] = make_int4(i, -i, i * i, 7);
  int4 *memory = toDevice(line), *back;
  CHECK(cudaMalloc(&back, 1010 * sizeof(int4)));
  r = {};
  r.resType = cudaResourceTypeLinear, r.res.linear.devPtr = memory, r.res.linear.desc = cudaCreateChannelDesc<int4>();
  r.res.linear.sizeInBytes = 1000 * sizeof(int4);
  t = {};
  CHECK(cudaCreateTextureObject(&texture, &r, &t, nullptr));
  fetch<int4><<<8, 128>>>(texture, back, 1010);
  std::vector<int4> lines = toHost(back, 1010);
  for (int i = 0; i < 1010; ++i) {
    int at = 1009 - i;
    EXPECT(at < 1000 ? lines[i].x == at && lines[i].y == -at && lines[i].z == at * at && lines[i].w == 7 : lines[i].x == 0 && lines[i].w == 0);
  }
  // pitched memory, with filtering
  unsigned char *pitched;
  size_t pitch;
  CHECK(cudaMallocPitch(&pitched, &pitch, w, h));
  std::vector<unsigned char> image(w * h);
  for (int i = 0; i < w * h; ++i)
    image[i] = (unsigned char)(i % w * 8);
  CHECK(cudaMemcpy2D(pitched, pitch, image.data(), w, w, h, cudaMemcpyHostToDevice));
  r = {};
  r.resType = cudaResourceTypePitch2D, r.res.pitch2D.devPtr = pitched, r.res.pitch2D.desc = cudaCreateChannelDesc<unsigned char>();
  r.res.pitch2D.width = w, r.res.pitch2D.height = h, r.res.pitch2D.pitchInBytes = pitch;
  t.readMode = cudaReadModeNormalizedFloat, t.filterMode = cudaFilterModePoint, t.addressMode[0] = t.addressMode[1] = cudaAddressModeClamp;
  CHECK(cudaCreateTextureObject(&texture, &r, &t, nullptr));
  read<unsigned char, float><<<h, w>>>(texture, out, w);
  got = toHost(out, w * h);
  for (int i = 0; i < w * h; ++i)
    EXPECT(near(got[i], image[i] / 255.0));
  // gathers: the four texels around a point, from lower left against the clock
  std::vector<uchar4> colours(w * h);
  for (int i = 0; i < w * h; ++i)
    colours[i] = make_uchar4(i, i / 2, 0, 255 - i);
  texture = arrayTexture(colours, cudaReadModeNormalizedFloat, &array, cudaArrayTextureGather);
  float4 *fours;
  CHECK(cudaMalloc(&fours, w * sizeof(float4)));
  for (int channel : {0, 1, 3}) {
    gather<<<1, w - 1>>>(texture, fours, channel);
    std::vector<float4> g = toHost(fours, w - 1);
    for (int x = 0; x < w - 1; ++x) {
      auto value = [&](int dx, int dy) {
        uchar4 c = colours[(1 + dy) * w + x + dx];
        return (channel == 0 ? c.x : channel == 1 ? c.y : c.w) / 255.0;
      };
      EXPECT(near(g[x].x, value(0, 1)) && near(g[x].y, value(1, 1)) && near(g[x].z, value(1, 0)) && near(g[x].w, value(0, 0)));
    }
  }
  return done();
}
