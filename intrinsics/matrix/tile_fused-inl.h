// Fused steps. Part of tile.cpp, inside its namespace, once for each CPU level: no guard.

using Single = hn::CappedTag<float, 8>;
using Exponents = hn::RebindToSigned<Single>;
using Double = hn::Rebind<double, hn::Half<Single>>;
using Bits = hn::RebindToUnsigned<Double>;
constexpr size_t kFusedLanes = hn::MaxLanes(Single());
constexpr int kNoExponent = -30000; ///< of a zero

/// Toward zero; |x| < 2^31.
HWY_INLINE hn::Vec<Exponents> truncated(hn::Vec<Single> x) {
#if HWY_TARGET <= HWY_AVX2
  return hn::Vec<Exponents>{_mm256_cvttps_epi32(x.raw)};
#elif HWY_TARGET <= HWY_SSSE3
  return hn::Vec<Exponents>{_mm_cvttps_epi32(x.raw)};
#else
  return hn::ConvertTo(Exponents(), x);
#endif
}

/// What rounding to Sum::rounding needs, per call.
struct FusedContext {
  const Sum &sum;
  const Tile &tile;
  const int32_t *exponentsA, *exponentsB; ///< m x k, k x n
};

HWY_INLINE hn::Vec<Double> powers(Double d, hn::Vec<hn::RebindToSigned<Double>> exponents) {
  const hn::RebindToSigned<Double> di;
  return hn::BitCast(d, hn::ShiftLeft<52>(hn::Add(exponents, hn::Set(di, 1023))));
}

/// Rounds sums of a step; `isRare` collects results that need the scalar code.
template <Rounding rounding>
HWY_INLINE hn::Vec<Double> roundSum(Double d, hn::Vec<Double> x, bool &isRare) {
  const Bits du;
  const auto bits = hn::BitCast(du, x);
  if constexpr (rounding == Rounding::zeroSingle)
    return hn::BitCast(d, hn::And(bits, hn::Set(du, ~uint64_t{0} << 29)));
  if constexpr (rounding == Rounding::zeroShort) {
    const auto isTiny = hn::And(hn::Lt(hn::Abs(x), hn::Set(d, 0x1p-126)), hn::Ne(x, hn::Zero(d)));
    isRare |= !hn::AllFalse(d, isTiny);
    return hn::BitCast(d, hn::And(bits, hn::Set(du, ~uint64_t{0} << 39)));
  }
  // To a multiple of the last place of an f16: (x + m) - m with m = 1.5 * 2^52 such places.
  const hn::RebindToSigned<Double> di;
  const auto field = hn::And(bits, hn::Set(du, uint64_t{0x7ff} << 52));
  const auto least = hn::Set(di, int64_t{1023 - 14} << 52);
  const auto exponent =
      hn::IfThenElse(hn::Gt(hn::BitCast(di, field), least), hn::BitCast(di, field), least);
  const auto magic = hn::BitCast(d, hn::Or(hn::Add(exponent, hn::Set(di, int64_t{52 - 10} << 52)),
                                           hn::Set(di, int64_t{1} << 51)));
  const auto rounded = hn::Sub(hn::Add(x, magic), magic);
  const auto infinity = hn::CopySign(hn::Set(d, HUGE_VAL), x);
  return hn::IfThenElse(hn::Ge(hn::Abs(rounded), hn::Set(d, 65536.0)), infinity, rounded);
}

/// Half of a vector's sums, with the accumulator: exact in f64.
template <Rounding rounding>
HWY_INLINE auto finishHalf(Double d, hn::Vec<hn::Rebind<int32_t, Double>> sum,
                           hn::Vec<hn::Rebind<int32_t, Double>> second,
                           hn::Vec<hn::Rebind<float, Double>> c,
                           hn::Vec<hn::Rebind<int32_t, Double>> shift, bool &isRare) {
  const hn::RebindToSigned<Double> di;
  const auto up = hn::PromoteTo(di, shift);
  const auto term = hn::Trunc(hn::Mul(hn::PromoteTo(d, c), powers(d, up)));
  const auto products = hn::Add(hn::PromoteTo(d, sum), hn::PromoteTo(d, second));
  const auto value = hn::Mul(hn::Add(products, term), powers(d, hn::Neg(up)));
  return hn::DemoteTo(hn::Rebind<float, Double>(), roundSum<rounding>(d, value, isRare));
}

/// Steps of all k for kRows rows and a vector of columns.
template <size_t kRows, Rounding rounding>
HWY_INLINE bool fusedBlock(const FusedContext &x, size_t row, size_t column) {
  const Single df;
  const Exponents di;
  using V = hn::Vec<Single>;
  using E = hn::Vec<Exponents>;
  const Tile &t = x.tile;
  const size_t length = x.sum.length;
  const int fraction = x.sum.fraction;
  V acc[kRows];
  for (size_t i = 0; i < kRows; ++i)
    acc[i] = hn::LoadU(df, t.c + ptrdiff_t(row + i) * t.cRow + column);
  bool isRare = false;
  for (size_t first = 0; first < t.k; first += length) {
    const size_t last = HWY_MIN(t.k, first + length);
    E top[kRows], sums[2][kRows];
    const E leastC = hn::Set(di, x.sum.leastC);
    for (size_t i = 0; i < kRows; ++i) {
      const E field = hn::And(hn::ShiftRight<23>(hn::BitCast(di, acc[i])), hn::Set(di, 0xff));
      const E exponent = hn::Max(hn::Sub(field, hn::Set(di, 127)), leastC);
      const E own = hn::IfThenElse(hn::RebindMask(di, hn::Eq(acc[i], hn::Zero(df))),
                                   hn::Set(di, kNoExponent), exponent);
      top[i] = hn::Max(own, hn::Set(di, x.sum.leastExponent));
      sums[0][i] = sums[1][i] = hn::Zero(di);
    }
    for (size_t k = first; k < last; ++k) {
      const E b = hn::LoadU(di, x.exponentsB + k * t.n + column);
      for (size_t i = 0; i < kRows; ++i)
        top[i] = hn::Max(top[i], hn::Add(hn::Set(di, x.exponentsA[(row + i) * t.k + k]), b));
    }
    V scale[kRows];
    for (size_t i = 0; i < kRows; ++i) { // below -100 all products are zero
      const E clamped = hn::Max(top[i], hn::Set(di, -100));
      scale[i] =
          hn::BitCast(df, hn::ShiftLeft<23>(hn::Max(hn::Sub(hn::Set(di, fraction + 127), clamped),
                                                    hn::Set(di, 1))));
    }
    for (size_t half = 0; half < 2; ++half) { // 16 products at most have room in an i32
      const size_t end = half == 0 ? HWY_MIN(last, first + 16) : last;
      for (size_t k = half == 0 ? first : HWY_MIN(last, first + 16); k < end; ++k) {
        const V b = hn::LoadU(df, t.b + ptrdiff_t(k) * t.bRow + column);
        for (size_t i = 0; i < kRows; ++i) {
          const V a = hn::Set(df, t.a[ptrdiff_t(row + i) * t.aRow + ptrdiff_t(k) * t.aColumn]);
          sums[half][i] = hn::Add(sums[half][i], truncated(hn::Mul(hn::Mul(a, b), scale[i])));
        }
      }
    }
    const Double d;
    const hn::Half<Exponents> dih;
    const hn::Half<Single> dfh;
    for (size_t i = 0; i < kRows; ++i) {
      const E shift = hn::Sub(hn::Set(di, fraction), top[i]);
      const auto low =
          finishHalf<rounding>(d, hn::LowerHalf(dih, sums[0][i]), hn::LowerHalf(dih, sums[1][i]),
                               hn::LowerHalf(dfh, acc[i]), hn::LowerHalf(dih, shift), isRare);
      const auto high =
          finishHalf<rounding>(d, hn::UpperHalf(dih, sums[0][i]), hn::UpperHalf(dih, sums[1][i]),
                               hn::UpperHalf(dfh, acc[i]), hn::UpperHalf(dih, shift), isRare);
      acc[i] = hn::Combine(df, high, low);
      isRare |= !hn::AllTrue(df, hn::IsFinite(acc[i])) && last < t.k;
    }
  }
  if (isRare)
    return false;
  for (size_t i = 0; i < kRows; ++i)
    hn::StoreU(acc[i], df, t.d + ptrdiff_t(row + i) * t.dRow + column);
  return true;
}

/// Exponents as the step sees them, kNoExponent for zeros. False if a value is not finite, or
/// magnitudes are beyond 2^±45, where products times scales might not be floats.
HWY_INLINE bool exponentsOf(const float *values, ptrdiff_t stride, size_t count, int least,
                            int32_t *out) {
  const Single df;
  const Exponents di;
  float line[kFusedLanes];
  auto isBeyond = hn::MaskFromVec(hn::Zero(df));
  for (size_t i = 0; i < count; i += kFusedLanes) {
    const size_t n = HWY_MIN(kFusedLanes, count - i);
    auto x = hn::Zero(df);
    if (stride == 1 && n == kFusedLanes) {
      x = hn::LoadU(df, values + i);
    } else {
      std::memset(line, 0, sizeof line);
      for (size_t k = 0; k < n; ++k)
        line[k] = values[ptrdiff_t(i + k) * stride];
      x = hn::LoadU(df, line);
    }
    const auto magnitude = hn::Abs(x);
    const auto isZero = hn::Eq(x, hn::Zero(df));
    const auto isSmall = hn::Lt(magnitude, hn::Set(df, 0x1p-45f));
    isBeyond = hn::Or(isBeyond, hn::Or(hn::Not(hn::Lt(magnitude, hn::Set(df, 0x1p45f))),
                                       hn::AndNot(isZero, isSmall)));
    const auto field = hn::ShiftRight<23>(hn::BitCast(di, magnitude));
    const auto exponent = hn::Max(hn::Sub(field, hn::Set(di, 127)), hn::Set(di, least));
    const auto result =
        hn::IfThenElse(hn::RebindMask(di, isZero), hn::Set(di, kNoExponent), exponent);
    if (n == kFusedLanes) {
      hn::StoreU(result, di, out + i);
    } else {
      int32_t rest[kFusedLanes];
      hn::StoreU(result, di, rest);
      std::memcpy(out + i, rest, n * sizeof(int32_t));
    }
  }
  return hn::AllFalse(df, isBeyond);
}

template <Rounding rounding> void fusedRows(const FusedContext &x) {
  for (size_t column = 0; column < x.tile.n; column += kFusedLanes) {
    size_t row = 0;
    for (; row + 4 <= x.tile.m; row += 4)
      if (!fusedBlock<4, rounding>(x, row, column))
        fuseOneByOne(x.sum, x.tile, row, 4, column, kFusedLanes);
    for (; row < x.tile.m; ++row)
      if (!fusedBlock<1, rounding>(x, row, column))
        fuseOneByOne(x.sum, x.tile, row, 1, column, kFusedLanes);
  }
}

bool fused(const Sum &sum, const Tile &t, int32_t *scratch) {
  int32_t *a = scratch, *b = a + t.m * t.k;
  bool isFit = true;
  for (size_t i = 0; i < t.m && isFit; ++i)
    isFit = exponentsOf(t.a + ptrdiff_t(i) * t.aRow, t.aColumn, t.k, sum.leastA, a + i * t.k);
  for (size_t k = 0; k < t.k && isFit; ++k)
    isFit = exponentsOf(t.b + ptrdiff_t(k) * t.bRow, 1, t.n, sum.leastB, b + k * t.n);
  if (!isFit)
    return false;
  const Single df;
  for (size_t i = 0; i < t.m; ++i)
    for (size_t j = 0; j < t.n; j += kFusedLanes)
      if (!hn::AllTrue(df, hn::IsFinite(hn::LoadU(df, t.c + ptrdiff_t(i) * t.cRow + j))))
        return false;
  const FusedContext context = {sum, t, a, b};
  switch (sum.rounding) {
  case Rounding::zeroSingle:
    fusedRows<Rounding::zeroSingle>(context);
    return true;
  case Rounding::zeroShort:
    fusedRows<Rounding::zeroShort>(context);
    return true;
  case Rounding::nearestHalf:
    fusedRows<Rounding::nearestHalf>(context);
    return true;
  default:
    return false;
  }
}
