// The vector code, compiled for each CPU level by Highway (foreach_target.h includes this file once
// for each) and chosen at run time.
//
// A fused step in f32 and i32: with the largest exponent e of a row and column's terms, each
// product times 2^(F - e) is a float (the checks of canFuse() see to it), cut off by conversion to
// an integer below 2^27, so that 16 of them have room in 32 bits. The accumulator joins in f64,
// where the whole sum is exact; cutting f64 mantissas or one magic addition rounds it.
#include "intrinsics/matrix/tile.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "intrinsics/lane/formats.h"
#include "intrinsics/matrix/decode.h"
#include "intrinsics/matrix/fused.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "intrinsics/matrix/tile.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef PTXRUN_MATRIX_FUSE_ONE_BY_ONE
#define PTXRUN_MATRIX_FUSE_ONE_BY_ONE
namespace ptxrun::matrix {
/// Fused steps of a part of the tile in scalar arithmetic.
void fuseOneByOne(const Sum &, const Tile &, size_t row, size_t rows, size_t column,
                  size_t columns);
} // namespace ptxrun::matrix
#endif

HWY_BEFORE_NAMESPACE();
namespace ptxrun::matrix {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// --- Chains -------------------------------------------------------------------------------------

/// kRows x (kVectors vectors) accumulators in registers through all k.
template <size_t kRows, size_t kVectors, class D>
HWY_INLINE void chainBlock(D d, const Tile &t, size_t row, size_t column) {
  using V = hn::Vec<D>;
  constexpr size_t kLanes = hn::MaxLanes(D());
  V acc[kRows][kVectors];
  for (size_t i = 0; i < kRows; ++i)
    for (size_t v = 0; v < kVectors; ++v)
      acc[i][v] = hn::LoadU(d, t.c + ptrdiff_t(row + i) * t.cRow + column + v * kLanes);
  const float *a = t.a + ptrdiff_t(row) * t.aRow;
  const float *b = t.b + column;
  for (size_t k = 0; k < t.k; ++k, a += t.aColumn, b += t.bRow) {
    V columns[kVectors];
    for (size_t v = 0; v < kVectors; ++v)
      columns[v] = hn::LoadU(d, b + v * kLanes);
    for (size_t i = 0; i < kRows; ++i) {
      const V factor = hn::Set(d, a[ptrdiff_t(i) * t.aRow]);
      for (size_t v = 0; v < kVectors; ++v)
        acc[i][v] = hn::MulAdd(factor, columns[v], acc[i][v]);
    }
  }
  const V nan = hn::BitCast(d, hn::Set(hn::RebindToUnsigned<D>(), 0x7fffffffu));
  for (size_t i = 0; i < kRows; ++i)
    for (size_t v = 0; v < kVectors; ++v)
      hn::StoreU(hn::IfThenElse(hn::IsNaN(acc[i][v]), nan, acc[i][v]), d,
                 t.d + ptrdiff_t(row + i) * t.dRow + column + v * kLanes);
}

/// All rows of kVectors vectors of columns.
template <size_t kRows, size_t kVectors, class D>
HWY_INLINE void chainColumns(D d, const Tile &t, size_t column) {
  size_t row = 0;
  for (; row + kRows <= t.m; row += kRows)
    chainBlock<kRows, kVectors>(d, t, row, column);
  for (; row + 4 <= t.m; row += 4)
    chainBlock<4, kVectors>(d, t, row, column);
  for (; row < t.m; ++row)
    chainBlock<1, kVectors>(d, t, row, column);
}

bool chain(const Sum &sum, const Tile &t) {
#if HWY_TARGET >= HWY_SSE4
  if (!sum.hasExactProducts) // multiplication and addition round twice
    return false;
#else
  (void)sum;
#endif
  const hn::CappedTag<float, 16> d;
  constexpr size_t kLanes = hn::MaxLanes(hn::CappedTag<float, 16>());
  constexpr size_t kRows = kLanes == 16 ? 12 : kLanes == 8 ? 6 : 4;
  size_t column = 0;
  for (; column + 2 * kLanes <= t.n; column += 2 * kLanes)
    chainColumns<kRows, 2>(d, t, column);
  for (; column + kLanes <= t.n; column += kLanes)
    chainColumns<2 * kRows, 1>(d, t, column);
  const hn::CappedTag<float, 8> narrow;
  constexpr size_t kNarrow = hn::MaxLanes(hn::CappedTag<float, 8>());
  for (; column < t.n; column += kNarrow)
    chainColumns<kLanes == 16 ? 16 : 8, 1>(narrow, t, column);
  return true;
}

// --- Fused steps --------------------------------------------------------------------------------

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
  const auto signedZero = hn::CopySign(rounded, x);
  return hn::IfThenElse(hn::Ge(hn::Abs(rounded), hn::Set(d, 65536.0)), infinity, signedZero);
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

// --- Transposition ------------------------------------------------------------------------------

void transpose(const float *in, ptrdiff_t inRow, size_t rows, size_t columns, float *out,
               ptrdiff_t outRow) {
  const hn::FixedTag<float, 4> d;
  const hn::FixedTag<double, 2> dd;
  for (size_t r = 0; r < rows; r += 4)
    for (size_t c = 0; c < columns; c += 4) {
      const float *from = in + ptrdiff_t(r) * inRow + c;
      float *to = out + ptrdiff_t(c) * outRow + r;
      const auto a = hn::LoadU(d, from), b = hn::LoadU(d, from + inRow),
                 e = hn::LoadU(d, from + 2 * inRow), f = hn::LoadU(d, from + 3 * inRow);
      const auto low = [&](auto x, auto y) {
        return hn::BitCast(dd, hn::InterleaveLower(d, x, y));
      };
      const auto high = [&](auto x, auto y) {
        return hn::BitCast(dd, hn::InterleaveUpper(d, x, y));
      };
      const auto ab = low(a, b), AB = high(a, b), ef = low(e, f), EF = high(e, f);
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dd, ab, ef)), d, to);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dd, ab, ef)), d, to + outRow);
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dd, AB, EF)), d, to + 2 * outRow);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dd, AB, EF)), d, to + 3 * outRow);
    }
}

// --- Fragments ----------------------------------------------------------------------------------
//
// A register of A is 8 rows of 4 * P elements one behind the other, one of B as many columns; two
// registers of C are the even and the odd columns of 8 rows.

HWY_INLINE void decodeHalves(const uint32_t *words, size_t count, float *out) {
#if HWY_TARGET >= HWY_SSE4 // no instruction for it, and Highway's substitute knows no infinities
  const auto *bits = reinterpret_cast<const uint16_t *>(words);
  for (size_t i = 0; i < count; ++i)
    out[i] = lane::widen<lane::F16>(bits[i]);
#else
  const hn::CappedTag<float, 8> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> half;
  const auto *from = reinterpret_cast<const hwy::float16_t *>(words);
  for (size_t i = 0; i < count; i += hn::MaxLanes(hn::CappedTag<float, 8>()))
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(half, from + i)), d, out + i);
#endif
}

HWY_INLINE void decodeBytes(const float *table, const uint32_t *words, size_t count, float *out) {
  const auto *from = reinterpret_cast<const uint8_t *>(words);
  for (size_t i = 0; i < count; ++i)
    out[i] = table[from[i]];
}

/// All elements of `registers` registers in their order.
HWY_INLINE void decodeAll(Element element, const float *table, const uint32_t *words,
                          size_t registers, float *out) {
  const size_t count = registers * 32;
  switch (element) {
  case Element::f16:
    return decodeHalves(words, 2 * count, out);
  case Element::bf16:
    for (size_t i = 0; i < count; ++i) {
      const uint32_t pair[2] = {words[i] << 16, words[i] & 0xffff0000u};
      std::memcpy(out + 2 * i, pair, sizeof pair);
    }
    return;
  case Element::tf32:
    for (size_t i = 0; i < count; ++i) {
      const uint32_t bits = words[i] & 0xffffe000u;
      std::memcpy(out + i, &bits, sizeof bits);
    }
    return;
  default:
    return decodeBytes(table, words, 4 * count, out);
  }
}

/// Rows of 8 columns, 16 of them, from registers of accumulators.
HWY_INLINE void joinColumns(const float *registers, float *rows) {
  const hn::FixedTag<float, 4> d;
  for (size_t row = 0; row < 16; ++row) {
    const float *even = registers + row / 8 * 64 + row % 8 * 4;
    const auto e = hn::LoadU(d, even), o = hn::LoadU(d, even + 32);
    hn::StoreU(hn::InterleaveLower(d, e, o), d, rows + row * 8);
    hn::StoreU(hn::InterleaveUpper(d, e, o), d, rows + row * 8 + 4);
  }
}

HWY_INLINE void splitColumns(const float *rows, float *registers) {
  const hn::FixedTag<float, 4> d;
  for (size_t row = 0; row < 16; ++row) {
    float *even = registers + row / 8 * 64 + row % 8 * 4;
    const auto low = hn::LoadU(d, rows + row * 8), high = hn::LoadU(d, rows + row * 8 + 4);
    hn::StoreU(hn::ConcatEven(d, high, low), d, even);
    hn::StoreU(hn::ConcatOdd(d, high, low), d, even + 32);
  }
}

constexpr size_t kMostDepth = 32;

bool fragments(const FragmentTile &x, const float *tableA, const float *tableB) {
  HWY_ALIGN float raw[16 * kMostDepth], a[16 * kMostDepth], b[kMostDepth * 8], acc[16 * 8];
  const size_t k = x.k, registersA = 16 * k /
                                     (x.elementA == Element::tf32 ? 32
                                      : bitsOf(x.elementA) == 16  ? 64
                                                                  : 128);
  const size_t step = 4 * (16 * k / registersA / 32); // of k, in a register's rows
  decodeAll(x.elementA, tableA, x.a, registersA, raw);
  for (size_t s = 0; s < k / step; ++s)
    for (size_t row = 0; row < 16; ++row)
      std::memcpy(a + row * k + s * step, raw + (s * 16 + row) * step, step * sizeof(float));
  decodeAll(x.elementB, tableB, x.b, registersA / 2, raw);
  for (size_t s = 0; s < k / step; ++s)
    transpose(raw + s * 8 * step, ptrdiff_t(step), 8, step, b + s * step * 8, 8);
  const bool isHalf = x.elementC == Element::f16;
  if (isHalf)
    decodeHalves(x.c, 128, acc);
  else
    joinColumns(reinterpret_cast<const float *>(x.c), acc);
  const Tile tile = {16, 8, k, a, ptrdiff_t(k), 1, b, 8, acc, 8, acc, 8};
  int32_t exponents[24 * kMostDepth];
  const bool isDone =
      x.sum.method == Sum::Method::chain ? chain(x.sum, tile) : fused(x.sum, tile, exponents);
  if (!isDone)
    return false;
  if (!isHalf) {
    splitColumns(acc, reinterpret_cast<float *>(x.d));
    return true;
  }
  auto *out = reinterpret_cast<uint16_t *>(x.d);
  for (size_t i = 0; i < 128; ++i)
    out[i] = uint16_t(lane::narrow<lane::F16, lane::Narrow::nearestEven, false>(acc[i]));
  return true;
}

} // namespace HWY_NAMESPACE
} // namespace ptxrun::matrix
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ptxrun::matrix {

HWY_EXPORT(chain);
HWY_EXPORT(fused);
HWY_EXPORT(transpose);
HWY_EXPORT(fragments);

namespace {

/// PTXRUN_CPU holds for this code too.
bool limitTargets() {
  const char *value = std::getenv("PTXRUN_CPU");
  const std::string_view level = value ? value : "";
  if (level == "avx2" || level == "sse4")
    hwy::DisableTargets(HWY_AVX3 | HWY_AVX3_DL | (level == "sse4" ? HWY_AVX2 : 0));
  return true;
}
[[maybe_unused]] const bool areTargetsLimited = limitTargets();

} // namespace

void fuseOneByOne(const Sum &sum, const Tile &t, size_t row, size_t rows, size_t column,
                  size_t columns) {
  for (size_t i = row; i < row + rows; ++i)
    for (size_t j = column; j < column + columns; ++j) {
      float c = t.c[ptrdiff_t(i) * t.cRow + ptrdiff_t(j)];
      for (size_t first = 0; first < t.k; first += sum.length) {
        FusedStep step(sum);
        for (size_t k = first; k < t.k && k < first + sum.length; ++k)
          step.addProduct(t.a[ptrdiff_t(i) * t.aRow + ptrdiff_t(k) * t.aColumn],
                          t.b[ptrdiff_t(k) * t.bRow + ptrdiff_t(j)]);
        step.addAccumulator(c);
        c = step.result();
      }
      t.d[ptrdiff_t(i) * t.dRow + ptrdiff_t(j)] = c;
    }
}

bool multiplyChain(const Sum &sum, const Tile &tile) {
  return HWY_DYNAMIC_DISPATCH(chain)(sum, tile);
}

bool multiplyFused(const Sum &sum, const Tile &tile) {
  thread_local std::vector<int32_t> exponents;
  const size_t needed = tile.m * tile.k + tile.k * tile.n;
  if (exponents.size() < needed)
    exponents.resize(needed);
  return HWY_DYNAMIC_DISPATCH(fused)(sum, tile, exponents.data());
}

namespace {

/// What each byte means, format by format.
const float *byteTable(Element element) {
  static const auto tables = [] {
    std::array<std::array<float, 256>, 5> made;
    for (unsigned format = 0; format < made.size(); ++format)
      for (unsigned i = 0; i < 256; ++i) {
        const auto byte = uint8_t(i);
        decode(Element(unsigned(Element::e4m3) + format), Packing::byteEach, &byte, 1,
               &made[format][i]);
      }
    return made;
  }();
  return isNarrow(element) ? tables[unsigned(element) - unsigned(Element::e4m3)].data() : nullptr;
}

} // namespace

bool multiplyFragments(const FragmentTile &x) {
  const bool isPossible =
      (x.sum.method == Sum::Method::chain || x.sum.method == Sum::Method::fused) &&
      !x.sum.isNarrowedAtEnd && x.k <= 32 && x.elementC == x.elementD && x.elementA != Element::f64;
  return isPossible &&
         HWY_DYNAMIC_DISPATCH(fragments)(x, byteTable(x.elementA), byteTable(x.elementB));
}

void transposeFloats(const float *in, ptrdiff_t inRow, size_t rows, size_t columns, float *out,
                     ptrdiff_t outRow) {
  HWY_DYNAMIC_DISPATCH(transpose)(in, inRow, rows, columns, out, outRow);
}

} // namespace ptxrun::matrix
#endif
