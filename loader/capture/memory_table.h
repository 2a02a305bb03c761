// Which memory a recording holds, and the hashes of its contents as they were last seen.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "loader/capture/hash.h"

namespace ptxrun::capture {

/// Bytes of memory.
struct Span {
  uint64_t base = 0, bytes = 0;
};

/// An allocation, or host memory that kernels can read.
struct Range {
  uint64_t base = 0, bytes = 0;
  bool isHostVisible = false;     ///< the host may write to it without telling anybody
  bool isStale = false;           ///< hashes may be those of former contents
  bool isAnnounced = false;       ///< the recording knows of it
  std::vector<uint64_t> hashes;   ///< one per piece
  std::vector<uint8_t> isChanged; ///< one per piece: since the last checkpoint
  uint64_t pieces() const { return hashes.size(); }
  uint64_t bytesOf(uint64_t piece) const;
};

/// A piece that is not what it was, and its hash now.
struct Change {
  uint64_t address = 0, hash = 0;
};

class MemoryTable {
 public:
  std::map<uint64_t, Range> ranges; ///< by base

  /// New memory, all zeros.
  Range &add(uint64_t base, uint64_t bytes, bool isHostVisible);
  void remove(uint64_t base) { ranges.erase(base); }
  /// The range that holds all of it; null if none does.
  Range *find(uint64_t address, uint64_t bytes = 1);
  /// Whether ranges side by side hold all of it.
  bool covers(uint64_t address, uint64_t bytes);
  /// Looks at the range anew: adds the pieces that changed to `changes`, ascending.
  static void update(Range &, std::vector<Change> &changes);
  /// The same of the pieces that [address, address + bytes) touches.
  static void update(Range &, uint64_t address, uint64_t bytes, std::vector<Change> &changes);
  /// Copies the bytes to `to`, within the range and apart from where they come from, and looks at
  /// the pieces they touch while they are in the cache: adds those that changed to `changes`.
  /// The copy is part of one of `wholeBytes`.
  static void copyInto(Range &, uint64_t to, const char *from, uint64_t bytes, uint64_t wholeBytes,
                       std::vector<Change> &changes);
  /// The same as update, after a copy of so many bytes from `from` (not stale) to `to`, which lie
  /// apart: what is known of the one need not be looked up in the other.
  static void updateCopied(Range &to, uint64_t toAddress, const Range &from, uint64_t fromAddress,
                           uint64_t bytes);
  /// The same after a fill of [address, address + bytes), whose value's bytes a piece is a multiple
  /// of: whole pieces are alike.
  static void updateFilled(Range &, uint64_t address, uint64_t bytes);
  /// Whether the piece holds zeros only.
  bool isZero(const Change &);
  /// The parts of changes as spans, neighbours joined.
  std::vector<Span> spansOf(const std::vector<Change> &changes);
  uint64_t totalBytes() const;
};

} // namespace ptxrun::capture
