// The runtime API's types of graphs: layouts of CUDA 13.0, the same in 12, written down from the
// public documentation. What is not here has the driver API's layout.
#pragma once
#include "loader/libcudart/cudart_abi.h"

using cudaGraph_t = CUgraph;
using cudaGraphNode_t = CUgraphNode;
using cudaGraphExec_t = CUgraphExec;
using cudaUserObject_t = CUuserObject;

struct cudaKernelNodeParams {
  void *func; ///< a host stub, or a kernel's handle
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void **kernelParams, **extra;
};
struct cudaMemcpyNodeParams {
  int flags, reserved[3];
  cudaMemcpy3DParms copyParams;
};
struct cudaConditionalNodeParams {
  CUgraphConditionalHandle handle;
  CUgraphConditionalNodeType type;
  unsigned size;
  cudaGraph_t *phGraph_out;
};
struct cudaGraphNodeParams {
  CUgraphNodeType type;
  int reserved0[3];
  union {
    long long reserved1[29];
    cudaKernelNodeParams kernel;
    cudaMemcpyNodeParams memcpy;
    CUDA_MEMSET_NODE_PARAMS memset;
    CUDA_HOST_NODE_PARAMS host;
    CUDA_CHILD_GRAPH_NODE_PARAMS graph;
    CUDA_EVENT_WAIT_NODE_PARAMS eventWait;
    CUDA_EVENT_RECORD_NODE_PARAMS eventRecord;
    CUDA_MEM_ALLOC_NODE_PARAMS alloc;
    CUDA_MEM_FREE_NODE_PARAMS free;
    cudaConditionalNodeParams conditional;
  };
  long long reserved2;
};
static_assert(sizeof(cudaGraphNodeParams) == sizeof(CUgraphNodeParams));
