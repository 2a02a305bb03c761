// Copies of boxes in two and three dimensions, between memory and arrays of any kind.
#include <cstring>

#include "loader/libcuda/api.h"
#include "loader/libcuda/array.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/copy.h"
#include "loader/libcuda/stream_capture.h"

using namespace ptxrun::driver;

namespace {

/// One side of a copy as the three descriptor types give it.
struct Endpoint {
  CUmemorytype type;
  const void *host;
  CUdeviceptr device;
  CUarray array;
  size_t x, y, z;
  size_t pitch, height;
};

struct Box {
  size_t width, height, depth;
  bool isEmpty() const { return width == 0 || height == 0 || depth == 0; }
};

/// A box of an array: layers and faces count as slices.
CUresult toArraySide(const Endpoint &end, const Box &box, CopySide &side) {
  const auto array = resolve<Array>(end.array);
  if (!array)
    return CUDA_ERROR_INVALID_HANDLE;
  const ptxrun::rt::Image &image = array->image;
  const ptxrun::rt::ImageLevel &level = image.level[0];
  const auto fits = [](size_t at, size_t extent, size_t size) {
    return at <= size && extent <= size - at;
  };
  if (!fits(end.x, box.width, size_t{level.width} * image.texelBytes()) ||
      !fits(end.y, box.height, level.height) ||
      !fits(end.z, box.depth,
            image.shape == ptxrun::rt::ImageShape::d3 ? level.depth : image.layers))
    return CUDA_ERROR_INVALID_VALUE;
  side = {image.base + end.z * level.slice + end.y * level.pitch + end.x, level.pitch, level.slice};
  return CUDA_SUCCESS;
}

CUresult toSide(const Endpoint &end, const Box &box, CopySide &side, bool &isHost) {
  switch (end.type) {
  case CU_MEMORYTYPE_HOST:
    side.base = static_cast<char *>(const_cast<void *>(end.host));
    break;
  case CU_MEMORYTYPE_DEVICE:
  case CU_MEMORYTYPE_UNIFIED:
    side.base = reinterpret_cast<char *>(end.device);
    break;
  case CU_MEMORYTYPE_ARRAY:
    return toArraySide(end, box, side);
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
  isHost = end.type == CU_MEMORYTYPE_HOST;
  // A pitch of 0 means rows follow each other; it must hold a row otherwise.
  side.pitch = end.pitch != 0 ? end.pitch : end.x + box.width;
  const size_t rows = end.height != 0 ? end.height : end.y + box.height;
  side.slice = side.pitch * rows;
  if (!side.base || (box.height > 1 && end.x + box.width > side.pitch) ||
      (box.depth > 1 && end.y + box.height > rows))
    return CUDA_ERROR_INVALID_VALUE;
  side.base += end.z * side.slice + end.y * side.pitch + end.x;
  const size_t bytes = (box.depth - 1) * side.slice + (box.height - 1) * side.pitch + box.width;
  return isHost || isAccessible(side.base, bytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUDA_MEMCPY3D toBox(const CUDA_MEMCPY2D &c) {
  CUDA_MEMCPY3D box = {};
  box.srcXInBytes = c.srcXInBytes;
  box.srcY = c.srcY;
  box.srcMemoryType = c.srcMemoryType;
  box.srcHost = c.srcHost;
  box.srcDevice = c.srcDevice;
  box.srcArray = c.srcArray;
  box.srcPitch = c.srcPitch;
  box.dstXInBytes = c.dstXInBytes;
  box.dstY = c.dstY;
  box.dstMemoryType = c.dstMemoryType;
  box.dstHost = c.dstHost;
  box.dstDevice = c.dstDevice;
  box.dstArray = c.dstArray;
  box.dstPitch = c.dstPitch;
  box.WidthInBytes = c.WidthInBytes;
  box.Height = c.Height;
  box.Depth = 1;
  return box;
}

/// The two descriptions differ in what the one calls reserved.
CUDA_MEMCPY3D toBox(const CUDA_MEMCPY3D_PEER &c) {
  static_assert(sizeof(CUDA_MEMCPY3D) == sizeof(CUDA_MEMCPY3D_PEER));
  CUDA_MEMCPY3D box;
  memcpy(&box, &c, sizeof box);
  box.reserved0 = box.reserved1 = nullptr;
  return box;
}
CUDA_MEMCPY3D toBox(const CUDA_MEMCPY3D &c) { return c; }

CUresult copyBox(const CUDA_MEMCPY3D &c, CUstream streamHandle, Completion completion) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(streamHandle, context, stream));
  bool isCaptured = false;
  PTXRUN_TRY(completion == Completion::waits ? forbidSynchronous(*stream)
                                             : routeWork(*stream, isCaptured));
  std::shared_ptr<Operation> operation;
  bool isPageable = false;
  PTXRUN_TRY(makeCopy(c, operation, isPageable));
  if (!operation)
    return CUDA_SUCCESS;
  if (isCaptured)
    return captureNode(*stream,
                       CopyNode{std::move(operation), c, true, handleOf<CUcontext>(context)});
  return perform(*context, *stream, std::move(operation),
                 isPageable ? Completion::waits : completion);
}

template <class Description>
CUresult copy(const Description *description, CUstream stream, Completion completion) {
  return description ? copyBox(toBox(*description), stream, completion) : CUDA_ERROR_INVALID_VALUE;
}

} // namespace

CUresult ptxrun::driver::makeCopy(const CUDA_MEMCPY3D &c, std::shared_ptr<Operation> &operation,
                                  bool &isPageable) {
  if (c.srcLOD != 0 || c.dstLOD != 0)
    return CUDA_ERROR_INVALID_VALUE;
  const Box box{c.WidthInBytes, c.Height, c.Depth};
  operation = nullptr;
  if (box.isEmpty())
    return CUDA_SUCCESS;
  CopySide target, source;
  bool isTargetHost = false, isSourceHost = false;
  PTXRUN_TRY(toSide({c.dstMemoryType, c.dstHost, c.dstDevice, c.dstArray, c.dstXInBytes, c.dstY,
                     c.dstZ, c.dstPitch, c.dstHeight},
                    box, target, isTargetHost));
  PTXRUN_TRY(toSide({c.srcMemoryType, c.srcHost, c.srcDevice, c.srcArray, c.srcXInBytes, c.srcY,
                     c.srcZ, c.srcPitch, c.srcHeight},
                    box, source, isSourceHost));
  isPageable = !isPinned(target.base) || !isPinned(source.base);
  operation = std::make_shared<CopyOperation>(target, source, box.width, box.height, box.depth);
  return CUDA_SUCCESS;
}

PTXRUN_STREAM_API(cuMemcpy2D_v2, _ptds, (const CUDA_MEMCPY2D *description), (description)) {
  return copy(description, nullptr, Completion::waits);
}
PTXRUN_STREAM_API(cuMemcpy2DUnaligned_v2, _ptds, (const CUDA_MEMCPY2D *description),
                  (description)) {
  return copy(description, nullptr, Completion::waits);
}
PTXRUN_STREAM_API(cuMemcpy2DAsync_v2, _ptsz, (const CUDA_MEMCPY2D *description, CUstream stream),
                  (description, stream)) {
  return copy(description, stream, Completion::async);
}
PTXRUN_STREAM_API(cuMemcpy3D_v2, _ptds, (const CUDA_MEMCPY3D *description), (description)) {
  return copy(description, nullptr, Completion::waits);
}
PTXRUN_STREAM_API(cuMemcpy3DAsync_v2, _ptsz, (const CUDA_MEMCPY3D *description, CUstream stream),
                  (description, stream)) {
  return copy(description, stream, Completion::async);
}
PTXRUN_STREAM_API(cuMemcpy3DPeer, _ptds, (const CUDA_MEMCPY3D_PEER *description), (description)) {
  return copy(description, nullptr, Completion::waits);
}
PTXRUN_STREAM_API(cuMemcpy3DPeerAsync, _ptsz,
                  (const CUDA_MEMCPY3D_PEER *description, CUstream stream), (description, stream)) {
  return copy(description, stream, Completion::async);
}
