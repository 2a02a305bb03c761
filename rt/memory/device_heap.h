// malloc and free of device code. Blocks outlive the launch, as CUDA says.
#pragma once
#include <cstdint>

namespace ptxrun::rt {

/// Bytes device code may hold at once (CU_LIMIT_MALLOC_HEAP_SIZE; 8 MiB at first). malloc returns
/// null beyond.
void setDeviceHeapLimit(uint64_t bytes);
uint64_t deviceHeapLimit();
/// Frees every block (the context is gone).
void clearDeviceHeap();

} // namespace ptxrun::rt
