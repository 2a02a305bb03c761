// A box is a list of rows: runs of elements along dimension 0 of the tensor, each with its place in
// global memory, one behind the other in shared memory. The modes differ only in which rows there
// are; copying, filling, swizzling and reducing see rows. Of an interleaved tensor a row is one
// slice, and dimension 0 counts slices.
#include "rt/sync/tensor_copy.h"

#include <algorithm>
#include <cstring>

#include "rt/atomics/reduce.h"
#include "rt/sync/tensor_rows.h"

namespace ptxrun::rt {

namespace {

using abi::TensorMode;

/// Position in the tensor of a row's first element; at[0] is a slice of an interleaved one.
struct Row {
  int64_t at[kMaxTensorRank] = {};
};

/// What all rows of a request have in common.
struct Geometry {
  TensorUnit unit;
  uint32_t units = 0; ///< in a row
  bool isInterleaved = false;
  uint32_t slices = 1; ///< rows along dimension 0
  int64_t firstSlice = 0;
  uint64_t sliceStride = 0; ///< bytes in global memory
  int64_t extent = 0;       ///< of the tensor along dimension 0: units, or slices
  uint32_t globalBytes() const { return units * unit.globalBytes; }
  uint32_t sharedBytes() const { return units * unit.sharedBytes; }
};

/// Most units are one element: no division then.
int64_t floorDivided(int64_t a, int64_t b) {
  if (b == 1)
    return a;
  return a >= 0 ? a / b : -((b - 1 - a) / b);
}
uint64_t unitsIn(const TensorUnit &unit, uint64_t elements) {
  return unit.elements == 1 ? elements : elements / unit.elements;
}

uint32_t channelsOf(const TensorMap &m) {
  return m.kind == TensorKind::tiled ? m.box[0] : m.channelsPerPixel;
}

Geometry geometryOf(const TensorRequest &r) {
  const TensorMap &m = *r.map;
  Geometry g;
  g.unit = unitOf(m.type);
  g.units = static_cast<uint32_t>(unitsIn(g.unit, channelsOf(m)));
  g.extent = static_cast<int64_t>(unitsIn(g.unit, m.size(0)));
  g.isInterleaved = m.interleave != TensorInterleave::none;
  if (!g.isInterleaved)
    return g;
  g.units = sliceBytes(m.interleave) / g.unit.globalBytes;
  uint32_t elements = g.units * g.unit.elements;
  uint32_t step = elements * m.elementStride[0];
  g.slices = (channelsOf(m) + step - 1) / step;
  g.firstSlice = floorDivided(r.coordinates[0], elements);
  g.sliceStride = m.stride[m.rank - 3] * m.size(m.rank - 2);
  g.extent = static_cast<int64_t>((m.size(0) + elements - 1) / elements);
  return g;
}

// --- One row -------------------------------------------------------------------------------------

void fillRow(const TensorMap &m, char *row, uint32_t bytes) {
  if (m.fill == TensorFill::zero) {
    std::memset(row, 0, bytes);
    return;
  }
  // Every 16 bits of it: an H200 fills so, whatever the type, and the manual names no NaN.
  constexpr uint16_t kOutOfBounds = 0x7ff7;
  for (uint32_t i = 0; i < bytes; i += sizeof kOutOfBounds)
    std::memcpy(row + i, &kOutOfBounds, sizeof kOutOfBounds);
}

bool isConverted(TensorType type) {
  return type == TensorType::f32Ftz || type == TensorType::tf32 || type == TensorType::tf32Ftz;
}

/// What the element type does to values on their way: .ftz flushes subnormals, .tf32 rounds to
/// nearest even.
void convertRow(TensorType type, char *row, uint32_t bytes) {
  bool isFtz = type == TensorType::f32Ftz || type == TensorType::tf32Ftz;
  bool isTf32 = type == TensorType::tf32 || type == TensorType::tf32Ftz;
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
Inside insideOf(const TensorMap &m, const Geometry &g, const Row &row) {
  for (uint32_t i = 1; i < m.rank; ++i)
    if (row.at[i] < 0 || row.at[i] >= static_cast<int64_t>(m.size(i)))
      return {};
  if (g.isInterleaved)
    return row.at[0] >= 0 && row.at[0] < g.extent ? Inside{0, g.units} : Inside{};
  int64_t start = floorDivided(row.at[0], g.unit.elements);
  int64_t first = std::clamp<int64_t>(-start, 0, g.units);
  int64_t end = std::clamp<int64_t>(g.extent - start, first, g.units);
  return {first, end};
}

/// Of unit `unit` of a row that has it inside the tensor.
char *globalPlace(const TensorMap &m, const Geometry &g, const Row &row, int64_t unit) {
  uint64_t place = m.address;
  if (g.isInterleaved)
    place += static_cast<uint64_t>(row.at[0]) * g.sliceStride;
  else
    unit += floorDivided(row.at[0], g.unit.elements);
  place += static_cast<uint64_t>(unit) * g.unit.globalBytes;
  for (uint32_t i = 1; i < m.rank; ++i)
    place += static_cast<uint64_t>(row.at[i]) * m.stride[i - 1];
  return reinterpret_cast<char *>(place);
}

constexpr uint32_t kMaxRowBytes = 256 * 8;

void loadRow(const TensorMap &m, const Geometry &g, const Row &row, char *shared) {
  Inside in = insideOf(m, g, row);
  char *global = in.first < in.end ? globalPlace(m, g, row, in.first) : nullptr;
  bool isWhole = in.end - in.first == g.units;
  if (isWhole && !g.unit.isPadded() && !isConverted(m.type)) {
    toShared(m, shared, global, g.sharedBytes());
    return;
  }
  alignas(16) char buffer[kMaxRowBytes];
  if (!isWhole)
    fillRow(m, buffer, g.globalBytes());
  if (global) {
    auto at = static_cast<uint32_t>(in.first) * g.unit.globalBytes;
    auto bytes = static_cast<uint32_t>(in.end - in.first) * g.unit.globalBytes;
    std::memcpy(buffer + at, global, bytes);
    if (isConverted(m.type))
      convertRow(m.type, buffer + at, bytes);
  }
  if (g.unit.isPadded())
    padToShared(m, shared, buffer, g.units);
  else
    toShared(m, shared, buffer, g.sharedBytes());
}

void storeRow(const TensorRequest &r, const Geometry &g, const Row &row, const char *shared) {
  const TensorMap &m = *r.map;
  Inside in = insideOf(m, g, row);
  if (in.first == in.end)
    return;
  alignas(16) char buffer[kMaxRowBytes];
  if (g.unit.isPadded())
    packFromShared(m, buffer, shared, g.units);
  else
    fromShared(m, buffer, shared, g.sharedBytes());
  char *global = globalPlace(m, g, row, in.first);
  const char *from = buffer + in.first * g.unit.globalBytes;
  auto bytes = static_cast<uint32_t>(in.end - in.first) * g.unit.globalBytes;
  if (r.direction == TensorDirection::store)
    std::memcpy(global, from, bytes);
  else
    reduceArray(r.op, reduceType(m.type), global, from, bytes, false);
}

// --- Which rows there are ------------------------------------------------------------------------

/// Rows of a box along dimension i: the traversal stride skips some.
uint32_t rowsAlong(const TensorMap &m, uint32_t i) {
  return m.elementStride[i] == 1 ? m.box[i]
                                 : (m.box[i] + m.elementStride[i] - 1u) / m.elementStride[i];
}

/// Dimensions in the order of shared memory, innermost first: slices lie outside of the image,
/// inside of the batch.
struct Order {
  uint32_t count = 0;
  uint32_t dimension[kMaxTensorRank] = {};
};
Order orderOf(const TensorMap &m, const Geometry &g) {
  Order order;
  uint32_t slicesBefore = g.isInterleaved ? m.rank - 1u : m.rank;
  for (uint32_t i = 1; i < m.rank; ++i) {
    if (i == slicesBefore)
      order.dimension[order.count++] = 0;
    order.dimension[order.count++] = i;
  }
  return order;
}

template <typename Visit> void visitTile(const TensorRequest &r, const Geometry &g, Visit visit) {
  const TensorMap &m = *r.map;
  const Order order = orderOf(m, g);
  Row row;
  std::copy_n(r.coordinates, m.rank, row.at);
  if (g.isInterleaved)
    row.at[0] = g.firstSlice;
  uint32_t index[kMaxTensorRank] = {};
  for (;;) {
    visit(row);
    uint32_t k = 0;
    for (; k < order.count; ++k) {
      uint32_t i = order.dimension[k];
      row.at[i] += m.elementStride[i];
      if (++index[i] < (i == 0 ? g.slices : rowsAlong(m, i)))
        break;
      row.at[i] -= int64_t{index[i]} * m.elementStride[i];
      index[i] = 0;
    }
    if (k == order.count)
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

/// Steps to the next pixel: along `spatial` dimensions inside the bounding box [lower, size - 1 +
/// upper], moved by `shift`, W fastest, then on to the next image.
void stepPixel(const TensorMap &m, uint32_t spatial, int64_t shift, int64_t *at) {
  for (uint32_t i = 0; i < spatial; ++i) {
    at[i + 1] += m.elementStride[i + 1];
    if (at[i + 1] <= static_cast<int64_t>(m.size(i + 1)) - 1 + m.upper[i] + shift)
      return;
    at[i + 1] = m.lower[i] + shift;
  }
  ++at[m.rank - 1];
}

/// Pixels from the filter's base on; each is read at the base plus the offsets.
template <typename Visit> void visitIm2col(const TensorRequest &r, const Geometry &g, Visit visit) {
  const TensorMap &m = *r.map;
  uint32_t spatial = m.rank - 2u;
  for (uint32_t slice = 0; slice < g.slices; ++slice) {
    int64_t base[kMaxTensorRank];
    std::copy_n(r.coordinates, m.rank, base);
    if (g.isInterleaved)
      base[0] = g.firstSlice + int64_t{slice} * m.elementStride[0];
    for (uint32_t pixel = 0; pixel < m.pixelsPerColumn; ++pixel) {
      Row row;
      std::copy_n(base, m.rank, row.at);
      for (uint32_t i = 0; i < spatial; ++i)
        row.at[i + 1] += r.mode == TensorMode::im2col ? r.offsets[i] : 0;
      visit(row);
      stepPixel(m, spatial, 0, base);
    }
  }
}

/// im2col::w and im2col::w::128: groups of pixels along W of the images, each with its halo, which
/// goes on to the right of the group's last pixel.
struct WideShape {
  uint32_t groups, pixels, halo;
};
WideShape wideShapeOf(const TensorRequest &r) {
  if (r.mode == TensorMode::im2colW128)
    return {4, 32, r.offsets[0]};
  return {1, r.map->pixelsPerColumn, r.offsets[0]};
}

template <typename Visit> void visitIm2colWide(const TensorRequest &r, Visit visit) {
  const TensorMap &m = *r.map;
  const WideShape shape = wideShapeOf(r);
  const int64_t shift = r.offsets[1];
  Row row;
  std::copy_n(r.coordinates, m.rank, row.at);
  row.at[1] += shift;
  for (uint32_t group = 0; group < shape.groups; ++group) {
    Row last;
    for (uint32_t pixel = 0; pixel < shape.pixels; ++pixel) {
      visit(row);
      last = row;
      stepPixel(m, 1, shift, row.at);
    }
    for (uint32_t pixel = 0; pixel < shape.halo; ++pixel) {
      last.at[1] += m.elementStride[1];
      visit(last);
    }
  }
}

template <typename Visit> void visitRows(const TensorRequest &r, const Geometry &g, Visit visit) {
  switch (r.mode) {
  case TensorMode::tile:
    return visitTile(r, g, visit);
  case TensorMode::tile4:
    return visitTile4(r, visit);
  case TensorMode::im2col:
  case TensorMode::im2colNoOffsets:
    return visitIm2col(r, g, visit);
  case TensorMode::im2colW:
  case TensorMode::im2colW128:
    return visitIm2colWide(r, visit);
  }
}

uint64_t rowCount(const TensorRequest &r, const Geometry &g) {
  if (r.mode == TensorMode::tile4)
    return 4;
  if (r.mode == TensorMode::im2colW || r.mode == TensorMode::im2colW128) {
    WideShape shape = wideShapeOf(r);
    return uint64_t{shape.groups} * (shape.pixels + shape.halo);
  }
  uint64_t rows = g.slices;
  if (r.map->kind != TensorKind::tiled)
    return rows * r.map->pixelsPerColumn;
  for (uint32_t i = 1; i < r.map->rank; ++i)
    rows *= rowsAlong(*r.map, i);
  return rows;
}

// --- Tiles inside the tensor ---------------------------------------------------------------------

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
bool movePlainTile(const TensorRequest &r, const Geometry &g) {
  const TensorMap &m = *r.map;
  if (r.mode != TensorMode::tile || r.direction == TensorDirection::reduce || g.isInterleaved ||
      g.unit.isPadded() || isConverted(m.type) || m.rank < 2 || !isInsideTensor(r))
    return false;
  TensorRows rows{nullptr, m.stride[0] * m.elementStride[1], r.shared, rowsAlong(m, 1),
                  g.sharedBytes()};
  Row row;
  std::copy_n(r.coordinates, m.rank, row.at);
  uint32_t index[kMaxTensorRank] = {};
  for (;;) {
    rows.global = globalPlace(m, g, row, 0);
    moveRows(m, rows, r.direction == TensorDirection::load);
    rows.shared += rows.count * rows.bytes;
    uint32_t i = 2;
    for (; i < m.rank; ++i) {
      row.at[i] += m.elementStride[i];
      if (++index[i] < rowsAlong(m, i))
        break;
      index[i] = 0;
      row.at[i] = r.coordinates[i];
    }
    if (i >= m.rank)
      return true;
  }
}

} // namespace

uint32_t rowBytes(const TensorRequest &r) {
  TensorUnit unit = unitOf(r.map->type);
  return static_cast<uint32_t>(unitsIn(unit, channelsOf(*r.map))) * unit.sharedBytes;
}

uint64_t tensorBytes(const TensorRequest &r) {
  Geometry g = geometryOf(r);
  return rowCount(r, g) * g.sharedBytes();
}

uint64_t tensorTransaction(const TensorRequest &r) {
  const Geometry g = geometryOf(r);
  return rowCount(r, g) * g.globalBytes();
}

void performTensorCopy(const TensorRequest &r) {
  const Geometry g = geometryOf(r);
  if (movePlainTile(r, g))
    return;
  char *shared = r.shared;
  visitRows(r, g, [&](const Row &row) {
    if (r.direction == TensorDirection::load)
      loadRow(*r.map, g, row, shared);
    else
      storeRow(r, g, row, shared);
    shared += g.sharedBytes();
  });
}

} // namespace ptxrun::rt
