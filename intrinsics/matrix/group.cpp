#include "intrinsics/matrix/group.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

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
bool areRegistersRows(const WarpOperation &w) {
  return isWords(w) && !isBits(w) && takesRegisters(!isSigned(w.operation.b));
}

void prepareA(const WarpOperation &w, const uint32_t *registers, float *out) {
  const Operation &o = w.operation;
  if (o.isSparse) {
    const bool areRows = areRegistersRows(w);
    alignas(64) uint32_t dense[4 * kMostDepthOfSparse];
    uint32_t *spread = areRows ? reinterpret_cast<uint32_t *>(out) : dense;
    spreadSparseIntegers(w, registers, registers + w.registersA * kWarpLanes, spread);
    if (!areRows)
      prepareIntegerRows(isSigned(o.a), !isSigned(o.b), o.k, spread,
                         reinterpret_cast<int32_t *>(out));
    return;
  }
  if (areRegistersRows(w))
    return unpackNibbles(isSigned(o.a), true, w.registersA, registers,
                         reinterpret_cast<uint32_t *>(out));
  alignas(64) uint32_t bytes[8 * kWarpLanes];
  if (isNibbles(w)) {
    unpackNibbles(isSigned(o.a), true, w.registersA, registers, bytes);
    registers = bytes;
  }
  if (isWords(w))
    return prepareIntegerRows(isSigned(o.a), !isBits(w) && !isSigned(o.b), depthOf(w), registers,
                              reinterpret_cast<int32_t *>(out));
  prepareRows(o.a, o.k, registers, out);
  prepareExponents(w.sum, Role::a, 16u * o.k, out);
}

/// Blocks of columns, which lie one behind the other; prepared ones `pitch` apart.
void prepareB(const WarpOperation &w, unsigned blocks, const uint32_t *registers, float *out,
              size_t pitch) {
  const Operation &o = w.operation;
  const unsigned ofBlock = blockRegistersB(w);
  const auto integers = [&](const uint32_t *words, float *to, unsigned count) {
    prepareIntegerColumns(isSigned(o.b), isSigned(o.a), o.k, words, reinterpret_cast<int32_t *>(to),
                          count, pitch);
  };
  if (isWords(w) && !isNibbles(w) && !isBits(w))
    return integers(registers, out, blocks);
  for (unsigned i = 0; i < blocks; ++i, registers += ofBlock * kWarpLanes, out += pitch) {
    if (isBits(w)) {
      prepareBitColumns(depthOf(w), registers, reinterpret_cast<int32_t *>(out));
      continue;
    }
    if (isNibbles(w)) {
      alignas(64) uint32_t bytes[8 * kWarpLanes];
      unpackNibbles(isSigned(o.b), false, ofBlock, registers, bytes);
      integers(bytes, out, 1);
      continue;
    }
    prepareColumns(o.b, o.k, registers, out);
    prepareExponents(w.sum, Role::b, 8u * o.k, out);
  }
}

/// At least so many floats, for one call.
float *scratch(size_t floats) {
  constexpr size_t kAlignment = 64;
  struct Free {
    void operator()(float *p) const { std::free(p); }
  };
  thread_local std::unique_ptr<float, Free> memory;
  thread_local size_t size = 0;
  if (size < floats) {
    size = floats;
    memory.reset(
        static_cast<float *>(std::aligned_alloc(kAlignment, inVectors(size) * sizeof(float))));
  }
  return memory.get();
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

/// Pairs of chains that meet the same rows, and those that are left.
std::vector<std::vector<const Chain *>> pairUp(const std::vector<Chain> &chains) {
  std::vector<std::vector<const Chain *>> tiles;
  std::map<std::vector<uint16_t>, size_t> open;
  for (const Chain &chain : chains) {
    const auto [known, isNew] = open.try_emplace(chain.a, tiles.size());
    if (isNew) {
      tiles.push_back({&chain});
      continue;
    }
    tiles[known->second].push_back(&chain);
    open.erase(known);
  }
  std::sort(tiles.begin(), tiles.end(), [](const auto &x, const auto &y) {
    return x[0]->b != y[0]->b ? x[0]->b < y[0]->b : x[0]->d < y[0]->d;
  });
  return tiles;
}

template <class T> void append(std::vector<std::byte> &bytes, const std::vector<T> &values) {
  const auto *from = reinterpret_cast<const std::byte *>(values.data());
  bytes.insert(bytes.end(), from, from + values.size() * sizeof(T));
}

} // namespace

std::vector<std::byte> planGroup(const WarpOperation &w, std::span<const GroupMember> members) {
  std::vector<PanelTile> tiles;
  std::vector<PanelStep> steps;
  const std::vector<Chain> chains = chainsOf(blocksOf(w), members);
  for (const std::vector<const Chain *> &pair : pairUp(chains)) {
    const Chain &first = *pair.front(), &last = *pair.back();
    tiles.push_back({uint16_t(pair.size()),
                     {first.d, last.d},
                     uint16_t(steps.size()),
                     uint16_t(first.a.size())});
    for (size_t i = 0; i < first.a.size(); ++i)
      steps.push_back({first.a[i], {first.b[i], last.b[i]}});
  }
  WarpGroup head;
  head.operation = w;
  for (const GroupMember &m : members) {
    head.rows = std::max<uint16_t>(head.rows, uint16_t(m.a + 1));
    head.columns = std::max<uint16_t>(head.columns, uint16_t(m.b + 1));
  }
  head.tiles = uint16_t(tiles.size());
  head.steps = uint16_t(steps.size());
  std::vector<std::byte> plan;
  append(plan, std::vector<WarpGroup>{head});
  append(plan, tiles);
  append(plan, steps);
  return plan;
}

void multiplyGroup(const WarpGroup &group, const uint32_t *in, float *const *accumulators) {
  const WarpOperation &w = group.operation;
  const unsigned blocks = blocksOf(w);
  PanelTiles t;
  t.areRowsRegisters = areRegistersRows(w);
  t.flippedRows = t.areRowsRegisters && isSigned(w.operation.a) ? 0x80808080u : 0;
  const bool isAInPlace = t.areRowsRegisters && !isNibbles(w) && !w.operation.isSparse;
  t.rowPitch = isAInPlace ? w.registersA * size_t{kWarpLanes} : rowPitchOf(w);
  const bool isBInPlace =
      t.areRowsRegisters && !isNibbles(w) && w.registersB == blocks * blockRegistersB(w);
  const unsigned k = depthOf(w), columnsInAll = group.columns * blocks;
  t.columnPitch = isBInPlace ? size_t{2} * k : columnPitchOf(w);
  const size_t sizeOfRows = isAInPlace ? 0 : group.rows * t.rowPitch;
  float *own = scratch(sizeOfRows + columnsInAll * (isBInPlace ? 8 : t.columnPitch));
  float *columns = own + sizeOfRows;
  t.rows = isAInPlace ? reinterpret_cast<const float *>(in) : own;
  for (unsigned i = 0; i < group.rows; ++i, in += groupRegistersA(w) * kWarpLanes)
    if (!isAInPlace)
      prepareA(w, in, own + i * t.rowPitch);
  t.columns = columns;
  if (isBInPlace) {
    auto *sums = reinterpret_cast<int32_t *>(columns);
    sumIntegerColumns(isSigned(w.operation.a), k, in, columnsInAll, sums);
    t.columnSums = sums;
    t.columns = reinterpret_cast<const float *>(in);
  } else {
    // One fragment after the other: those of wmma have registers behind their blocks'.
    for (unsigned i = 0; i < group.columns; ++i, in += w.registersB * kWarpLanes)
      prepareB(w, blocks, in, columns + i * blocks * t.columnPitch, t.columnPitch);
  }
  t.tiles = reinterpret_cast<const PanelTile *>(&group + 1);
  t.count = group.tiles;
  t.steps = reinterpret_cast<const PanelStep *>(t.tiles + t.count);
  t.homes = accumulators;
  t.blocks = blocks;
  t.hasHalves = w.operation.d == Element::f16;
  if (isBits(w))
    return multiplyBitTiles(k, w.bitOperation, t);
  if (isWords(w))
    return multiplyIntegerTiles(w.operation.k, !isSigned(w.operation.b), w.operation.isSaturating,
                                t);
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
    PanelTile tiles[kMostBlocks];
    PanelStep steps[kMostBlocks];
  } plan;
  const unsigned blocks = columnBlocks(w);
  plan.head.operation = w;
  plan.head.rows = plan.head.columns = 1;
  plan.head.tiles = plan.head.steps = uint16_t(blocks);
  // The steps follow the tiles that there are.
  auto *steps = reinterpret_cast<PanelStep *>(plan.tiles + blocks);
  for (unsigned n = 0; n < blocks; ++n)
    plan.tiles[n] = {1, {uint16_t(n), uint16_t(n)}, uint16_t(n), 1};
  for (unsigned n = 0; n < blocks; ++n)
    steps[n] = {0, {uint16_t(n), uint16_t(n)}};
  const auto *words = static_cast<const uint32_t *>(in);
  auto *d = static_cast<float *>(out);
  std::memcpy(d, words + (w.registersA + w.registersB) * kWarpLanes,
              w.registersD * kWarpLanes * sizeof(uint32_t));
  multiplyGroup(plan.head, words, &d);
}

} // namespace ptxrun::matrix
