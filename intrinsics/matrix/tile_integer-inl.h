// Products of bytes. Part of tile.cpp, inside its namespace, once for each CPU level: no guard.
//
// The CPU multiplies unsigned bytes by signed ones. Signed elements of A have 128 added, unsigned
// ones of B have 128 subtracted; what that adds to a sum is taken away by row and by column:
//   ab = (a + 128)(b - 128) + 128 a - 128 b + 128^2

using Lanes32 = hn::RebindToSigned<Lanes>;

/// acc + the sum of the four products of bytes in each word, `a` unsigned and `b` signed.
template <class D>
HWY_INLINE hn::Vec<D> addProducts(D d, hn::Vec<D> acc, hn::Vec<D> a, hn::Vec<D> b) {
  const hn::Repartition<int16_t, D> halves;
  const hn::Repartition<uint16_t, D> unsignedHalves;
  const auto a16 = hn::BitCast(unsignedHalves, a);
  const auto b16 = hn::BitCast(halves, b);
  const auto evenA = hn::BitCast(halves, hn::And(a16, hn::Set(unsignedHalves, 0xff))),
             oddA = hn::BitCast(halves, hn::ShiftRight<8>(a16));
  const auto evenB = hn::ShiftRight<8>(hn::ShiftLeft<8>(b16)), oddB = hn::ShiftRight<8>(b16);
  auto rest = hn::Zero(d); // stays zero on x86
  acc = hn::ReorderWidenMulAccumulate(d, evenA, evenB, acc, rest);
  acc = hn::ReorderWidenMulAccumulate(d, oddA, oddB, acc, rest);
  return hn::Add(acc, rest);
}

/// c + sum modulo 2^32, or the nearest i32.
template <class D>
HWY_INLINE hn::Vec<D> addTo(D d, hn::Vec<D> c, hn::Vec<D> sum, bool isSaturating) {
  const auto total = hn::Add(c, sum);
  if (!isSaturating)
    return total;
  const auto overflows = hn::And(hn::Xor(total, c), hn::Xor(total, sum));
  const auto limit = hn::Xor(hn::ShiftRight<31>(c), hn::Set(d, INT32_MAX));
  return hn::IfThenElse(hn::Lt(overflows, hn::Zero(d)), limit, total);
}

constexpr uint32_t kTopBits = 0x80808080u;

/// Registers of A (8 rows of 16 bytes: rows 0 to 7, 8 to 15, then the next 16 k) to [half][k / 16]
/// [8 rows][4 words], unsigned; behind them what belongs to each row's sums, [half][8 rows][4
/// times].
void integerRows(bool isSigned, bool hasUnsignedB, size_t k, const uint32_t *words, int32_t *out) {
  const Lanes32 d;
  const hn::Repartition<int8_t, Lanes32> bytes;
  const size_t pieces = k / 16;
  int32_t *sums = out + 4 * k;
  for (size_t half = 0; half < 2; ++half)
    for (size_t at = 0; at < 32; at += hn::MaxLanes(d)) {
      auto sum = hn::Zero(d);
      for (size_t piece = 0; piece < pieces; ++piece) {
        const auto raw = hn::BitCast(
            d, hn::LoadU(hn::RebindToUnsigned<Lanes32>(), words + (2 * piece + half) * 32 + at));
        const auto unsigneds = isSigned ? hn::Xor(raw, hn::Set(d, int32_t(kTopBits))) : raw;
        hn::StoreU(unsigneds, d, out + (half * pieces + piece) * 32 + at);
        if (hasUnsignedB)
          sum = addProducts(d, sum, unsigneds, hn::BitCast(d, hn::Set(bytes, 1)));
      }
      if (!hasUnsignedB)
        continue;
      // The four words of a row are neighbours.
      sum = hn::Add(sum, hn::BitCast(d, hn::Shuffle1032(sum)));
      sum = hn::Add(sum, hn::BitCast(d, hn::Shuffle2301(sum)));
      const auto own = hn::Sub(sum, hn::Set(d, isSigned ? int32_t(128 * k) : 0));
      hn::StoreU(hn::ShiftLeft<7>(own), d, sums + half * 32 + at);
    }
}

// 32 lanes are two vectors, and any permutation of them one instruction.
#undef PTXRUN_MATRIX_PERMUTES
#if HWY_TARGET <= HWY_AVX3
#define PTXRUN_MATRIX_PERMUTES

using Words16 = hn::FixedTag<uint32_t, 16>;

/// A register's 32 words, two of the vectors that permutations of them make.
HWY_INLINE void permuted(const uint32_t *words, const int32_t *order, hn::Vec<Words16> &first,
                         hn::Vec<Words16> &second) {
  const Words16 d;
  const auto low = hn::LoadU(d, words), high = hn::LoadU(d, words + 16);
  const auto lookUp = [&](const int32_t *from) {
    return hn::Vec<Words16>{_mm512_permutex2var_epi32(low.raw, _mm512_load_si512(from), high.raw)};
  };
  first = lookUp(order);
  second = lookUp(order + 16);
}

/// Words of 8 columns, even ones first, two k on end.
alignas(64) constexpr int32_t kColumnOrder[32] = {0,  8,  16, 24, 4,  12, 20, 28, 1,  9, 17,
                                                  25, 5,  13, 21, 29, 2,  10, 18, 26, 6, 14,
                                                  22, 30, 3,  11, 19, 27, 7,  15, 23, 31};

/// Sums of the four signed bytes of each word, added to acc.
HWY_INLINE __m512i addBytes(__m512i acc, __m512i bytes) {
  const __m512i pairs = _mm512_maddubs_epi16(_mm512_set1_epi8(1), bytes);
  return _mm512_add_epi32(acc, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
}

/// As integerColumns() below: a vector has two words of each column.
HWY_INLINE void integerColumnsByPermutation(uint32_t flipped, bool hasSignedA, size_t k,
                                            const uint32_t *words, int32_t *out) {
  const Words16 d;
  __m512i sums = _mm512_setzero_si512();
  for (size_t i = 0; i < k / 16; ++i, words += 32) {
    hn::Vec<Words16> pair[2];
    permuted(words, kColumnOrder, pair[0], pair[1]);
    for (size_t g = 0; g < 2; ++g) {
      const auto numbers = hn::Xor(pair[g], hn::Set(d, flipped));
      _mm512_storeu_si512(out + i * 32 + g * 16, numbers.raw);
      sums = addBytes(sums, numbers.raw);
    }
  }
  const __m256i sum =
      _mm256_add_epi32(_mm512_castsi512_si256(sums), _mm512_extracti64x4_epi64(sums, 1));
  const __m256i own = _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_slli_epi32(sum, 7));
  _mm256_storeu_si256(reinterpret_cast<__m256i *>(out + 2 * k),
                      hasSignedA ? own : _mm256_setzero_si256());
}
#endif

/// Registers of B (8 columns of 16 bytes) to [k / 4][even 4, odd 4] words, signed; behind them what
/// belongs to each column's sums.
void integerColumns(bool isSigned, bool hasSignedA, size_t k, const uint32_t *words, int32_t *out) {
#ifdef PTXRUN_MATRIX_PERMUTES
  return integerColumnsByPermutation(isSigned ? 0 : kTopBits, hasSignedA, k, words, out);
#else
  const hn::FixedTag<int32_t, 4> d;
  const hn::FixedTag<int8_t, 16> bytes;
  auto evenSum = hn::Zero(d), oddSum = evenSum;
  for (size_t q = 0; q < k / 4; ++q) {
    const uint32_t *from = words + q / 4 * 32 + q % 4;
    alignas(16) uint32_t of[8];
    for (size_t n = 0; n < 8; ++n)
      of[n % 2 * 4 + n / 2] = from[4 * n] ^ (isSigned ? 0 : kTopBits);
    const auto even = hn::BitCast(d, hn::Load(hn::FixedTag<uint32_t, 4>(), of)),
               odd = hn::BitCast(d, hn::Load(hn::FixedTag<uint32_t, 4>(), of + 4));
    hn::StoreU(even, d, out + q * 8);
    hn::StoreU(odd, d, out + q * 8 + 4);
    const auto ones = hn::BitCast(d, hn::Set(bytes, 1));
    evenSum = addProducts(d, evenSum, ones, even);
    oddSum = addProducts(d, oddSum, ones, odd);
  }
  // -128 b + 128^2 for each, b as it was: -128 (b - 128) of what lies here.
  const auto correction = [&](auto sum) {
    return hasSignedA ? hn::Neg(hn::ShiftLeft<7>(sum)) : hn::Zero(d);
  };
  hn::StoreU(correction(evenSum), d, out + 2 * k);
  hn::StoreU(correction(oddSum), d, out + 2 * k + 4);
#endif
}

template <int kInBlock>
HWY_INLINE void integerStep(const int32_t *const *rows, const int32_t *columns,
                            hn::Vec<Lanes32> (&acc)[2][kPanelVectors]) {
  const Lanes32 d;
  const Lanes df;
  const auto even = hn::LoadDup128(d, columns + kInBlock * 8),
             odd = hn::LoadDup128(d, columns + kInBlock * 8 + 4);
  for (size_t v = 0; v < kPanelVectors; ++v) {
    const auto four = hn::LoadU(d, rows[v / kLaneVectors] + v % kLaneVectors * hn::MaxLanes(d));
    const auto a = hn::BitCast(d, hn::Broadcast<kInBlock>(hn::BitCast(df, four)));
    acc[0][v] = addProducts(d, acc[0][v], a, even);
    acc[1][v] = addProducts(d, acc[1][v], a, odd);
  }
}

/// One instruction of one block of columns.
HWY_INLINE void integerBlock(size_t k, bool hasUnsignedB, bool isSaturating, const int32_t *rows,
                             const int32_t *columns, int32_t *out) {
  const Lanes32 d;
  const size_t pieces = k / 16;
  constexpr size_t kHalves = 2 * kLaneVectors / kPanelVectors;
  for (size_t half = 0; half < kHalves; ++half) {
    hn::Vec<Lanes32> acc[2][kPanelVectors];
    for (size_t v = 0; v < kPanelVectors; ++v) {
      const int32_t *ofRows =
          rows + 4 * k + (half + v / kLaneVectors) * 32 + v % kLaneVectors * hn::MaxLanes(d);
      const auto own = hasUnsignedB ? hn::LoadU(d, ofRows) : hn::Zero(d);
      acc[0][v] = hn::Add(own, hn::LoadDup128(d, columns + 2 * k));
      acc[1][v] = hn::Add(own, hn::LoadDup128(d, columns + 2 * k + 4));
    }
    for (size_t piece = 0; piece < pieces; ++piece) {
      const int32_t *at[2] = {rows + (half * pieces + piece) * 32, rows + (pieces + piece) * 32};
      integerStep<0>(at, columns + piece * 32, acc);
      integerStep<1>(at, columns + piece * 32, acc);
      integerStep<2>(at, columns + piece * 32, acc);
      integerStep<3>(at, columns + piece * 32, acc);
    }
    for (size_t parity = 0; parity < 2; ++parity)
      for (size_t v = 0; v < kPanelVectors; ++v) {
        int32_t *to = out + panelPlace(half, parity, v);
        hn::StoreU(addTo(d, hn::LoadU(d, to), acc[parity][v], isSaturating), d, to);
      }
  }
}

void integerTiles(size_t k, bool hasUnsignedB, bool isSaturating, const PanelTiles &t) {
  for (const PanelTile *tile = t.tiles, *end = tile + t.count; tile != end; ++tile)
    for (size_t n = 0; n < tile->blocks; ++n)
      for (size_t step = 0; step < tile->steps; ++step)
        integerBlock(k, hasUnsignedB, isSaturating,
                     reinterpret_cast<const int32_t *>(t.rowsOf(*tile, step)),
                     reinterpret_cast<const int32_t *>(t.columnsOf(*tile, step, n)),
                     reinterpret_cast<int32_t *>(t.accumulatorsOf(*tile, n)));
}

template <int kInBlock, bool isXor>
HWY_INLINE void bitStep(const int32_t *const *rows, const int32_t *columns,
                        hn::Vec<hn::RebindToUnsigned<Lanes32>> (&acc)[2][kPanelVectors]) {
  const hn::RebindToUnsigned<Lanes32> d;
  const Lanes df;
  const auto *from = reinterpret_cast<const uint32_t *>(columns) + kInBlock * 8;
  const auto even = hn::LoadDup128(d, from), odd = hn::LoadDup128(d, from + 4);
  const auto count = [](auto a, auto b) {
    return hn::PopulationCount(isXor ? hn::Xor(a, b) : hn::And(a, b));
  };
  for (size_t v = 0; v < kPanelVectors; ++v) {
    const auto *at = reinterpret_cast<const uint32_t *>(rows[v / kLaneVectors]) +
                     v % kLaneVectors * hn::MaxLanes(d);
    const auto a = hn::BitCast(d, hn::Broadcast<kInBlock>(hn::BitCast(df, hn::LoadU(d, at))));
    acc[0][v] = hn::Add(acc[0][v], count(a, even));
    acc[1][v] = hn::Add(acc[1][v], count(a, odd));
  }
}

template <bool isXor>
HWY_INLINE void bitBlock(size_t k, const int32_t *rows, const int32_t *columns, uint32_t *out) {
  const hn::RebindToUnsigned<Lanes32> d;
  const size_t pieces = k / 16;
  constexpr size_t kHalves = 2 * kLaneVectors / kPanelVectors;
  for (size_t half = 0; half < kHalves; ++half) {
    hn::Vec<decltype(d)> acc[2][kPanelVectors];
    for (size_t parity = 0; parity < 2; ++parity)
      for (size_t v = 0; v < kPanelVectors; ++v)
        acc[parity][v] = hn::LoadU(d, out + panelPlace(half, parity, v));
    for (size_t piece = 0; piece < pieces; ++piece) {
      const int32_t *at[2] = {rows + (half * pieces + piece) * 32, rows + (pieces + piece) * 32};
      bitStep<0, isXor>(at, columns + piece * 32, acc);
      bitStep<1, isXor>(at, columns + piece * 32, acc);
      bitStep<2, isXor>(at, columns + piece * 32, acc);
      bitStep<3, isXor>(at, columns + piece * 32, acc);
    }
    for (size_t parity = 0; parity < 2; ++parity)
      for (size_t v = 0; v < kPanelVectors; ++v)
        hn::StoreU(acc[parity][v], d, out + panelPlace(half, parity, v));
  }
}

void bitTiles(size_t k, bool isXor, const PanelTiles &t) {
  for (const PanelTile *tile = t.tiles, *end = tile + t.count; tile != end; ++tile)
    for (size_t n = 0; n < tile->blocks; ++n)
      for (size_t step = 0; step < tile->steps; ++step) {
        const auto *rows = reinterpret_cast<const int32_t *>(t.rowsOf(*tile, step)),
                   *columns = reinterpret_cast<const int32_t *>(t.columnsOf(*tile, step, n));
        auto *out = reinterpret_cast<uint32_t *>(t.accumulatorsOf(*tile, n));
        isXor ? bitBlock<true>(k, rows, columns, out) : bitBlock<false>(k, rows, columns, out);
      }
}

/// A register has 8 rows (columns) of 32 numbers: of bytes, two registers with 16 each. A's come by
/// halves of the rows.
void nibbles(bool isSigned, bool isA, size_t registers, const uint32_t *in, uint32_t *out) {
  const hn::CappedTag<uint8_t, 64> d;
  const hn::Repartition<uint16_t, decltype(d)> pairs;
  constexpr size_t kBytes = hn::MaxLanes(hn::CappedTag<uint8_t, 64>());
  const auto low4 = hn::Set(d, 15), sign = hn::Set(d, isSigned ? 8 : 0);
  const auto number = [&](auto x) { return hn::Sub(hn::Xor(hn::And(x, low4), sign), sign); };
  for (size_t i = 0; i < registers; ++i) {
    const size_t first = isA ? i / 2 * 4 + i % 2 : 2 * i, second = first + (isA ? 2 : 1);
    for (size_t at = 0; at < 128; at += kBytes) {
      const auto both = hn::LoadU(d, reinterpret_cast<const uint8_t *>(in + i * 32) + at);
      const auto even = number(both),
                 odd = number(hn::BitCast(d, hn::ShiftRight<4>(hn::BitCast(pairs, both))));
      hn::StoreU(hn::InterleaveLower(d, even, odd), d,
                 reinterpret_cast<uint8_t *>(out + first * 32) + at);
      hn::StoreU(hn::InterleaveUpper(d, even, odd), d,
                 reinterpret_cast<uint8_t *>(out + second * 32) + at);
    }
  }
}

/// Rows of bytes times k rows of n bytes side by side, n a multiple of 8 and k of 2: pairs of k are
/// 16-bit factors.
void integerTile(const IntegerTile &t) {
  const hn::CappedTag<int32_t, 8> d;
  const hn::Repartition<int16_t, decltype(d)> halves;
  constexpr size_t kLanes32 = hn::MaxLanes(hn::CappedTag<int32_t, 8>());
  constexpr size_t kMostPairs = 256;
  HWY_ALIGN int32_t pairs[kMostPairs * kLanes32];
  const auto number = [](uint8_t byte, bool isSigned) {
    return isSigned ? int(int8_t(byte)) : int(byte);
  };
  const auto joined = [](int low, int high) {
    return int32_t(uint32_t(low & 0xffff) | uint32_t(high) << 16);
  };
  for (size_t column = 0; column < t.n; column += kLanes32) {
    for (size_t k = 0; k < t.k; k += 2)
      for (size_t j = 0; j < kLanes32; ++j) {
        const uint8_t *b = t.b + ptrdiff_t(k) * t.bRow + column + j;
        pairs[k / 2 * kLanes32 + j] =
            joined(number(*b, t.isSignedB), number(b[t.bRow], t.isSignedB));
      }
    for (size_t row = 0; row < t.m; ++row) {
      const uint8_t *a = t.a + ptrdiff_t(row) * t.aRow;
      auto sum = hn::Zero(d), rest = sum;
      for (size_t k = 0; k < t.k; k += 2) {
        const auto factor = hn::BitCast(
            halves, hn::Set(d, joined(number(a[k], t.isSignedA), number(a[k + 1], t.isSignedA))));
        sum = hn::ReorderWidenMulAccumulate(
            d, factor, hn::BitCast(halves, hn::Load(d, pairs + k / 2 * kLanes32)), sum, rest);
      }
      const auto c = hn::LoadU(d, t.c + ptrdiff_t(row) * t.cRow + column);
      hn::StoreU(addTo(d, c, hn::Add(sum, rest), t.isSaturating), d,
                 t.d + ptrdiff_t(row) * t.dRow + column);
    }
  }
}

/// placeTwoOfFour() of tile.h. chosen[places of 8 k]: bytes of the four that are there.
void twoOfFour(size_t pieces, const uint8_t *from, const uint16_t *places, const uint64_t *chosen,
               uint8_t *to) {
  const hn::FixedTag<uint8_t, 16> bytes;
  const hn::Repartition<uint64_t, decltype(bytes)> words;
  for (size_t i = 0; i < 16 * pieces; ++i) {
    uint64_t four;
    std::memcpy(&four, from + (i / 32 * 16 + i % 16) * 16 + i / 16 % 2 * 8, sizeof four);
    const auto low = hn::Set(words, chosen[places[i] & 255]),
               high = hn::Set(words, chosen[places[i] >> 8] + 0x0404040404040404u);
    const auto which = hn::BitCast(bytes, hn::InterleaveLower(words, low, high));
    hn::StoreU(hn::TableLookupBytesOr0(hn::BitCast(bytes, hn::Set(words, four)), which), bytes,
               to + 16 * i);
  }
}
