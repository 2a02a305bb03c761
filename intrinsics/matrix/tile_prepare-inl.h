// Rows and columns of floats out of pieces of 16 bytes along k. Part of tile.cpp, inside its
// namespace, once for each CPU level: no guard.

/// Numbers of 16 bits: of 8 k, and of the next 8 k where vectors are long enough.
using Numbers16 = hn::CappedTag<uint16_t, 16>;
using EightNumbers = hn::FixedTag<uint16_t, 8>;
using FourFloats = hn::FixedTag<float, 4>;
constexpr size_t kRuns = hn::MaxLanes(Numbers16()) / 8; ///< of 8 k, in a vector

enum class Width { half, bfloat, byte };

/// Formats of 8 bits and less in bytes, as f16 with another exponent bias: sign and magnitude go up
/// by `signUp` and `magnitudeUp`, the number is `scale` times as large.
struct ByteFormat {
  uint16_t sign, magnitude;
  int signUp, magnitudeUp;
  float scale;
  bool hasNaN; ///< all bits of the magnitude
};

HWY_INLINE ByteFormat byteFormat(Element element) {
  switch (element) {
  case Element::e4m3:
    return {0x80, 0x7f, 8, 7, 0x1p8f, true};
  case Element::e5m2:
    return {0x80, 0x7f, 8, 8, 1, false};
  case Element::e3m2:
    return {0x20, 0x1f, 10, 8, 0x1p12f, false};
  case Element::e2m3:
    return {0x20, 0x1f, 10, 7, 0x1p14f, false};
  default: // e2m1, in the middle of its byte
    return {0x20, 0x1c, 10, 7, 0x1p14f, false};
  }
}

/// The f16 whose `scale`-fold a format's numbers are, of those numbers in words of 16 bits.
template <class D> HWY_INLINE hn::Vec<D> halvesOfBytes(D d, const ByteFormat &f, hn::Vec<D> in) {
  const auto magnitude = hn::And(in, hn::Set(d, f.magnitude));
  const auto bits = hn::Or(hn::ShiftLeftSame(hn::And(in, hn::Set(d, f.sign)), f.signUp),
                           hn::ShiftLeftSame(magnitude, f.magnitudeUp));
  const auto isNaN = hn::Eq(magnitude, hn::Set(d, f.magnitude));
  return f.hasNaN ? hn::IfThenElse(isNaN, hn::Set(d, uint16_t{0x7fff}), bits) : bits;
}

HWY_INLINE const uint8_t *pieceOf(const Pieces &p, size_t piece, size_t row) {
  return reinterpret_cast<const uint8_t *>(p.base) + p.places[piece * 8 + row];
}

/// Numbers of a row from 8 * run on; what lies behind the last of `runs` is any.
template <Width width, class D>
HWY_INLINE hn::Vec<D> numbersAt(D d, const ByteFormat &format, const Pieces &p, size_t row,
                                size_t run, size_t runs) {
  if constexpr (width == Width::byte) {
    const hn::Rebind<uint8_t, D> bytes;
    const uint8_t *from = pieceOf(p, run / 2, row) + run % 2 * 8;
    return halvesOfBytes(d, format, hn::PromoteTo(d, hn::LoadU(bytes, from)));
  } else {
    const EightNumbers eight;
    const auto load = [&](size_t piece) {
      return hn::LoadU(eight, reinterpret_cast<const uint16_t *>(pieceOf(p, piece, row)));
    };
    if constexpr (hn::MaxLanes(D()) == 16)
      return hn::Combine(d, load(HWY_MIN(run + 1, runs - 1)), load(run));
    else
      return load(run);
  }
}

#if HWY_TARGET < HWY_SSE4
template <Width width, class D>
HWY_INLINE hn::Vec<D> floatsOf(D d, const ByteFormat &format,
                               hn::Vec<hn::Rebind<uint16_t, D>> numbers) {
  if constexpr (width == Width::bfloat) {
    const hn::RebindToUnsigned<D> words;
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(words, numbers)));
  } else {
    const hn::Rebind<hwy::float16_t, D> halves;
    const auto floats = hn::PromoteTo(d, hn::BitCast(halves, numbers));
    return width == Width::byte ? hn::Mul(floats, hn::Set(d, format.scale)) : floats;
  }
}
#endif

/// The same as floats, 8 of them, at `low` the first four and at `high` the others.
template <Width width>
HWY_INLINE void storeEightFloats(const ByteFormat &format, hn::Vec<EightNumbers> numbers,
                                 float *low, float *high) {
  const FourFloats four;
#if HWY_TARGET >= HWY_SSE4 // Highway's substitutes for f16 know no infinities
  HWY_ALIGN uint16_t bits[8];
  hn::Store(numbers, EightNumbers(), bits);
  for (size_t i = 0; i < 8; ++i) {
    const float number =
        width == Width::bfloat ? lane::widenBf16(bits[i]) : lane::widen<lane::F16>(bits[i]);
    (i < 4 ? low : high)[i % 4] = width == Width::byte ? number * format.scale : number;
  }
  (void)four;
#else
  const hn::FixedTag<float, 8> d;
  const auto floats = floatsOf<width>(d, format, numbers);
  if (high == low + 4)
    return hn::StoreU(floats, d, low);
  hn::StoreU(hn::LowerHalf(four, floats), four, low);
  hn::StoreU(hn::UpperHalf(four, floats), four, high);
#endif
}

/// The first or the second run of a vector.
template <size_t run, class D> HWY_INLINE hn::Vec<EightNumbers> runOf(D, hn::Vec<D> numbers) {
  if constexpr (hn::MaxLanes(D()) == 8)
    return numbers;
  else if constexpr (run == 0)
    return hn::LowerHalf(hn::Half<D>(), numbers);
  else
    return hn::UpperHalf(hn::Half<D>(), numbers);
}

/// In each run: from 8 k of each column to the columns of each k.
HWY_INLINE void transposeRuns(hn::Vec<Numbers16> (&x)[8]) {
  const Numbers16 d;
  hn::Vec<Numbers16> pairs[8], fours[8];
  for (size_t i = 0; i < 4; ++i) {
    pairs[i] = hn::InterleaveLower(d, x[i], x[i + 4]);
    pairs[i + 4] = hn::InterleaveUpper(d, x[i], x[i + 4]);
  }
  for (size_t i = 0; i < 8; i += 4)
    for (size_t j = 0; j < 2; ++j) {
      fours[i + j] = hn::InterleaveLower(d, pairs[i + j], pairs[i + j + 2]);
      fours[i + j + 2] = hn::InterleaveUpper(d, pairs[i + j], pairs[i + j + 2]);
    }
  for (size_t i = 0; i < 8; i += 2) {
    x[i] = hn::InterleaveLower(d, fours[i], fours[i + 1]);
    x[i + 1] = hn::InterleaveUpper(d, fours[i], fours[i + 1]);
  }
}

/// Where 8 rows go: number i of row r to out[r * row + i / 8 * run + i % 8 / 4 * four + i % 4].
struct RowLayout {
  size_t row, run, four;
};
constexpr RowLayout kPanelRows = {4, 64, 32};
/// Where 8 columns go: number i of column c to out[i * pitch + c], or, `isPanel`, to the even ones'
/// half or the odd ones'.
struct ColumnLayout {
  size_t pitch;
  bool isPanel;
  constexpr size_t columnAt(size_t place) const {
    return isPanel ? place % 4 * 2 + place / 4 : place;
  }
};

#if HWY_TARGET <= HWY_AVX3 // a vector has a piece of four rows

using LongNumbers = hn::FixedTag<uint16_t, 32>;
using LongFloats = hn::FixedTag<float, 16>;

/// 8 k of four rows from `row` on.
template <Width width>
HWY_INLINE hn::Vec<LongNumbers> numbersOfFour(const ByteFormat &format, const Pieces &p, size_t row,
                                              size_t run) {
  const LongNumbers d;
  const hn::Half<LongNumbers> two;
  const size_t piece = width == Width::byte ? run / 2 : run;
  const auto at = [&](size_t i) {
    return reinterpret_cast<const uint16_t *>(pieceOf(p, piece, row + i));
  };
  hn::Vec<LongNumbers> in;
  if (p.areOnEnd) {
    in = hn::LoadU(d, at(0));
  } else {
    const EightNumbers one;
    in = hn::Combine(d, hn::Combine(two, hn::LoadU(one, at(3)), hn::LoadU(one, at(2))),
                     hn::Combine(two, hn::LoadU(one, at(1)), hn::LoadU(one, at(0))));
  }
  if constexpr (width == Width::byte) {
    const hn::FixedTag<uint8_t, 64> bytes;
    const auto packed = hn::BitCast(bytes, in), zero = hn::Zero(bytes);
    const auto wide = run % 2 == 0 ? hn::InterleaveLower(bytes, packed, zero)
                                   : hn::InterleaveUpper(bytes, packed, zero);
    in = halvesOfBytes(d, format, hn::BitCast(d, wide));
  }
  return in;
}

/// Where a number is that goes to place i % 8 of k = first + i / 8: of two vectors of four columns.
struct ColumnsByK {
  HWY_ALIGN uint16_t of[2][32];
  constexpr explicit ColumnsByK(ColumnLayout to) : of{} {
    for (size_t k = 0; k < 8; ++k)
      for (size_t place = 0; place < 8; ++place) {
        const size_t column = to.columnAt(place);
        of[k / 4][k % 4 * 8 + place] = uint16_t(column / 4 * 32 + column % 4 * 8 + k);
      }
  }
};

template <Width width>
HWY_INLINE void columnsOf(const ByteFormat &format, size_t k, const Pieces &p,
                          const ColumnLayout &to, float *out) {
  static constexpr ColumnsByK kPanel(ColumnLayout{8, true}), kPlain(ColumnLayout{8, false});
  const LongNumbers d;
  const hn::FixedTag<float, 8> eight;
  const ColumnsByK &order = to.isPanel ? kPanel : kPlain;
  for (size_t run = 0; run < k / 8; ++run) {
    const auto low = numbersOfFour<width>(format, p, 0, run),
               high = numbersOfFour<width>(format, p, 4, run);
    for (const auto &of : order.of) {
      const hn::Vec<LongNumbers> byK{
          _mm512_permutex2var_epi16(low.raw, hn::Load(d, of).raw, high.raw)};
      for (const auto &two : {hn::LowerHalf(byK), hn::UpperHalf(hn::Half<LongNumbers>(), byK)}) {
        const auto floats = floatsOf<width>(LongFloats(), format, two);
        hn::StoreU(hn::LowerHalf(floats), eight, out);
        hn::StoreU(hn::UpperHalf(eight, floats), eight, out + to.pitch);
        out += 2 * to.pitch;
      }
    }
  }
}

/// Rows in panels: number i of row r to out[i / 4 * 32 + r * 4 + i % 4].
template <Width width>
HWY_INLINE void panelRowsOf(const ByteFormat &format, size_t k, const Pieces &p, float *out) {
  const LongFloats d;
  const hn::FixedTag<uint64_t, 8> fours;
  HWY_ALIGN static constexpr uint64_t kFirstAndSecond[8] = {0, 2, 4, 6, 1, 3, 5, 7};
  for (size_t run = 0; run < k / 8; ++run, out += 64)
    for (size_t row = 0; row < 8; row += 4) {
      const auto numbers = hn::BitCast(fours, numbersOfFour<width>(format, p, row, run));
      const auto parted =
          hn::BitCast(LongNumbers(),
                      hn::TableLookupLanes(numbers, hn::SetTableIndices(fours, kFirstAndSecond)));
      hn::StoreU(floatsOf<width>(d, format, hn::LowerHalf(parted)), d, out + row * 4);
      hn::StoreU(floatsOf<width>(d, format, hn::UpperHalf(hn::Half<LongNumbers>(), parted)), d,
                 out + 32 + row * 4);
    }
}

#else
template <Width width>
HWY_INLINE void columnsOf(const ByteFormat &format, size_t k, const Pieces &p,
                          const ColumnLayout &to, float *out) {
  const Numbers16 d;
  const size_t runs = k / 8;
  const auto store = [&](hn::Vec<EightNumbers> numbers, size_t i) {
    float *at = out + i * to.pitch;
    storeEightFloats<width>(format, numbers, at, at + 4);
  };
  for (size_t run = 0; run < runs; run += kRuns, out += kRuns * 8 * to.pitch) {
    hn::Vec<Numbers16> x[8];
    for (size_t i = 0; i < 8; ++i)
      x[i] = numbersAt<width>(d, format, p, to.columnAt(i), run, runs);
    transposeRuns(x);
    for (size_t i = 0; i < 8; ++i)
      store(runOf<0>(d, x[i]), i);
    for (size_t i = 0; i < 8 && kRuns == 2 && run + 1 < runs; ++i)
      store(runOf<1>(d, x[i]), 8 + i);
  }
}

#endif

template <Width width>
HWY_INLINE void rowsOf(const ByteFormat &format, size_t k, const Pieces &p, const RowLayout &to,
                       float *out) {
#if HWY_TARGET <= HWY_AVX3
  if (to.four == kPanelRows.four)
    return panelRowsOf<width>(format, k, p, out);
#endif
  const Numbers16 d;
  const size_t runs = k / 8;
  for (size_t run = 0; run < runs; run += kRuns, out += kRuns * to.run)
    for (size_t row = 0; row < 8; ++row) {
      const auto numbers = numbersAt<width>(d, format, p, row, run, runs);
      float *at = out + row * to.row;
      storeEightFloats<width>(format, runOf<0>(d, numbers), at, at + to.four);
      at += to.run;
      if (kRuns == 2 && run + 1 < runs)
        storeEightFloats<width>(format, runOf<1>(d, numbers), at, at + to.four);
    }
}

/// A piece of tf32.
HWY_INLINE hn::Vec<FourFloats> fourAt(const Pieces &p, size_t row, size_t piece) {
  const hn::FixedTag<uint32_t, 4> words;
  const auto bits = hn::LoadU(words, reinterpret_cast<const uint32_t *>(pieceOf(p, piece, row)));
  return hn::BitCast(FourFloats(), hn::And(bits, hn::Set(words, 0xffffe000u)));
}

HWY_INLINE void rowsOfWords(size_t k, const Pieces &p, const RowLayout &to, float *out) {
  for (size_t piece = 0; piece < k / 4; ++piece)
    for (size_t row = 0; row < 8; ++row)
      hn::StoreU(fourAt(p, row, piece), FourFloats(),
                 out + row * to.row + piece / 2 * to.run + piece % 2 * to.four);
}

HWY_INLINE void columnsOfWords(size_t k, const Pieces &p, const ColumnLayout &to, float *out) {
  HWY_ALIGN float four[4 * 4];
  for (size_t piece = 0; piece < k / 4; ++piece, out += 4 * to.pitch)
    for (size_t half = 0; half < 8; half += 4) {
      for (size_t i = 0; i < 4; ++i)
        hn::Store(fourAt(p, to.columnAt(half + i), piece), FourFloats(), four + 4 * i);
      transpose(four, 4, 4, 4, out + half, ptrdiff_t(to.pitch));
    }
}

HWY_INLINE void rowBlock(Element element, size_t k, const Pieces &p, const RowLayout &to,
                         float *out) {
  switch (element) {
  case Element::tf32:
    return rowsOfWords(k, p, to, out);
  case Element::f16:
    return rowsOf<Width::half>({}, k, p, to, out);
  case Element::bf16:
    return rowsOf<Width::bfloat>({}, k, p, to, out);
  default:
    return rowsOf<Width::byte>(byteFormat(element), k, p, to, out);
  }
}

HWY_INLINE void columnBlock(Element element, size_t k, const Pieces &p, const ColumnLayout &to,
                            float *out) {
  switch (element) {
  case Element::tf32:
    return columnsOfWords(k, p, to, out);
  case Element::f16:
    return columnsOf<Width::half>({}, k, p, to, out);
  case Element::bf16:
    return columnsOf<Width::bfloat>({}, k, p, to, out);
  default:
    return columnsOf<Width::byte>(byteFormat(element), k, p, to, out);
  }
}

void rows(Element element, size_t k, const Pieces *halves, size_t count, float *out, size_t pitch) {
  for (size_t half = 0; half < 2 * count; ++half)
    rowBlock(element, k, halves[half], kPanelRows, out + half / 2 * pitch + half % 2 * 8 * k);
}

void columns(Element element, size_t k, const Pieces *blocks, size_t count, float *out,
             size_t pitch) {
  for (size_t i = 0; i < count; ++i)
    columnBlock(element, k, blocks[i], {8, true}, out + i * pitch);
}

void matrixRows(Element element, size_t k, const Pieces *blocks, size_t count, float *out,
                size_t pitch) {
  for (size_t i = 0; i < count; ++i)
    rowBlock(element, k, blocks[i], {pitch, 8, 4}, out + 8 * i * pitch);
}

void matrixColumns(Element element, size_t k, const Pieces *blocks, size_t count, float *out,
                   size_t pitch) {
  for (size_t i = 0; i < count; ++i)
    columnBlock(element, k, blocks[i], {pitch, false}, out + 8 * i);
}
