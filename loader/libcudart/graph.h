// Parameters of graph nodes between the runtime API and the driver's.
#pragma once
#include "loader/libcudart/cudart_graph_abi.h"

namespace ptxrun::runtime {

/// cudaErrorInvalidDeviceFunction for what is no kernel.
CUresult toDriver(const cudaKernelNodeParams &, CUDA_KERNEL_NODE_PARAMS &);
CUresult toDriver(const cudaGraphNodeParams &, CUgraphNodeParams &);
CUcontext currentContext();

} // namespace ptxrun::runtime
