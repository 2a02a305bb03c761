#include "rt/memory/shared_arena.h"

#include <sys/mman.h>

#include <algorithm>

namespace ptxrun::rt {

namespace {
constexpr uint64_t kHalf = uint64_t{1} << 31;
constexpr uint64_t kPage = 4096;
constexpr uint64_t kReserved = 2 * kHalf + kPage;
// simt relies on it for base().
static_assert((kHalf + kPage - abi::kSharedFirstOffset) % abi::kSharedFirstOffset == 0);
} // namespace

SharedArena::SharedArena() {
  void *memory =
      mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return;
  reservation_ = memory;
  // kSharedFirstOffset falls on a page boundary: what lies below has a page of its own.
  base_ = static_cast<char *>(memory) + kHalf + kPage - abi::kSharedFirstOffset;
}

SharedArena::~SharedArena() {
  if (reservation_)
    munmap(reservation_, kReserved);
}

bool SharedArena::commitSlow(uint32_t rank, uint32_t bytes, bool mayReadBelow) {
  const uint32_t rounded =
      std::max((bytes + kPage - 1) / kPage * kPage, uint64_t{committed_[rank]});
  if (!base_ || mprotect(first(rank), rounded, PROT_READ | PROT_WRITE) != 0)
    return false;
  committed_[rank] = rounded;
  if (!isReservedOpen_[rank] &&
      mprotect(first(rank) - kPage, kPage, mayReadBelow ? PROT_READ : PROT_NONE) != 0)
    return false;
  if (mayReadBelow) // a page that nobody has read yet is as slow as a closed one
    static_cast<void>(*static_cast<volatile const char *>(first(rank) - 1));
  isBelowOpen_[rank] = mayReadBelow;
  return true;
}

bool SharedArena::commitReserved(uint32_t rank) {
  isReservedOpen_[rank] =
      base_ && mprotect(first(rank) - kPage, kPage, PROT_READ | PROT_WRITE) == 0;
  return isReservedOpen_[rank];
}

bool SharedArena::contains(uint64_t address, int64_t *offset) const {
  auto low = reinterpret_cast<uint64_t>(reservation_);
  if (!base_ || address < low || address >= low + kReserved)
    return false;
  *offset = static_cast<int64_t>(address - reinterpret_cast<uint64_t>(base_));
  return true;
}

} // namespace ptxrun::rt
