#include "loader/capture/hash.h"

#include <algorithm>
#include <cstring>

#include "rt/exec/run.h"

namespace ptxrun::capture {

namespace {

/// One product of two words mixes 16 bytes; four chains hide its latency.
constexpr uint64_t kKeys[4] = {0xa0761d6478bd642fu, 0xe7037ed1a0b428dbu, 0x8ebc6af09c88c6e3u,
                               0x589965cc75374cc3u};

uint64_t word(const char *at) {
  uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

struct PiecesJob {
  const char *base;
  uint64_t bytes, first;
  uint64_t *hashes;
};

void hashSome(const PiecesJob &job, uint64_t from, uint64_t to) {
  for (uint64_t i = from; i < to; ++i) {
    const uint64_t offset = (job.first + i) * kPieceBytes;
    job.hashes[i] = hashBytes(job.base + offset, std::min(kPieceBytes, job.bytes - offset));
  }
}

constexpr uint64_t kPiecesPerBlock = 64;    ///< 256 KiB
constexpr uint64_t kPiecesWorthHelp = 1024; ///< 4 MiB

struct SharedJob {
  PiecesJob pieces;
  uint64_t count;
};

/// As a kernel without threads to speak of: block i hashes the i-th 64 pieces.
void hashBlocks(const abi::Launch *launch, abi::Cta *, abi::Gang *, uint64_t first, uint64_t end) {
  const auto &job = *static_cast<const SharedJob *>(launch->params);
  for (uint64_t i = first; i < end; ++i)
    hashSome(job.pieces, i * kPiecesPerBlock, std::min((i + 1) * kPiecesPerBlock, job.count));
}

} // namespace

uint64_t hashBytes(const void *data, size_t bytes) {
  const char *at = static_cast<const char *>(data);
  uint64_t chains[4] = {kKeys[0] ^ bytes, kKeys[1], kKeys[2], kKeys[3]};
  for (; bytes >= 64; bytes -= 64, at += 64)
    for (int i = 0; i < 4; ++i)
      chains[i] = combineHashes(word(at + 16 * i) ^ chains[i], word(at + 16 * i + 8) ^ kKeys[i]);
  char rest[64] = {};
  std::memcpy(rest, at, bytes);
  for (int i = 0; i < 4; ++i)
    chains[i] = combineHashes(word(rest + 16 * i) ^ chains[i], word(rest + 16 * i + 8) ^ kKeys[i]);
  return combineHashes(combineHashes(chains[0], chains[1]), combineHashes(chains[2], chains[3]));
}

void hashPieces(const void *base, uint64_t bytes, uint64_t first, uint64_t count,
                uint64_t *hashes) {
  const SharedJob job{{static_cast<const char *>(base), bytes, first, hashes}, count};
  if (count < kPiecesWorthHelp)
    return hashSome(job.pieces, 0, count);
  abi::KernelCode code;
  code.ctaRange = hashBlocks;
  code.needs.lanes = 1;
  rt::LaunchRequest request;
  request.code = &code;
  request.grid = {static_cast<uint32_t>((count + kPiecesPerBlock - 1) / kPiecesPerBlock), 1, 1};
  request.params = &job;
  rt::run(request);
}

uint64_t hashOfZeros(size_t bytes) {
  static const char zeros[kPieceBytes] = {};
  static const uint64_t whole = hashBytes(zeros, kPieceBytes);
  return bytes == kPieceBytes ? whole : hashBytes(zeros, bytes);
}

} // namespace ptxrun::capture
