#include "rt/sync/tensor_rows.h"

#include <cstring>

namespace ptxrun::rt {

namespace {

constexpr uint32_t kChunk = 16; ///< swizzles move units of 16 bytes
constexpr uint32_t kLine = 128;

/// Where the 16 bytes at this shared address go. Bits of the 128-byte line's number are mixed into
/// the place inside the line.
uint64_t swizzled(const TensorMap &m, uint64_t a) {
  switch (m.swizzle) {
  case TensorSwizzle::none:
    return a;
  case TensorSwizzle::bytes32:
  case TensorSwizzle::bytes96:
    return a ^ (a >> 7 & 1) << 4;
  case TensorSwizzle::bytes64:
    return a ^ (a >> 7 & 3) << 4;
  case TensorSwizzle::bytes128:
    break;
  }
  switch (m.atomicity) {
  case TensorAtomicity::bytes16:
    return a ^ (a >> 7 & 7) << 4;
  case TensorAtomicity::bytes32:
  case TensorAtomicity::bytes32Flip8:
    return a ^ (a >> 7 & 3) << 5;
  case TensorAtomicity::bytes64:
    return a ^ (a >> 7 & 1) << 6;
  }
  return a;
}

char *swizzled(const TensorMap &m, const char *shared) {
  return reinterpret_cast<char *>(swizzled(m, reinterpret_cast<uint64_t>(shared)));
}

/// In odd lines of the 8-byte-flip layout the halves of every 16 bytes change places.
bool isFlipped(const TensorMap &m, const char *shared) {
  return m.swizzle == TensorSwizzle::bytes128 && m.atomicity == TensorAtomicity::bytes32Flip8 &&
         (reinterpret_cast<uint64_t>(shared) >> 7 & 1);
}

// --- Whole lines ---------------------------------------------------------------------------------

using Piece = uint64_t __attribute__((vector_size(32)));

/// One line whose chunk i stands at place i ^ Mix: pieces of two chunks change places by the upper
/// bits of Mix, chunks in a piece by the lowest.
template <uint32_t Mix, bool IsLoad>
__attribute__((always_inline)) inline void moveLine(char *line, char *row) {
  Piece pieces[4];
  std::memcpy(pieces, IsLoad ? row : line, kLine);
  if constexpr (Mix & 1)
    for (Piece &p : pieces)
      p = __builtin_shufflevector(p, p, 2, 3, 0, 1);
  char *to = IsLoad ? line : row;
  for (uint32_t i = 0; i < 4; ++i)
    std::memcpy(to + (i ^ Mix >> 1) * sizeof(Piece), &pieces[i], sizeof(Piece));
}

template <bool IsLoad>
__attribute__((always_inline)) inline void moveLine(uint32_t mix, char *line, char *row) {
  switch (mix) {
  case 0:
    return moveLine<0, IsLoad>(line, row);
  case 1:
    return moveLine<1, IsLoad>(line, row);
  case 2:
    return moveLine<2, IsLoad>(line, row);
  case 3:
    return moveLine<3, IsLoad>(line, row);
  case 4:
    return moveLine<4, IsLoad>(line, row);
  case 5:
    return moveLine<5, IsLoad>(line, row);
  case 6:
    return moveLine<6, IsLoad>(line, row);
  default:
    return moveLine<7, IsLoad>(line, row);
  }
}

/// mixes: of the eight lines that the pattern repeats after.
template <bool IsLoad>
__attribute__((always_inline)) inline void moveLines(TensorRows r, const uint32_t *mixes) {
  for (uint32_t i = 0; i < r.count; ++i, r.global += r.step, r.shared += kLine)
    moveLine<IsLoad>(mixes[reinterpret_cast<uint64_t>(r.shared) >> 7 & 7], r.shared, r.global);
}

using MoveLines = void(TensorRows, const uint32_t *mixes, bool isLoad);

void moveLinesPlain(TensorRows r, const uint32_t *mixes, bool isLoad) {
  isLoad ? moveLines<true>(r, mixes) : moveLines<false>(r, mixes);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void moveLinesAvx2(TensorRows r, const uint32_t *mixes,
                                                   bool isLoad) {
  isLoad ? moveLines<true>(r, mixes) : moveLines<false>(r, mixes);
}
MoveLines *const moveWholeLines = __builtin_cpu_supports("avx2") ? moveLinesAvx2 : moveLinesPlain;
#else
MoveLines *const moveWholeLines = moveLinesPlain;
#endif

} // namespace

void toShared(const TensorMap &m, char *shared, const char *row, uint32_t bytes) {
  if (m.swizzle == TensorSwizzle::none) {
    std::memcpy(shared, row, bytes);
    return;
  }
  for (uint32_t i = 0; i < bytes; i += kChunk) {
    char *to = swizzled(m, shared + i);
    bool flip = isFlipped(m, shared + i);
    std::memcpy(to, row + i + (flip ? 8 : 0), 8);
    std::memcpy(to + 8, row + i + (flip ? 0 : 8), 8);
  }
}

void fromShared(const TensorMap &m, char *row, const char *shared, uint32_t bytes) {
  if (m.swizzle == TensorSwizzle::none) {
    std::memcpy(row, shared, bytes);
    return;
  }
  for (uint32_t i = 0; i < bytes; i += kChunk)
    std::memcpy(row + i, swizzled(m, shared + i), kChunk);
}

void moveRows(const TensorMap &m, TensorRows r, bool isLoad) {
  bool isAligned =
      m.swizzle == TensorSwizzle::none || reinterpret_cast<uint64_t>(r.shared) % kLine == 0;
  bool isWholeLines = r.bytes == kLine && isAligned && m.atomicity != TensorAtomicity::bytes32Flip8;
  if (isWholeLines) {
    uint32_t mixes[8];
    for (uint64_t line = 0; line < 8; ++line)
      mixes[line] = static_cast<uint32_t>((swizzled(m, line << 7) & (kLine - 1)) / kChunk);
    moveWholeLines(r, mixes, isLoad);
    return;
  }
  for (uint32_t i = 0; i < r.count; ++i, r.global += r.step, r.shared += r.bytes) {
    if (isLoad)
      toShared(m, r.shared, r.global, r.bytes);
    else
      fromShared(m, r.global, r.shared, r.bytes);
  }
}

void padToShared(const TensorMap &m, char *shared, const char *row, uint32_t units) {
  uint32_t bytes = unitOf(m.type).globalBytes;
  for (uint32_t i = 0; i < units; ++i)
    std::memcpy(swizzled(m, shared + i * kChunk), row + i * bytes, bytes);
}

void packFromShared(const TensorMap &m, char *row, const char *shared, uint32_t units) {
  for (uint32_t i = 0; i < units; ++i) {
    const char *from = swizzled(m, shared + i * kChunk);
    for (uint32_t group = 0; group < 4; ++group) { // four elements come to three bytes
      uint32_t four, packed = 0;
      std::memcpy(&four, from + 4 * group, 4);
      for (uint32_t k = 0; k < 4; ++k)
        packed |= (four >> 8 * k & 0x3f) << 6 * k;
      std::memcpy(row + i * 12 + 3 * group, &packed, 3);
    }
  }
}

} // namespace ptxrun::rt
