#include "loader/libcuda/device_node.h"

#include <cstring>

#include "loader/libcuda/memory.h"

namespace ptxrun::driver {

namespace {
/// The most that a kernel's arguments can take; another kernel may come to the node.
constexpr size_t kMostArgumentBytes = 32764;
} // namespace

/// Offsets are known to device_runtime.cpp.
struct DeviceNode::Record {
  uint64_t argumentBytes;
  uint32_t enabled;
  uint32_t grid[3];
  uint64_t unused;
  std::byte arguments[kMostArgumentBytes];
};

std::shared_ptr<DeviceNode> DeviceNode::make(const LaunchOperation &launch) {
  static_assert(offsetof(Record, enabled) == 8 && offsetof(Record, grid) == 12 &&
                offsetof(Record, arguments) == 32);
  CUdeviceptr address = 0;
  if (allocate(&address, sizeof(Record), {MemoryUse::device, 0, nullptr}) != CUDA_SUCCESS)
    return nullptr;
  std::shared_ptr<DeviceNode> made(new DeviceNode);
  made->record_ = reinterpret_cast<Record *>(address);
  made->record_->enabled = 1;
  return made->write(launch) == CUDA_SUCCESS ? made : nullptr;
}

DeviceNode::~DeviceNode() { release(reinterpret_cast<CUdeviceptr>(record_)); }

CUresult DeviceNode::write(const LaunchOperation &launch) {
  const size_t bytes = launch.function().info.parameterBytes;
  if (bytes > kMostArgumentBytes)
    return CUDA_ERROR_INVALID_VALUE;
  const abi::Dim3 grid = launch.shape().grid;
  record_->argumentBytes = bytes;
  record_->grid[0] = grid.x;
  record_->grid[1] = grid.y;
  record_->grid[2] = grid.z;
  memcpy(record_->arguments, launch.arguments.data(), bytes);
  return CUDA_SUCCESS;
}

void DeviceNode::setEnabled(bool isEnabled) { record_->enabled = isEnabled; }
bool DeviceNode::isEnabled() const { return record_->enabled != 0; }

CUresult DeviceNode::apply(LaunchOperation &launch) const {
  memcpy(launch.arguments.data(), record_->arguments, launch.function().info.parameterBytes);
  return launch.setGrid({record_->grid[0], record_->grid[1], record_->grid[2]});
}

} // namespace ptxrun::driver
