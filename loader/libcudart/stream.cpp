// Streams and events.
#include "loader/libcudart/runtime.h"

using namespace ptxrun::runtime;

PTXRUN_RUNTIME_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags,
                                                            int priority) {
  return perform([&] { return cuStreamCreateWithPriority(stream, flags, priority); });
}
PTXRUN_RUNTIME_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
PTXRUN_RUNTIME_API cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  return cudaStreamCreateWithPriority(stream, 0, 0);
}
PTXRUN_RUNTIME_API cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return perform([&] { return cuStreamDestroy(stream); });
}
PTXRUN_RUNTIME_STREAM_API(cudaStreamSynchronize, _ptsz, (cudaStream_t stream), (stream)) {
  return perform([&] { return cuStreamSynchronize(streamOf(stream)); });
}
PTXRUN_RUNTIME_STREAM_API(cudaStreamQuery, _ptsz, (cudaStream_t stream), (stream)) {
  return perform([&] { return cuStreamQuery(streamOf(stream)); });
}
PTXRUN_RUNTIME_STREAM_API(cudaStreamWaitEvent, _ptsz,
                          (cudaStream_t stream, cudaEvent_t event, unsigned flags),
                          (stream, event, flags)) {
  return perform([&] { return cuStreamWaitEvent(streamOf(stream), event, flags); });
}
PTXRUN_RUNTIME_STREAM_API(cudaStreamGetPriority, _ptsz, (cudaStream_t stream, int *priority),
                          (stream, priority)) {
  return perform([&] { return cuStreamGetPriority(streamOf(stream), priority); });
}
PTXRUN_RUNTIME_STREAM_API(cudaStreamGetFlags, _ptsz, (cudaStream_t stream, unsigned *flags),
                          (stream, flags)) {
  return perform([&] { return cuStreamGetFlags(streamOf(stream), flags); });
}
PTXRUN_RUNTIME_STREAM_API(cudaStreamGetId, _ptsz, (cudaStream_t stream, unsigned long long *id),
                          (stream, id)) {
  return perform([&] { return cuStreamGetId(streamOf(stream), id); });
}
PTXRUN_RUNTIME_STREAM_API(cudaStreamGetDevice, _ptsz, (cudaStream_t stream, int *device),
                          (stream, device)) {
  return perform([&] { return cuStreamGetDevice(streamOf(stream), device); });
}
PTXRUN_RUNTIME_STREAM_API(cudaStreamSetAttribute, _ptsz,
                          (cudaStream_t stream, CUstreamAttrID which,
                           const CUstreamAttrValue *value),
                          (stream, which, value)) {
  return perform([&] { return cuStreamSetAttribute(streamOf(stream), which, value); });
}
PTXRUN_RUNTIME_STREAM_API(cudaStreamGetAttribute, _ptsz,
                          (cudaStream_t stream, CUstreamAttrID which, CUstreamAttrValue *value),
                          (stream, which, value)) {
  return perform([&] { return cuStreamGetAttribute(streamOf(stream), which, value); });
}
PTXRUN_RUNTIME_STREAM_API(cudaStreamCopyAttributes, _ptsz, (cudaStream_t to, cudaStream_t from),
                          (to, from)) {
  return perform([&] { return cuStreamCopyAttributes(streamOf(to), streamOf(from)); });
}
/// Callbacks take the runtime's error type, which has the driver's numbers.
PTXRUN_RUNTIME_STREAM_API(cudaStreamAddCallback, _ptsz,
                          (cudaStream_t stream, cudaStreamCallback_t callback, void *data,
                           unsigned flags),
                          (stream, callback, data, flags)) {
  return perform([&] {
    return cuStreamAddCallback(streamOf(stream), reinterpret_cast<CUstreamCallback>(callback), data,
                               flags);
  });
}

PTXRUN_RUNTIME_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
  return perform([&] { return cuEventCreate(event, flags); });
}
PTXRUN_RUNTIME_API cudaError_t cudaEventCreate(cudaEvent_t *event) {
  return cudaEventCreateWithFlags(event, 0);
}
PTXRUN_RUNTIME_API cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return perform([&] { return cuEventDestroy(event); });
}
PTXRUN_RUNTIME_STREAM_API(cudaEventRecord, _ptsz, (cudaEvent_t event, cudaStream_t stream),
                          (event, stream)) {
  return perform([&] { return cuEventRecord(event, streamOf(stream)); });
}
PTXRUN_RUNTIME_STREAM_API(cudaEventRecordWithFlags, _ptsz,
                          (cudaEvent_t event, cudaStream_t stream, unsigned flags),
                          (event, stream, flags)) {
  return perform([&] { return cuEventRecordWithFlags(event, streamOf(stream), flags); });
}
PTXRUN_RUNTIME_API cudaError_t cudaEventQuery(cudaEvent_t event) {
  return perform([&] { return cuEventQuery(event); });
}
PTXRUN_RUNTIME_API cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return perform([&] { return cuEventSynchronize(event); });
}
PTXRUN_RUNTIME_API cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start,
                                                    cudaEvent_t end) {
  return perform([&] { return cuEventElapsedTime(milliseconds, start, end); });
}
PTXRUN_RUNTIME_API cudaError_t cudaEventElapsedTime_v2(float *milliseconds, cudaEvent_t start,
                                                       cudaEvent_t end) {
  return cudaEventElapsedTime(milliseconds, start, end);
}
