// Fills.
#include "loader/libcuda/api.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/copy.h"

using namespace ptxrun::driver;

namespace {

CUresult fill(CUdeviceptr address, size_t pitch, unsigned value, unsigned elementBytes,
              size_t width, size_t height, CUstream streamHandle) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(streamHandle, context, stream));
  if (width == 0 || height == 0)
    return CUDA_SUCCESS;
  const size_t rowBytes = width * elementBytes;
  if (!address || address % elementBytes != 0 || (height > 1 && pitch < rowBytes) ||
      (height > 1 && pitch % elementBytes != 0))
    return CUDA_ERROR_INVALID_VALUE;
  auto *base = reinterpret_cast<char *>(address);
  if (!isAccessible(base, (height - 1) * pitch + rowBytes))
    return CUDA_ERROR_INVALID_VALUE;
  return perform(*context, *stream,
                 std::make_shared<FillOperation>(base, pitch, value, elementBytes, width, height),
                 Completion::async);
}

} // namespace

PTXRUN_STREAM_API(cuMemsetD8_v2, _ptds, (CUdeviceptr to, unsigned char value, size_t count),
                  (to, value, count)) {
  return fill(to, 0, value, 1, count, 1, nullptr);
}
PTXRUN_STREAM_API(cuMemsetD16_v2, _ptds, (CUdeviceptr to, unsigned short value, size_t count),
                  (to, value, count)) {
  return fill(to, 0, value, 2, count, 1, nullptr);
}
PTXRUN_STREAM_API(cuMemsetD32_v2, _ptds, (CUdeviceptr to, unsigned value, size_t count),
                  (to, value, count)) {
  return fill(to, 0, value, 4, count, 1, nullptr);
}
PTXRUN_STREAM_API(cuMemsetD2D8_v2, _ptds,
                  (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height),
                  (to, pitch, value, width, height)) {
  return fill(to, pitch, value, 1, width, height, nullptr);
}
PTXRUN_STREAM_API(cuMemsetD2D16_v2, _ptds,
                  (CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height),
                  (to, pitch, value, width, height)) {
  return fill(to, pitch, value, 2, width, height, nullptr);
}
PTXRUN_STREAM_API(cuMemsetD2D32_v2, _ptds,
                  (CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height),
                  (to, pitch, value, width, height)) {
  return fill(to, pitch, value, 4, width, height, nullptr);
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
