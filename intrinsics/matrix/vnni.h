// Products of bytes by AVX-512 VNNI, which Highway 1.0 has no word for.
#pragma once
#include "intrinsics/matrix/tile.h"

namespace ptxrun::matrix {

/// Whether this CPU has AVX-512 with VNNI.
bool hasVnni();
/// multiplyIntegerTiles() with it.
void vnniTiles(size_t k, bool hasUnsignedB, bool isSaturating, const PanelTiles &);

/// prepareIntegerColumns() with it; `flipped`: bits of words that make the numbers signed.
void vnniColumns(uint32_t flipped, bool hasSignedA, size_t k, const uint32_t *registers,
                 int32_t *columns);

} // namespace ptxrun::matrix
