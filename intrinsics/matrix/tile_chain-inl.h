// Chains of fma. Part of tile.cpp, inside its namespace, once for each CPU level: no guard.

/// Every NaN is kNaNBits.
template <class D> HWY_INLINE hn::Vec<D> withOneNan(D d, hn::Vec<D> values) {
  const auto nan = hn::BitCast(d, hn::Set(hn::RebindToUnsigned<D>(), kNaNBits));
  return hn::IfThenElse(hn::IsNaN(values), nan, values);
}

/// Whether MulAdd rounds once: without fma, multiplication and addition round twice.
HWY_INLINE bool isChainExact(const Sum &sum) {
  return HWY_TARGET < HWY_SSE4 || sum.hasExactProducts;
}

/// kRows x (kVectors vectors) accumulators in registers through all k.
template <size_t kRows, size_t kVectors, class D>
HWY_INLINE void chainBlock(D d, const Tile &t, size_t row, size_t column) {
  using V = hn::Vec<D>;
  constexpr size_t kLanes = hn::MaxLanes(D());
  V acc[kRows][kVectors];
  for (size_t i = 0; i < kRows; ++i)
    for (size_t v = 0; v < kVectors; ++v)
      acc[i][v] = hn::LoadU(d, t.c + ptrdiff_t(row + i) * t.cRow + column + v * kLanes);
  // From one row to the next is an addition that waits for the one before: half of the rows each.
  constexpr size_t kHalf = (kRows + 1) / 2;
  const float *a[2] = {t.a + ptrdiff_t(row) * t.aRow, t.a + ptrdiff_t(row + kHalf) * t.aRow};
  const float *b = t.b + column;
  asm("" : "+r"(a[1])); // the compiler makes one of them again
  for (size_t k = 0; k < t.k; ++k, a[0] += t.aColumn, a[1] += t.aColumn, b += t.bRow) {
    V columns[kVectors];
    for (size_t v = 0; v < kVectors; ++v)
      columns[v] = hn::LoadU(d, b + v * kLanes);
    for (size_t i = 0; i < kRows; ++i) {
      const V factor = hn::Set(d, a[i / kHalf][ptrdiff_t(i % kHalf) * t.aRow]);
      for (size_t v = 0; v < kVectors; ++v)
        acc[i][v] = hn::MulAdd(factor, columns[v], acc[i][v]);
    }
  }
  for (size_t i = 0; i < kRows; ++i)
    for (size_t v = 0; v < kVectors; ++v)
      hn::StoreU(withOneNan(d, acc[i][v]), d,
                 t.d + ptrdiff_t(row + i) * t.dRow + column + v * kLanes);
}

/// All rows of kVectors vectors of columns.
template <size_t kRows, size_t kVectors, class D>
HWY_INLINE void chainColumns(D d, const Tile &t, size_t column) {
  // One row alone waits for itself: 128 are 20 times 6 and twice 4, not 21 times 6 and twice 1.
  const auto leavesFew = [&](size_t end) { return t.m - end < 4 && end < t.m && t.m >= 2 * kRows; };
  size_t row = 0;
  for (; row + kRows <= t.m && !leavesFew(row + kRows); row += kRows)
    chainBlock<kRows, kVectors>(d, t, row, column);
  for (; row + 4 <= t.m; row += 4)
    chainBlock<4, kVectors>(d, t, row, column);
  for (; row < t.m; ++row)
    chainBlock<1, kVectors>(d, t, row, column);
}

/// All columns of all rows: of as many columns as registers take, one row after the other.
void chainPart(const Tile &t) {
  const hn::CappedTag<float, 16> d;
  constexpr size_t kLanes = hn::MaxLanes(hn::CappedTag<float, 16>());
  constexpr size_t kRows = kLanes == 16 ? 12 : kLanes == 8 ? 6 : 4;
  size_t column = 0;
  if (kLanes == 16) // 8 x 3 of 32 registers
    for (; column + 3 * kLanes <= t.n && column + 4 * kLanes != t.n; column += 3 * kLanes)
      chainColumns<8, 3>(d, t, column);
  for (; column + 2 * kLanes <= t.n; column += 2 * kLanes)
    chainColumns<kRows, 2>(d, t, column);
  for (; column + kLanes <= t.n; column += kLanes)
    chainColumns<2 * kRows, 1>(d, t, column);
  const hn::CappedTag<float, 8> narrow;
  constexpr size_t kNarrow = hn::MaxLanes(hn::CappedTag<float, 8>());
  for (; column < t.n; column += kNarrow)
    chainColumns<kLanes == 16 ? 16 : 8, 1>(narrow, t, column);
}

bool chain(const Sum &sum, const Tile &t) {
  if (!isChainExact(sum))
    return false;
  // What the innermost loops read again and again is to stay in the first cache: all rows, or few
  // of them beside all of B.
  constexpr size_t kBytesOfB = 16 * 1024, kRowsBesideB = 24;
  const bool isBSmall = t.k * t.n * sizeof(float) <= kBytesOfB;
  Tile part = t;
  for (size_t row = 0; row < t.m; row += part.m) {
    part.m = isBSmall && t.m - row >= 2 * kRowsBesideB ? kRowsBesideB : t.m - row;
    part.a = t.a + ptrdiff_t(row) * t.aRow;
    part.c = t.c + ptrdiff_t(row) * t.cRow;
    part.d = t.d + ptrdiff_t(row) * t.dRow;
    chainPart(part);
  }
  return true;
}

/// Eight columns of a row, even ones and then odd ones, from and to their registers: one vector,
/// or two where the CPU's are short.
using EightColumns = hn::CappedTag<float, 8>;
constexpr size_t kEightVectors = 8 / hn::MaxLanes(EightColumns());
template <class D, size_t kVectors>
HWY_INLINE void loadEight(D d, const float *registers, hn::Vec<D> (&to)[kVectors]) {
  const hn::FixedTag<float, 4> four;
  const auto even = hn::LoadU(four, registers), odd = hn::LoadU(four, registers + 32);
  if constexpr (kVectors == 1) {
    to[0] = hn::Combine(d, odd, even);
  } else {
    to[0] = even;
    to[1] = odd;
  }
}
template <class D, size_t kVectors>
HWY_INLINE void storeEight(D d, const hn::Vec<D> (&from)[kVectors], float *registers) {
  const hn::FixedTag<float, 4> four;
  if constexpr (kVectors == 1) {
    const auto all = withOneNan(d, from[0]);
    hn::StoreU(hn::LowerHalf(four, all), four, registers);
    hn::StoreU(hn::UpperHalf(four, all), four, registers + 32);
  } else {
    hn::StoreU(withOneNan(d, from[0]), d, registers);
    hn::StoreU(withOneNan(d, from[1]), d, registers + 32);
  }
}

/// kRows rows of a product whose rows of A meet rows of B of their own; of their half of the
/// registers.
template <size_t kRows>
HWY_INLINE void chosenRows(size_t products, const float *a, const float *columns,
                           const uint8_t *chosen, const float *c, float *out) {
  const EightColumns d;
  hn::Vec<EightColumns> sums[kRows][kEightVectors];
  for (size_t row = 0; row < kRows; ++row)
    loadEight(d, c + row * 4, sums[row]);
  for (size_t k = 0; k < products; ++k)
    for (size_t row = 0; row < kRows; ++row) {
      const auto factor = hn::Set(d, a[(k / 4 * 8 + row) * 4 + k % 4]);
      const float *b = columns + chosen[row * products + k] * 8;
      for (size_t v = 0; v < kEightVectors; ++v)
        sums[row][v] = hn::MulAdd(factor, hn::LoadU(d, b + v * 4), sums[row][v]);
    }
  for (size_t row = 0; row < kRows; ++row)
    storeEight(d, sums[row], out + row * 4);
}

bool chosenChain(const Sum &sum, size_t products, const float *rows, const float *columns,
                 const uint8_t *chosen, const float *c, float *out) {
  if (!isChainExact(sum))
    return false;
  constexpr size_t kAtOnce = 8 / kEightVectors; // chains side by side
  for (size_t row = 0; row < 16; row += kAtOnce) {
    const size_t half = row / 8, place = half * 64 + row % 8 * 4;
    chosenRows<kAtOnce>(products, rows + half * products * 8 + row % 8 * 4, columns,
                        chosen + row * products, c + place, out + place);
  }
  return true;
}
