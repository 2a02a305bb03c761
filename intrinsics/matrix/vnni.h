// Products of bytes by AVX-512 VNNI, which Highway 1.0 has no word for.
#pragma once
#include "intrinsics/matrix/tile.h"

namespace ptxrun::matrix {

/// Whether this CPU has AVX-512 with VNNI.
bool hasVnni();
/// multiplyIntegerTiles() with it.
void vnniTiles(size_t k, bool hasUnsignedB, bool isSaturating, const PanelTiles &);

/// prepareIntegerColumns() with it, of one block: as its registers are, but signed.
void vnniColumns(bool isSigned, bool hasSignedA, size_t k, const uint32_t *registers,
                 uint32_t *out);
/// What belongs to the sums of signed columns, 8 words for each of `blocks` of them.
void vnniColumnSums(bool hasSignedA, size_t k, const uint32_t *columns, unsigned blocks,
                    int32_t *sums);

} // namespace ptxrun::matrix
