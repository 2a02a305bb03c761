// Kernel nodes that kernels can change ("device-updatable"): their grid, their arguments, whether
// they run at all.
#pragma once
#include <memory>

#include "loader/libcuda/launch.h"

namespace ptxrun::driver {

/// What a node's next runs are to be, in device memory. Kernels are given the address and write
/// there (device_runtime.cpp); it is read when the node's turn comes. What they wrote stays until
/// they or the host write again.
class DeviceNode {
 public:
  /// Null where memory is exhausted.
  static std::shared_ptr<DeviceNode> make(const LaunchOperation &);
  ~DeviceNode();
  DeviceNode(const DeviceNode &) = delete;
  DeviceNode &operator=(const DeviceNode &) = delete;

  void *handle() const { return record_; }
  /// What the host says the node is to be; the kernel may be another.
  CUresult write(const LaunchOperation &);
  void setEnabled(bool);
  bool isEnabled() const;
  /// Gives the launch the grid and the arguments of its next run.
  CUresult apply(LaunchOperation &) const;

 private:
  struct Record;
  DeviceNode() = default;
  void put(const void *from, size_t offset, size_t bytes);
  Record *record_ = nullptr;
};

} // namespace ptxrun::driver
