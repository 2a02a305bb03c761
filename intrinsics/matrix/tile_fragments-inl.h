// Fragments of m16n8. Part of tile.cpp, inside its namespace, once for each CPU level: no guard.
// A register of A is 8 rows of 4 * P elements one behind the other, one of B as many columns; two
// registers of C are the even and the odd columns of 8 rows.

using Floats = hn::CappedTag<float, 16>;
constexpr size_t kFloats = hn::MaxLanes(Floats());

/// Whole vectors of elements to floats; how many elements.
size_t widen(Element element, const float *table, const void *packed, size_t count, float *out) {
  const Floats d;
  const hn::RebindToUnsigned<Floats> words;
  const hn::Rebind<uint16_t, Floats> halves;
  const auto *from16 = static_cast<const uint16_t *>(packed);
  const size_t whole = count / kFloats * kFloats;
  switch (element) {
  case Element::f16:
#if HWY_TARGET >= HWY_SSE4 // no instruction for it, and Highway's substitute knows no infinities
    return 0;
#else
    for (size_t i = 0; i < whole; i += kFloats) {
      const hn::Rebind<hwy::float16_t, Floats> half;
      hn::StoreU(hn::PromoteTo(d, hn::BitCast(half, hn::LoadU(halves, from16 + i))), d, out + i);
    }
    return whole;
#endif
  case Element::bf16:
    for (size_t i = 0; i < whole; i += kFloats) {
      const auto bits = hn::PromoteTo(words, hn::LoadU(halves, from16 + i));
      hn::StoreU(hn::BitCast(d, hn::ShiftLeft<16>(bits)), d, out + i);
    }
    return whole;
  case Element::tf32:
    for (size_t i = 0; i < whole; i += kFloats) {
      const auto bits = hn::LoadU(words, static_cast<const uint32_t *>(packed) + i);
      hn::StoreU(hn::BitCast(d, hn::And(bits, hn::Set(words, 0xffffe000u))), d, out + i);
    }
    return whole;
  default:
    if (!table)
      return 0;
    for (size_t i = 0; i < count; ++i)
      out[i] = table[static_cast<const uint8_t *>(packed)[i]];
    return count;
  }
}

/// Whole vectors of floats to f16, to nearest even, every NaN 0x7fff; how many.
size_t narrow([[maybe_unused]] const float *values, [[maybe_unused]] size_t count,
              [[maybe_unused]] uint16_t *out) {
#if HWY_TARGET >= HWY_SSE4 // no instruction for it
  return 0;
#else
  const Floats d;
  const hn::Rebind<uint16_t, Floats> halves;
  const hn::Rebind<hwy::float16_t, Floats> half;
  const size_t whole = count / kFloats * kFloats;
  for (size_t i = 0; i < whole; i += kFloats) {
    const auto one = withOneNan(d, hn::LoadU(d, values + i));
    hn::StoreU(hn::BitCast(halves, hn::DemoteTo(half, one)), halves, out + i);
  }
  return whole;
#endif
}

using FloatWords = hn::RebindToUnsigned<Floats>;
using FloatHalves = hn::Rebind<uint16_t, Floats>;

/// f16 bits, one to a word, to numbers and back: to nearest even, NaN is 0x7fff.
HWY_INLINE hn::Vec<Floats> numbersOfHalves(hn::Vec<FloatWords> bits) {
#if HWY_TARGET >= HWY_SSE4 // Highway's substitutes know no infinities
  const FloatWords d;
  HWY_ALIGN uint32_t words[hn::MaxLanes(FloatWords())];
  HWY_ALIGN float numbers[hn::MaxLanes(FloatWords())];
  hn::Store(bits, d, words);
  for (size_t i = 0; i < hn::MaxLanes(FloatWords()); ++i)
    numbers[i] = lane::widen<lane::F16>(words[i]);
  return hn::Load(Floats(), numbers);
#else
  const hn::Rebind<hwy::float16_t, Floats> half;
  return hn::PromoteTo(Floats(), hn::BitCast(half, hn::TruncateTo(FloatHalves(), bits)));
#endif
}

HWY_INLINE hn::Vec<FloatWords> halvesOfNumbers(hn::Vec<Floats> numbers) {
#if HWY_TARGET >= HWY_SSE4
  HWY_ALIGN uint32_t words[hn::MaxLanes(FloatWords())];
  HWY_ALIGN float values[hn::MaxLanes(FloatWords())];
  hn::Store(numbers, Floats(), values);
  for (size_t i = 0; i < hn::MaxLanes(FloatWords()); ++i)
    words[i] = lane::narrow<lane::F16, lane::Narrow::nearestEven, false>(values[i]);
  return hn::Load(FloatWords(), words);
#else
  const hn::Rebind<hwy::float16_t, Floats> half;
  const auto bits = hn::BitCast(FloatHalves(), hn::DemoteTo(half, numbers));
  const auto isNaN = hn::RebindMask(FloatWords(), hn::IsNaN(numbers));
  return hn::IfThenElse(isNaN, hn::Set(FloatWords(), 0x7fff), hn::PromoteTo(FloatWords(), bits));
#endif
}

/// The nearest f16 (even); NaN stay NaN.
HWY_INLINE hn::Vec<Floats> nearestOfHalves(hn::Vec<Floats> numbers) {
#if HWY_TARGET >= HWY_SSE4
  return numbersOfHalves(halvesOfNumbers(numbers));
#else
  const hn::Rebind<hwy::float16_t, Floats> half;
  return hn::PromoteTo(Floats(), hn::DemoteTo(half, numbers));
#endif
}

/// Whole vectors of floats to the nearest f16 (even), NaN as they are; how many.
size_t nearestHalves([[maybe_unused]] float *values, [[maybe_unused]] size_t count) {
#if HWY_TARGET >= HWY_SSE4
  return 0;
#else
  const Floats d;
  const size_t whole = count / kFloats * kFloats;
  for (size_t i = 0; i < whole; i += kFloats) {
    const auto x = hn::LoadU(d, values + i);
    hn::StoreU(hn::IfThenElse(hn::IsNaN(x), x, nearestOfHalves(x)), d, values + i);
  }
  return whole;
#endif
}

/// All elements of `registers` registers in their order.
HWY_INLINE void decodeAll(Element element, const float *table, const uint32_t *words,
                          size_t registers, float *out) {
  const size_t count = registers * 32 *
                       (element == Element::tf32 ? 1
                        : bitsOf(element) == 16  ? 2
                                                 : 4);
  const size_t done = widen(element, table, words, count, out);
  const auto *halves = reinterpret_cast<const uint16_t *>(words);
  for (size_t i = done; i < count; ++i) // f16 on old CPUs
    out[i] = lane::widen<lane::F16>(halves[i]);
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

constexpr size_t kMostDepth = 64; // of B with .sp

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
    decodeAll(Element::f16, nullptr, x.c, 2, acc);
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
  for (size_t i = narrow(acc, 128, out); i < 128; ++i)
    out[i] = uint16_t(lane::narrow<lane::F16, lane::Narrow::nearestEven, false>(acc[i]));
  return true;
}

using Doubles = hn::CappedTag<double, 8>;

/// Four even columns at `even`, four odd ones at `odd`, in vector `v` of a row.
template <class D>
HWY_INLINE hn::Vec<D> joinedRow(D d, const double *even, const double *odd, size_t v) {
  if constexpr (hn::MaxLanes(D()) == 8) {
    const hn::Half<D> four;
    return hn::Combine(d, hn::LoadU(four, odd), hn::LoadU(four, even));
  } else {
    return hn::LoadU(d, v ? odd : even);
  }
}

template <class D>
HWY_INLINE void storeRow(D d, hn::Vec<D> row, size_t v, double *even, double *odd) {
  if constexpr (hn::MaxLanes(D()) == 8) {
    const hn::Half<D> four;
    hn::StoreU(hn::LowerHalf(four, row), four, even);
    hn::StoreU(hn::UpperHalf(four, row), four, odd);
  } else {
    hn::StoreU(row, d, v ? odd : even);
  }
}

/// Every second column of a register of B, of 4 k each, to rows of four.
HWY_INLINE void fourColumns(const double *from, double *to) {
  const hn::CappedTag<double, 4> d;
  const auto c0 = hn::LoadU(d, from), c1 = hn::LoadU(d, from + 8), c2 = hn::LoadU(d, from + 16),
             c3 = hn::LoadU(d, from + 24);
  const auto even0 = hn::InterleaveLower(d, c0, c1), odd0 = hn::InterleaveUpper(d, c0, c1),
             even1 = hn::InterleaveLower(d, c2, c3), odd1 = hn::InterleaveUpper(d, c2, c3);
  hn::StoreU(hn::ConcatLowerLower(d, even1, even0), d, to);
  hn::StoreU(hn::ConcatLowerLower(d, odd1, odd0), d, to + 4);
  hn::StoreU(hn::ConcatUpperUpper(d, even1, even0), d, to + 8);
  hn::StoreU(hn::ConcatUpperUpper(d, odd1, odd0), d, to + 12);
}

/// Registers of A are 8 rows of 4 k, of B 8 columns of 4 k, of C the even and the odd columns of 8
/// rows. Here a row of D is its even and then its odd columns.
bool doubles(size_t halves, size_t k, const double *a, const double *b, const double *c,
             double *out) {
  if (HWY_TARGET >= HWY_SSE4) // MulAdd rounds twice
    return false;
  const Doubles d;
  constexpr size_t kLanesHere = hn::MaxLanes(Doubles()), kVectors = 8 / kLanesHere,
                   kRowsAtOnce = 8 / kVectors, kMostDepthHere = 16;
  HWY_ALIGN double even[kMostDepthHere * 4], odd[kMostDepthHere * 4];
  for (size_t i = 0; i < k / 4; ++i) {
    fourColumns(b + i * 32, even + i * 16);
    fourColumns(b + i * 32 + 4, odd + i * 16);
  }
  for (size_t half = 0; half < halves; ++half)
    for (size_t row = 0; row < 8; row += kRowsAtOnce) {
      const size_t place = half * 64 + row * 4;
      hn::Vec<Doubles> acc[kRowsAtOnce][kVectors];
      for (size_t r = 0; r < kRowsAtOnce; ++r)
        for (size_t v = 0; v < kVectors; ++v)
          acc[r][v] = joinedRow(d, c + place + r * 4, c + place + 32 + r * 4, v);
      for (size_t n = 0; n < k; ++n) {
        const double *factors = a + (n / 4 * halves + half) * 32 + row * 4 + n % 4;
        for (size_t v = 0; v < kVectors; ++v) {
          const auto column = joinedRow(d, even + n * 4, odd + n * 4, v);
          for (size_t r = 0; r < kRowsAtOnce; ++r)
            acc[r][v] = hn::MulAdd(hn::Set(d, factors[r * 4]), column, acc[r][v]);
        }
      }
      for (size_t r = 0; r < kRowsAtOnce; ++r)
        for (size_t v = 0; v < kVectors; ++v)
          storeRow(d, acc[r][v], v, out + place + r * 4, out + place + 32 + r * 4);
    }
  return true;
}
