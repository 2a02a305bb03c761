#include "intrinsics/matrix/group.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "intrinsics/matrix/float_buffer.h"

namespace ptxrun::matrix {

namespace {

constexpr unsigned kMostDepthOfSparse = 128;

bool isBits(const WarpOperation &w) { return w.operation.a == Element::b1; }
bool isNibbles(const WarpOperation &w) {
  return bitsOf(w.operation.a) == 4 && isInteger(w.operation.a);
}
/// Words of integers: bytes, what becomes bytes, or bits.
bool isWords(const WarpOperation &w) { return isInteger(w.operation.a); }

/// k as the tiles count it: bits in bytes.
unsigned depthOf(const WarpOperation &w) { return isBits(w) ? w.operation.k / 8u : w.operation.k; }

/// Blocks of 8 columns.
unsigned blocksOf(const WarpOperation &w) {
  return w.operation.isSparse ? w.operation.n / 8u : columnBlocks(w);
}

/// Registers of B for 8 columns.
unsigned blockRegistersB(const WarpOperation &w) {
  return w.operation.k * registerBits(w.operation.b, w.isByteEach) / 128u;
}

size_t inVectors(size_t floats) { return (floats + 15) / 16 * 16; }

size_t rowPitchOf(const WarpOperation &w) {
  const unsigned k = depthOf(w);
  return inVectors(isWords(w) ? preparedIntegersA(k) : preparedFloats(w.sum, 16 * k));
}

size_t columnPitchOf(const WarpOperation &w) {
  const unsigned k = depthOf(w);
  return inVectors(isWords(w) ? preparedIntegersB(k) : preparedFloats(w.sum, 8 * k));
}

/// Bytes that need no preparation but, of 4 bits, to become bytes; rows, and columns of signed
/// numbers.
bool areRegistersRows(const WarpOperation &w, const ByteProducts &bytes) {
  return isWords(w) && !isBits(w) && takesRegisters(bytes);
}

/// Of `products` products of a fragment and a block. Bits are bytes as far as their places go.
ByteProducts byteProductsOf(const WarpOperation &w, size_t products) {
  const Operation &o = w.operation;
  if (isBits(w))
    return {ByteUnit::vectors, depthOf(w), isSigned(o.a), true, false};
  return {byteUnit(products), o.k, isSigned(o.a), isSigned(o.b), o.isSaturating};
}

void prepareA(const WarpOperation &w, const ByteProducts &ofBytes, const uint32_t *registers,
              float *out) {
  const Operation &o = w.operation;
  if (o.isSparse) {
    const bool areRows = areRegistersRows(w, ofBytes);
    alignas(64) uint32_t dense[4 * kMostDepthOfSparse];
    uint32_t *spread = areRows ? reinterpret_cast<uint32_t *>(out) : dense;
    spreadSparseIntegers(w, registers, registers + w.registersA * kWarpLanes, spread);
    if (!areRows)
      prepareIntegerRows(ofBytes, spread, reinterpret_cast<int32_t *>(out));
    return;
  }
  if (areRegistersRows(w, ofBytes))
    return unpackNibbles(isSigned(o.a), true, w.registersA, registers,
                         reinterpret_cast<uint32_t *>(out));
  alignas(64) uint32_t bytes[8 * kWarpLanes];
  if (isNibbles(w)) {
    unpackNibbles(isSigned(o.a), true, w.registersA, registers, bytes);
    registers = bytes;
  }
  return prepareIntegerRows(ofBytes, registers, reinterpret_cast<int32_t *>(out));
}

/// Blocks of columns, which lie one behind the other; prepared ones `pitch` apart.
void prepareB(const WarpOperation &w, const ByteProducts &ofBytes, unsigned blocks,
              const uint32_t *registers, float *out, size_t pitch) {
  const unsigned ofBlock = blockRegistersB(w);
  const auto integers = [&](const uint32_t *words, float *to, unsigned count) {
    prepareIntegerColumns(ofBytes, words, reinterpret_cast<int32_t *>(to), count, pitch);
  };
  if (!isNibbles(w) && !isBits(w))
    return integers(registers, out, blocks);
  for (unsigned i = 0; i < blocks; ++i, registers += ofBlock * kWarpLanes, out += pitch) {
    if (isBits(w)) {
      prepareBitColumns(depthOf(w), registers, reinterpret_cast<int32_t *>(out));
      continue;
    }
    alignas(64) uint32_t bytes[8 * kWarpLanes];
    unpackNibbles(isSigned(w.operation.b), false, ofBlock, registers, bytes);
    integers(bytes, out, 1);
  }
}

/// `count` fragments of floats.
void prepareFloatsA(const WarpOperation &w, unsigned count, const uint32_t *registers, float *out,
                    size_t pitch) {
  const Operation &o = w.operation;
  prepareRows(o.a, o.k, registers, groupRegistersA(w), count, out, pitch);
  for (unsigned i = 0; i < count && w.sum.method == Sum::Method::fused; ++i)
    prepareExponents(w.sum, Role::a, 16u * o.k, out + i * pitch);
}

/// `count` fragments of floats, of `blocks` blocks each and what may lie behind them.
void prepareFloatsB(const WarpOperation &w, unsigned count, unsigned blocks,
                    const uint32_t *registers, float *out, size_t pitch) {
  const Operation &o = w.operation;
  const unsigned ofBlock = blockRegistersB(w), all = count * blocks,
                 atOnce = w.registersB == blocks * ofBlock ? all : blocks;
  for (unsigned i = 0; i < all; i += atOnce, registers += w.registersB * kWarpLanes)
    prepareColumns(o.b, o.k, registers, ofBlock, atOnce, out + i * pitch, pitch);
  for (unsigned i = 0; i < all && w.sum.method == Sum::Method::fused; ++i)
    prepareExponents(w.sum, Role::b, 8u * o.k, out + i * pitch);
}

/// The instructions of one block of accumulators, in their order.
struct Chain {
  uint16_t d;
  std::vector<uint16_t> a, b;
};

std::vector<Chain> chainsOf(unsigned blocks, std::span<const GroupMember> members) {
  std::vector<Chain> chains;
  std::map<unsigned, size_t> first; // of an accumulator's chains
  for (const GroupMember &m : members) {
    const auto [known, isNew] = first.try_emplace(m.d, chains.size());
    for (unsigned block = 0; block < blocks && isNew; ++block)
      chains.push_back({uint16_t(m.d * blocks + block), {}, {}});
    for (unsigned block = 0; block < blocks; ++block) {
      chains[known->second + block].a.push_back(m.a);
      chains[known->second + block].b.push_back(uint16_t(m.b * blocks + block));
    }
  }
  return chains;
}

template <class T> void append(std::vector<std::byte> &bytes, const std::vector<T> &values) {
  const auto *from = reinterpret_cast<const std::byte *>(values.data());
  bytes.insert(bytes.end(), from, from + values.size() * sizeof(T));
}

} // namespace

std::vector<std::byte> planGroup(const WarpOperation &w, std::span<const GroupMember> members) {
  std::vector<Chain> chains = chainsOf(blocksOf(w), members);
  std::sort(chains.begin(), chains.end(), [](const Chain &x, const Chain &y) {
    return std::tie(x.a, x.b, x.d) < std::tie(y.a, y.b, y.d);
  });
  std::vector<PanelTile> tiles;
  std::vector<uint16_t> numbers;
  size_t products = 0;
  for (size_t first = 0, last; first < chains.size(); first = last) {
    const std::vector<uint16_t> &rows = chains[first].a;
    for (last = first; last < chains.size() && chains[last].a == rows;)
      ++last;
    PanelTile tile = {uint16_t(last - first), uint16_t(rows.size()), uint32_t(numbers.size()), 0,
                      0};
    numbers.insert(numbers.end(), rows.begin(), rows.end());
    tile.accumulators = uint32_t(numbers.size());
    for (size_t i = first; i < last; ++i)
      numbers.push_back(chains[i].d);
    tile.columns = uint32_t(numbers.size());
    for (size_t step = 0; step < rows.size(); ++step)
      for (size_t i = first; i < last; ++i)
        numbers.push_back(chains[i].b[step]);
    tiles.push_back(tile);
    products += rows.size() * (last - first);
  }
  WarpGroup head;
  head.operation = w;
  for (const GroupMember &m : members) {
    head.rows = std::max<uint16_t>(head.rows, uint16_t(m.a + 1));
    head.columns = std::max<uint16_t>(head.columns, uint16_t(m.b + 1));
  }
  head.tiles = uint16_t(tiles.size());
  head.products = uint16_t(std::min<size_t>(products, UINT16_MAX));
  std::vector<std::byte> plan;
  append(plan, std::vector<WarpGroup>{head});
  append(plan, tiles);
  append(plan, numbers);
  return plan;
}

void multiplyGroup(const WarpGroup &group, const uint32_t *in, float *const *accumulators) {
  const WarpOperation &w = group.operation;
  const unsigned blocks = blocksOf(w);
  const ByteProducts ofBytes = byteProductsOf(w, group.products);
  PanelTiles t;
  t.areRowsRegisters = areRegistersRows(w, ofBytes);
  t.flippedRows = t.areRowsRegisters && isSigned(w.operation.a) ? 0x80808080u : 0;
  const bool isAInPlace = t.areRowsRegisters && !isNibbles(w) && !w.operation.isSparse;
  t.rowPitch = isAInPlace ? w.registersA * size_t{kWarpLanes} : rowPitchOf(w);
  const bool isBInPlace =
      t.areRowsRegisters && !isNibbles(w) && w.registersB == blocks * blockRegistersB(w);
  const unsigned k = depthOf(w), columnsInAll = group.columns * blocks;
  t.columnPitch = isBInPlace ? size_t{2} * k : columnPitchOf(w);
  const size_t sizeOfRows = isAInPlace ? 0 : group.rows * t.rowPitch;
  thread_local FloatBuffer scratch;
  float *own = scratch.get(sizeOfRows + columnsInAll * (isBInPlace ? 8 : t.columnPitch));
  float *columns = own + sizeOfRows;
  t.rows = isAInPlace ? reinterpret_cast<const float *>(in) : own;
  const bool areFloats = !isWords(w);
  const size_t sizeOfA = groupRegistersA(w) * size_t{kWarpLanes};
  if (areFloats)
    prepareFloatsA(w, group.rows, in, own, t.rowPitch);
  for (unsigned i = 0; i < group.rows && !areFloats && !isAInPlace; ++i)
    prepareA(w, ofBytes, in + i * sizeOfA, own + i * t.rowPitch);
  in += group.rows * sizeOfA;
  t.columns = columns;
  if (isBInPlace) {
    auto *sums = reinterpret_cast<int32_t *>(columns);
    sumIntegerColumns(ofBytes, in, columnsInAll, sums);
    t.columnSums = sums;
    t.columns = reinterpret_cast<const float *>(in);
  } else if (areFloats) {
    prepareFloatsB(w, group.columns, blocks, in, columns, t.columnPitch);
  } else {
    // One fragment after the other: those of wmma have registers behind their blocks'.
    for (unsigned i = 0; i < group.columns; ++i, in += w.registersB * kWarpLanes)
      prepareB(w, ofBytes, blocks, in, columns + i * blocks * t.columnPitch, t.columnPitch);
  }
  t.tiles = reinterpret_cast<const PanelTile *>(&group + 1);
  t.count = group.tiles;
  t.numbers = reinterpret_cast<const uint16_t *>(t.tiles + t.count);
  t.homes = accumulators;
  t.blocks = blocks;
  t.hasHalves = w.operation.d == Element::f16;
  if (isBits(w))
    return multiplyBitTiles(k, w.bitOperation, t);
  if (isWords(w))
    return multiplyIntegerTiles(ofBytes, t);
  multiplyTiles(w.sum, w.operation.k, t);
}

bool isGroupable(const WarpOperation &w) {
  const Operation &o = w.operation;
  const auto isPanelInteger = [](Element e) { return e >= Element::s8 && e <= Element::u4; };
  if (o.isSparse)
    return o.m == 16 && o.k <= kMostDepthOfSparse && isPanelInteger(o.a) && isPanelInteger(o.b);
  if (columnBlocks(w) == 0 || o.a == Element::f64)
    return false;
  if (isInteger(o.a))
    return isBits(w) || (isPanelInteger(o.a) && isPanelInteger(o.b));
  if (o.isSaturating || o.c != o.d)
    return false;
  return o.d == Element::f32
             ? isPanel(w.sum)
             : o.d == Element::f16 && w.sum.method == Sum::Method::chain && w.sum.hasExactProducts;
}

void multiplyAlone(const WarpOperation &w, const void *in, void *out) {
  constexpr unsigned kMostBlocks = 4;
  struct {
    WarpGroup head;
    PanelTile tile;
    uint16_t numbers[1 + kMostBlocks]; ///< of rows; of accumulators, and of columns
  } plan;
  const unsigned blocks = columnBlocks(w);
  plan.head.operation = w;
  plan.head.rows = plan.head.columns = plan.head.tiles = 1;
  plan.head.products = uint16_t(blocks);
  plan.tile = {uint16_t(blocks), 1, 0, 1, 1};
  plan.numbers[0] = 0;
  for (unsigned n = 0; n < blocks; ++n)
    plan.numbers[1 + n] = uint16_t(n);
  const auto *words = static_cast<const uint32_t *>(in);
  auto *d = static_cast<float *>(out);
  std::memcpy(d, words + (w.registersA + w.registersB) * kWarpLanes,
              w.registersD * kWarpLanes * sizeof(uint32_t));
  multiplyGroup(plan.head, words, &d);
}

} // namespace ptxrun::matrix
