// Stream capture. 12's plain names take no edge data; its _v2 and _v3 are 13's plain names.
#include "loader/libcudart/cudart_graph_abi.h"
#include "loader/libcudart/runtime.h"

using namespace ptxrun::runtime;

PTXRUN_RUNTIME_STREAM_API(cudaStreamBeginCapture, _ptsz,
                          (cudaStream_t stream, CUstreamCaptureMode mode), (stream, mode)) {
  return perform([&] { return cuStreamBeginCapture(streamOf(stream), mode); });
}
PTXRUN_RUNTIME_STREAM_API(cudaStreamBeginCaptureToGraph, _ptsz,
                          (cudaStream_t stream, cudaGraph_t graph,
                           const cudaGraphNode_t *dependencies, const CUgraphEdgeData *edges,
                           size_t count, CUstreamCaptureMode mode),
                          (stream, graph, dependencies, edges, count, mode)) {
  return perform([&] {
    return cuStreamBeginCaptureToGraph(streamOf(stream), graph, dependencies, edges, count, mode);
  });
}
PTXRUN_RUNTIME_STREAM_API(cudaStreamEndCapture, _ptsz, (cudaStream_t stream, cudaGraph_t *graph),
                          (stream, graph)) {
  return perform([&] { return cuStreamEndCapture(streamOf(stream), graph); });
}
PTXRUN_RUNTIME_STREAM_API(cudaStreamIsCapturing, _ptsz,
                          (cudaStream_t stream, CUstreamCaptureStatus *status), (stream, status)) {
  return perform([&] { return cuStreamIsCapturing(streamOf(stream), status); });
}
PTXRUN_RUNTIME_API cudaError_t cudaThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  return perform([&] { return cuThreadExchangeStreamCaptureMode(mode); });
}

namespace {

cudaError_t captureInfo(cudaStream_t stream, CUstreamCaptureStatus *status, unsigned long long *id,
                        cudaGraph_t *graph, const cudaGraphNode_t **dependencies,
                        const CUgraphEdgeData **edges, size_t *count) {
  return perform([&] {
    uint64_t number = 0;
    const CUresult result = cuStreamGetCaptureInfo(streamOf(stream), status, &number, graph,
                                                   dependencies, edges, count);
    if (result == CUDA_SUCCESS && id)
      *id = number;
    return result;
  });
}

} // namespace

#if PTXRUN_CUDART_MAJOR == 12
PTXRUN_RUNTIME_STREAM_API(cudaStreamGetCaptureInfo, _ptsz,
                          (cudaStream_t stream, CUstreamCaptureStatus *status,
                           unsigned long long *id),
                          (stream, status, id)) {
  return captureInfo(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}
PTXRUN_RUNTIME_STREAM_API(cudaStreamGetCaptureInfo_v2, _ptsz,
                          (cudaStream_t stream, CUstreamCaptureStatus *status,
                           unsigned long long *id, cudaGraph_t *graph,
                           const cudaGraphNode_t **dependencies, size_t *count),
                          (stream, status, id, graph, dependencies, count)) {
  return captureInfo(stream, status, id, graph, dependencies, nullptr, count);
}
PTXRUN_RUNTIME_STREAM_API(cudaStreamGetCaptureInfo_v3, _ptsz,
                          (cudaStream_t stream, CUstreamCaptureStatus *status,
                           unsigned long long *id, cudaGraph_t *graph,
                           const cudaGraphNode_t **dependencies, const CUgraphEdgeData **edges,
                           size_t *count),
                          (stream, status, id, graph, dependencies, edges, count)) {
  return captureInfo(stream, status, id, graph, dependencies, edges, count);
}
PTXRUN_RUNTIME_STREAM_API(cudaStreamUpdateCaptureDependencies, _ptsz,
                          (cudaStream_t stream, cudaGraphNode_t *dependencies, size_t count,
                           unsigned flags),
                          (stream, dependencies, count, flags)) {
  return perform([&] {
    return cuStreamUpdateCaptureDependencies(streamOf(stream), dependencies, nullptr, count, flags);
  });
}
PTXRUN_RUNTIME_STREAM_API(cudaStreamUpdateCaptureDependencies_v2, _ptsz,
                          (cudaStream_t stream, cudaGraphNode_t *dependencies,
                           const CUgraphEdgeData *edges, size_t count, unsigned flags),
                          (stream, dependencies, edges, count, flags)) {
  return perform([&] {
    return cuStreamUpdateCaptureDependencies(streamOf(stream), dependencies, edges, count, flags);
  });
}
#else
PTXRUN_RUNTIME_STREAM_API(cudaStreamGetCaptureInfo, _ptsz,
                          (cudaStream_t stream, CUstreamCaptureStatus *status,
                           unsigned long long *id, cudaGraph_t *graph,
                           const cudaGraphNode_t **dependencies, const CUgraphEdgeData **edges,
                           size_t *count),
                          (stream, status, id, graph, dependencies, edges, count)) {
  return captureInfo(stream, status, id, graph, dependencies, edges, count);
}
PTXRUN_RUNTIME_STREAM_API(cudaStreamUpdateCaptureDependencies, _ptsz,
                          (cudaStream_t stream, cudaGraphNode_t *dependencies,
                           const CUgraphEdgeData *edges, size_t count, unsigned flags),
                          (stream, dependencies, edges, count, flags)) {
  return perform([&] {
    return cuStreamUpdateCaptureDependencies(streamOf(stream), dependencies, edges, count, flags);
  });
}
#endif
