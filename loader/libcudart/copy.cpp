// Copies and fills.
#include "loader/libcudart/copy.h"

#include "loader/libcudart/array.h"
#include "loader/libcudart/registration.h"
#include "loader/libcudart/runtime.h"

using namespace ptxrun::runtime;

namespace {

CUresult copyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, CUstream stream) {
  switch (kind) {
  case cudaMemcpyHostToDevice:
    return cuMemcpyHtoDAsync(toDevice(to), from, bytes, stream);
  case cudaMemcpyDeviceToHost:
    return cuMemcpyDtoHAsync(to, toDevice(from), bytes, stream);
  case cudaMemcpyDeviceToDevice:
    return cuMemcpyDtoDAsync(toDevice(to), toDevice(from), bytes, stream);
  case cudaMemcpyHostToHost:
  case cudaMemcpyDefault:
    return cuMemcpyAsync(toDevice(to), toDevice(from), bytes, stream);
  }
  return static_cast<CUresult>(cudaErrorInvalidMemcpyDirection);
}

CUresult copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
  if (streamOf(nullptr)) {
    const CUresult result = copyAsync(to, from, bytes, kind, streamOf(nullptr));
    return result == CUDA_SUCCESS ? cuStreamSynchronize(streamOf(nullptr)) : result;
  }
  switch (kind) {
  case cudaMemcpyHostToDevice:
    return cuMemcpyHtoD(toDevice(to), from, bytes);
  case cudaMemcpyDeviceToHost:
    return cuMemcpyDtoH(to, toDevice(from), bytes);
  case cudaMemcpyDeviceToDevice:
    return cuMemcpyDtoD(toDevice(to), toDevice(from), bytes);
  case cudaMemcpyHostToHost:
  case cudaMemcpyDefault:
    return cuMemcpy(toDevice(to), toDevice(from), bytes);
  }
  return static_cast<CUresult>(cudaErrorInvalidMemcpyDirection);
}

CUmemorytype typeOf(bool isHost) { return isHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_UNIFIED; }
bool isFromHost(cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost;
}
bool isToHost(cudaMemcpyKind kind) {
  return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost;
}

/// One end of a copy: an array, at a position in its elements, or pitched memory, at one in bytes.
struct End {
  cudaArray_t array;
  cudaPitchedPtr memory;
  cudaPos at;
  size_t xInBytes() const { return array ? at.x * elementBytes(array) : at.x; }
  CUmemorytype type(bool isHost) const { return array ? CU_MEMORYTYPE_ARRAY : typeOf(isHost); }
};

/// The extent counts an array's elements where there is one, else bytes.
CUDA_MEMCPY3D describe(const End &to, const End &from, cudaExtent extent, cudaMemcpyKind kind) {
  CUDA_MEMCPY3D c = {};
  c.srcMemoryType = from.type(isFromHost(kind));
  c.srcArray = from.array;
  c.srcHost = from.memory.ptr;
  c.srcDevice = toDevice(from.memory.ptr);
  c.srcPitch = from.memory.pitch;
  c.srcHeight = from.memory.ysize;
  c.srcXInBytes = from.xInBytes();
  c.srcY = from.at.y;
  c.srcZ = from.at.z;
  c.dstMemoryType = to.type(isToHost(kind));
  c.dstArray = to.array;
  c.dstHost = to.memory.ptr;
  c.dstDevice = toDevice(to.memory.ptr);
  c.dstPitch = to.memory.pitch;
  c.dstHeight = to.memory.ysize;
  c.dstXInBytes = to.xInBytes();
  c.dstY = to.at.y;
  c.dstZ = to.at.z;
  const cudaArray_t array = from.array ? from.array : to.array;
  c.WidthInBytes = array ? extent.width * elementBytes(array) : extent.width;
  c.Height = extent.height;
  c.Depth = extent.depth;
  return c;
}

CUresult copyBox(const CUDA_MEMCPY3D &c, bool isAsync, cudaStream_t stream) {
  if (isAsync || streamOf(nullptr)) {
    const CUresult result = cuMemcpy3DAsync(&c, streamOf(stream));
    return result != CUDA_SUCCESS || isAsync ? result : cuStreamSynchronize(streamOf(nullptr));
  }
  return cuMemcpy3D(&c);
}

CUresult copyRectangle(void *to, size_t toPitch, const void *from, size_t fromPitch, size_t width,
                       size_t height, cudaMemcpyKind kind, bool isAsync, cudaStream_t stream) {
  if (width > toPitch || width > fromPitch)
    return static_cast<CUresult>(cudaErrorInvalidPitchValue);
  if (!isDirection(kind))
    return static_cast<CUresult>(cudaErrorInvalidMemcpyDirection);
  const End target{nullptr, {to, toPitch, width, height}, {}};
  const End source{nullptr, {const_cast<void *>(from), fromPitch, width, height}, {}};
  return copyBox(describe(target, source, {width, height, 1}, kind), isAsync, stream);
}

/// Each end is an array or memory, one of them and no more (CUDA's own check).
template <class Parameters> bool namesBothEnds(const Parameters &p) {
  return (p.srcArray != nullptr) != (p.srcPtr.ptr != nullptr) &&
         (p.dstArray != nullptr) != (p.dstPtr.ptr != nullptr);
}

CUresult copyBox(const cudaMemcpy3DParms *p, bool isAsync, cudaStream_t stream) {
  if (!p)
    return CUDA_ERROR_INVALID_VALUE;
  CUDA_MEMCPY3D c;
  const CUresult result = toDriver(*p, c);
  return result == CUDA_SUCCESS ? copyBox(c, isAsync, stream) : result;
}

CUresult copyBox(const cudaMemcpy3DPeerParms *p, bool isAsync, cudaStream_t stream) {
  if (!p || !namesBothEnds(*p))
    return CUDA_ERROR_INVALID_VALUE;
  return copyBox(describe({p->dstArray, p->dstPtr, p->dstPos}, {p->srcArray, p->srcPtr, p->srcPos},
                          p->extent, cudaMemcpyDeviceToDevice),
                 isAsync, stream);
}

} // namespace

namespace ptxrun::runtime {

CUresult toDriver(const cudaMemcpy3DParms &p, CUDA_MEMCPY3D &c) {
  if (!namesBothEnds(p))
    return CUDA_ERROR_INVALID_VALUE;
  if (!isDirection(p.kind))
    return static_cast<CUresult>(cudaErrorInvalidMemcpyDirection);
  c = describe({p.dstArray, p.dstPtr, p.dstPos}, {p.srcArray, p.srcPtr, p.srcPos}, p.extent,
               p.kind);
  return CUDA_SUCCESS;
}

cudaMemcpy3DParms fromDriver(const CUDA_MEMCPY3D &c) {
  const auto end = [](CUmemorytype type, const void *host, CUdeviceptr device, size_t pitch,
                      size_t width, size_t height) {
    void *base =
        type == CU_MEMORYTYPE_HOST ? const_cast<void *>(host) : reinterpret_cast<void *>(device);
    return cudaPitchedPtr{base, pitch, width, height};
  };
  cudaMemcpy3DParms p = {};
  const size_t width = c.WidthInBytes;
  p.srcArray = c.srcMemoryType == CU_MEMORYTYPE_ARRAY ? c.srcArray : nullptr;
  p.dstArray = c.dstMemoryType == CU_MEMORYTYPE_ARRAY ? c.dstArray : nullptr;
  if (!p.srcArray)
    p.srcPtr = end(c.srcMemoryType, c.srcHost, c.srcDevice, c.srcPitch, width, c.srcHeight);
  if (!p.dstArray)
    p.dstPtr = end(c.dstMemoryType, c.dstHost, c.dstDevice, c.dstPitch, width, c.dstHeight);
  // Positions and extent count elements where there is an array.
  const cudaArray_t array = p.srcArray ? p.srcArray : p.dstArray;
  const size_t element = array ? elementBytes(array) : 1;
  p.srcPos = {p.srcArray ? c.srcXInBytes / element : c.srcXInBytes, c.srcY, c.srcZ};
  p.dstPos = {p.dstArray ? c.dstXInBytes / element : c.dstXInBytes, c.dstY, c.dstZ};
  p.extent = {width / element, c.Height, c.Depth};
  const bool isFrom = c.srcMemoryType == CU_MEMORYTYPE_HOST;
  const bool isTo = c.dstMemoryType == CU_MEMORYTYPE_HOST;
  p.kind = isFrom && isTo ? cudaMemcpyHostToHost
           : isFrom       ? cudaMemcpyHostToDevice
           : isTo         ? cudaMemcpyDeviceToHost
                          : cudaMemcpyDeviceToDevice;
  return p;
}

CUresult toDriver(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, CUDA_MEMCPY3D &c) {
  cudaMemcpy3DParms p = {};
  p.dstPtr = {to, bytes, bytes, 1};
  p.srcPtr = {const_cast<void *>(from), bytes, bytes, 1};
  p.extent = {bytes, 1, 1};
  p.kind = kind;
  return toDriver(p, c);
}

CUresult symbolRange(const void *symbol, size_t bytes, size_t offset, void *&address) {
  CUdeviceptr base = 0;
  size_t size = 0;
  if (const cudaError_t found = findVariable(symbol, base, size); found != cudaSuccess)
    return static_cast<CUresult>(found);
  if (offset > size || bytes > size - offset)
    return CUDA_ERROR_INVALID_VALUE;
  address = reinterpret_cast<void *>(base + offset);
  return CUDA_SUCCESS;
}

} // namespace ptxrun::runtime

PTXRUN_RUNTIME_STREAM_API(cudaMemcpy, _ptds,
                          (void *to, const void *from, size_t bytes, cudaMemcpyKind kind),
                          (to, from, bytes, kind)) {
  return perform([&] { return copy(to, from, bytes, kind); });
}
PTXRUN_RUNTIME_STREAM_API(cudaMemcpyAsync, _ptsz,
                          (void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                           cudaStream_t stream),
                          (to, from, bytes, kind, stream)) {
  return perform([&] { return copyAsync(to, from, bytes, kind, streamOf(stream)); });
}
PTXRUN_RUNTIME_API cudaError_t cudaMemcpyPeer(void *to, int toPeer, const void *from, int fromPeer,
                                              size_t bytes) {
  return perform([&] {
    CUcontext ends[2] = {};
    CUresult result = contextOf(toPeer, ends[0]);
    if (result == CUDA_SUCCESS)
      result = contextOf(fromPeer, ends[1]);
    return result == CUDA_SUCCESS
               ? cuMemcpyPeer(toDevice(to), ends[0], toDevice(from), ends[1], bytes)
               : result;
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaMemcpyPeerAsync(void *to, int toPeer, const void *from,
                                                   int fromPeer, size_t bytes,
                                                   cudaStream_t stream) {
  return perform([&] {
    CUcontext ends[2] = {};
    CUresult result = contextOf(toPeer, ends[0]);
    if (result == CUDA_SUCCESS)
      result = contextOf(fromPeer, ends[1]);
    return result == CUDA_SUCCESS ? cuMemcpyPeerAsync(toDevice(to), ends[0], toDevice(from),
                                                      ends[1], bytes, streamOf(stream))
                                  : result;
  });
}

PTXRUN_RUNTIME_STREAM_API(cudaMemcpyToSymbol, _ptds,
                          (const void *symbol, const void *from, size_t bytes, size_t offset,
                           cudaMemcpyKind kind),
                          (symbol, from, bytes, offset, kind)) {
  return perform([&] {
    void *to = nullptr;
    const CUresult result = symbolRange(symbol, bytes, offset, to);
    return result == CUDA_SUCCESS ? copy(to, from, bytes, kind) : result;
  });
}
PTXRUN_RUNTIME_STREAM_API(cudaMemcpyFromSymbol, _ptds,
                          (void *to, const void *symbol, size_t bytes, size_t offset,
                           cudaMemcpyKind kind),
                          (to, symbol, bytes, offset, kind)) {
  return perform([&] {
    void *from = nullptr;
    const CUresult result = symbolRange(symbol, bytes, offset, from);
    return result == CUDA_SUCCESS ? copy(to, from, bytes, kind) : result;
  });
}
PTXRUN_RUNTIME_STREAM_API(cudaMemcpyToSymbolAsync, _ptsz,
                          (const void *symbol, const void *from, size_t bytes, size_t offset,
                           cudaMemcpyKind kind, cudaStream_t stream),
                          (symbol, from, bytes, offset, kind, stream)) {
  return perform([&] {
    void *to = nullptr;
    const CUresult result = symbolRange(symbol, bytes, offset, to);
    return result == CUDA_SUCCESS ? copyAsync(to, from, bytes, kind, streamOf(stream)) : result;
  });
}
PTXRUN_RUNTIME_STREAM_API(cudaMemcpyFromSymbolAsync, _ptsz,
                          (void *to, const void *symbol, size_t bytes, size_t offset,
                           cudaMemcpyKind kind, cudaStream_t stream),
                          (to, symbol, bytes, offset, kind, stream)) {
  return perform([&] {
    void *from = nullptr;
    const CUresult result = symbolRange(symbol, bytes, offset, from);
    return result == CUDA_SUCCESS ? copyAsync(to, from, bytes, kind, streamOf(stream)) : result;
  });
}

PTXRUN_RUNTIME_STREAM_API(cudaMemcpy2D, _ptds,
                          (void *to, size_t toPitch, const void *from, size_t fromPitch,
                           size_t width, size_t height, cudaMemcpyKind kind),
                          (to, toPitch, from, fromPitch, width, height, kind)) {
  return perform([&] {
    return copyRectangle(to, toPitch, from, fromPitch, width, height, kind, false, nullptr);
  });
}
PTXRUN_RUNTIME_STREAM_API(cudaMemcpy2DAsync, _ptsz,
                          (void *to, size_t toPitch, const void *from, size_t fromPitch,
                           size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream),
                          (to, toPitch, from, fromPitch, width, height, kind, stream)) {
  return perform([&] {
    return copyRectangle(to, toPitch, from, fromPitch, width, height, kind, true, stream);
  });
}
PTXRUN_RUNTIME_STREAM_API(cudaMemcpy3D, _ptds, (const cudaMemcpy3DParms *parameters),
                          (parameters)) {
  return perform([&] { return copyBox(parameters, false, nullptr); });
}
PTXRUN_RUNTIME_STREAM_API(cudaMemcpy3DAsync, _ptsz,
                          (const cudaMemcpy3DParms *parameters, cudaStream_t stream),
                          (parameters, stream)) {
  return perform([&] { return copyBox(parameters, true, stream); });
}
PTXRUN_RUNTIME_STREAM_API(cudaMemcpy3DPeer, _ptds, (const cudaMemcpy3DPeerParms *parameters),
                          (parameters)) {
  return perform([&] { return copyBox(parameters, false, nullptr); });
}
PTXRUN_RUNTIME_STREAM_API(cudaMemcpy3DPeerAsync, _ptsz,
                          (const cudaMemcpy3DPeerParms *parameters, cudaStream_t stream),
                          (parameters, stream)) {
  return perform([&] { return copyBox(parameters, true, stream); });
}

PTXRUN_RUNTIME_STREAM_API(cudaMemset, _ptds, (void *to, int value, size_t bytes),
                          (to, value, bytes)) {
  return perform([&] {
    return cuMemsetD8Async(toDevice(to), static_cast<unsigned char>(value), bytes,
                           streamOf(nullptr));
  });
}
PTXRUN_RUNTIME_STREAM_API(cudaMemsetAsync, _ptsz,
                          (void *to, int value, size_t bytes, cudaStream_t stream),
                          (to, value, bytes, stream)) {
  return perform([&] {
    return cuMemsetD8Async(toDevice(to), static_cast<unsigned char>(value), bytes,
                           streamOf(stream));
  });
}
PTXRUN_RUNTIME_STREAM_API(cudaMemset2DAsync, _ptsz,
                          (void *to, size_t pitch, int value, size_t width, size_t height,
                           cudaStream_t stream),
                          (to, pitch, value, width, height, stream)) {
  return perform([&] {
    return cuMemsetD2D8Async(toDevice(to), pitch, static_cast<unsigned char>(value), width, height,
                             streamOf(stream));
  });
}
PTXRUN_RUNTIME_STREAM_API(cudaMemset2D, _ptds,
                          (void *to, size_t pitch, int value, size_t width, size_t height),
                          (to, pitch, value, width, height)) {
  return cudaMemset2DAsync(to, pitch, value, width, height, nullptr);
}
/// Rows of the extent's width in every slice; slices without gaps are one.
PTXRUN_RUNTIME_STREAM_API(cudaMemset3DAsync, _ptsz,
                          (cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream),
                          (to, value, extent, stream)) {
  const bool hasGaps = extent.depth > 1 && to.ysize != extent.height;
  if (extent.depth > 1 && to.ysize < extent.height)
    return finish(cudaErrorInvalidValue);
  const size_t slices = hasGaps ? extent.depth : 1;
  const size_t rows = hasGaps ? extent.height : extent.height * extent.depth;
  if (extent.width == 0 || rows == 0)
    return perform([] { return CUDA_SUCCESS; });
  for (size_t z = 0; z < slices; ++z) {
    char *slice = static_cast<char *>(to.ptr) + z * to.pitch * to.ysize;
    const cudaError_t result =
        cudaMemset2DAsync(slice, to.pitch, value, extent.width, rows, stream);
    if (result != cudaSuccess)
      return result;
  }
  return cudaSuccess;
}
PTXRUN_RUNTIME_STREAM_API(cudaMemset3D, _ptds, (cudaPitchedPtr to, int value, cudaExtent extent),
                          (to, value, extent)) {
  return cudaMemset3DAsync(to, value, extent, nullptr);
}
