// Transposition. Part of tile.cpp, inside its namespace, once for each CPU level: no guard.

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
