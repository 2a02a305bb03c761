// Events.
#include <chrono>

#include "loader/libcuda/api.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/event.h"
#include "loader/libcuda/ipc.h"
#include "loader/libcuda/stream_capture.h"

namespace ptxrun::driver {

class Event::RecordOperation final : public Operation {
 public:
  RecordOperation(std::shared_ptr<Record> record, std::shared_ptr<SharedEventState> shared)
      : record_(std::move(record)), shared_(std::move(shared)),
        number_(shared_ ? shared_->begin() : 0) {}
  CUresult run(Context &) override {
    record_->time = std::chrono::steady_clock::now().time_since_epoch().count();
    if (shared_)
      shared_->end(number_);
    return CUDA_SUCCESS;
  }
  bool runsAfterFailure() const override { return true; }

 private:
  std::shared_ptr<Record> record_;
  std::shared_ptr<SharedEventState> shared_;
  uint64_t number_;
};

void Event::record(Stream &stream) {
  const Pending pending = beginRecord();
  endRecord(pending, stream.submit(pending.operation));
}

Event::Pending Event::beginRecord() {
  auto record = std::make_shared<Record>();
  auto operation = std::make_shared<RecordOperation>(record, shared);
  return {std::move(record), std::move(operation)};
}

void Event::endRecord(const Pending &pending, Ticket ticket) {
  std::shared_ptr<StreamCapture> before; // goes outside the lock
  std::lock_guard lock(mutex_);
  pending.record->ticket = std::move(ticket);
  last_ = pending.record;
  before = std::move(captured_);
}

std::shared_ptr<StreamCapture> Event::captured() const {
  std::lock_guard lock(mutex_);
  return captured_;
}

void Event::setCaptured(std::shared_ptr<StreamCapture> place) {
  std::lock_guard lock(mutex_);
  captured_.swap(place);
}

bool Event::isReached() const {
  return place().isDone() && (!shared || shared->isDone(shared->last()));
}

void Event::synchronise() const {
  if (const Ticket ticket = place(); !ticket.isDone())
    ticket.stream->drive(ticket.sequence);
  if (shared)
    shared->wait(shared->last());
}

void Event::delay(const std::shared_ptr<Stream> &stream) const {
  if (Ticket ticket = place(); !ticket.isDone() && ticket.stream != stream)
    stream->waitFor({std::move(ticket)});
  // What this process recorded last may be older than what another one did.
  if (shared && !shared->isDone(shared->last()))
    stream->submit(makeSharedWait(shared, shared->last()));
}

Ticket Event::place() const {
  std::lock_guard lock(mutex_);
  return last_ ? last_->ticket : Ticket{};
}

int64_t Event::time() const {
  std::lock_guard lock(mutex_);
  return last_ ? last_->time.load() : 0;
}

} // namespace ptxrun::driver

using namespace ptxrun::driver;

namespace {

constexpr unsigned kEventFlags =
    CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;

CUresult enterEvent(CUevent handle, std::shared_ptr<Event> &event) {
  PTXRUN_TRY(checkInitialised());
  event = resolve<Event>(handle);
  if (!event)
    return CUDA_ERROR_INVALID_HANDLE;
  return event->context.error();
}

CUresult elapsedTime(float *milliseconds, CUevent startHandle, CUevent endHandle) {
  std::shared_ptr<Event> start, end;
  PTXRUN_TRY(enterEvent(startHandle, start));
  PTXRUN_TRY(enterEvent(endHandle, end));
  if (!milliseconds)
    return CUDA_ERROR_INVALID_VALUE;
  if (!start->hasTiming() || !end->hasTiming() || !start->isRecorded() || !end->isRecorded())
    return CUDA_ERROR_INVALID_HANDLE;
  if (!start->place().isDone() || !end->place().isDone())
    return CUDA_ERROR_NOT_READY;
  *milliseconds = static_cast<float>(static_cast<double>(end->time() - start->time()) * 1e-6);
  return CUDA_SUCCESS;
}

} // namespace

PTXRUN_API CUresult cuEventCreate(CUevent *handle, unsigned flags) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  if (!handle || (flags & ~kEventFlags))
    return CUDA_ERROR_INVALID_VALUE;
  if ((flags & CU_EVENT_INTERPROCESS) && !(flags & CU_EVENT_DISABLE_TIMING))
    return CUDA_ERROR_INVALID_VALUE;
  auto event = std::make_shared<Event>(*context, flags);
  if (flags & CU_EVENT_INTERPROCESS) {
    event->shared = SharedEventState::make();
    if (!event->shared)
      return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *handle = publish<CUevent>(event);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuEventDestroy_v2(CUevent handle) {
  PTXRUN_TRY(checkInitialised());
  return withdraw<Event>(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
PTXRUN_API CUresult cuEventDestroy(CUevent event) { return cuEventDestroy_v2(event); }

PTXRUN_STREAM_API(cuEventRecordWithFlags, _ptsz,
                  (CUevent handle, CUstream streamHandle, unsigned flags),
                  (handle, streamHandle, flags)) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(streamHandle, context, stream));
  if (flags > CU_EVENT_RECORD_EXTERNAL)
    return CUDA_ERROR_INVALID_VALUE;
  auto event = resolve<Event>(handle);
  if (!event || !event->context.sharesEventsWith(*context))
    return CUDA_ERROR_INVALID_HANDLE;
  bool isCaptured = false;
  PTXRUN_TRY(routeWork(*stream, isCaptured));
  if (isCaptured && flags == CU_EVENT_RECORD_EXTERNAL)
    return captureNode(*stream, EventRecordNode{std::move(event)});
  if (isCaptured)
    return captureRecord(*stream, *event);
  event->record(*stream);
  return CUDA_SUCCESS;
}
PTXRUN_STREAM_API(cuEventRecord, _ptsz, (CUevent event, CUstream stream), (event, stream)) {
  return cuEventRecordWithFlags(event, stream, 0);
}

PTXRUN_API CUresult cuEventQuery(CUevent handle) {
  std::shared_ptr<Event> event;
  PTXRUN_TRY(enterEvent(handle, event));
  if (isCapturedEvent(*event))
    return CUDA_ERROR_CAPTURED_EVENT;
  PTXRUN_TRY(checkUnsafeCall());
  if (event->isReached())
    return CUDA_SUCCESS;
  if (const Ticket place = event->place(); place.stream)
    place.stream->wakeWorker(); // a program that polls wants progress
  return CUDA_ERROR_NOT_READY;
}

PTXRUN_API CUresult cuEventSynchronize(CUevent handle) {
  std::shared_ptr<Event> event;
  PTXRUN_TRY(enterEvent(handle, event));
  if (isCapturedEvent(*event))
    return CUDA_ERROR_CAPTURED_EVENT;
  PTXRUN_TRY(checkUnsafeCall());
  event->synchronise();
  return event->context.error();
}

PTXRUN_API CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
  return elapsedTime(milliseconds, start, end);
}
PTXRUN_API CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end) {
  return elapsedTime(milliseconds, start, end);
}

PTXRUN_API CUresult cuCtxRecordEvent(CUcontext handle, CUevent eventHandle) {
  PTXRUN_TRY(checkInitialised());
  auto context = resolve<Context>(handle);
  auto event = resolve<Event>(eventHandle);
  if (!context || !event || !event->context.sharesEventsWith(*context))
    return CUDA_ERROR_INVALID_HANDLE;
  PTXRUN_TRY(checkNoCaptureIn(*context));
  // The legacy default stream comes after everything that blocking streams hold.
  event->record(*context->legacyStream());
  return CUDA_SUCCESS;
}
