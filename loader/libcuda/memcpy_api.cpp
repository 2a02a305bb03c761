// Copies of plain byte ranges. Every address is a host address; direction only decides which checks
// are made and when a call may return before the copy is done.
#include "loader/libcuda/api.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/copy.h"
#include "loader/libcuda/stream_capture.h"

using namespace ptxrun::driver;

namespace {

enum class Side { host, device };

struct Range {
  const void *address;
  Side side;
};

Range hostRange(const void *address) { return {address, Side::host}; }
Range deviceRange(CUdeviceptr address) {
  return {reinterpret_cast<const void *>(address), Side::device};
}

/// Host addresses are the program's own affair; a bad device address is an error, not a fault.
bool isValid(Range range, size_t bytes) {
  return range.address && (range.side == Side::host || isAccessible(range.address, bytes));
}

/// How a call came: those that return when the copy is done are no part of any capture.
enum class Call { synchronous, queued };

CUDA_MEMCPY3D describe(Range to, Range from, size_t bytes) {
  CUDA_MEMCPY3D c = {};
  c.srcMemoryType = from.side == Side::host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
  c.srcHost = from.side == Side::host ? from.address : nullptr;
  c.srcDevice = from.side == Side::host ? 0 : reinterpret_cast<CUdeviceptr>(from.address);
  c.dstMemoryType = to.side == Side::host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
  c.dstHost = to.side == Side::host ? const_cast<void *>(to.address) : nullptr;
  c.dstDevice = to.side == Side::host ? 0 : reinterpret_cast<CUdeviceptr>(to.address);
  c.srcPitch = c.dstPitch = c.WidthInBytes = bytes;
  c.srcHeight = c.dstHeight = c.Height = c.Depth = 1;
  return c;
}

CUresult copy(Range to, Range from, size_t bytes, CUstream streamHandle, Completion completion,
              Call call = Call::queued) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(streamHandle, context, stream));
  bool isCaptured = false;
  PTXRUN_TRY(call == Call::synchronous ? forbidSynchronous(*stream)
                                       : routeWork(*stream, isCaptured));
  if (bytes == 0)
    return CUDA_SUCCESS;
  if (!isValid(to, bytes) || !isValid(from, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  const CopySide target{static_cast<char *>(const_cast<void *>(to.address)), bytes, bytes};
  const CopySide source{static_cast<char *>(const_cast<void *>(from.address)), bytes, bytes};
  auto operation = std::make_shared<CopyOperation>(target, source, bytes, 1, 1);
  if (isCaptured)
    return captureNode(*stream, CopyNode{std::move(operation), describe(to, from, bytes), true,
                                         handleOf<CUcontext>(context)});
  // Pageable memory may be gone or overwritten as soon as the call returns.
  for (Range range : {to, from})
    if (range.side == Side::host && !isPinned(range.address))
      completion = Completion::waits;
  return perform(*context, *stream, std::move(operation), completion);
}

} // namespace

PTXRUN_STREAM_API(cuMemcpy, _ptds, (CUdeviceptr to, CUdeviceptr from, size_t bytes),
                  (to, from, bytes)) {
  return copy(deviceRange(to), deviceRange(from), bytes, nullptr, Completion::waits,
              Call::synchronous);
}
PTXRUN_STREAM_API(cuMemcpyAsync, _ptsz,
                  (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
                  (to, from, bytes, stream)) {
  const auto isPlainHost = [](CUdeviceptr address) {
    return !isPinned(reinterpret_cast<const void *>(address));
  };
  return copy(deviceRange(to), deviceRange(from), bytes, stream,
              isPlainHost(to) || isPlainHost(from) ? Completion::waits : Completion::async);
}

PTXRUN_STREAM_API(cuMemcpyHtoD_v2, _ptds, (CUdeviceptr to, const void *from, size_t bytes),
                  (to, from, bytes)) {
  return copy(deviceRange(to), hostRange(from), bytes, nullptr, Completion::waits,
              Call::synchronous);
}
PTXRUN_STREAM_API(cuMemcpyDtoH_v2, _ptds, (void *to, CUdeviceptr from, size_t bytes),
                  (to, from, bytes)) {
  return copy(hostRange(to), deviceRange(from), bytes, nullptr, Completion::waits,
              Call::synchronous);
}
PTXRUN_STREAM_API(cuMemcpyDtoD_v2, _ptds, (CUdeviceptr to, CUdeviceptr from, size_t bytes),
                  (to, from, bytes)) {
  return copy(deviceRange(to), deviceRange(from), bytes, nullptr, Completion::async,
              Call::synchronous);
}

PTXRUN_STREAM_API(cuMemcpyHtoDAsync_v2, _ptsz,
                  (CUdeviceptr to, const void *from, size_t bytes, CUstream stream),
                  (to, from, bytes, stream)) {
  return copy(deviceRange(to), hostRange(from), bytes, stream, Completion::async);
}
PTXRUN_STREAM_API(cuMemcpyDtoHAsync_v2, _ptsz,
                  (void *to, CUdeviceptr from, size_t bytes, CUstream stream),
                  (to, from, bytes, stream)) {
  return copy(hostRange(to), deviceRange(from), bytes, stream, Completion::async);
}
PTXRUN_STREAM_API(cuMemcpyDtoDAsync_v2, _ptsz,
                  (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
                  (to, from, bytes, stream)) {
  return copy(deviceRange(to), deviceRange(from), bytes, stream, Completion::async);
}

// Between contexts: all contexts share one address space.

PTXRUN_STREAM_API(cuMemcpyPeer, _ptds,
                  (CUdeviceptr to, CUcontext toContext, CUdeviceptr from, CUcontext fromContext,
                   size_t bytes),
                  (to, toContext, from, fromContext, bytes)) {
  const auto toEnd = resolve<Context>(toContext), fromEnd = resolve<Context>(fromContext);
  if (!toEnd || !fromEnd)
    return CUDA_ERROR_INVALID_CONTEXT;
  // It begins when everything that either device was given before is done.
  for (Context *context : {toEnd.get(), fromEnd.get()})
    if (context != currentContext() && !context->isDestroyed())
      context->synchronise();
  return copy(deviceRange(to), deviceRange(from), bytes, nullptr, Completion::waits,
              Call::synchronous);
}
PTXRUN_STREAM_API(cuMemcpyPeerAsync, _ptsz,
                  (CUdeviceptr to, CUcontext toContext, CUdeviceptr from, CUcontext fromContext,
                   size_t bytes, CUstream stream),
                  (to, toContext, from, fromContext, bytes, stream)) {
  if (!resolve<Context>(toContext) || !resolve<Context>(fromContext))
    return CUDA_ERROR_INVALID_CONTEXT;
  return copy(deviceRange(to), deviceRange(from), bytes, stream, Completion::async);
}
