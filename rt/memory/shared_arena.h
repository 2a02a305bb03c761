// The `.shared` window of a cluster: 4 GiB of reserved addresses around offset 0, of which only the
// CTAs' own bytes are mapped. Generated code addresses base + sign-extended 32-bit offset, so no
// `.shared` access can leave the reservation.
#pragma once
#include <cstdint>

#include "intrinsics/abi.h"

namespace ptxrun::rt {

class SharedArena {
 public:
  /// Reserves the window; base() is null when the address space is short.
  SharedArena();
  ~SharedArena();
  SharedArena(const SharedArena &) = delete;
  SharedArena &operator=(const SharedArena &) = delete;

  /// Host address of `.shared` offset 0 of rank 0. 1024-byte aligned; offsets below
  /// kSharedFirstOffset cannot be written until commitReserved.
  char *base() const { return base_; }
  /// Makes [kSharedFirstOffset, kSharedFirstOffset + bytes) of `rank`'s window accessible (whole
  /// pages; never shrinks). What lies below (reserved, on GPUs since 8.0) can be read where
  /// `mayReadBelow`, and else faults: a masked load of a row that begins there, though no active
  /// lane does (`if (t >= d) x = s[t - d]`), takes hundreds of cycles where the page is closed.
  bool commit(uint32_t rank, uint32_t bytes, bool mayReadBelow) {
    const bool isBelowRight = mayReadBelow == isBelowOpen_[rank] ||
                              (bytes == 0 && !isBelowOpen_[rank]); // no rows begin there
    return (bytes <= committed_[rank] && isBelowRight) || commitSlow(rank, bytes, mayReadBelow);
  }
  /// Makes [0, kSharedFirstOffset) of `rank`'s window accessible (with the rest of its page).
  bool commitReserved(uint32_t rank);
  /// Whether the address lies in the reservation; *offset is then the `.shared` address.
  bool contains(uint64_t address, int64_t *offset) const;

 private:
  bool commitSlow(uint32_t rank, uint32_t bytes, bool mayReadBelow);
  /// Host address of what comes first in `rank`'s window behind what is reserved; of a page.
  char *first(uint32_t rank) const {
    return base_ + (uint64_t{rank} << abi::kSharedWindowShift) + abi::kSharedFirstOffset;
  }
  char *base_ = nullptr;
  void *reservation_ = nullptr;
  uint32_t committed_[16] = {};
  bool isBelowOpen_[16] = {};
  bool isReservedOpen_[16] = {};
};

} // namespace ptxrun::rt
