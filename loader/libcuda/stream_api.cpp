// Streams: creation, questions, waiting, host functions, memory operations.
#include <algorithm>
#include <atomic>
#include <thread>

#include "loader/libcuda/api.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/event.h"

using namespace ptxrun::driver;

namespace {

constexpr int kGreatestPriority = -5, kLeastPriority = 0;

/// A program's function, called in stream order. The API may not be called from inside.
class HostOperation final : public Operation {
 public:
  HostOperation(CUhostFn function, void *data) : function_(function), data_(data) {}
  CUresult run(Context &) override {
    InsideCallback scope;
    function_(data_);
    return CUDA_SUCCESS;
  }
  bool isLarge() const override { return true; }

 private:
  CUhostFn function_;
  void *data_;
};

/// The older kind, which is told how the stream fares and is called even then.
class CallbackOperation final : public Operation {
 public:
  CallbackOperation(CUstream stream, CUstreamCallback function, void *data)
      : stream_(stream), function_(function), data_(data) {}
  CUresult run(Context &context) override {
    InsideCallback scope;
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

template <class T> class WriteValueOperation final : public Operation {
 public:
  WriteValueOperation(CUdeviceptr address, T value)
      : target_(reinterpret_cast<T *>(address)), value_(value) {}
  CUresult run(Context &) override {
    std::atomic_ref<T>(*target_).store(value_, std::memory_order_release);
    return CUDA_SUCCESS;
  }

 private:
  T *target_;
  T value_;
};

template <class T> class WaitValueOperation final : public Operation {
 public:
  WaitValueOperation(CUdeviceptr address, T value, unsigned flags)
      : source_(reinterpret_cast<T *>(address)), value_(value), flags_(flags) {}
  CUresult run(Context &) override {
    while (!isReached() && !shutdownFlag())
      std::this_thread::yield();
    return CUDA_SUCCESS;
  }
  bool isLarge() const override { return true; }

 private:
  bool isReached() const {
    const T now = std::atomic_ref<T>(*source_).load(std::memory_order_acquire);
    switch (flags_ & 3) {
    case CU_STREAM_WAIT_VALUE_GEQ:
      return static_cast<std::make_signed_t<T>>(now - value_) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
      return now == value_;
    case CU_STREAM_WAIT_VALUE_AND:
      return (now & value_) != 0;
    default:
      return ~(now | value_) != 0;
    }
  }
  T *source_;
  T value_;
  unsigned flags_;
};

template <class Operation, class... Arguments>
CUresult append(CUstream handle, bool isValid, Arguments... arguments) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(handle, context, stream));
  if (!isValid)
    return CUDA_ERROR_INVALID_VALUE;
  stream->submit(std::make_shared<Operation>(arguments...));
  return CUDA_SUCCESS;
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
  stream->context().forgetStream(stream);
  stream->close(); // what is queued still runs
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuStreamDestroy(CUstream stream) { return cuStreamDestroy_v2(stream); }

PTXRUN_STREAM_API(cuStreamQuery, _ptsz, (CUstream handle), (handle)) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(handle, context, stream));
  if (stream->isIdle())
    return CUDA_SUCCESS;
  stream->wakeWorker(); // a program that polls wants progress
  return CUDA_ERROR_NOT_READY;
}

PTXRUN_STREAM_API(cuStreamSynchronize, _ptsz, (CUstream handle), (handle)) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(handle, context, stream));
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
  if (flags > 1)
    return CUDA_ERROR_INVALID_VALUE;
  Ticket place = event->place();
  if (!place.isDone() && place.stream != stream)
    stream->waitFor({std::move(place)});
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuCtxWaitEvent(CUcontext handle, CUevent eventHandle) {
  PTXRUN_TRY(checkInitialised());
  auto context = resolve<Context>(handle);
  auto event = resolve<Event>(eventHandle);
  if (!context || !event)
    return CUDA_ERROR_INVALID_HANDLE;
  if (Ticket place = event->place(); !place.isDone())
    context->legacyStream()->waitFor({std::move(place)});
  return CUDA_SUCCESS;
}

PTXRUN_STREAM_API(cuLaunchHostFunc, _ptsz, (CUstream stream, CUhostFn function, void *data),
                  (stream, function, data)) {
  return append<HostOperation>(stream, function != nullptr, function, data);
}
PTXRUN_STREAM_API(cuStreamAddCallback, _ptsz,
                  (CUstream stream, CUstreamCallback function, void *data, unsigned flags),
                  (stream, function, data, flags)) {
  return append<CallbackOperation>(stream, function && flags == 0, stream, function, data);
}

PTXRUN_STREAM_API(cuStreamWriteValue32_v2, _ptsz,
                  (CUstream stream, CUdeviceptr address, uint32_t value, unsigned flags),
                  (stream, address, value, flags)) {
  (void)flags;
  return append<WriteValueOperation<uint32_t>>(stream, address && address % 4 == 0, address, value);
}
PTXRUN_STREAM_API(cuStreamWriteValue64_v2, _ptsz,
                  (CUstream stream, CUdeviceptr address, uint64_t value, unsigned flags),
                  (stream, address, value, flags)) {
  (void)flags;
  return append<WriteValueOperation<uint64_t>>(stream, address && address % 8 == 0, address, value);
}
PTXRUN_STREAM_API(cuStreamWaitValue32_v2, _ptsz,
                  (CUstream stream, CUdeviceptr address, uint32_t value, unsigned flags),
                  (stream, address, value, flags)) {
  return append<WaitValueOperation<uint32_t>>(stream, address && address % 4 == 0, address, value,
                                              flags);
}
PTXRUN_STREAM_API(cuStreamWaitValue64_v2, _ptsz,
                  (CUstream stream, CUdeviceptr address, uint64_t value, unsigned flags),
                  (stream, address, value, flags)) {
  return append<WaitValueOperation<uint64_t>>(stream, address && address % 8 == 0, address, value,
                                              flags);
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
  if (greenContext)
    *greenContext = nullptr;
  return cuStreamGetCtx(handle, context);
}
PTXRUN_STREAM_API(cuStreamGetDevice, _ptsz, (CUstream handle, CUdevice *device), (handle, device)) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(handle, context, stream));
  if (!device)
    return CUDA_ERROR_INVALID_VALUE;
  *device = 0;
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

// Capture: no stream is ever capturing.

PTXRUN_STREAM_API(cuStreamIsCapturing, _ptsz, (CUstream handle, CUstreamCaptureStatus *status),
                  (handle, status)) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(handle, context, stream));
  if (!status)
    return CUDA_ERROR_INVALID_VALUE;
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
PTXRUN_STREAM_API(cuStreamGetCaptureInfo, _ptsz,
                  (CUstream handle, CUstreamCaptureStatus *status, uint64_t *id),
                  (handle, status, id)) {
  (void)id;
  return cuStreamIsCapturing(handle, status);
}
PTXRUN_STREAM_API(cuStreamGetCaptureInfo_v2, _ptsz,
                  (CUstream handle, CUstreamCaptureStatus *status, uint64_t *id, CUgraph *graph,
                   const CUgraphNode **dependencies, size_t *count),
                  (handle, status, id, graph, dependencies, count)) {
  (void)id, (void)graph, (void)dependencies, (void)count;
  return cuStreamIsCapturing(handle, status);
}
PTXRUN_STREAM_API(cuStreamGetCaptureInfo_v3, _ptsz,
                  (CUstream handle, CUstreamCaptureStatus *status, uint64_t *id, CUgraph *graph,
                   const CUgraphNode **dependencies, const CUgraphEdgeData **edges, size_t *count),
                  (handle, status, id, graph, dependencies, edges, count)) {
  (void)id, (void)graph, (void)dependencies, (void)edges, (void)count;
  return cuStreamIsCapturing(handle, status);
}
PTXRUN_API CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  static thread_local CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
  PTXRUN_TRY(checkInitialised());
  if (!mode || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_ERROR_INVALID_VALUE;
  std::swap(*mode, current);
  return CUDA_SUCCESS;
}
