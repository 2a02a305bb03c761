// Memory of a pool that processes share: one file, mapped whole in each of them; allocations are
// ranges of it. The process that made the pool hands them out.
#pragma once
#include <map>
#include <memory>
#include <mutex>

#include "loader/libcuda/cuda_abi.h"
#include "loader/libcuda/shared_memory.h"

namespace ptxrun::driver {

class PoolArena {
 public:
  /// Null where the system refuses.
  static std::unique_ptr<PoolArena> make(size_t bytes);
  /// Another process's, by a file descriptor that the caller keeps.
  static std::unique_ptr<PoolArena> import(int file);
  ~PoolArena();
  PoolArena(const PoolArena &) = delete;
  PoolArena &operator=(const PoolArena &) = delete;

  bool isImported() const { return isImported_; }
  const OwnedFile &file() const { return file_; }
  /// 0 where there is no room.
  CUdeviceptr take(size_t bytes);
  void give(CUdeviceptr, size_t bytes);
  uint64_t offsetOf(CUdeviceptr address) const { return address - base_; }
  /// The place of another process's allocation; 0 where the arena does not reach so far.
  CUdeviceptr at(uint64_t offset, size_t bytes) const;

 private:
  PoolArena(OwnedFile file, bool isImported);
  OwnedFile file_;
  const bool isImported_;
  CUdeviceptr base_ = 0;
  size_t bytes_ = 0;
  std::mutex mutex_;
  std::map<uint64_t, uint64_t> free_; ///< offset to bytes, none side by side
};

} // namespace ptxrun::driver
