#include "loader/capture/memory_table.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ptxrun::capture {

namespace {

void note(Range &range, uint64_t piece, uint64_t hash, std::vector<Change> &changes) {
  if (hash == range.hashes[piece])
    return;
  range.hashes[piece] = hash;
  range.isChanged[piece] = 1;
  changes.push_back({range.base + piece * kPieceBytes, hash});
}

uint64_t hashOf(const Range &range, uint64_t piece) {
  return hashBytes(reinterpret_cast<const void *>(range.base + piece * kPieceBytes),
                   range.bytesOf(piece));
}

void updatePieces(Range &range, uint64_t first, uint64_t count, std::vector<Change> &changes) {
  std::vector<uint64_t> now(count);
  hashPieces(reinterpret_cast<const void *>(range.base), range.bytes, first, count, now.data());
  for (uint64_t i = 0; i < count; ++i)
    note(range, first + i, now[i], changes);
}

/// Copies of so many bytes go by the cache: the whole would not stay in it.
constexpr uint64_t kPastTheCache = 16 << 20;

/// Copies `bytes` bytes, a multiple of 64, to where the address is, too.
void stream(char *to, const char *from, uint64_t bytes) {
  using Part = char __attribute__((vector_size(16)));
  for (uint64_t i = 0; i < bytes; i += sizeof(Part)) {
    Part part;
    std::memcpy(&part, from + i, sizeof part);
    __builtin_nontemporal_store(part, reinterpret_cast<Part *>(to + i));
  }
}

/// Calls part(piece, offset, bytes, isWhole) for what [offset, offset + bytes) of the range has of
/// each piece.
template <class Part>
void eachPiece(const Range &range, uint64_t offset, uint64_t bytes, const Part &part) {
  for (const uint64_t end = offset + bytes; offset < end;) {
    const uint64_t piece = offset / kPieceBytes, start = piece * kPieceBytes;
    const uint64_t now = std::min(end, start + range.bytesOf(piece)) - offset;
    part(piece, offset, now, now == range.bytesOf(piece));
    offset += now;
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

void MemoryTable::copyInto(Range &range, uint64_t to, const char *from, uint64_t bytes,
                           uint64_t wholeBytes, std::vector<Change> &changes) {
  const uint64_t start = to - range.base;
  const bool isStreamed = wholeBytes >= kPastTheCache && range.base % 64 == 0;
  eachPiece(range, start, bytes, [&](uint64_t piece, uint64_t offset, uint64_t now, bool isWhole) {
    auto *here = reinterpret_cast<char *>(range.base + offset);
    const char *there = from + (offset - start);
    if (!isWhole) {
      std::memcpy(here, there, now);
      return note(range, piece, hashOf(range, piece), changes);
    }
    // What is there already is compared, which costs less than writing it again.
    const uint64_t hash = hashBytes(there, now);
    if (hash != range.hashes[piece] || std::memcmp(here, there, now) != 0) {
      if (isStreamed && now % 64 == 0)
        stream(here, there, now);
      else
        std::memcpy(here, there, now);
    }
    note(range, piece, hash, changes);
  });
}

void MemoryTable::updateCopied(Range &to, uint64_t toAddress, const Range &from,
                               uint64_t fromAddress, uint64_t bytes) {
  const uint64_t start = toAddress - to.base, startThere = fromAddress - from.base;
  std::vector<Change> ignored;
  if (start % kPieceBytes != startThere % kPieceBytes)
    return update(to, toAddress, bytes, ignored);
  eachPiece(to, start, bytes, [&](uint64_t piece, uint64_t offset, uint64_t now, bool isWhole) {
    const uint64_t there = (startThere + (offset - start)) / kPieceBytes;
    const bool isKnown = isWhole && from.bytesOf(there) == now;
    note(to, piece, isKnown ? from.hashes[there] : hashOf(to, piece), ignored);
  });
}

void MemoryTable::updateFilled(Range &range, uint64_t address, uint64_t bytes) {
  std::vector<Change> ignored;
  uint64_t hashOfWhole = 0;
  bool isKnown = false;
  eachPiece(range, address - range.base, bytes,
            [&](uint64_t piece, uint64_t, uint64_t now, bool isWhole) {
              if (!isWhole || now != kPieceBytes)
                return note(range, piece, hashOf(range, piece), ignored);
              if (!std::exchange(isKnown, true))
                hashOfWhole = hashOf(range, piece);
              note(range, piece, hashOfWhole, ignored);
            });
}

bool MemoryTable::isZero(const Change &change) {
  const Range *range = find(change.address);
  return change.hash == hashOfZeros(range->bytesOf((change.address - range->base) / kPieceBytes));
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
