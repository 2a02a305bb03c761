// Copies of rectangles and ranges of arrays. Offsets along x are bytes here.
#include <initializer_list>

#include "loader/libcudart/array.h"
#include "loader/libcudart/copy.h"
#include "loader/libcudart/runtime.h"

using namespace ptxrun::runtime;

namespace {

/// A rectangle's end: an array at a place, or rows in memory.
struct Rectangle {
  cudaArray_t array;
  void *memory;
  size_t pitch, x, y;
};

Rectangle ofArray(cudaArray_t array, size_t x, size_t y) { return {array, nullptr, 0, x, y}; }
Rectangle ofMemory(const void *memory, size_t pitch) {
  return {nullptr, const_cast<void *>(memory), pitch, 0, 0};
}

CUresult copy(const Rectangle &to, const Rectangle &from, size_t width, size_t height,
              cudaMemcpyKind kind, bool isAsync, cudaStream_t stream) {
  const bool isFromHost = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost;
  const bool isToHost = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost;
  if (!isDirection(kind))
    return static_cast<CUresult>(cudaErrorInvalidMemcpyDirection);
  for (const Rectangle *end : {&to, &from})
    if (end->memory && end->pitch < width)
      return static_cast<CUresult>(cudaErrorInvalidPitchValue);
  CUDA_MEMCPY2D c = {};
  c.srcMemoryType = from.array   ? CU_MEMORYTYPE_ARRAY
                    : isFromHost ? CU_MEMORYTYPE_HOST
                                 : CU_MEMORYTYPE_UNIFIED;
  c.srcArray = from.array;
  c.srcHost = from.memory;
  c.srcDevice = toDevice(from.memory);
  c.srcPitch = from.pitch;
  c.srcXInBytes = from.x;
  c.srcY = from.y;
  c.dstMemoryType = to.array   ? CU_MEMORYTYPE_ARRAY
                    : isToHost ? CU_MEMORYTYPE_HOST
                               : CU_MEMORYTYPE_UNIFIED;
  c.dstArray = to.array;
  c.dstHost = to.memory;
  c.dstDevice = toDevice(to.memory);
  c.dstPitch = to.pitch;
  c.dstXInBytes = to.x;
  c.dstY = to.y;
  c.WidthInBytes = width;
  c.Height = height;
  if (!isAsync && !streamOf(nullptr))
    return cuMemcpy2D(&c);
  const CUresult result = cuMemcpy2DAsync(&c, streamOf(stream));
  return result != CUDA_SUCCESS || isAsync ? result : cuStreamSynchronize(streamOf(nullptr));
}

/// Where a range begins: x bytes into row y, in an array's bytes from row to row.
size_t offsetIn(cudaArray_t array, size_t x, size_t y) {
  CUDA_ARRAY3D_DESCRIPTOR d = {};
  cuArray3DGetDescriptor(&d, array);
  return y * d.Width * elementBytes(array) + x;
}

/// A range of an array to or from memory.
CUresult copyRange(cudaArray_t array, size_t x, size_t y, void *memory, size_t bytes,
                   bool isToArray, cudaMemcpyKind kind, bool isAsync, cudaStream_t stream) {
  const size_t at = offsetIn(array, x, y);
  const bool isHost =
      kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDefault;
  if (isAsync)
    return isToArray ? cuMemcpyHtoAAsync(array, at, memory, bytes, streamOf(stream))
                     : cuMemcpyAtoHAsync(memory, array, at, bytes, streamOf(stream));
  if (isHost)
    return isToArray ? cuMemcpyHtoA(array, at, memory, bytes)
                     : cuMemcpyAtoH(memory, array, at, bytes);
  return isToArray ? cuMemcpyDtoA(array, at, toDevice(memory), bytes)
                   : cuMemcpyAtoD(toDevice(memory), array, at, bytes);
}

} // namespace

PTXRUN_RUNTIME_STREAM_API(cudaMemcpy2DToArray, _ptds,
                          (cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                           size_t width, size_t height, cudaMemcpyKind kind),
                          (to, x, y, from, pitch, width, height, kind)) {
  return perform([&] {
    return copy(ofArray(to, x, y), ofMemory(from, pitch), width, height, kind, false, nullptr);
  });
}
PTXRUN_RUNTIME_STREAM_API(cudaMemcpy2DToArrayAsync, _ptsz,
                          (cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                           size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream),
                          (to, x, y, from, pitch, width, height, kind, stream)) {
  return perform([&] {
    return copy(ofArray(to, x, y), ofMemory(from, pitch), width, height, kind, true, stream);
  });
}
PTXRUN_RUNTIME_STREAM_API(cudaMemcpy2DFromArray, _ptds,
                          (void *to, size_t pitch, cudaArray_t from, size_t x, size_t y,
                           size_t width, size_t height, cudaMemcpyKind kind),
                          (to, pitch, from, x, y, width, height, kind)) {
  return perform([&] {
    return copy(ofMemory(to, pitch), ofArray(from, x, y), width, height, kind, false, nullptr);
  });
}
PTXRUN_RUNTIME_STREAM_API(cudaMemcpy2DFromArrayAsync, _ptsz,
                          (void *to, size_t pitch, cudaArray_t from, size_t x, size_t y,
                           size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream),
                          (to, pitch, from, x, y, width, height, kind, stream)) {
  return perform([&] {
    return copy(ofMemory(to, pitch), ofArray(from, x, y), width, height, kind, true, stream);
  });
}
PTXRUN_RUNTIME_STREAM_API(cudaMemcpy2DArrayToArray, _ptds,
                          (cudaArray_t to, size_t toX, size_t toY, cudaArray_t from, size_t fromX,
                           size_t fromY, size_t width, size_t height, cudaMemcpyKind kind),
                          (to, toX, toY, from, fromX, fromY, width, height, kind)) {
  return perform([&] {
    return copy(ofArray(to, toX, toY), ofArray(from, fromX, fromY), width, height, kind, false,
                nullptr);
  });
}

PTXRUN_RUNTIME_STREAM_API(cudaMemcpyToArray, _ptds,
                          (cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                           cudaMemcpyKind kind),
                          (to, x, y, from, bytes, kind)) {
  return perform([&] {
    return copyRange(to, x, y, const_cast<void *>(from), bytes, true, kind, false, nullptr);
  });
}
PTXRUN_RUNTIME_STREAM_API(cudaMemcpyToArrayAsync, _ptsz,
                          (cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                           cudaMemcpyKind kind, cudaStream_t stream),
                          (to, x, y, from, bytes, kind, stream)) {
  return perform([&] {
    return copyRange(to, x, y, const_cast<void *>(from), bytes, true, kind, true, stream);
  });
}
PTXRUN_RUNTIME_STREAM_API(cudaMemcpyFromArray, _ptds,
                          (void *to, cudaArray_t from, size_t x, size_t y, size_t bytes,
                           cudaMemcpyKind kind),
                          (to, from, x, y, bytes, kind)) {
  return perform([&] { return copyRange(from, x, y, to, bytes, false, kind, false, nullptr); });
}
PTXRUN_RUNTIME_STREAM_API(cudaMemcpyFromArrayAsync, _ptsz,
                          (void *to, cudaArray_t from, size_t x, size_t y, size_t bytes,
                           cudaMemcpyKind kind, cudaStream_t stream),
                          (to, from, x, y, bytes, kind, stream)) {
  return perform([&] { return copyRange(from, x, y, to, bytes, false, kind, true, stream); });
}
PTXRUN_RUNTIME_STREAM_API(cudaMemcpyArrayToArray, _ptds,
                          (cudaArray_t to, size_t toX, size_t toY, cudaArray_t from, size_t fromX,
                           size_t fromY, size_t bytes, cudaMemcpyKind),
                          (to, toX, toY, from, fromX, fromY, bytes, cudaMemcpyDeviceToDevice)) {
  return perform([&] {
    return cuMemcpyAtoA(to, offsetIn(to, toX, toY), from, offsetIn(from, fromX, fromY), bytes);
  });
}
