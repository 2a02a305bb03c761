// Which contents the write blocks of a recording have, so that what a program copies again and
// again stands in the file once.
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "loader/capture/memory_table.h"

namespace ptxrun::capture {

class WriteHistory {
 public:
  /// A block was written whose contents are not worth knowing; it is counted.
  void skip() { ++count_; }
  /// A block was written, with these pieces.
  void add(std::vector<Change> pieces);
  /// The number of a block with just these pieces: the same hashes at the same addresses.
  std::optional<uint64_t> find(const std::vector<Change> &pieces) const;

 private:
  struct Entry {
    uint64_t number = 0;
    std::vector<Change> pieces;
  };
  std::unordered_map<uint64_t, Entry> entries_; ///< by the hash of their pieces
  std::deque<uint64_t> order_;                  ///< keys, the oldest first
  uint64_t count_ = 0; ///< of write blocks, whether their contents are told or not
  uint64_t knownPieces_ = 0;
};

} // namespace ptxrun::capture
