#include "loader/capture/memory_table.h"

#include <algorithm>

namespace ptxrun::capture {

namespace {

void updatePieces(Range &range, uint64_t first, uint64_t count, std::vector<Change> &changes) {
  std::vector<uint64_t> now(count);
  hashPieces(reinterpret_cast<const void *>(range.base), range.bytes, first, count, now.data());
  for (uint64_t i = 0; i < count; ++i) {
    if (now[i] == range.hashes[first + i])
      continue;
    range.hashes[first + i] = now[i];
    range.isChanged[first + i] = 1;
    changes.push_back({range.base + (first + i) * kPieceBytes, now[i]});
  }
}

} // namespace

uint64_t Range::bytesOf(uint64_t piece) const {
  return std::min(kPieceBytes, bytes - piece * kPieceBytes);
}

Range &MemoryTable::add(uint64_t base, uint64_t bytes, bool isHostVisible) {
  Range &range = ranges[base];
  range = {};
  range.base = base;
  range.bytes = bytes;
  range.isHostVisible = isHostVisible;
  const uint64_t pieces = (bytes + kPieceBytes - 1) / kPieceBytes;
  range.hashes.assign(pieces, hashOfZeros(kPieceBytes));
  if (pieces)
    range.hashes.back() = hashOfZeros(range.bytesOf(pieces - 1));
  range.isChanged.assign(pieces, 0);
  return range;
}

Range *MemoryTable::find(uint64_t address, uint64_t bytes) {
  auto next = ranges.upper_bound(address);
  if (next == ranges.begin())
    return nullptr;
  Range &range = std::prev(next)->second;
  const uint64_t offset = address - range.base;
  return offset < range.bytes && bytes <= range.bytes - offset ? &range : nullptr;
}

bool MemoryTable::covers(uint64_t address, uint64_t bytes) {
  while (const Range *range = find(address)) {
    const uint64_t here = range->bytes - (address - range->base);
    if (bytes <= here)
      return true;
    address += here;
    bytes -= here;
  }
  return false;
}

void MemoryTable::update(Range &range, std::vector<Change> &changes) {
  updatePieces(range, 0, range.pieces(), changes);
  range.isStale = false;
}

void MemoryTable::update(Range &range, uint64_t address, uint64_t bytes,
                         std::vector<Change> &changes) {
  if (bytes == 0)
    return;
  const uint64_t first = (address - range.base) / kPieceBytes;
  const uint64_t last = (address - range.base + bytes - 1) / kPieceBytes;
  updatePieces(range, first, last - first + 1, changes);
}

std::vector<Span> MemoryTable::spansOf(const std::vector<Change> &changes) {
  std::vector<Span> spans;
  for (const Change &change : changes) {
    const Range *range = find(change.address);
    const uint64_t bytes = range->bytesOf((change.address - range->base) / kPieceBytes);
    if (!spans.empty() && spans.back().base + spans.back().bytes == change.address)
      spans.back().bytes += bytes;
    else
      spans.push_back({change.address, bytes});
  }
  return spans;
}

uint64_t MemoryTable::totalBytes() const {
  uint64_t total = 0;
  for (const auto &[base, range] : ranges)
    total += range.bytes;
  return total;
}

} // namespace ptxrun::capture
