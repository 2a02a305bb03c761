// Products of bytes by AVX-512 VNNI, which Highway 1.0 has no word for.
#pragma once
#include "intrinsics/matrix/tile.h"

namespace ptxrun::matrix {

/// Whether this CPU has AVX-512 with VNNI.
bool hasVnni();
/// multiplyIntegerTiles() with it.
void vnniTiles(size_t k, bool hasUnsignedB, bool isSaturating, const PanelTiles &);

/// Prepared columns, and what belongs to their sums: of the first block, and words to the next.
struct VnniColumns {
  int32_t *numbers;
  size_t numbersPitch;
  int32_t *sums;
  size_t sumsPitch;
};
/// prepareIntegerColumns() with it; `flipped`: bits of words that make the numbers signed.
/// Registers may lie where the numbers are to lie.
void vnniColumns(uint32_t flipped, bool hasSignedA, size_t k, const uint32_t *registers,
                 unsigned blocks, VnniColumns);

} // namespace ptxrun::matrix
