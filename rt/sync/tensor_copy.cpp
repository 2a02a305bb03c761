// A box is a list of rows: runs of elements along dimension 0 of the tensor, each with its place in
// global memory, one behind the other in shared memory. The modes differ only in which rows there
// are; copying, filling, swizzling and reducing see rows.
#include "rt/sync/tensor_copy.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "rt/atomics/reduce.h"

namespace ptxrun::rt {

namespace {

using abi::TensorMode;

constexpr uint32_t kLine = 16; ///< swizzles move units of 16 bytes

/// One row: elements [first, first + count) along dimension 0 at tensor position `at` (at[0] =
/// first).
struct Row {
  int64_t at[kMaxTensorRank] = {};
};

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

/// In odd lines of the 8-byte-flip layout the halves of every 16 bytes change places.
bool isFlipped(const TensorMap &m, uint64_t a) {
  return m.swizzle == TensorSwizzle::bytes128 && m.atomicity == TensorAtomicity::bytes32Flip8 &&
         (a >> 7 & 1);
}

void toShared(const TensorMap &m, char *shared, const char *row, uint32_t bytes) {
  if (m.swizzle == TensorSwizzle::none) {
    std::memcpy(shared, row, bytes);
    return;
  }
  for (uint32_t i = 0; i < bytes; i += kLine) {
    auto a = reinterpret_cast<uint64_t>(shared + i);
    auto *to = reinterpret_cast<char *>(swizzled(m, a));
    bool flip = isFlipped(m, a);
    std::memcpy(to, row + i + (flip ? 8 : 0), 8);
    std::memcpy(to + 8, row + i + (flip ? 0 : 8), 8);
  }
}

void fromShared(const TensorMap &m, char *row, const char *shared, uint32_t bytes) {
  if (m.swizzle == TensorSwizzle::none) {
    std::memcpy(row, shared, bytes);
    return;
  }
  for (uint32_t i = 0; i < bytes; i += kLine)
    std::memcpy(row + i,
                reinterpret_cast<char *>(swizzled(m, reinterpret_cast<uint64_t>(shared + i))),
                kLine);
}

/// Rows of `bytes` each, `step` apart in global memory and one behind the other in shared memory.
struct Rows {
  char *global;
  uint64_t step;
  char *shared;
  uint32_t count;
  uint32_t bytes;
};

/// One 128-byte line whose unit i stands at place i ^ Mix.
template <uint32_t Mix> inline void moveLine(char *line, char *row, bool isLoad) {
  char units[128]; // becomes eight registers
  if (isLoad) {
    std::memcpy(units, row, 128);
    for (uint32_t i = 0; i < 8; ++i)
      std::memcpy(line + (i ^ Mix) * kLine, units + i * kLine, kLine);
  } else {
    std::memcpy(units, line, 128);
    for (uint32_t i = 0; i < 8; ++i)
      std::memcpy(row + i * kLine, units + (i ^ Mix) * kLine, kLine);
  }
}

inline void moveLine(uint32_t mix, char *line, char *row, bool isLoad) {
  switch (mix) {
  case 0:
    return moveLine<0>(line, row, isLoad);
  case 1:
    return moveLine<1>(line, row, isLoad);
  case 2:
    return moveLine<2>(line, row, isLoad);
  case 3:
    return moveLine<3>(line, row, isLoad);
  case 4:
    return moveLine<4>(line, row, isLoad);
  case 5:
    return moveLine<5>(line, row, isLoad);
  case 6:
    return moveLine<6>(line, row, isLoad);
  default:
    return moveLine<7>(line, row, isLoad);
  }
}

/// Rows that lie inside the tensor, of a type that is copied as it is.
void movePlainRows(const TensorMap &m, Rows r, bool isLoad) {
  bool isWholeLines = r.bytes == 128 && reinterpret_cast<uint64_t>(r.shared) % 128 == 0 &&
                      m.atomicity != TensorAtomicity::bytes32Flip8 &&
                      m.swizzle != TensorSwizzle::none;
  if (isWholeLines) {
    uint32_t mixes[8];
    for (uint64_t line = 0; line < 8; ++line)
      mixes[line] = static_cast<uint32_t>((swizzled(m, line << 7) & 127) / kLine);
    for (uint32_t i = 0; i < r.count; ++i, r.global += r.step, r.shared += 128) {
      moveLine(mixes[reinterpret_cast<uint64_t>(r.shared) >> 7 & 7], r.shared, r.global, isLoad);
    }
    return;
  }
  for (uint32_t i = 0; i < r.count; ++i, r.global += r.step, r.shared += r.bytes) {
    if (isLoad)
      toShared(m, r.shared, r.global, r.bytes);
    else
      fromShared(m, r.global, r.shared, r.bytes);
  }
}

/// Elements along dimension 0 are counted in the map's units; packed 4-bit ones in containers of
/// sixteen.
struct Units {
  uint32_t bytes;    ///< of one unit
  uint32_t elements; ///< in one unit
};
Units unitsOf(const TensorMap &m) {
  if (m.type == TensorType::b4x16)
    return {8, 16};
  return {elementBytes(m.type), 1};
}

void fillRow(const TensorMap &m, char *row, uint32_t bytes) {
  if (m.fill == TensorFill::zero) {
    std::memset(row, 0, bytes);
    return;
  }
  // The NaN with all bits below the sign set.
  uint32_t size = elementBytes(m.type);
  std::memset(row, 0xff, bytes);
  for (uint32_t i = size - 1; i < bytes; i += size)
    row[i] = 0x7f;
}

/// What the element type does to values on their way: .ftz flushes subnormals, .tf32 rounds to
/// nearest even.
void convertRow(const TensorMap &m, char *row, uint32_t bytes) {
  bool isFtz = m.type == TensorType::f32Ftz || m.type == TensorType::tf32Ftz;
  bool isTf32 = m.type == TensorType::tf32 || m.type == TensorType::tf32Ftz;
  if (!isFtz && !isTf32)
    return;
  for (uint32_t i = 0; i < bytes; i += 4) {
    uint32_t bits;
    std::memcpy(&bits, row + i, 4);
    uint32_t exponent = bits >> 23 & 0xff;
    if (isFtz && exponent == 0)
      bits &= 0x80000000;
    if (isTf32 && exponent != 0xff)
      bits = (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
    std::memcpy(row + i, &bits, 4);
  }
}

abi::ReduceType reduceType(TensorType type) {
  switch (type) {
  case TensorType::s32:
    return abi::ReduceType::s32;
  case TensorType::u64:
    return abi::ReduceType::u64;
  case TensorType::s64:
    return abi::ReduceType::s64;
  case TensorType::f16:
    return abi::ReduceType::f16;
  case TensorType::bf16:
    return abi::ReduceType::bf16;
  case TensorType::f32:
  case TensorType::f32Ftz:
    return abi::ReduceType::f32;
  case TensorType::f64:
    return abi::ReduceType::f64;
  default:
    return abi::ReduceType::u32;
  }
}

/// The part of a row that lies inside the tensor, in units from the row's start; empty when another
/// dimension is outside.
struct Inside {
  int64_t first = 0, end = 0;
};
Inside insideOf(const TensorMap &m, const Row &row, uint32_t units, Units u) {
  for (uint32_t i = 1; i < m.rank; ++i)
    if (row.at[i] < 0 || row.at[i] >= static_cast<int64_t>(m.size(i)))
      return {};
  int64_t start = row.at[0] / static_cast<int64_t>(u.elements);
  int64_t size = static_cast<int64_t>(m.size(0) / u.elements);
  int64_t first = std::clamp<int64_t>(-start, 0, units);
  int64_t end = std::clamp<int64_t>(size - start, first, units);
  return {first, end};
}

char *globalPlace(const TensorMap &m, const Row &row, Units u) {
  uint64_t place =
      m.address + static_cast<uint64_t>(row.at[0] / static_cast<int64_t>(u.elements)) * u.bytes;
  for (uint32_t i = 1; i < m.rank; ++i)
    place += static_cast<uint64_t>(row.at[i]) * m.stride[i - 1];
  return reinterpret_cast<char *>(place);
}

constexpr uint32_t kMaxRowBytes = 256 * 8;

void copyRow(const TensorRequest &r, const Row &row, uint32_t units, char *shared) {
  const TensorMap &m = *r.map;
  Units u = unitsOf(m);
  uint32_t bytes = units * u.bytes;
  Inside in = insideOf(m, row, units, u);
  char *global = globalPlace(m, row, u);
  auto from = static_cast<uint32_t>(in.first) * u.bytes,
       length = static_cast<uint32_t>(in.end - in.first) * u.bytes;
  alignas(16) char buffer[kMaxRowBytes];
  if (r.direction == TensorDirection::load) {
    bool isPlain = length == bytes && m.type < TensorType::f32Ftz;
    if (!isPlain) {
      fillRow(m, buffer, bytes);
      if (length)
        std::memcpy(buffer + from, global + from, length);
      convertRow(m, buffer + from, length);
    }
    toShared(m, shared, isPlain ? global : buffer, bytes);
    return;
  }
  if (!length)
    return;
  fromShared(m, buffer, shared, bytes);
  if (r.direction == TensorDirection::store)
    std::memcpy(global + from, buffer + from, length);
  else
    reduceArray(r.op, reduceType(m.type), global + from, buffer + from, length, false);
}

uint32_t unitsPerRow(const TensorRequest &r) {
  return (r.map->isIm2col ? r.map->channelsPerPixel : r.map->box[0]) / unitsOf(*r.map).elements;
}

/// Rows of a box along dimension i: the traversal stride skips some.
uint32_t rowsAlong(const TensorMap &m, uint32_t i) {
  return (m.box[i] + m.elementStride[i] - 1) / m.elementStride[i];
}

bool isInsideTensor(const TensorRequest &r) {
  const TensorMap &m = *r.map;
  for (uint32_t i = 0; i < m.rank; ++i)
    if (r.coordinates[i] < 0 ||
        int64_t{r.coordinates[i]} + m.box[i] > static_cast<int64_t>(m.size(i)))
      return false;
  return true;
}

/// A tile inside the tensor whose elements need no conversion: its rows along dimension 1 are moved
/// together.
bool movePlainTile(const TensorRequest &r) {
  const TensorMap &m = *r.map;
  bool isPlain =
      r.mode == TensorMode::tile && r.direction != TensorDirection::reduce &&
      (m.type < TensorType::f32Ftz || m.type == TensorType::f64 || m.type == TensorType::bf16);
  if (!isPlain || m.rank < 2 || !isInsideTensor(r))
    return false;
  Units u = unitsOf(m);
  Rows rows{nullptr, m.stride[0] * m.elementStride[1], r.shared, rowsAlong(m, 1),
            unitsPerRow(r) * u.bytes};
  uint32_t index[kMaxTensorRank] = {};
  for (;;) {
    Row row;
    for (uint32_t i = 0; i < m.rank; ++i)
      row.at[i] = int64_t{r.coordinates[i]} + int64_t{index[i]} * m.elementStride[i];
    rows.global = globalPlace(m, row, u);
    movePlainRows(m, rows, r.direction == TensorDirection::load);
    rows.shared += rows.count * rows.bytes;
    uint32_t i = 2;
    while (i < m.rank && ++index[i] == rowsAlong(m, i))
      index[i++] = 0;
    if (i >= m.rank)
      return true;
  }
}

template <typename Visit> void visitTile(const TensorRequest &r, Visit visit) {
  const TensorMap &m = *r.map;
  uint32_t index[kMaxTensorRank] = {};
  for (;;) {
    Row row;
    for (uint32_t i = 0; i < m.rank; ++i)
      row.at[i] = int64_t{r.coordinates[i]} + int64_t{index[i]} * m.elementStride[i];
    visit(row);
    uint32_t i = 1;
    while (i < m.rank && ++index[i] == rowsAlong(m, i))
      index[i++] = 0;
    if (i >= m.rank)
      return;
  }
}

/// {column, row0, row1, row2, row3} of a 2-dimensional tensor.
template <typename Visit> void visitTile4(const TensorRequest &r, Visit visit) {
  for (int i = 0; i < 4; ++i) {
    Row row;
    row.at[0] = r.coordinates[0];
    row.at[1] = r.coordinates[1 + i];
    visit(row);
  }
}

/// Pixels from the filter's base on, W fastest, wrapping inside the bounding box [lower, size - 1 +
/// upper] of each dimension, then on to the next image; each is read at the base plus the offsets.
template <typename Visit> void visitIm2col(const TensorRequest &r, Visit visit) {
  const TensorMap &m = *r.map;
  uint32_t spatial = m.rank - 2;
  int64_t base[kMaxTensorRank];
  std::copy(r.coordinates, r.coordinates + kMaxTensorRank, base);
  for (uint32_t pixel = 0; pixel < m.pixelsPerColumn; ++pixel) {
    Row row;
    std::copy(base, base + m.rank, row.at);
    for (uint32_t i = 0; i < spatial; ++i)
      row.at[i + 1] += r.mode == TensorMode::im2col ? r.offsets[i] : 0;
    visit(row);
    uint32_t i = 0;
    for (; i < spatial; ++i) {
      base[i + 1] += m.elementStride[i + 1];
      if (base[i + 1] <= static_cast<int64_t>(m.size(i + 1)) - 1 + m.upper[i])
        break;
      base[i + 1] = m.lower[i];
    }
    if (i == spatial)
      ++base[m.rank - 1];
  }
}

template <typename Visit> void visitRows(const TensorRequest &r, Visit visit) {
  if (r.mode == TensorMode::tile)
    visitTile(r, visit);
  else if (r.mode == TensorMode::tile4)
    visitTile4(r, visit);
  else
    visitIm2col(r, visit);
}

uint32_t rowCount(const TensorRequest &r) {
  if (r.mode == TensorMode::tile4)
    return 4;
  if (r.map->isIm2col)
    return r.map->pixelsPerColumn;
  uint32_t rows = 1;
  for (uint32_t i = 1; i < r.map->rank; ++i)
    rows *= rowsAlong(*r.map, i);
  return rows;
}

} // namespace

const char *checkTensorRequest(const TensorRequest &r) {
  const TensorMap &m = *r.map;
  if (m.magic != TensorMap::kMagic || m.rank < 1 || m.rank > kMaxTensorRank)
    return "the tensor-map is not one that cuTensorMapEncode made";
  if (r.mode == TensorMode::im2colW || r.mode == TensorMode::im2colW128)
    return "the modes .im2col::w and .im2col::w::128 are not implemented";
  if (m.interleave != TensorInterleave::none)
    return "interleaved layouts are not implemented";
  if (m.type == TensorType::b4x16p64 || m.type == TensorType::b6)
    return "the element types .b4x16_p64, .b6x16_p32 and .b6p2x16 are not implemented";
  bool isIm2col = r.mode == TensorMode::im2col || r.mode == TensorMode::im2colNoOffsets;
  if (isIm2col != (m.isIm2col != 0))
    return "the tensor-map was encoded for another mode (tiled or im2col)";
  if (r.mode == TensorMode::tile4 && (m.rank != 2 || m.box[1] != 1))
    return ".tile::gather4 and .tile::scatter4 need a 2-dimensional tensor-map with boxes of one "
           "row";
  uint64_t align = m.swizzle == TensorSwizzle::none ? 16 : 128;
  if (reinterpret_cast<uint64_t>(r.shared) % align)
    return "the address in shared memory is not aligned (16 bytes; 128 with a swizzle)";
  return nullptr;
}

uint32_t tensorBytes(const TensorRequest &r) {
  return rowCount(r) * unitsPerRow(r) * unitsOf(*r.map).bytes;
}

void performTensorCopy(const TensorRequest &r) {
  if (movePlainTile(r))
    return;
  uint32_t units = unitsPerRow(r);
  uint32_t bytes = units * unitsOf(*r.map).bytes;
  char *shared = r.shared;
  visitRows(r, [&](const Row &row) {
    copyRow(r, row, units, shared);
    shared += bytes;
  });
}

} // namespace ptxrun::rt
