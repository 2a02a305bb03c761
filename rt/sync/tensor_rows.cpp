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

/// A line in registers of `Bytes` bytes.
template <uint32_t Bytes> struct Pieces {
  using Piece = uint64_t __attribute__((vector_size(Bytes)));
  Piece pieces[kLine / Bytes];
};

/// Chunks of a piece change places by these bits of the mix.
template <uint32_t Mix> __attribute__((always_inline)) inline void mixPiece(Pieces<32>::Piece &p) {
  if constexpr (Mix & 1)
    p = __builtin_shufflevector(p, p, 2, 3, 0, 1);
}
template <uint32_t Mix> __attribute__((always_inline)) inline void mixPiece(Pieces<64>::Piece &p) {
  constexpr int m = (Mix & 3) * 2;
  if constexpr (m != 0)
    p = __builtin_shufflevector(p, p, 0 ^ m, 1 ^ m, 2 ^ m, 3 ^ m, 4 ^ m, 5 ^ m, 6 ^ m, 7 ^ m);
}

/// One line whose chunk i stands at place i ^ Mix: pieces change places by the upper bits of Mix,
/// chunks in a piece by the lower ones.
template <uint32_t Bytes, uint32_t Mix, bool IsLoad>
__attribute__((always_inline)) inline void moveLine(char *line, char *row) {
  Pieces<Bytes> whole;
  std::memcpy(whole.pieces, IsLoad ? row : line, kLine);
  char *to = IsLoad ? line : row;
  for (uint32_t i = 0; i < kLine / Bytes; ++i) {
    mixPiece<Mix>(whole.pieces[i]);
    std::memcpy(to + (i ^ Mix * kChunk / Bytes) * Bytes, &whole.pieces[i], Bytes);
  }
}

template <uint32_t Bytes, bool IsLoad>
__attribute__((always_inline)) inline void moveLine(uint32_t mix, char *line, char *row) {
  switch (mix) {
  case 0:
    return moveLine<Bytes, 0, IsLoad>(line, row);
  case 1:
    return moveLine<Bytes, 1, IsLoad>(line, row);
  case 2:
    return moveLine<Bytes, 2, IsLoad>(line, row);
  case 3:
    return moveLine<Bytes, 3, IsLoad>(line, row);
  case 4:
    return moveLine<Bytes, 4, IsLoad>(line, row);
  case 5:
    return moveLine<Bytes, 5, IsLoad>(line, row);
  case 6:
    return moveLine<Bytes, 6, IsLoad>(line, row);
  default:
    return moveLine<Bytes, 7, IsLoad>(line, row);
  }
}

/// mixes: of the eight lines that the pattern repeats after.
template <uint32_t Bytes, bool IsLoad>
__attribute__((always_inline)) inline void moveLines(TensorRows r, const uint32_t *mixes) {
  constexpr ptrdiff_t kAhead = 6; // rows lie too far from each other for the CPU to see a pattern
  for (uint32_t i = 0; i < r.count; ++i, r.global += r.step, r.shared += kLine) {
    if (IsLoad) {
      const char *next = r.global + kAhead * static_cast<ptrdiff_t>(r.step);
      __builtin_prefetch(next);
      __builtin_prefetch(next + kLine / 2);
    }
    moveLine<Bytes, IsLoad>(mixes[reinterpret_cast<uint64_t>(r.shared) >> 7 & 7], r.shared,
                            r.global);
  }
}

using MoveLines = void(TensorRows, const uint32_t *mixes, bool isLoad);

void moveLinesPlain(TensorRows r, const uint32_t *mixes, bool isLoad) {
  isLoad ? moveLines<32, true>(r, mixes) : moveLines<32, false>(r, mixes);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void moveLinesAvx2(TensorRows r, const uint32_t *mixes,
                                                   bool isLoad) {
  isLoad ? moveLines<32, true>(r, mixes) : moveLines<32, false>(r, mixes);
}
__attribute__((target("avx512f"))) void moveLinesAvx512(TensorRows r, const uint32_t *mixes,
                                                        bool isLoad) {
  isLoad ? moveLines<64, true>(r, mixes) : moveLines<64, false>(r, mixes);
}
MoveLines *const moveWholeLines = __builtin_cpu_supports("avx512f") ? moveLinesAvx512
                                  : __builtin_cpu_supports("avx2")  ? moveLinesAvx2
                                                                    : moveLinesPlain;
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
