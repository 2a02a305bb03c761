// Executable graphs.
#include "loader/libcudart/cudart_graph_abi.h"
#include "loader/libcudart/runtime.h"

using namespace ptxrun::runtime;

PTXRUN_RUNTIME_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec,
                                                             cudaGraph_t graph,
                                                             unsigned long long flags) {
  return perform([&] { return cuGraphInstantiateWithFlags(exec, graph, flags); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                                    unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(exec, graph, flags);
}
PTXRUN_RUNTIME_STREAM_API(cudaGraphInstantiateWithParams, _ptsz,
                          (cudaGraphExec_t * exec, cudaGraph_t graph,
                           CUDA_GRAPH_INSTANTIATE_PARAMS *p),
                          (exec, graph, p)) {
  return perform([&] { return cuGraphInstantiateWithParams(exec, graph, p); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec,
                                                     unsigned long long *flags) {
  return perform([&] {
    uint64_t value = 0;
    const CUresult result = flags ? cuGraphExecGetFlags(exec, &value) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
      *flags = value;
    return result;
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return perform([&] { return cuGraphExecDestroy(exec); });
}
PTXRUN_RUNTIME_STREAM_API(cudaGraphUpload, _ptsz, (cudaGraphExec_t exec, cudaStream_t stream),
                          (exec, stream)) {
  return perform([&] { return cuGraphUpload(exec, streamOf(stream)); });
}
PTXRUN_RUNTIME_STREAM_API(cudaGraphLaunch, _ptsz, (cudaGraphExec_t exec, cudaStream_t stream),
                          (exec, stream)) {
  return perform([&] { return cuGraphLaunch(exec, streamOf(stream)); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                                   CUgraphExecUpdateResultInfo *info) {
  return perform([&] { return cuGraphExecUpdate(exec, graph, info); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                       unsigned isEnabled) {
  return perform([&] { return cuGraphNodeSetEnabled(exec, node, isEnabled); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                       unsigned *isEnabled) {
  return perform([&] { return cuGraphNodeGetEnabled(exec, node, isEnabled); });
}
