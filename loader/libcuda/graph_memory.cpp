#include "loader/libcuda/graph_memory.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "loader/libcuda/api.h"
#include "loader/libcuda/device_info.h"
#include "loader/libcuda/memory.h"

namespace ptxrun::driver {

/// All of them, and the counts that cuDeviceGetGraphMemAttribute answers. Never destroyed.
struct GraphMemory {
  std::mutex mutex;
  std::map<CUdeviceptr, std::weak_ptr<GraphAllocation>> all;
  std::map<CUdeviceptr, std::shared_ptr<GraphAllocation>> allocated;
  uint64_t used = 0, usedHigh = 0, reserved = 0, reservedHigh = 0;

  static GraphMemory &instance() {
    static auto *memory = new GraphMemory;
    return *memory;
  }
  void giveBack(GraphAllocation &allocation) {
    if (!allocation.isReserved_)
      return;
    allocation.isReserved_ = false;
    reserved -= allocation.bytes;
  }
  /// What is not allocated counts as reserved no more. The pointers are to go outside the lock.
  std::vector<std::shared_ptr<GraphAllocation>> trim() {
    std::vector<std::shared_ptr<GraphAllocation>> looked;
    for (auto &[address, weak] : all)
      if (auto allocation = weak.lock()) {
        if (!allocation->isAllocated_)
          giveBack(*allocation);
        looked.push_back(std::move(allocation));
      }
    return looked;
  }
};

CUresult GraphAllocation::make(Context *context, size_t bytes,
                               std::shared_ptr<GraphAllocation> &made) {
  CUdeviceptr address = 0;
  PTXRUN_TRY(driver::allocate(&address, bytes, {MemoryUse::pool, 0, context}));
  made.reset(new GraphAllocation(address, bytes));
  GraphMemory &memory = GraphMemory::instance();
  std::lock_guard lock(memory.mutex);
  memory.all[address] = made;
  return CUDA_SUCCESS;
}

GraphAllocation::~GraphAllocation() {
  GraphMemory &memory = GraphMemory::instance();
  {
    std::lock_guard lock(memory.mutex);
    memory.giveBack(*this);
    memory.all.erase(address);
  }
  release(address);
}

bool GraphAllocation::isAllocated() const {
  std::lock_guard lock(GraphMemory::instance().mutex);
  return isAllocated_;
}

void GraphAllocation::allocate() {
  GraphMemory &memory = GraphMemory::instance();
  std::lock_guard lock(memory.mutex);
  if (isAllocated_)
    return;
  isAllocated_ = true;
  memory.allocated[address] = memory.all[address].lock();
  memory.used += bytes;
  memory.usedHigh = std::max(memory.usedHigh, memory.used);
}

bool GraphAllocation::free() {
  GraphMemory &memory = GraphMemory::instance();
  std::shared_ptr<GraphAllocation> last; // goes outside the lock
  std::lock_guard lock(memory.mutex);
  if (!isAllocated_)
    return false;
  isAllocated_ = false;
  memory.used -= bytes;
  if (const auto found = memory.allocated.find(address); found != memory.allocated.end()) {
    last = std::move(found->second);
    memory.allocated.erase(found);
  }
  return true;
}

void GraphAllocation::reserve() {
  GraphMemory &memory = GraphMemory::instance();
  std::lock_guard lock(memory.mutex);
  if (isReserved_)
    return;
  isReserved_ = true;
  memory.reserved += bytes;
  memory.reservedHigh = std::max(memory.reservedHigh, memory.reserved);
}

std::shared_ptr<GraphAllocation> findGraphAllocation(CUdeviceptr address) {
  GraphMemory &memory = GraphMemory::instance();
  std::lock_guard lock(memory.mutex);
  const auto found = memory.all.find(address);
  return found == memory.all.end() ? nullptr : found->second.lock();
}

void noteGraphPeak(size_t bytes) {
  GraphMemory &memory = GraphMemory::instance();
  std::lock_guard lock(memory.mutex);
  memory.usedHigh = std::max(memory.usedHigh, memory.used + bytes);
}

} // namespace ptxrun::driver

using namespace ptxrun::driver;

PTXRUN_API CUresult cuDeviceGraphMemTrim(CUdevice device) {
  PTXRUN_TRY(checkInitialised());
  PTXRUN_TRY(checkDevice(device));
  GraphMemory &memory = GraphMemory::instance();
  std::vector<std::shared_ptr<GraphAllocation>> looked;
  std::lock_guard lock(memory.mutex);
  looked = memory.trim();
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                                 void *value) {
  PTXRUN_TRY(checkInitialised());
  PTXRUN_TRY(checkDevice(device));
  if (!value)
    return CUDA_ERROR_INVALID_VALUE;
  GraphMemory &memory = GraphMemory::instance();
  std::lock_guard lock(memory.mutex);
  auto &number = *static_cast<uint64_t *>(value);
  switch (attribute) {
  case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
    number = memory.used;
    return CUDA_SUCCESS;
  case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
    number = memory.usedHigh;
    return CUDA_SUCCESS;
  case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
    number = memory.reserved;
    return CUDA_SUCCESS;
  case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
    number = memory.reservedHigh;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

PTXRUN_API CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                                 void *value) {
  PTXRUN_TRY(checkInitialised());
  PTXRUN_TRY(checkDevice(device));
  if (!value || *static_cast<uint64_t *>(value) != 0)
    return CUDA_ERROR_INVALID_VALUE; // the high marks can be set back, nothing else
  GraphMemory &memory = GraphMemory::instance();
  std::lock_guard lock(memory.mutex);
  if (attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)
    memory.usedHigh = memory.used;
  else if (attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
    memory.reservedHigh = memory.reserved;
  else
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}
