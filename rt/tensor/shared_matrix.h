// Matrices in shared memory that a descriptor describes (PTX
// ISA 9.7.15.5.1.2, 9.7.16.3, 9.7.16.4.1).
#pragma once
#include <cstddef>
#include <cstdint>

#include "intrinsics/matrix/tile.h"

namespace ptxrun::rt {

/// How addresses of 128-byte lines are exchanged: bits `from` to from + bits - 1 of the `.shared`
/// address are those xor the `bits` bits from 7 on.
struct Swizzle {
  uint32_t bits = 0;
  uint32_t from = 4;
};

struct SharedMatrix {
  const char *window = nullptr;     ///< host address of the CTA's `.shared` offset 0
  uint32_t start = 0;               ///< byte offset of the first element
  uint32_t leading = 0, stride = 0; ///< bytes
  uint32_t rowBytes = 16;           ///< of a row of the swizzle's atom: 16 (none), 32, 64, 128
  uint32_t atomRows = 8; ///< rows of the atom: 8, or 4 of 128-byte swizzling with 32-byte atoms
  Swizzle swizzle;
  uint32_t patternOffset = 0; ///< matrix base offset: the number of the 128-byte line where the
                              ///< pattern starts, modulo 8
  unsigned packedBits = 0; ///< 6 or 4: 16 elements lie in the low bytes of 16, and are read as one
                           ///< to a byte (6 bits in the low ones, 4 bits in bits 2 to 5)
  bool isAbsoluteLeading = false; ///< `leading` is where bytes from 128 (less the start's place in
                                  ///< its line) on are; only K-major with 128-byte swizzling
};

/// The matrix of a wgmma descriptor.
SharedMatrix describeForWgmma(uint64_t descriptor, const char *window);
/// The matrix of a tcgen05 descriptor; null, or what is wrong with it in *error.
SharedMatrix describeForTensorCore(uint64_t descriptor, const char *window, const char **error);

/// Copies rows first to first + count - 1, `bytes` (a multiple of 16) of each along K, to `out`,
/// where rows lie `pitch` bytes apart. K-major: 16 bytes on end in memory are on end along K.
void readRowsAlongK(const SharedMatrix &, unsigned first, unsigned count, unsigned bytes, char *out,
                    size_t pitch);
/// Where the first `count` rows (a multiple of 8, up to 256) have `bytes` (16 to 64) along K, for
/// each 8 rows.
class PiecesAlongK {
 public:
  PiecesAlongK(const SharedMatrix &, unsigned count, unsigned bytes);
  const matrix::Pieces *blocks() const { return blocks_; }

 private:
  static constexpr unsigned kMostBlocks = 32, kMostPieces = 4;
  uint32_t places_[kMostBlocks * kMostPieces * 8];
  matrix::Pieces blocks_[kMostBlocks];
};
/// The first `count` rows (a multiple of 8), as fragments: of each 8 rows, on end, the first 16
/// bytes along K of each row, then the next 16, and so on.
void readFragmentsAlongK(const SharedMatrix &, unsigned count, unsigned bytes, char *out);
/// The same of a matrix that is MN-major (16 bytes on end are on end along M or N), elements of
/// `elementBytes` (1, 2 or 4), `count` along MN and `k` along K. `first` and `count` are multiples
/// of what 16 bytes hold, except that the last piece may be cut.
void readRowsAcrossK(const SharedMatrix &, unsigned elementBytes, unsigned first, unsigned count,
                     unsigned k, char *out, size_t pitch);

} // namespace ptxrun::rt
