#include "intrinsics/matrix/decode.h"

#include <bit>
#include <cstring>

#include "intrinsics/lane/formats.h"
#include "intrinsics/matrix/tile.h"

namespace ptxrun::matrix {

namespace {

using lane::Format, lane::Top, lane::Narrow;
using Ue4m3 = Format<4, 3, Top::nanOnly>;

/// Bits [first, first + width) of a stream of bytes, width at most 8.
uint32_t bitsAt(const uint8_t *bytes, size_t first, unsigned width) {
  const size_t byte = first / 8;
  const unsigned shift = first % 8;
  uint32_t value = bytes[byte] >> shift;
  if (shift + width > 8)
    value |= uint32_t(bytes[byte + 1]) << (8 - shift);
  return value & ((1u << width) - 1);
}

template <class T> T at(const void *packed, size_t i) {
  T value;
  std::memcpy(&value, static_cast<const uint8_t *>(packed) + i * sizeof(T), sizeof(T));
  return value;
}

uint32_t narrowBits(Element element, Packing packing, const void *packed, size_t i) {
  const auto *bytes = static_cast<const uint8_t *>(packed);
  const unsigned width = bitsOf(element);
  if (width == 8)
    return bytes[i];
  if (packing == Packing::dense)
    return bitsAt(bytes, i * width, width);
  return width == 6 ? bytes[i] & 0x3fu : bytes[i] >> 2 & 0xfu;
}

template <class F>
void decodeNarrow(Element element, Packing packing, const void *packed, size_t count, float *out) {
  for (size_t i = 0; i < count; ++i)
    out[i] = lane::widen<F>(narrowBits(element, packing, packed, i));
}

/// 2^(bits - 127); all ones is NaN.
float decodeUe8m0(uint8_t bits) {
  if (bits == 0xff)
    return lane::canonicalNaN();
  return std::bit_cast<float>(bits == 0 ? 0x00400000u : uint32_t(bits) << 23);
}

} // namespace

void decode(Element element, Packing packing, const void *packed, size_t count, float *out) {
  constexpr size_t kFew = 16;
  const bool isInWholeBytes = bitsOf(element) >= 8 || packing == Packing::byteEach;
  if (count >= kFew && isInWholeBytes && element != Element::f32 && element < Element::ue8m0) {
    const size_t done = widenInVectors(element, packed, count, out);
    const unsigned bytes = bitsOf(element) >= 8 ? bitsOf(element) / 8 : 1;
    packed = static_cast<const uint8_t *>(packed) + done * bytes;
    count -= done;
    out += done;
  }
  switch (element) {
  case Element::f16:
    for (size_t i = 0; i < count; ++i)
      out[i] = lane::widen<lane::F16>(at<uint16_t>(packed, i));
    return;
  case Element::bf16:
    for (size_t i = 0; i < count; ++i)
      out[i] = lane::widenBf16(at<uint16_t>(packed, i));
    return;
  case Element::tf32:
    for (size_t i = 0; i < count; ++i)
      out[i] = std::bit_cast<float>(at<uint32_t>(packed, i) & 0xffffe000u);
    return;
  case Element::ue8m0:
    for (size_t i = 0; i < count; ++i)
      out[i] = decodeUe8m0(at<uint8_t>(packed, i));
    return;
  case Element::ue4m3:
    for (size_t i = 0; i < count; ++i)
      out[i] = lane::widen<Ue4m3>(at<uint8_t>(packed, i) & 0x7f);
    return;
  case Element::e4m3:
    return decodeNarrow<lane::E4m3>(element, packing, packed, count, out);
  case Element::e5m2:
    return decodeNarrow<lane::E5m2>(element, packing, packed, count, out);
  case Element::e3m2:
    return decodeNarrow<lane::E3m2>(element, packing, packed, count, out);
  case Element::e2m3:
    return decodeNarrow<lane::E2m3>(element, packing, packed, count, out);
  case Element::e2m1:
    return decodeNarrow<lane::E2m1>(element, packing, packed, count, out);
  default:
    std::memcpy(out, packed, count * sizeof(float));
  }
}

void decodeIntegers(Element element, const void *packed, size_t count, uint8_t *out) {
  if (bitsOf(element) == 8) {
    std::memcpy(out, packed, count);
    return;
  }
  const auto *bytes = static_cast<const uint8_t *>(packed);
  const uint8_t sign = element == Element::s4 ? 8 : 0;
  for (size_t i = 0; i < count; ++i)
    out[i] = uint8_t((bitsAt(bytes, 4 * i, 4) ^ sign) - sign);
}

void encode(Element element, const float *values, size_t count, void *packed) {
  if (element != Element::f16) {
    std::memcpy(packed, values, count * sizeof(float));
    return;
  }
  auto *out = static_cast<uint8_t *>(packed);
  constexpr size_t kFew = 16;
  const size_t done =
      count >= kFew ? narrowInVectors(values, count, static_cast<uint16_t *>(packed)) : 0;
  for (size_t i = done; i < count; ++i) {
    const auto bits = uint16_t(lane::narrow<lane::F16, Narrow::nearestEven, false>(values[i]));
    std::memcpy(out + 2 * i, &bits, 2);
  }
}

} // namespace ptxrun::matrix
