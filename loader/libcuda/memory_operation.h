// Memory operations of streams: waiting for a word of memory, writing one, barriers.
#pragma once
#include <memory>
#include <span>

#include "loader/libcuda/context.h"

namespace ptxrun::driver {

/// One operation that does all, in their order. CUDA_ERROR_INVALID_VALUE for one that is unknown or
/// whose address is not aligned.
CUresult makeMemoryOperation(std::span<const CUstreamBatchMemOpParams>,
                             std::shared_ptr<Operation> &);

} // namespace ptxrun::driver
