// Packed elements to arrays of numbers and back.
#pragma once
#include <cstddef>
#include <cstdint>

#include "intrinsics/matrix/element.h"

namespace ptxrun::matrix {

/// How elements narrower than a byte lie: on end, the first in the low bits; or one to a byte as
/// the kinds f8f6f4 and mxf8f6f4 of mma have them (6 bits in the low ones, 4 bits in bits 2 to 5).
enum class Packing : uint8_t { dense, byteEach };

/// `count` packed floats of any format to f32, exactly; f32 itself is copied. Infinities and NaN
/// stay such; the low 13 bits of a tf32 are ignored, as is the sign of ue4m3. Dense packing counts
/// bits from the first byte; little-endian.
void decode(Element, Packing, const void *packed, size_t count, float *out);

/// `count` packed s8, u8, s4 or u4 to bytes of their sign: s4 as int8_t, u4 as uint8_t.
void decodeIntegers(Element, const void *packed, size_t count, uint8_t *out);

/// f32 to f16 (exact where the values are f16's, else to nearest even; NaN gives 0x7fff) or a copy
/// (f32).
void encode(Element, const float *values, size_t count, void *packed);

} // namespace ptxrun::matrix
