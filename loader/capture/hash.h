// Hashes of memory, the same on every host.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptxrun::capture {

/// Memory is hashed and recorded in pieces of so many bytes, counted from the start of its
/// allocation.
inline constexpr uint64_t kPieceBytes = 4096;

/// 64 bits of `bytes` bytes. Not for adversaries.
uint64_t hashBytes(const void *data, size_t bytes);
inline uint64_t combineHashes(uint64_t a, uint64_t b) {
  const unsigned __int128 product =
      static_cast<unsigned __int128>(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xd1b54a32d192ed03u);
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}
/// The hash of piece first, first + 1, ... of the `bytes` bytes at `base` into hashes[0..count);
/// large ranges by all cores.
void hashPieces(const void *base, uint64_t bytes, uint64_t first, uint64_t count, uint64_t *hashes);
/// A piece of zeros.
uint64_t hashOfZeros(size_t bytes);

} // namespace ptxrun::capture
