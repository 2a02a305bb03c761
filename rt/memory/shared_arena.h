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
  /// kSharedFirstOffset fault until commitReserved.
  char *base() const { return base_; }
  /// Makes [kSharedFirstOffset, kSharedFirstOffset + bytes) of `rank`'s window accessible (whole
  /// pages; never shrinks).
  bool commit(uint32_t rank, uint32_t bytes) {
    return bytes <= committed_[rank] || commitSlow(rank, bytes);
  }
  /// Makes [0, kSharedFirstOffset) of `rank`'s window accessible (with the rest of its page).
  bool commitReserved(uint32_t rank);
  /// Whether the address lies in the reservation; *offset is then the `.shared` address.
  bool contains(uint64_t address, int64_t *offset) const;

 private:
  bool commitSlow(uint32_t rank, uint32_t bytes);
  char *base_ = nullptr;
  void *reservation_ = nullptr;
  uint32_t committed_[16] = {};
};

} // namespace ptxrun::rt
