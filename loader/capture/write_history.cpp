#include "loader/capture/write_history.h"

#include <algorithm>

namespace ptxrun::capture {

namespace {

/// What is known of older blocks is forgotten: 64 MiB of it stand for 16 GiB of contents.
constexpr uint64_t kMostPieces = (uint64_t{64} << 20) / sizeof(Change);

uint64_t keyOf(const std::vector<Change> &pieces) {
  return hashBytes(pieces.data(), pieces.size() * sizeof(Change));
}

bool isSame(const Change &a, const Change &b) { return a.address == b.address && a.hash == b.hash; }

} // namespace

void WriteHistory::add(std::vector<Change> pieces) {
  const uint64_t key = keyOf(pieces), count = pieces.size();
  if (entries_.try_emplace(key, Entry{count_, std::move(pieces)}).second) {
    order_.push_back(key);
    knownPieces_ += count;
  }
  ++count_;
  while (knownPieces_ > kMostPieces) {
    const auto oldest = entries_.find(order_.front());
    knownPieces_ -= oldest->second.pieces.size();
    entries_.erase(oldest);
    order_.pop_front();
  }
}

std::optional<uint64_t> WriteHistory::find(const std::vector<Change> &pieces) const {
  const auto found = entries_.find(keyOf(pieces));
  if (found == entries_.end() || !std::ranges::equal(found->second.pieces, pieces, isSame))
    return std::nullopt;
  return found->second.number;
}

} // namespace ptxrun::capture
