// Copies between arrays, pitched memory, plain memory and the host in one, two and three dimensions, with offsets, and what they must refuse.
#include "check.h"
// nvcc: -arch=compute_90
static int value(int x, int y, int z) { return x + 1000 * y + 1000000 * z; }

int main() {
  const int w = 40, h = 24, d = 6;
  std::vector<int> volume(w * h * d);
  for (int z = 0; z < d; ++z)
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x)
        volume[(z * h + y) * w + x] = value(x, y, z);
  cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t flat, flat2, solid, line;
  CHECK(cudaMallocArray(&flat, &format, w, h, 0));
  CHECK(cudaMallocArray(&flat2, &format, w, h, 0));
  CHECK(cudaMallocArray(&line, &format, w, 0, 0));
  CHECK(cudaMalloc3DArray(&solid, &format, make_cudaExtent(w, h, d)));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));

  // host -> array at an offset -> array -> host
  CHECK(cudaMemcpy2DToArray(flat, 0, 0, volume.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy2DArrayToArray(flat2, 8, 3, flat, 16, 5, 20, 7, cudaMemcpyDeviceToDevice));
  std::vector<int> box(5 * 7, -1);
  CHECK(cudaMemcpy2DFromArray(box.data(), 20, flat2, 8, 3, 20, 7, cudaMemcpyDeviceToHost));
  for (int y = 0; y < 7; ++y)
    for (int x = 0; x < 5; ++x)
      EXPECT(box[y * 5 + x] == value(x + 4, y + 5, 0));
  CHECK(cudaMemcpy2DToArrayAsync(flat2, 4, 1, box.data(), 20, 20, 7, cudaMemcpyHostToDevice, stream));
  std::vector<int> again(5 * 7, -1);
  CHECK(cudaMemcpy2DFromArrayAsync(again.data(), 20, flat2, 4, 1, 20, 7, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(again == box);
  // the old names that count bytes
  std::vector<int> row(w);
  CHECK(cudaMemcpyToArray(line, 0, 0, volume.data() + w, w * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyFromArray(row.data(), line, 8, 0, (w - 2) * 4, cudaMemcpyDeviceToHost));
  for (int x = 0; x < w - 2; ++x)
    EXPECT(row[x] == value(x + 2, 1, 0));
  CHECK(cudaMemcpyToArray(flat, 0, 0, volume.data() + w * h, w * h * 4, cudaMemcpyHostToDevice)); // rows follow each other
  std::vector<int> plane(w * h);
  CHECK(cudaMemcpyFromArray(plane.data(), flat, 0, 0, w * h * 4, cudaMemcpyDeviceToHost));
  EXPECT(std::equal(plane.begin(), plane.end(), volume.begin() + w * h));

  // three dimensions: host -> array -> pitched memory -> host
  cudaPitchedPtr pitched;
  CHECK(cudaMalloc3D(&pitched, make_cudaExtent(w * 4, h, d)));
  EXPECT(pitched.pitch >= w * 4 && pitched.xsize == w * 4 && pitched.ysize == h);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(volume.data(), w * 4, w, h), copy.dstArray = solid;
  copy.extent = make_cudaExtent(w, h, d), copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  CHECK(cudaMemset3D(pitched, 0xff, make_cudaExtent(w * 4, h, d)));
  copy = {};
  copy.srcArray = solid, copy.srcPos = make_cudaPos(3, 2, 1); // elements, as an array takes part
  copy.dstPtr = pitched, copy.dstPos = make_cudaPos(8, 1, 2); // bytes of the pitched side
  copy.extent = make_cudaExtent(10, 9, 3), copy.kind = cudaMemcpyDeviceToDevice;
  CHECK(cudaMemcpy3DAsync(&copy, stream));
  CHECK(cudaStreamSynchronize(stream));
  std::vector<int> back(w * h * d);
  copy = {};
  copy.srcPtr = pitched, copy.dstPtr = make_cudaPitchedPtr(back.data(), w * 4, w * 4, h);
  copy.extent = make_cudaExtent(w * 4, h, d), copy.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&copy));
  int wrong = 0;
  for (int z = 0; z < d; ++z)
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        bool inside = x >= 2 && x < 12 && y >= 1 && y < 10 && z >= 2 && z < 5;
        int v = back[(z * h + y) * w + x];
        wrong += v != (inside ? value(x + 1, y + 1, z - 1) : -1);
      }
  EXPECT(wrong == 0);
  // array to array in three dimensions
  cudaArray_t solid2;
  CHECK(cudaMalloc3DArray(&solid2, &format, make_cudaExtent(w, h, d)));
  copy = {};
  copy.srcArray = solid, copy.dstArray = solid2, copy.srcPos = make_cudaPos(0, 0, 2), copy.dstPos = make_cudaPos(0, 0, 0);
  copy.extent = make_cudaExtent(w, h, d - 2), copy.kind = cudaMemcpyDeviceToDevice;
  CHECK(cudaMemcpy3D(&copy));
  copy = {};
  copy.srcArray = solid2, copy.dstPtr = make_cudaPitchedPtr(back.data(), w * 4, w, h);
  copy.extent = make_cudaExtent(w, h, d - 2), copy.kind = cudaMemcpyDefault;
  CHECK(cudaMemcpy3D(&copy));
  EXPECT(std::equal(back.begin(), back.begin() + w * h * (d - 2), volume.begin() + 2 * w * h));
  copy.kind = cudaMemcpyDeviceToHost;

  // linear pitched: device to device with different pitches
  int *a, *b;
  size_t pa, pb;
  CHECK(cudaMallocPitch(&a, &pa, w * 4, h));
  CHECK(cudaMallocPitch(&b, &pb, 200 * 4, h));
  CHECK(cudaMemset2D(b, pb, 0, 200 * 4, h));
  CHECK(cudaMemcpy2D(a, pa, volume.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy2DAsync((char *)b + 2 * pb + 40, pb, a, pa, w * 4, h - 2, cudaMemcpyDeviceToDevice, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemcpy2D(plane.data(), w * 4, (char *)b + 2 * pb + 40, pb, w * 4, h - 2, cudaMemcpyDeviceToHost));
  EXPECT(std::equal(plane.begin(), plane.begin() + w * (h - 2), volume.begin()));

  // what is wrong
  EXPECT(cudaMemcpy2D(a, 8, volume.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice) == cudaErrorInvalidPitchValue);
  EXPECT(cudaMemcpy2DToArray(flat, 0, 0, volume.data(), w * 4, w * 4, h + 1, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  EXPECT(cudaMemcpy2DToArray(flat, 8, 0, volume.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  EXPECT(cudaMemcpy2D(a, pa, volume.data(), w * 4, w * 4, h, cudaMemcpyKind(9)) == cudaErrorInvalidMemcpyDirection);
  copy.extent.depth = d + 1;
  EXPECT(cudaMemcpy3D(&copy) == cudaErrorInvalidValue);
  EXPECT(cudaMallocArray(&flat, &format, 0, 5, 0) == cudaErrorInvalidValue);
  cudaGetLastError();
  CHECK(cudaFreeArray(flat2));
  CHECK(cudaFreeArray(nullptr));
  CHECK(cudaFree(pitched.ptr));
  CHECK(cudaStreamDestroy(stream));
  return done();
}
