#include "loader/libcuda/pool_arena.h"

#include <sys/mman.h>

#include <iterator>

namespace ptxrun::driver {

namespace {

constexpr uint64_t kAlignment = 512; // as other allocations have it
uint64_t roundUp(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

} // namespace

PoolArena::PoolArena(OwnedFile file, bool isImported)
    : file_(std::move(file)), isImported_(isImported) {
  bytes_ = file_.isOpen() ? file_.bytes() : 0;
  if (bytes_ != 0)
    base_ = reinterpret_cast<CUdeviceptr>(mapShared(file_, nullptr, bytes_, 0));
  free_[0] = bytes_;
}

PoolArena::~PoolArena() {
  if (base_)
    munmap(reinterpret_cast<void *>(base_), bytes_);
}

std::unique_ptr<PoolArena> PoolArena::make(size_t bytes) {
  std::unique_ptr<PoolArena> arena(new PoolArena(OwnedFile::make(bytes), false));
  return arena->base_ ? std::move(arena) : nullptr;
}

std::unique_ptr<PoolArena> PoolArena::import(int file) {
  std::unique_ptr<PoolArena> arena(new PoolArena(OwnedFile::copyOf(file), true));
  return arena->base_ ? std::move(arena) : nullptr;
}

CUdeviceptr PoolArena::take(size_t bytes) {
  const uint64_t wanted = roundUp(bytes);
  std::lock_guard lock(mutex_);
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    const auto [offset, room] = *range;
    if (room < wanted)
      continue;
    free_.erase(range);
    if (room > wanted)
      free_[offset + wanted] = room - wanted;
    return base_ + offset;
  }
  return 0;
}

void PoolArena::give(CUdeviceptr address, size_t bytes) {
  std::lock_guard lock(mutex_);
  auto range = free_.emplace(address - base_, roundUp(bytes)).first;
  if (const auto next = std::next(range);
      next != free_.end() && range->first + range->second == next->first) {
    range->second += next->second;
    free_.erase(next);
  }
  if (range == free_.begin())
    return;
  const auto before = std::prev(range);
  if (before->first + before->second == range->first) {
    before->second += range->second;
    free_.erase(range);
  }
}

CUdeviceptr PoolArena::at(uint64_t offset, size_t bytes) const {
  return offset <= bytes_ && bytes <= bytes_ - offset ? base_ + offset : 0;
}

} // namespace ptxrun::driver
