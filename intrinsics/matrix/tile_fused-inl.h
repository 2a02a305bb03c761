// Fused steps. Part of tile.cpp, inside its namespace, once for each CPU level: no guard.

/// The types that go with floats of a tag: exponents and sums, and doubles of half as many lanes.
template <class DF> using ExponentsOf = hn::RebindToSigned<DF>;
template <class DF> using DoublesOf = hn::Rebind<double, hn::Half<DF>>;

constexpr int kNoExponent = -30000; ///< of a zero

/// Toward zero; |x| < 2^31.
HWY_INLINE hn::Vec<hn::FixedTag<int32_t, 4>> truncated(hn::Vec<hn::FixedTag<float, 4>> x) {
#if HWY_TARGET <= HWY_SSSE3
  return hn::Vec<hn::FixedTag<int32_t, 4>>{_mm_cvttps_epi32(x.raw)};
#else
  return hn::ConvertTo(hn::FixedTag<int32_t, 4>(), x);
#endif
}
#if HWY_TARGET <= HWY_AVX2
HWY_INLINE hn::Vec<hn::FixedTag<int32_t, 8>> truncated(hn::Vec<hn::FixedTag<float, 8>> x) {
  return hn::Vec<hn::FixedTag<int32_t, 8>>{_mm256_cvttps_epi32(x.raw)};
}
#endif
#if HWY_TARGET <= HWY_AVX3
HWY_INLINE hn::Vec<hn::FixedTag<int32_t, 16>> truncated(hn::Vec<hn::FixedTag<float, 16>> x) {
  return hn::Vec<hn::FixedTag<int32_t, 16>>{_mm512_cvttps_epi32(x.raw)};
}
#endif

/// What rounding to Sum::rounding needs, per call.
struct FusedContext {
  const Sum &sum;
  const Tile &tile;
  const int32_t *exponentsA, *exponentsB; ///< m x k, k x n
};

template <class D> HWY_INLINE hn::Vec<D> powers(D d, hn::Vec<hn::RebindToSigned<D>> exponents) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(d, hn::ShiftLeft<52>(hn::Add(exponents, hn::Set(di, 1023))));
}

/// Rounds sums of a step; `isRare` collects results that need the scalar code.
template <Rounding rounding, class D>
HWY_INLINE hn::Vec<D> roundSum(D d, hn::Vec<D> x, bool &isRare) {
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, x);
  if constexpr (rounding == Rounding::zeroSingle)
    return hn::BitCast(d, hn::And(bits, hn::Set(du, ~uint64_t{0} << 29)));
  if constexpr (rounding == Rounding::zeroShort) {
    const auto isTiny = hn::And(hn::Lt(hn::Abs(x), hn::Set(d, 0x1p-126)), hn::Ne(x, hn::Zero(d)));
    isRare |= !hn::AllFalse(d, isTiny);
    return hn::BitCast(d, hn::And(bits, hn::Set(du, ~uint64_t{0} << 39)));
  }
  // To a multiple of the last place of an f16: (x + m) - m with m = 1.5 * 2^52 such places.
  const hn::RebindToSigned<D> di;
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
template <Rounding rounding, class D>
HWY_INLINE auto finishHalf(D d, hn::Vec<hn::Rebind<int32_t, D>> sum,
                           hn::Vec<hn::Rebind<int32_t, D>> second, hn::Vec<hn::Rebind<float, D>> c,
                           hn::Vec<hn::Rebind<int32_t, D>> shift, bool &isRare) {
  const hn::RebindToSigned<D> di;
  const auto up = hn::PromoteTo(di, shift);
  const auto term = hn::Trunc(hn::Mul(hn::PromoteTo(d, c), powers(d, up)));
  const auto products = hn::Add(hn::PromoteTo(d, sum), hn::PromoteTo(d, second));
  const auto value = hn::Mul(hn::Add(products, term), powers(d, hn::Neg(up)));
  return hn::DemoteTo(hn::Rebind<float, D>(), roundSum<rounding>(d, value, isRare));
}

/// The end of a step: sums of aligned products and the accumulators become new accumulators. `top`:
/// the exponents that terms were aligned to.
template <Rounding rounding, class DF>
HWY_INLINE hn::Vec<DF> finishStep(DF df, const hn::Vec<ExponentsOf<DF>> (&sums)[2], hn::Vec<DF> acc,
                                  hn::Vec<ExponentsOf<DF>> top, int fraction, bool &isRare) {
  const ExponentsOf<DF> di;
  const DoublesOf<DF> d;
  const hn::Half<ExponentsOf<DF>> dih;
  const hn::Half<DF> dfh;
  const auto shift = hn::Sub(hn::Set(di, fraction), top);
  const auto low = finishHalf<rounding>(d, hn::LowerHalf(dih, sums[0]), hn::LowerHalf(dih, sums[1]),
                                        hn::LowerHalf(dfh, acc), hn::LowerHalf(dih, shift), isRare);
  const auto high =
      finishHalf<rounding>(d, hn::UpperHalf(dih, sums[0]), hn::UpperHalf(dih, sums[1]),
                           hn::UpperHalf(dfh, acc), hn::UpperHalf(dih, shift), isRare);
  return hn::Combine(df, high, low);
}

/// Exponents of accumulators; a zero's is none. Not below that of the step.
template <class DF>
HWY_INLINE hn::Vec<ExponentsOf<DF>> topOf(DF df, hn::Vec<DF> acc, const Sum &sum) {
  const ExponentsOf<DF> di;
  const auto field = hn::And(hn::ShiftRight<23>(hn::BitCast(di, acc)), hn::Set(di, 0xff));
  const auto exponent = hn::Max(hn::Sub(field, hn::Set(di, 127)), hn::Set(di, sum.leastC));
  const auto own = hn::IfThenElse(hn::RebindMask(di, hn::Eq(acc, hn::Zero(df))),
                                  hn::Set(di, kNoExponent), exponent);
  return hn::Max(own, hn::Set(di, sum.leastExponent));
}

/// What products are multiplied by; with a top below -100 all are zero.
template <class DF>
HWY_INLINE hn::Vec<DF> scaleOf(DF df, hn::Vec<ExponentsOf<DF>> top, int fraction) {
  const ExponentsOf<DF> di;
  const auto clamped = hn::Max(top, hn::Set(di, -100));
  return hn::BitCast(df, hn::ShiftLeft<23>(hn::Max(hn::Sub(hn::Set(di, fraction + 127), clamped),
                                                   hn::Set(di, 1))));
}

/// Steps of all k for kRows rows and a vector of columns.
template <size_t kRows, Rounding rounding, class DF>
HWY_INLINE bool fusedBlock(DF df, const FusedContext &x, size_t row, size_t column) {
  const ExponentsOf<DF> di;
  using V = hn::Vec<DF>;
  using E = hn::Vec<ExponentsOf<DF>>;
  const Tile &t = x.tile;
  const size_t length = x.sum.length;
  const int fraction = x.sum.fraction;
  V acc[kRows];
  for (size_t i = 0; i < kRows; ++i)
    acc[i] = hn::LoadU(df, t.c + ptrdiff_t(row + i) * t.cRow + column);
  bool isRare = false;
  for (size_t first = 0; first < t.k; first += length) {
    const size_t last = HWY_MIN(t.k, first + length);
    E top[kRows], sums[kRows][2];
    for (size_t i = 0; i < kRows; ++i) {
      top[i] = topOf(df, acc[i], x.sum);
      sums[i][0] = sums[i][1] = hn::Zero(di);
    }
    for (size_t k = first; k < last; ++k) {
      const E b = hn::LoadU(di, x.exponentsB + k * t.n + column);
      for (size_t i = 0; i < kRows; ++i)
        top[i] = hn::Max(top[i], hn::Add(hn::Set(di, x.exponentsA[(row + i) * t.k + k]), b));
    }
    V scale[kRows];
    for (size_t i = 0; i < kRows; ++i)
      scale[i] = scaleOf(df, top[i], fraction);
    for (size_t half = 0; half < 2; ++half) { // 16 products at most have room in an i32
      const size_t end = half == 0 ? HWY_MIN(last, first + 16) : last;
      for (size_t k = half == 0 ? first : HWY_MIN(last, first + 16); k < end; ++k) {
        const V b = hn::LoadU(df, t.b + ptrdiff_t(k) * t.bRow + column);
        for (size_t i = 0; i < kRows; ++i) {
          const V a = hn::Set(df, t.a[ptrdiff_t(row + i) * t.aRow + ptrdiff_t(k) * t.aColumn]);
          sums[i][half] = hn::Add(sums[i][half], truncated(hn::Mul(hn::Mul(a, b), scale[i])));
        }
      }
    }
    for (size_t i = 0; i < kRows; ++i) {
      acc[i] = finishStep<rounding>(df, sums[i], acc[i], top[i], fraction, isRare);
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
  using Single = hn::CappedTag<float, 16>;
  const Single df;
  const ExponentsOf<Single> di;
  constexpr size_t kFusedLanes = hn::MaxLanes(Single());
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

template <Rounding rounding, class DF>
void fusedColumns(DF df, const FusedContext &x, size_t column) {
  constexpr size_t kLanes = hn::MaxLanes(DF());
  size_t row = 0;
  for (; row + 4 <= x.tile.m; row += 4)
    if (!fusedBlock<4, rounding>(df, x, row, column))
      fuseOneByOne(x.sum, x.tile, row, 4, column, kLanes);
  for (; row < x.tile.m; ++row)
    if (!fusedBlock<1, rounding>(df, x, row, column))
      fuseOneByOne(x.sum, x.tile, row, 1, column, kLanes);
}

template <Rounding rounding> void fusedRows(const FusedContext &x) {
  const hn::CappedTag<float, 16> wide;
  const hn::CappedTag<float, 8> narrow;
  size_t column = 0;
  for (; column + hn::MaxLanes(wide) <= x.tile.n; column += hn::MaxLanes(wide))
    fusedColumns<rounding>(wide, x, column);
  for (; column < x.tile.n; column += hn::MaxLanes(narrow))
    fusedColumns<rounding>(narrow, x, column);
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
  const hn::CappedTag<float, 8> df;
  for (size_t i = 0; i < t.m; ++i)
    for (size_t j = 0; j < t.n; j += hn::MaxLanes(df))
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
