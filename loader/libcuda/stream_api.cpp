// Streams: creation, questions, waiting, host functions, memory operations.
#include <algorithm>
#include <span>

#include "loader/libcuda/api.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/event.h"
#include "loader/libcuda/host_function.h"
#include "loader/libcuda/memory_operation.h"
#include "loader/libcuda/stream_capture.h"

using namespace ptxrun::driver;

namespace {

constexpr int kGreatestPriority = -5, kLeastPriority = 0;
constexpr unsigned kMostBatched = 256; // CUDA's limit

/// The older kind, which is told how the stream fares and is called even then.
class CallbackOperation final : public Operation {
 public:
  CallbackOperation(CUstream stream, CUstreamCallback function, void *data)
      : stream_(stream), function_(function), data_(data) {}
  CUresult run(Context &context) override {
    InsideCallback scope;
    ptxrun::rt::ProgramEnvironment environment;
    function_(stream_, context.error(), data_);
    return CUDA_SUCCESS;
  }
  bool runsAfterFailure() const override { return true; }
  bool isLarge() const override { return true; }

 private:
  CUstream stream_;
  CUstreamCallback function_;
  void *data_;
};

CUresult giveMemoryOperations(CUstream handle, std::span<const CUstreamBatchMemOpParams> given,
                              unsigned flags) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(handle, context, stream));
  std::shared_ptr<Operation> operation;
  PTXRUN_TRY(makeMemoryOperation(given, operation));
  bool isCaptured = false;
  PTXRUN_TRY(routeWork(*stream, isCaptured));
  if (isCaptured)
    return captureNode(
        *stream,
        MemoryOperationsNode{{given.begin(), given.end()}, flags, handleOf<CUcontext>(context)});
  stream->submit(std::move(operation));
  return CUDA_SUCCESS;
}

CUresult giveMemoryOperation(CUstream stream, CUstreamBatchMemOpType type, CUdeviceptr address,
                             uint64_t value, unsigned flags) {
  CUstreamBatchMemOpParams p = {};
  p.operation = type;
  p.waitValue.address = address; // writes have the same layout
  if (type == CU_STREAM_MEM_OP_WAIT_VALUE_32 || type == CU_STREAM_MEM_OP_WRITE_VALUE_32)
    p.waitValue.value = static_cast<uint32_t>(value);
  else
    p.waitValue.value64 = value;
  p.waitValue.flags = flags;
  return giveMemoryOperations(stream, {&p, 1}, 0);
}

CUresult createStream(CUstream *handle, unsigned flags, int priority) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  if (!handle || flags > CU_STREAM_NON_BLOCKING)
    return CUDA_ERROR_INVALID_VALUE;
  priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
  *handle = publish<CUstream>(context->createStream(flags, priority));
  return CUDA_SUCCESS;
}

} // namespace

PTXRUN_API CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  return createStream(stream, flags, kLeastPriority);
}
PTXRUN_API CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
  return createStream(stream, flags, priority);
}

PTXRUN_API CUresult cuStreamDestroy_v2(CUstream handle) {
  PTXRUN_TRY(checkInitialised());
  if (!handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD)
    return CUDA_ERROR_INVALID_HANDLE;
  auto stream = withdraw<Stream>(handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  abandonCapture(*stream);
  stream->context().forgetStream(stream);
  stream->close(); // what is queued still runs
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuStreamDestroy(CUstream stream) { return cuStreamDestroy_v2(stream); }

PTXRUN_STREAM_API(cuStreamQuery, _ptsz, (CUstream handle), (handle)) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(handle, context, stream));
  PTXRUN_TRY(forbidCapture(*stream));
  if (stream->isIdle())
    return CUDA_SUCCESS;
  stream->wakeWorker(); // a program that polls wants progress
  return CUDA_ERROR_NOT_READY;
}

PTXRUN_STREAM_API(cuStreamSynchronize, _ptsz, (CUstream handle), (handle)) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(handle, context, stream));
  PTXRUN_TRY(forbidCapture(*stream));
  stream->synchronise();
  return context->error();
}

PTXRUN_STREAM_API(cuStreamWaitEvent, _ptsz, (CUstream handle, CUevent eventHandle, unsigned flags),
                  (handle, eventHandle, flags)) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(handle, context, stream));
  auto event = resolve<Event>(eventHandle);
  if (!event)
    return CUDA_ERROR_INVALID_HANDLE;
  if (flags > CU_EVENT_WAIT_EXTERNAL)
    return CUDA_ERROR_INVALID_VALUE;
  bool isCaptured = false;
  PTXRUN_TRY(routeWork(*stream, isCaptured));
  if (isCaptured && flags == CU_EVENT_WAIT_EXTERNAL)
    return captureNode(*stream, EventWaitNode{std::move(event)});
  if (isCaptured || event->captured())
    return captureWait(stream, *event);
  event->delay(stream);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuCtxWaitEvent(CUcontext handle, CUevent eventHandle) {
  PTXRUN_TRY(checkInitialised());
  auto context = resolve<Context>(handle);
  auto event = resolve<Event>(eventHandle);
  if (!context || !event)
    return CUDA_ERROR_INVALID_HANDLE;
  PTXRUN_TRY(checkNoCaptureIn(*context));
  if (isCapturedEvent(*event))
    return CUDA_ERROR_CAPTURED_EVENT;
  event->delay(context->legacyStream());
  return CUDA_SUCCESS;
}

PTXRUN_STREAM_API(cuLaunchHostFunc, _ptsz, (CUstream handle, CUhostFn function, void *data),
                  (handle, function, data)) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(handle, context, stream));
  if (!function)
    return CUDA_ERROR_INVALID_VALUE;
  bool isCaptured = false;
  PTXRUN_TRY(routeWork(*stream, isCaptured));
  if (isCaptured)
    return captureNode(*stream, HostNode{{function, data}});
  stream->submit(std::make_shared<HostOperation>(function, data));
  return CUDA_SUCCESS;
}
PTXRUN_STREAM_API(cuStreamAddCallback, _ptsz,
                  (CUstream handle, CUstreamCallback function, void *data, unsigned flags),
                  (handle, function, data, flags)) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(handle, context, stream));
  if (!function || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  PTXRUN_TRY(forbidCapture(*stream));
  stream->submit(std::make_shared<CallbackOperation>(handle, function, data));
  return CUDA_SUCCESS;
}

PTXRUN_STREAM_API(cuStreamWriteValue32_v2, _ptsz,
                  (CUstream stream, CUdeviceptr address, uint32_t value, unsigned flags),
                  (stream, address, value, flags)) {
  return giveMemoryOperation(stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags);
}
PTXRUN_STREAM_API(cuStreamWriteValue64_v2, _ptsz,
                  (CUstream stream, CUdeviceptr address, uint64_t value, unsigned flags),
                  (stream, address, value, flags)) {
  return giveMemoryOperation(stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags);
}
PTXRUN_STREAM_API(cuStreamWaitValue32_v2, _ptsz,
                  (CUstream stream, CUdeviceptr address, uint32_t value, unsigned flags),
                  (stream, address, value, flags)) {
  return giveMemoryOperation(stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags);
}
PTXRUN_STREAM_API(cuStreamWaitValue64_v2, _ptsz,
                  (CUstream stream, CUdeviceptr address, uint64_t value, unsigned flags),
                  (stream, address, value, flags)) {
  return giveMemoryOperation(stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags);
}
PTXRUN_STREAM_API(cuStreamBatchMemOp_v2, _ptsz,
                  (CUstream stream, unsigned count, CUstreamBatchMemOpParams *operations,
                   unsigned flags),
                  (stream, count, operations, flags)) {
  if (!operations || count == 0 || count > kMostBatched || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  return giveMemoryOperations(stream, {operations, count}, flags);
}

PTXRUN_STREAM_API(cuStreamGetPriority, _ptsz, (CUstream handle, int *priority),
                  (handle, priority)) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(handle, context, stream));
  if (!priority)
    return CUDA_ERROR_INVALID_VALUE;
  *priority = stream->priority();
  return CUDA_SUCCESS;
}
PTXRUN_STREAM_API(cuStreamGetFlags, _ptsz, (CUstream handle, unsigned *flags), (handle, flags)) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(handle, context, stream));
  if (!flags)
    return CUDA_ERROR_INVALID_VALUE;
  *flags = stream->flags();
  return CUDA_SUCCESS;
}
PTXRUN_STREAM_API(cuStreamGetId, _ptsz, (CUstream handle, unsigned long long *id), (handle, id)) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(handle, context, stream));
  if (!id)
    return CUDA_ERROR_INVALID_VALUE;
  *id = stream->id();
  return CUDA_SUCCESS;
}
PTXRUN_STREAM_API(cuStreamGetCtx, _ptsz, (CUstream handle, CUcontext *contextHandle),
                  (handle, contextHandle)) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(handle, context, stream));
  if (!contextHandle)
    return CUDA_ERROR_INVALID_VALUE;
  *contextHandle = handleOf<CUcontext>(context);
  return CUDA_SUCCESS;
}
PTXRUN_STREAM_API(cuStreamGetCtx_v2, _ptsz,
                  (CUstream handle, CUcontext *context, void **greenContext),
                  (handle, context, greenContext)) {
  PTXRUN_TRY(cuStreamGetCtx(handle, context));
  auto *found = resolve<Context>(*context).get();
  const bool isGreen = found && found->isGreen();
  if (greenContext)
    *greenContext = isGreen ? *context : nullptr;
  if (isGreen)
    *context = handleOf<CUcontext>(&primaryContext(found->device()));
  return CUDA_SUCCESS;
}
PTXRUN_STREAM_API(cuStreamGetDevice, _ptsz, (CUstream handle, CUdevice *device), (handle, device)) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(handle, context, stream));
  if (!device)
    return CUDA_ERROR_INVALID_VALUE;
  *device = context->device();
  return CUDA_SUCCESS;
}

// Attributes of streams are hints (cache windows, priorities, synchronisation policy): taken, and
// answered with defaults.

PTXRUN_STREAM_API(cuStreamSetAttribute, _ptsz,
                  (CUstream handle, CUstreamAttrID attribute, const CUstreamAttrValue *value),
                  (handle, attribute, value)) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(handle, context, stream));
  if (!value || !stream->attributes().set(attribute, *value))
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}
PTXRUN_STREAM_API(cuStreamGetAttribute, _ptsz,
                  (CUstream handle, CUstreamAttrID attribute, CUstreamAttrValue *value),
                  (handle, attribute, value)) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(handle, context, stream));
  if (!value || !stream->attributes().get(attribute, *value))
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}
PTXRUN_STREAM_API(cuStreamCopyAttributes, _ptsz, (CUstream to, CUstream from), (to, from)) {
  Context *context = nullptr;
  std::shared_ptr<Stream> target, source;
  PTXRUN_TRY(enter(to, context, target));
  PTXRUN_TRY(enter(from, context, source));
  target->attributes() = source->attributes();
  return CUDA_SUCCESS;
}
