#include "loader/libcuda/device_node.h"

#include <cstring>

#include "loader/capture/recorder.h"
#include "loader/libcuda/memory.h"

namespace ptxrun::driver {

namespace {
/// The most that a kernel's arguments can take; another kernel may come to the node.
constexpr size_t kMostArgumentBytes = 32764;
} // namespace

/// Offsets are known to device_runtime.cpp.
struct DeviceNode::Record {
  struct Head {
    uint64_t argumentBytes;
    uint32_t enabled;
    uint32_t grid[3];
    uint64_t unused;
  } head;
  std::byte arguments[kMostArgumentBytes];
};

/// As a copy from the host, so that recordings have it.
void DeviceNode::put(const void *from, size_t offset, size_t bytes) {
  char *to = reinterpret_cast<char *>(record_) + offset;
  const auto number = [](const void *address) { return reinterpret_cast<uint64_t>(address); };
  capture::Recorder::Turn turn;
  const capture::CopyEvent copy{number(to), bytes, bytes, number(from), bytes, bytes, bytes, 1, 1};
  if (turn.copies(copy))
    return;
  memcpy(to, from, bytes);
  turn.copied(copy);
}

std::shared_ptr<DeviceNode> DeviceNode::make(const LaunchOperation &launch) {
  static_assert(offsetof(Record, head.enabled) == 8 && offsetof(Record, head.grid) == 12 &&
                offsetof(Record, arguments) == 32);
  CUdeviceptr address = 0;
  if (allocate(&address, sizeof(Record), {MemoryUse::device, 0, nullptr}) != CUDA_SUCCESS)
    return nullptr;
  std::shared_ptr<DeviceNode> made(new DeviceNode);
  made->record_ = reinterpret_cast<Record *>(address);
  made->setEnabled(true);
  return made->write(launch) == CUDA_SUCCESS ? made : nullptr;
}

DeviceNode::~DeviceNode() { release(reinterpret_cast<CUdeviceptr>(record_)); }

CUresult DeviceNode::write(const LaunchOperation &launch) {
  const size_t bytes = launch.function().info.parameterBytes;
  if (bytes > kMostArgumentBytes)
    return CUDA_ERROR_INVALID_VALUE;
  const abi::Dim3 grid = launch.shape().grid;
  const Record::Head now{bytes, record_->head.enabled, {grid.x, grid.y, grid.z}, 0};
  put(&now, 0, sizeof now);
  if (bytes != 0)
    put(launch.arguments.data(), offsetof(Record, arguments), bytes);
  return CUDA_SUCCESS;
}

void DeviceNode::setEnabled(bool isEnabled) {
  const uint32_t now = isEnabled;
  put(&now, offsetof(Record, head.enabled), sizeof now);
}
bool DeviceNode::isEnabled() const { return record_->head.enabled != 0; }

CUresult DeviceNode::apply(LaunchOperation &launch) const {
  memcpy(launch.arguments.data(), record_->arguments, launch.function().info.parameterBytes);
  const auto &grid = record_->head.grid;
  return launch.setGrid({grid[0], grid[1], grid[2]});
}

} // namespace ptxrun::driver
