// Fills.
#include "loader/libcuda/api.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/copy.h"
#include "loader/libcuda/stream_capture.h"

namespace ptxrun::driver {

CUresult makeFill(const CUDA_MEMSET_NODE_PARAMS &f, std::shared_ptr<Operation> &operation) {
  if (f.elementSize != 1 && f.elementSize != 2 && f.elementSize != 4)
    return CUDA_ERROR_INVALID_VALUE;
  const size_t rowBytes = f.width * f.elementSize;
  const size_t pitch = f.height > 1 ? f.pitch : 0;
  if (!f.dst || rowBytes == 0 || f.height == 0 || f.dst % f.elementSize != 0 ||
      (f.height > 1 && (pitch < rowBytes || pitch % f.elementSize != 0)))
    return CUDA_ERROR_INVALID_VALUE;
  auto *base = reinterpret_cast<char *>(f.dst);
  if (!isAccessible(base, (f.height - 1) * pitch + rowBytes))
    return CUDA_ERROR_INVALID_VALUE;
  operation =
      std::make_shared<FillOperation>(base, pitch, f.value, f.elementSize, f.width, f.height);
  return CUDA_SUCCESS;
}

} // namespace ptxrun::driver

using namespace ptxrun::driver;

namespace {

/// How a call came: those without a stream are no part of any capture.
enum class Call { synchronous, queued };

CUresult fill(CUdeviceptr address, size_t pitch, unsigned value, unsigned elementBytes,
              size_t width, size_t height, CUstream streamHandle, Call call = Call::queued) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(streamHandle, context, stream));
  bool isCaptured = false;
  PTXRUN_TRY(call == Call::synchronous ? forbidSynchronous(*stream)
                                       : routeWork(*stream, isCaptured));
  if (width == 0 || height == 0)
    return CUDA_SUCCESS;
  const CUDA_MEMSET_NODE_PARAMS description{address, pitch, value, elementBytes, width, height};
  std::shared_ptr<Operation> operation;
  PTXRUN_TRY(makeFill(description, operation));
  if (isCaptured)
    return captureNode(*stream,
                       FillNode{std::move(operation), description, handleOf<CUcontext>(context)});
  return perform(*context, *stream, std::move(operation), Completion::async);
}

} // namespace

PTXRUN_STREAM_API(cuMemsetD8_v2, _ptds, (CUdeviceptr to, unsigned char value, size_t count),
                  (to, value, count)) {
  return fill(to, 0, value, 1, count, 1, nullptr, Call::synchronous);
}
PTXRUN_STREAM_API(cuMemsetD16_v2, _ptds, (CUdeviceptr to, unsigned short value, size_t count),
                  (to, value, count)) {
  return fill(to, 0, value, 2, count, 1, nullptr, Call::synchronous);
}
PTXRUN_STREAM_API(cuMemsetD32_v2, _ptds, (CUdeviceptr to, unsigned value, size_t count),
                  (to, value, count)) {
  return fill(to, 0, value, 4, count, 1, nullptr, Call::synchronous);
}
PTXRUN_STREAM_API(cuMemsetD2D8_v2, _ptds,
                  (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height),
                  (to, pitch, value, width, height)) {
  return fill(to, pitch, value, 1, width, height, nullptr, Call::synchronous);
}
PTXRUN_STREAM_API(cuMemsetD2D16_v2, _ptds,
                  (CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height),
                  (to, pitch, value, width, height)) {
  return fill(to, pitch, value, 2, width, height, nullptr, Call::synchronous);
}
PTXRUN_STREAM_API(cuMemsetD2D32_v2, _ptds,
                  (CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height),
                  (to, pitch, value, width, height)) {
  return fill(to, pitch, value, 4, width, height, nullptr, Call::synchronous);
}

PTXRUN_STREAM_API(cuMemsetD8Async, _ptsz,
                  (CUdeviceptr to, unsigned char value, size_t count, CUstream stream),
                  (to, value, count, stream)) {
  return fill(to, 0, value, 1, count, 1, stream);
}
PTXRUN_STREAM_API(cuMemsetD16Async, _ptsz,
                  (CUdeviceptr to, unsigned short value, size_t count, CUstream stream),
                  (to, value, count, stream)) {
  return fill(to, 0, value, 2, count, 1, stream);
}
PTXRUN_STREAM_API(cuMemsetD32Async, _ptsz,
                  (CUdeviceptr to, unsigned value, size_t count, CUstream stream),
                  (to, value, count, stream)) {
  return fill(to, 0, value, 4, count, 1, stream);
}
PTXRUN_STREAM_API(cuMemsetD2D8Async, _ptsz,
                  (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height,
                   CUstream stream),
                  (to, pitch, value, width, height, stream)) {
  return fill(to, pitch, value, 1, width, height, stream);
}
PTXRUN_STREAM_API(cuMemsetD2D16Async, _ptsz,
                  (CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height,
                   CUstream stream),
                  (to, pitch, value, width, height, stream)) {
  return fill(to, pitch, value, 2, width, height, stream);
}
PTXRUN_STREAM_API(cuMemsetD2D32Async, _ptsz,
                  (CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height,
                   CUstream stream),
                  (to, pitch, value, width, height, stream)) {
  return fill(to, pitch, value, 4, width, height, stream);
}
