// Products of bytes by AVX-512 VNNI, which Highway 1.0 has no word for.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ptxrun::matrix {

/// Whether this CPU has AVX-512 with VNNI.
bool hasVnni();
/// multiplyPreparedIntegers() (tile.h) with it.
void vnniPanel(size_t k, size_t blocks, bool isSaturating, const int32_t *rows,
               const int32_t *columns, const int32_t *c, int32_t *d);

} // namespace ptxrun::matrix
