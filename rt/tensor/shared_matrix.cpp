#include "rt/tensor/shared_matrix.h"

#include <algorithm>
#include <cstring>

namespace ptxrun::rt {

namespace {

constexpr unsigned kPiece = 16; ///< bytes that no swizzle parts
constexpr unsigned kLine = 128; ///< bytes within which pieces are exchanged

uint32_t field(uint64_t descriptor, unsigned from) {
  return static_cast<uint32_t>(descriptor >> from & 0x3fff) << 4;
}

void setSwizzle(SharedMatrix &m, uint32_t rowBytes) {
  m.rowBytes = rowBytes;
  m.swizzle.bits = rowBytes == 128 ? 3 : rowBytes == 64 ? 2 : rowBytes == 32 ? 1 : 0;
}

SharedMatrix describeCommon(uint64_t descriptor, const char *window) {
  SharedMatrix m;
  m.window = window;
  m.start = field(descriptor, 0);
  m.leading = field(descriptor, 16);
  m.stride = field(descriptor, 32);
  m.patternOffset = static_cast<uint32_t>(descriptor >> 49 & 7);
  return m;
}

/// The piece at this `.shared` offset, as swizzled.
const char *pieceAt(const SharedMatrix &m, uint32_t offset) {
  if (m.swizzle.bits) {
    const uint32_t line = (offset >> 7) - m.patternOffset;
    offset ^= (line & ((1u << m.swizzle.bits) - 1)) << m.swizzle.from;
  }
  return m.window + offset;
}

/// 16 elements on end to one in each byte.
void unpack(unsigned bits, char *piece) {
  const unsigned shift = bits == 4 ? 2 : 0;
  unsigned char in[kPiece + 1] = {};
  std::memcpy(in, piece, kPiece);
  for (unsigned i = 0; i < kPiece; ++i) {
    const unsigned at = i * bits, pair = in[at / 8] | unsigned{in[at / 8 + 1]} << 8;
    piece[i] = static_cast<char>((pair >> at % 8 & ((1u << bits) - 1)) << shift);
  }
}

void readPiece(const SharedMatrix &m, uint32_t offset, char *out) {
  std::memcpy(out, pieceAt(m, offset), kPiece);
  if (m.packedBits)
    unpack(m.packedBits, out);
}

bool isSwizzled(const SharedMatrix &m) { return m.swizzle.bits != 0; }

/// Where the piece with bytes from `along` on of row `row` is, K-major: rows of an atom lie
/// rowBytes apart, atoms `stride`.
uint32_t offsetAlongK(const SharedMatrix &m, unsigned row, unsigned along) {
  const uint32_t inRows = row % 8 * m.rowBytes + row / 8 * m.stride;
  if (!isSwizzled(m))
    return m.start + inRows + along / kPiece * m.leading;
  const uint32_t inLine = m.start % 128 + along;
  if (m.isAbsoluteLeading && inLine >= 128)
    return m.leading + inRows + inLine - 128;
  return m.start + inRows + along;
}

/// Where the piece with bytes from `along` on of line `k` is, MN-major.
uint32_t offsetAcrossK(const SharedMatrix &m, unsigned k, unsigned along) {
  if (!isSwizzled(m))
    return m.start + k % 8 * kPiece + k / 8 * m.leading + along / kPiece * m.stride;
  return m.start + k % m.atomRows * m.rowBytes + k / m.atomRows * m.stride + along % m.rowBytes +
         along / m.rowBytes * m.leading;
}

template <class T> void spread(const char *piece, unsigned count, char *out, size_t pitch) {
  T values[kPiece / sizeof(T)];
  std::memcpy(values, piece, kPiece);
  for (unsigned i = 0; i < count; ++i)
    std::memcpy(out + i * pitch, &values[i], sizeof(T));
}

} // namespace

SharedMatrix describeForWgmma(uint64_t descriptor, const char *window) {
  SharedMatrix m = describeCommon(descriptor, window);
  constexpr uint32_t kRowBytes[] = {16, 128, 64, 32};
  setSwizzle(m, kRowBytes[descriptor >> 62]);
  return m;
}

SharedMatrix describeForTensorCore(uint64_t descriptor, const char *window, const char **error) {
  SharedMatrix m = describeCommon(descriptor, window);
  *error = nullptr;
  if ((descriptor >> 46 & 7) != 1)
    *error = "bits 46 to 48 are not 0b001";
  else if (descriptor >> 53 & 0xff)
    *error = "bits 53 to 60 are not zero";
  m.isAbsoluteLeading = descriptor >> 52 & 1;
  switch (descriptor >> 61) {
  case 0:
    setSwizzle(m, 16);
    break;
  case 1:
    setSwizzle(m, 128);
    m.swizzle = {2, 5};
    m.atomRows = 4;
    break;
  case 2:
    setSwizzle(m, 128);
    break;
  case 4:
    setSwizzle(m, 64);
    break;
  case 6:
    setSwizzle(m, 32);
    break;
  default:
    *error = "its swizzling mode is none of 0, 1, 2, 4 and 6";
  }
  if (m.isAbsoluteLeading && (descriptor >> 61 != 2 || m.patternOffset != 0))
    *error = "an absolute leading dimension needs 128-byte swizzling and no base offset";
  return m;
}

/// Rows whose pieces lie `step` bytes apart before swizzling, as they are in memory.
static void readPlainRows(const SharedMatrix &m, unsigned first, unsigned count, unsigned bytes,
                          uint32_t step, char *out, size_t pitch) {
  const uint32_t mask = (1u << m.swizzle.bits) - 1, from = m.swizzle.from;
  for (unsigned row = first; row < first + count; ++row, out += pitch) {
    uint32_t offset = m.start + row % 8 * m.rowBytes + row / 8 * m.stride;
    for (unsigned along = 0; along < bytes; along += kPiece, offset += step) {
      const uint32_t line = (offset >> 7) - m.patternOffset;
      std::memcpy(out + along, m.window + (offset ^ (line & mask) << from), kPiece);
    }
  }
}

void readRowsAlongK(const SharedMatrix &m, unsigned first, unsigned count, unsigned bytes,
                    char *out, size_t pitch) {
  if (!m.packedBits && !m.isAbsoluteLeading)
    return readPlainRows(m, first, count, bytes, isSwizzled(m) ? kPiece : m.leading, out, pitch);
  for (unsigned row = 0; row < count; ++row)
    for (unsigned along = 0; along < bytes; along += kPiece)
      readPiece(m, offsetAlongK(m, first + row, along), out + row * pitch + along);
}

PiecesAlongK::PiecesAlongK(const SharedMatrix &m, unsigned count, unsigned bytes) {
  const uint32_t mask = (1u << m.swizzle.bits) - 1, from = m.swizzle.from;
  const uint32_t step = isSwizzled(m) ? kPiece : m.leading;
  // Where blocks of 8 rows lie whole patterns apart, their rows are exchanged in the same way.
  const bool isRegular = m.stride % ((mask + 1) * kLine) == 0;
  uint32_t *places = places_;
  for (unsigned block = 0; block < count / 8; ++block) {
    if (isRegular && block != 0) {
      blocks_[block] = {blocks_[block - 1].base + m.stride, places_};
      continue;
    }
    blocks_[block] = {m.window, places};
    const uint32_t start = m.start + block * m.stride;
    for (unsigned p = 0; p < bytes / kPiece * 8; ++p) {
      const uint32_t offset = start + p % 8 * m.rowBytes + p / 8 * step;
      const uint32_t line = offset / kLine - m.patternOffset;
      *places++ = offset ^ (line & mask) << from;
    }
  }
}

void readFragmentsAlongK(const SharedMatrix &m, unsigned count, unsigned bytes, char *out) {
  const PiecesAlongK pieces(m, count, bytes);
  for (unsigned block = 0; block < count / 8; ++block)
    for (unsigned p = 0; p < bytes / kPiece * 8; ++p, out += kPiece)
      std::memcpy(out, pieces.blocks()[block].base + pieces.blocks()[block].places[p], kPiece);
}

void readRowsAcrossK(const SharedMatrix &m, unsigned elementBytes, unsigned first, unsigned count,
                     unsigned k, char *out, size_t pitch) {
  const unsigned perPiece = kPiece / elementBytes;
  for (unsigned line = 0; line < k; ++line)
    for (unsigned at = 0; at < count; at += perPiece) {
      char piece[kPiece];
      readPiece(m, offsetAcrossK(m, line, (first + at) * elementBytes), piece);
      char *to = out + at * pitch + line * elementBytes;
      const unsigned some = std::min(perPiece, count - at);
      if (elementBytes == 2)
        spread<uint16_t>(piece, some, to, pitch);
      else if (elementBytes == 4)
        spread<uint32_t>(piece, some, to, pitch);
      else
        spread<uint8_t>(piece, some, to, pitch);
    }
}

} // namespace ptxrun::rt
