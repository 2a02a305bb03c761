// malloc and free of device code. Blocks outlive the launch, as CUDA says.
#pragma once
#include <cstdint>
#include <vector>

namespace ptxrun::rt {

/// Bytes device code may hold at once (CU_LIMIT_MALLOC_HEAP_SIZE; 8 MiB at first). malloc returns
/// null beyond.
void setDeviceHeapLimit(uint64_t bytes);
uint64_t deviceHeapLimit();
/// Null beyond the limit.
void *allocateOnDeviceHeap(uint64_t bytes);
/// False where `block` is no block.
bool freeOnDeviceHeap(void *block);
/// Where blocks come from one range of addresses (useDeviceArena), lowest first: what is allocated now, and the same again.
struct HeapBlock {
  uint64_t base = 0, bytes = 0;
};
std::vector<HeapBlock> deviceHeapBlocks();
void restoreDeviceHeap(const std::vector<HeapBlock> &);
/// Bytes from kDeviceHeapArena on that any block has had so far.
uint64_t deviceHeapExtent();
/// Frees every block (the context is gone).
void clearDeviceHeap();

} // namespace ptxrun::rt
