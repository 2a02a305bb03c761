// Fragments of m16n8. Part of tile.cpp, inside its namespace, once for each CPU level: no guard.
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

/// Registers of elements of A for k.
HWY_INLINE size_t rowRegisters(Element element, size_t k) {
  return 16 * k / (element == Element::tf32 ? 32 : bitsOf(element) == 16 ? 64 : 128);
}

void rows(Element element, const float *table, size_t k, const uint32_t *words, float *out) {
  HWY_ALIGN float raw[16 * kMostDepth];
  const size_t registers = rowRegisters(element, k), step = k * 2 / registers;
  decodeAll(element, table, words, registers, raw);
  const hn::FixedTag<float, 4> d;
  for (size_t s = 0; s < k / step; ++s)
    for (size_t row = 0; row < 16; ++row)
      for (size_t q = 0; q < step / 4; ++q)
        hn::StoreU(hn::LoadU(d, raw + (s * 16 + row) * step + 4 * q), d,
                   out + (row / 8 * (k / 4) + s * (step / 4) + q) * 32 + row % 8 * 4);
}

void columns(Element element, const float *table, size_t k, const uint32_t *words, float *out) {
  HWY_ALIGN float raw[8 * kMostDepth], b[8 * kMostDepth];
  const size_t registers = rowRegisters(element, k), step = k * 2 / registers;
  decodeAll(element, table, words, registers / 2, raw);
  for (size_t s = 0; s < k / step; ++s)
    transpose(raw + s * 8 * step, ptrdiff_t(step), 8, step, b + s * step * 8, 8);
  const hn::FixedTag<float, 4> d;
  for (size_t i = 0; i < k; ++i) {
    const auto low = hn::LoadU(d, b + i * 8), high = hn::LoadU(d, b + i * 8 + 4);
    hn::StoreU(hn::ConcatEven(d, high, low), d, out + i * 8);
    hn::StoreU(hn::ConcatOdd(d, high, low), d, out + i * 8 + 4);
  }
}

using Lanes = hn::CappedTag<float, 16>;
constexpr size_t kLaneVectors = 32 / hn::MaxLanes(Lanes());

template <int kInBlock>
HWY_INLINE void preparedStep(const float *rowsOfStep, const float *columnsOfStep,
                             hn::Vec<Lanes> (&acc)[2][kLaneVectors]) {
  const Lanes d;
  const auto even = hn::LoadDup128(d, columnsOfStep + kInBlock * 8),
             odd = hn::LoadDup128(d, columnsOfStep + kInBlock * 8 + 4);
  for (size_t v = 0; v < kLaneVectors; ++v) {
    const auto a = hn::Broadcast<kInBlock>(hn::LoadU(d, rowsOfStep + v * hn::MaxLanes(d)));
    acc[0][v] = hn::MulAdd(a, even, acc[0][v]);
    acc[1][v] = hn::MulAdd(a, odd, acc[1][v]);
  }
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

void prepared(const Sum &sum, size_t k, const float *rows, const float *columns, const float *c,
              float *out) {
#if HWY_TARGET >= HWY_SSE4
  if (!sum.hasExactProducts)
    return preparedOneByOne(k, rows, columns, c, out);
#else
  (void)sum;
#endif
  const Lanes d;
  const auto nan = hn::BitCast(d, hn::Set(hn::RebindToUnsigned<Lanes>(), kNaNBits));
  for (size_t half = 0; half < 2; ++half) {
    hn::Vec<Lanes> acc[2][kLaneVectors];
    for (size_t parity = 0; parity < 2; ++parity)
      for (size_t v = 0; v < kLaneVectors; ++v)
        acc[parity][v] = hn::LoadU(d, c + (2 * half + parity) * 32 + v * hn::MaxLanes(d));
    const float *rowsOfHalf = rows + half * (k / 4) * 32;
    for (size_t q = 0; q < k / 4; ++q) {
      preparedStep<0>(rowsOfHalf + q * 32, columns + q * 32, acc);
      preparedStep<1>(rowsOfHalf + q * 32, columns + q * 32, acc);
      preparedStep<2>(rowsOfHalf + q * 32, columns + q * 32, acc);
      preparedStep<3>(rowsOfHalf + q * 32, columns + q * 32, acc);
    }
    for (size_t parity = 0; parity < 2; ++parity)
      for (size_t v = 0; v < kLaneVectors; ++v) {
        const auto x = acc[parity][v];
        hn::StoreU(hn::IfThenElse(hn::IsNaN(x), nan, x), d,
                   out + (2 * half + parity) * 32 + v * hn::MaxLanes(d));
      }
  }
}
