// Panels: all rows of a fragment against blocks of eight columns, through all steps of a tile. Part
// of tile.cpp, inside its namespace, once for each CPU level: no guard. Prepared rows are [k / 4][8
// rows][4] for each half, prepared columns [k][even 4, odd 4]; accumulators are registers of C.

using Lanes = Floats;
using LaneWords = FloatWords;
constexpr size_t kLaneVectors = 32 / hn::MaxLanes(Lanes());

/// Rows in registers at once: where vectors are 16 lanes all of them, else 8.
constexpr size_t kPanelVectors = hn::MaxLanes(Lanes()) == 16 ? 2 * kLaneVectors : kLaneVectors;

/// Where kCount vectors of rows from `first` on have their numbers.
template <size_t kCount> struct PanelRows {
  const float *at[kCount];
  HWY_INLINE PanelRows(const float *rows, size_t first, size_t toHalf) {
    for (size_t i = 0; i < kCount; ++i)
      at[i] = rows + (first + i) / kLaneVectors * toHalf +
              (first + i) % kLaneVectors * hn::MaxLanes(Lanes());
  }
};

/// Products of k = at / 8 + kInBlock. Spread rows have each number four times: [k][8 rows][4
/// times].
template <int kInBlock, bool isSpread, size_t kBlocks, size_t kCount>
HWY_INLINE void panelStep(const PanelRows<kCount> &rows, const float *const *columns, size_t at,
                          hn::Vec<Lanes> (&acc)[kBlocks][2][kCount]) {
  const Lanes d;
  hn::Vec<Lanes> a[kCount];
  for (size_t i = 0; i < kCount; ++i) {
    a[i] = hn::LoadU(d, rows.at[i] + (isSpread ? 4 * at + kInBlock * 32 : at));
    if (!isSpread)
      a[i] = hn::Broadcast<kInBlock>(a[i]);
  }
  for (size_t n = 0; n < kBlocks; ++n)
    for (size_t parity = 0; parity < 2; ++parity) {
      const auto column = hn::LoadDup128(d, columns[n] + at + kInBlock * 8 + parity * 4);
      for (size_t i = 0; i < kCount; ++i)
        acc[n][parity][i] = hn::MulAdd(a[i], column, acc[n][parity][i]);
    }
}

/// Where vector `v` of the rows from `half` on is among a block's accumulators.
HWY_INLINE size_t panelPlace(size_t half, size_t parity, size_t v) {
  return (2 * (half + v / kLaneVectors) + parity) * 32 + v % kLaneVectors * hn::MaxLanes(Lanes());
}

/// The accumulators of a block, kCount vectors of rows from `first` on. Halves: even columns in the
/// low bits of a word, odd ones in its high bits.
template <size_t kCount>
HWY_INLINE void loadPanel(bool hasHalves, const float *from, size_t first,
                          hn::Vec<Lanes> (&acc)[2][kCount]) {
  for (size_t i = 0; i < kCount; ++i) {
    if (!hasHalves) {
      acc[0][i] = hn::LoadU(Lanes(), from + panelPlace(0, 0, first + i));
      acc[1][i] = hn::LoadU(Lanes(), from + panelPlace(0, 1, first + i));
      continue;
    }
    const LaneWords d;
    const auto both =
        hn::LoadU(d, reinterpret_cast<const uint32_t *>(from) + (first + i) * hn::MaxLanes(d));
    acc[0][i] = numbersOfHalves(hn::And(both, hn::Set(d, 0xffff)));
    acc[1][i] = numbersOfHalves(hn::ShiftRight<16>(both));
  }
}

template <size_t kCount>
HWY_INLINE void storePanel(bool hasHalves, const hn::Vec<Lanes> (&acc)[2][kCount], size_t first,
                           float *to) {
  const Lanes d;
  for (size_t i = 0; i < kCount; ++i) {
    if (!hasHalves) {
      hn::StoreU(withOneNan(d, acc[0][i]), d, to + panelPlace(0, 0, first + i));
      hn::StoreU(withOneNan(d, acc[1][i]), d, to + panelPlace(0, 1, first + i));
      continue;
    }
    const auto even = halvesOfNumbers(acc[0][i]), odd = halvesOfNumbers(acc[1][i]);
    hn::StoreU(hn::Or(even, hn::ShiftLeft<16>(odd)), LaneWords(),
               reinterpret_cast<uint32_t *>(to) + (first + i) * hn::MaxLanes(d));
  }
}

/// Products of four k.
template <bool isSpread, size_t kBlocks, size_t kCount>
HWY_INLINE void panelSteps(const PanelRows<kCount> &rows, const float *const *columns, size_t at,
                           hn::Vec<Lanes> (&acc)[kBlocks][2][kCount]) {
  // Rows are loaded for each k: those of four would need registers that there are not.
  panelStep<0, isSpread>(rows, columns, at, acc);
  HWY_FENCE;
  panelStep<1, isSpread>(rows, columns, at, acc);
  HWY_FENCE;
  panelStep<2, isSpread>(rows, columns, at, acc);
  HWY_FENCE;
  panelStep<3, isSpread>(rows, columns, at, acc);
  HWY_FENCE;
}

/// Chains of kBlocks blocks of 8 columns from block `block` on through all steps, of kCount vectors
/// of rows from `first` on. `spread`: the tile's rows, step by step, where they are.
template <size_t kBlocks, size_t kCount, bool hasHalves, bool isSpread>
HWY_INLINE void panelTile(size_t k, const PanelTiles &t, const PanelTile &tile, size_t block,
                          size_t first, [[maybe_unused]] const float *spread) {
  hn::Vec<Lanes> acc[kBlocks][2][kCount];
  for (size_t n = 0; n < kBlocks; ++n)
    loadPanel(hasHalves, t.accumulatorsOf(tile, block + n), first, acc[n]);
  const size_t toHalf = k * (isSpread ? 32 : 8);
  for (size_t step = 0; step < tile.steps; ++step) {
    const float *all = isSpread ? spread + step * 2 * toHalf : t.rowsOf(tile, step);
    const PanelRows<kCount> rows(all, first, toHalf);
    const float *columns[kBlocks];
    for (size_t n = 0; n < kBlocks; ++n)
      columns[n] = t.columnsOf(tile, step, block + n);
    for (size_t at = 0; at < 8 * k; at += 32)
      panelSteps<isSpread>(rows, columns, at, acc);
    for (size_t n = 0; hasHalves && n < kBlocks; ++n)
      for (auto &parity : acc[n])
        for (auto &numbers : parity)
          numbers = nearestOfHalves(numbers);
  }
  for (size_t n = 0; n < kBlocks; ++n)
    storePanel(hasHalves, acc[n], first, t.accumulatorsOf(tile, block + n));
}

/// A block of columns with scales: the chain of each block of k from +0, scaled and added.
bool scaledChain(size_t k, size_t block, const float *rows, const float *columns,
                 const float *scaleRows, const float *scaleColumns, const float *c, float *out) {
  if (HWY_TARGET >= HWY_SSE4) // MulAdd rounds twice
    return false;
  const Lanes d;
  constexpr size_t kHalves = 2 * kLaneVectors / kPanelVectors;
  for (size_t half = 0; half < kHalves; ++half) {
    hn::Vec<Lanes> acc[2][kPanelVectors];
    const size_t firstVector = half * kLaneVectors;
    loadPanel(false, c, firstVector, acc);
    const PanelRows<kPanelVectors> ofRows(rows, firstVector, k * 8);
    for (size_t n = 0; n < k / block; ++n) {
      hn::Vec<Lanes> dots[1][2][kPanelVectors];
      for (auto &parity : dots[0])
        for (auto &dot : parity)
          dot = hn::Zero(d);
      for (size_t at = 8 * n * block; at < 8 * (n + 1) * block; at += 32)
        panelSteps<false>(ofRows, &columns, at, dots);
      const auto even = hn::LoadDup128(d, scaleColumns + n * 8),
                 odd = hn::LoadDup128(d, scaleColumns + n * 8 + 4);
      for (size_t v = 0; v < kPanelVectors; ++v) {
        const auto scale = hn::LoadU(d, scaleRows + n * 64 + (half + v / kLaneVectors) * 32 +
                                            v % kLaneVectors * hn::MaxLanes(d));
        acc[0][v] = hn::MulAdd(hn::Mul(dots[0][0][v], scale), even, acc[0][v]);
        acc[1][v] = hn::MulAdd(hn::Mul(dots[0][1][v], scale), odd, acc[1][v]);
      }
    }
    storePanel(false, acc, firstVector, out);
  }
  return true;
}

/// The fma of each product where MulAdd is none.
HWY_INLINE void preparedOneByOne(size_t k, const float *rows, const float *columns, const float *c,
                                 float *out) {
  for (size_t i = 0; i < 128; ++i) {
    const size_t half = i / 64, parity = i / 32 % 2, lane = i % 32;
    float x = c[i];
    for (size_t n = 0; n < k; ++n)
      x = std::fma(rows[(half * (k / 4) + n / 4) * 32 + lane / 4 * 4 + n % 4],
                   columns[n * 8 + parity * 4 + lane % 4], x);
    out[i] = x == x ? x : std::bit_cast<float>(kNaNBits);
  }
}

/// What the fused panel needs beside the numbers: their exponents as exponentsOf() has them, and
/// whether they fit.
void exponents(size_t count, int least, float *prepared) {
  auto *out = reinterpret_cast<int32_t *>(prepared + count);
  out[count] = exponentsOf(prepared, 1, count, least, out);
}

using LaneExponents = ExponentsOf<Lanes>;

/// The largest exponents of a product of k = 4q + kInBlock. `rows`: exponents of k = 4q and on, of
/// the halves of the rows; `columns`: of 4q.
template <int kInBlock>
HWY_INLINE void topStep(const int32_t *const *rows, const int32_t *columns,
                        hn::Vec<LaneExponents> (&top)[2][kPanelVectors]) {
  const Lanes d;
  const LaneExponents di;
  const auto even = hn::LoadDup128(di, columns + kInBlock * 8),
             odd = hn::LoadDup128(di, columns + kInBlock * 8 + 4);
  for (size_t v = 0; v < kPanelVectors; ++v) {
    const int32_t *at = rows[v / kLaneVectors] + v % kLaneVectors * hn::MaxLanes(d);
    const auto a = hn::BitCast(di, hn::Broadcast<kInBlock>(hn::BitCast(d, hn::LoadU(di, at))));
    top[0][v] = hn::Max(top[0][v], hn::Add(a, even));
    top[1][v] = hn::Max(top[1][v], hn::Add(a, odd));
  }
}

/// Adds the aligned products of k = 4q + kInBlock.
template <int kInBlock>
HWY_INLINE void alignedStep(const float *const *rows, const float *columns,
                            const hn::Vec<Lanes> (&scale)[2][kPanelVectors],
                            hn::Vec<LaneExponents> (&sums)[2][kPanelVectors]) {
  const Lanes d;
  const auto even = hn::LoadDup128(d, columns + kInBlock * 8),
             odd = hn::LoadDup128(d, columns + kInBlock * 8 + 4);
  for (size_t v = 0; v < kPanelVectors; ++v) {
    const auto a = hn::Broadcast<kInBlock>(
        hn::LoadU(d, rows[v / kLaneVectors] + v % kLaneVectors * hn::MaxLanes(d)));
    sums[0][v] = hn::Add(sums[0][v], truncated(hn::Mul(hn::Mul(a, even), scale[0][v])));
    sums[1][v] = hn::Add(sums[1][v], truncated(hn::Mul(hn::Mul(a, odd), scale[1][v])));
  }
}

HWY_INLINE void addAligned(size_t k, size_t first, size_t last, const float *rows, size_t half,
                           const float *columns, const hn::Vec<Lanes> (&scale)[2][kPanelVectors],
                           hn::Vec<LaneExponents> (&sums)[2][kPanelVectors]) {
  for (size_t n = first; n < last; n += 4) {
    const float *at[2] = {rows + half * (k / 4) * 32 + n * 8, rows + (k / 4) * 32 + n * 8};
    alignedStep<0>(at, columns + n * 8, scale, sums);
    alignedStep<1>(at, columns + n * 8, scale, sums);
    alignedStep<2>(at, columns + n * 8, scale, sums);
    alignedStep<3>(at, columns + n * 8, scale, sums);
  }
}

/// One step of a block of 8 columns for the rows of kPanelVectors vectors from `half` on; false,
/// and `acc` is as it was, where the scalar code is needed.
template <Rounding rounding>
HWY_INLINE bool fusedStep(const Sum &sum, size_t k, size_t first, size_t last, const float *rows,
                          const float *columns, size_t half, const int32_t *rowExponents,
                          const int32_t *columnExponents, hn::Vec<Lanes> (&acc)[2][kPanelVectors]) {
  const Lanes d;
  const LaneExponents di;
  hn::Vec<LaneExponents> top[2][kPanelVectors];
  for (size_t parity = 0; parity < 2; ++parity)
    for (size_t v = 0; v < kPanelVectors; ++v)
      top[parity][v] = topOf(d, acc[parity][v], sum);
  for (size_t n = first; n < last; n += 4) {
    const int32_t *at[2] = {rowExponents + half * (k / 4) * 32 + n * 8,
                            rowExponents + (k / 4) * 32 + n * 8};
    topStep<0>(at, columnExponents + n * 8, top);
    topStep<1>(at, columnExponents + n * 8, top);
    topStep<2>(at, columnExponents + n * 8, top);
    topStep<3>(at, columnExponents + n * 8, top);
  }
  hn::Vec<Lanes> scale[2][kPanelVectors];
  hn::Vec<LaneExponents> sums[2][2][kPanelVectors]; // of 16 products, which an i32 has room for
  for (size_t parity = 0; parity < 2; ++parity)
    for (size_t v = 0; v < kPanelVectors; ++v) {
      scale[parity][v] = scaleOf(d, top[parity][v], sum.fraction);
      sums[0][parity][v] = sums[1][parity][v] = hn::Zero(di);
    }
  const size_t middle = HWY_MIN(last, first + 16);
  addAligned(k, first, middle, rows, half, columns, scale, sums[0]);
  if (middle < last)
    addAligned(k, middle, last, rows, half, columns, scale, sums[1]);
  bool isRare = false;
  for (size_t parity = 0; parity < 2; ++parity)
    for (size_t v = 0; v < kPanelVectors; ++v) {
      const hn::Vec<LaneExponents> both[2] = {sums[0][parity][v], sums[1][parity][v]};
      acc[parity][v] =
          finishStep<rounding>(d, both, acc[parity][v], top[parity][v], sum.fraction, isRare);
    }
  return !isRare;
}

template <Rounding rounding>
HWY_INLINE bool fusedPanelBlock(const Sum &sum, size_t k, const float *rows,
                                const int32_t *rowExponents, const float *columns,
                                const int32_t *columnExponents, size_t half, const float *c,
                                float *out) {
  const Lanes d;
  const auto place = [&](size_t parity, size_t v) {
    return (2 * (half + v / kLaneVectors) + parity) * 32 + v % kLaneVectors * hn::MaxLanes(d);
  };
  hn::Vec<Lanes> acc[2][kPanelVectors];
  auto isFinite = hn::MaskFromVec(hn::BitCast(d, hn::Set(LaneExponents(), -1)));
  for (size_t parity = 0; parity < 2; ++parity)
    for (size_t v = 0; v < kPanelVectors; ++v) {
      acc[parity][v] = hn::LoadU(d, c + place(parity, v));
      isFinite = hn::And(isFinite, hn::IsFinite(acc[parity][v]));
    }
  for (size_t first = 0; first < k; first += sum.length) {
    if (!hn::AllTrue(d, isFinite) ||
        !fusedStep<rounding>(sum, k, first, HWY_MIN(k, first + sum.length), rows, columns, half,
                             rowExponents, columnExponents, acc))
      return false;
    for (size_t parity = 0; parity < 2 && first + sum.length < k; ++parity)
      for (size_t v = 0; v < kPanelVectors; ++v)
        isFinite = hn::And(isFinite, hn::IsFinite(acc[parity][v]));
  }
  for (size_t parity = 0; parity < 2; ++parity)
    for (size_t v = 0; v < kPanelVectors; ++v)
      hn::StoreU(acc[parity][v], d, out + place(parity, v));
  return true;
}

template <Rounding rounding>
void fusedPanel(const Sum &sum, size_t k, const float *rows, const float *columns, float *out) {
  constexpr size_t kHalves = 2 * kLaneVectors / kPanelVectors;
  const auto *rowExponents = reinterpret_cast<const int32_t *>(rows + 16 * k),
             *columnExponents = reinterpret_cast<const int32_t *>(columns + 8 * k);
  const bool isFit = rowExponents[16 * k] && columnExponents[8 * k];
  for (size_t half = 0; half < kHalves; ++half)
    if (!isFit || !fusedPanelBlock<rounding>(sum, k, rows, rowExponents, columns, columnExponents,
                                             half, out, out))
      fusePanelOneByOne(sum, k, rows, columns, half, kPanelVectors / kLaneVectors, out, out);
}

/// A block of columns, step by step.
void panelOneByOne(const Sum &sum, size_t k, const PanelTiles &t, const PanelTile &tile,
                   size_t block) {
  float *out = t.accumulatorsOf(tile, block);
  for (size_t step = 0; step < tile.steps; ++step) {
    const float *rows = t.rowsOf(tile, step), *columns = t.columnsOf(tile, step, block);
    if (sum.method != Sum::Method::fused)
      preparedOneByOne(k, rows, columns, out, out);
    else if (sum.rounding == Rounding::zeroSingle)
      fusedPanel<Rounding::zeroSingle>(sum, k, rows, columns, out);
    else
      fusedPanel<Rounding::zeroShort>(sum, k, rows, columns, out);
  }
}

/// Eight columns of row `row` (0 to 15) of a block's accumulators, even ones and then odd ones.
template <bool hasHalves, class D, size_t kVectors>
HWY_INLINE void loadEightOf(D d, const float *block, size_t row, hn::Vec<D> (&to)[kVectors]) {
  const auto *halves = reinterpret_cast<const uint8_t *>(block) + row * 16;
  if constexpr (!hasHalves) {
    loadEight(d, block + row / 8 * 64 + row % 8 * 4, to);
  } else if constexpr (kVectors == 1) {
    HWY_ALIGN static constexpr uint8_t kEvenAndOdd[16] = {0, 1, 4, 5, 8,  9,  12, 13,
                                                          2, 3, 6, 7, 10, 11, 14, 15};
    const hn::Repartition<uint8_t, hn::Rebind<uint16_t, D>> bytes;
    const auto parted =
        hn::TableLookupBytes(hn::LoadU(bytes, halves), hn::Load(bytes, kEvenAndOdd));
    to[0] = hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, D>(), parted));
  } else {
    const hn::RebindToUnsigned<D> words;
    const auto both = hn::LoadU(words, reinterpret_cast<const uint32_t *>(halves));
    to[0] = numbersOfHalves(hn::And(both, hn::Set(words, 0xffff)));
    to[1] = numbersOfHalves(hn::ShiftRight<16>(both));
  }
}

template <bool hasHalves, class D, size_t kVectors>
HWY_INLINE void storeEightOf(D d, const hn::Vec<D> (&from)[kVectors], size_t row, float *block) {
  auto *halves = reinterpret_cast<uint16_t *>(block) + row * 8;
  if constexpr (!hasHalves) {
    storeEight(d, from, block + row / 8 * 64 + row % 8 * 4);
  } else if constexpr (kVectors == 1) {
    const hn::Rebind<uint16_t, D> eight;
    const hn::Rebind<hwy::float16_t, D> half;
    const auto bits = hn::BitCast(eight, hn::DemoteTo(half, withOneNan(d, from[0])));
    hn::StoreU(hn::InterleaveLower(eight, bits, hn::ShiftRightBytes<8>(eight, bits)), eight,
               halves);
  } else {
    const hn::RebindToUnsigned<D> words;
    hn::StoreU(hn::Or(halvesOfNumbers(from[0]), hn::ShiftLeft<16>(halvesOfNumbers(from[1]))), words,
               reinterpret_cast<uint32_t *>(halves));
  }
}

/// Products of k = at / 8 + kInBlock, of rows from kFirst on; `halves`: where rows 0 and 8 have
/// their numbers. These are broadcast as they are loaded, which no shuffle is for.
template <int kInBlock, size_t kFirst, class D, size_t kBlocks, size_t kRows, size_t kVectors>
HWY_INLINE void rowsStep(D d, const float *const *halves, const float *const *columns, size_t at,
                         hn::Vec<D> (&acc)[kBlocks][kRows][kVectors]) {
  hn::Vec<D> column[kBlocks][kVectors];
  for (size_t n = 0; n < kBlocks; ++n)
    for (size_t v = 0; v < kVectors; ++v)
      column[n][v] = hn::LoadU(d, columns[n] + at + kInBlock * 8 + v * hn::MaxLanes(d));
  for (size_t i = 0; i < kRows; ++i) {
    const size_t row = kFirst + i;
    const auto factor = hn::Set(d, halves[row / 8][at + row % 8 * 4 + kInBlock]);
    for (size_t n = 0; n < kBlocks; ++n)
      for (size_t v = 0; v < kVectors; ++v)
        acc[n][i][v] = hn::MulAdd(factor, column[n][v], acc[n][i][v]);
  }
}

/// Chains of kBlocks blocks of 8 columns from block `block` on through all steps, of rows kFirst to
/// kEnd - 1.
template <size_t kBlocks, size_t kFirst, size_t kEnd, bool hasHalves, class D>
HWY_INLINE void rowsTile(D d, size_t k, const PanelTiles &t, const PanelTile &tile, size_t block) {
  constexpr size_t kVectors = 8 / hn::MaxLanes(D()), kRows = kEnd - kFirst;
  hn::Vec<D> acc[kBlocks][kRows][kVectors];
  float *homes[kBlocks];
  for (size_t n = 0; n < kBlocks; ++n) {
    homes[n] = t.accumulatorsOf(tile, block + n);
    for (size_t i = 0; i < kRows; ++i)
      loadEightOf<hasHalves>(d, homes[n], kFirst + i, acc[n][i]);
  }
  for (size_t step = 0; step < tile.steps; ++step) {
    const float *rows = t.rowsOf(tile, step), *halves[2] = {rows, rows + 8 * k};
    const float *columns[kBlocks];
    for (size_t n = 0; n < kBlocks; ++n)
      columns[n] = t.columnsOf(tile, step, block + n);
    for (size_t at = 0; at < 8 * k; at += 32) { // four k
      rowsStep<0, kFirst>(d, halves, columns, at, acc);
      HWY_FENCE; // registers are short: nothing of the next k is loaded before
      rowsStep<1, kFirst>(d, halves, columns, at, acc);
      HWY_FENCE;
      rowsStep<2, kFirst>(d, halves, columns, at, acc);
      HWY_FENCE;
      rowsStep<3, kFirst>(d, halves, columns, at, acc);
      HWY_FENCE;
    }
    if constexpr (hasHalves)
      for (auto &ofBlock : acc)
        for (auto &ofRow : ofBlock)
          for (auto &numbers : ofRow)
            numbers = nearestOfHalves(numbers);
  }
  for (size_t n = 0; n < kBlocks; ++n)
    for (size_t i = 0; i < kRows; ++i)
      storeEightOf<hasHalves>(d, acc[n][i], kFirst + i, homes[n]);
}

/// Where there are 32 registers, sixteen accumulators at once.
template <bool hasHalves, bool isSpread>
HWY_INLINE void chainTile(size_t k, const PanelTiles &t, const PanelTile &tile,
                          const float *spread) {
  constexpr size_t kRows = 4; // vectors of them
  for (size_t block = 0; block < tile.blocks; block += 2)
    for (size_t first = 0; first < 2 * kLaneVectors; first += kRows)
      if (block + 1 < tile.blocks)
        panelTile<2, kRows, hasHalves, isSpread>(k, t, tile, block, first, spread);
      else
        panelTile<1, kRows, hasHalves, isSpread>(k, t, tile, block, first, spread);
}

/// Where there are 16, twelve at most: two vectors of columns and a number of a row are at work
/// too, and one register is left to move things through.
template <bool hasHalves, class D>
HWY_INLINE void chainTileByRows(D d, size_t k, const PanelTiles &t, const PanelTile &tile) {
  constexpr size_t kBlocks = hn::MaxLanes(D()) / 4;
  size_t block = 0;
  for (; block + kBlocks <= tile.blocks; block += kBlocks) {
    rowsTile<kBlocks, 0, 6, hasHalves>(d, k, t, tile, block);
    rowsTile<kBlocks, 6, 12, hasHalves>(d, k, t, tile, block);
    rowsTile<kBlocks, 12, 16, hasHalves>(d, k, t, tile, block);
  }
  if (kBlocks == 2 && block < tile.blocks) {
    rowsTile<1, 0, 8, hasHalves>(d, k, t, tile, block);
    rowsTile<1, 8, 16, hasHalves>(d, k, t, tile, block);
  }
}

/// Rows of k as they are spread.
HWY_INLINE void spreadRows(size_t k, const float *rows, float *out) {
  const Lanes d;
  for (size_t i = 0; i < k / 2; ++i, rows += 32, out += 128) // 8 rows of four k
    for (size_t v = 0; v < 32; v += hn::MaxLanes(d)) {
      const auto four = hn::LoadU(d, rows + v);
      hn::StoreU(hn::Broadcast<0>(four), d, out + v);
      hn::StoreU(hn::Broadcast<1>(four), d, out + 32 + v);
      hn::StoreU(hn::Broadcast<2>(four), d, out + 64 + v);
      hn::StoreU(hn::Broadcast<3>(four), d, out + 96 + v);
    }
}

/// `spread`: room for kMostSpread k, where rows are.
template <bool hasHalves, class D>
HWY_INLINE void chainTiles(D d, size_t k, const PanelTiles &t, [[maybe_unused]] float *spread) {
  constexpr unsigned kLeastToSpread = 6; // blocks
  for (const PanelTile *tile = t.tiles, *end = tile + t.count; tile != end; ++tile) {
    if constexpr (hn::MaxLanes(D()) < 16) {
      chainTileByRows<hasHalves>(d, k, t, *tile);
    } else if (!t.isSpreading || tile->steps * k > kMostSpread || tile->blocks < kLeastToSpread) {
      chainTile<hasHalves, false>(k, t, *tile, nullptr);
    } else {
      for (size_t step = 0; step < tile->steps; ++step)
        spreadRows(k, t.rowsOf(*tile, step), spread + step * 64 * k);
      chainTile<hasHalves, true>(k, t, *tile, spread);
    }
  }
}

void panelTiles(const Sum &sum, size_t k, const PanelTiles &t, float *spread) {
  if (sum.method == Sum::Method::chain && isChainExact(sum))
    return t.hasHalves ? chainTiles<true>(Lanes(), k, t, spread)
                       : chainTiles<false>(Lanes(), k, t, spread);
  for (const PanelTile *tile = t.tiles, *end = tile + t.count; tile != end; ++tile)
    for (size_t n = 0; n < tile->blocks; ++n)
      panelOneByOne(sum, k, t, *tile, n);
}
