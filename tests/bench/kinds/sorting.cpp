// Sorting, merging, searching.
#include <algorithm>

#include "tests/bench/kinds/kinds.h"

namespace ptxrun::bench::kinds {
namespace {

/// Each part of `part` keys is sorted in place.
template <class T>
void sortParts(Kinds::Group &group, size_t part, unsigned threads, size_t n, uint32_t shared) {
  Data<T> keys(n);
  fill(keys, 1, 0, 2e9);
  group.measure({.grid = {static_cast<unsigned>(n / part)},
                 .block = {threads},
                 .arguments = args(keys),
                 .loop =
                     [&] {
                       for (size_t k = 0; k < n; k += part)
                         std::sort(keys.get() + k, keys.get() + k + part);
                     },
                 .outputs = {bits(keys)},
                 .prepare = restorer(keys),
                 .shared = shared});
}
void bitonicSort(Kinds::Group &group) { sortParts<unsigned>(group, 512, 256, 1 << 18, 2048); }
void oddEvenSort(Kinds::Group &group) { sortParts<int>(group, 128, 64, 1 << 17, 0); }

void radixCount(Kinds::Group &group) {
  constexpr int n = 1 << 21, blocks = n / 1024;
  const int shift = 8;
  Data<unsigned> keys(n);
  Data<int> counts(16 * blocks);
  fill(keys, 1, 0, 4e9);
  group.measure({.grid = {blocks},
                 .block = {256},
                 .arguments = args(n, shift, keys, counts),
                 .loop =
                     [&] {
                       for (int b = 0; b < blocks; ++b) {
                         int mine[16] = {};
                         for (int k = 0; k < 1024; ++k)
                           ++mine[keys[b * 1024 + k] >> shift & 15];
                         for (int d = 0; d < 16; ++d)
                           counts[d * blocks + b] = mine[d];
                       }
                     },
                 .outputs = {bits(counts)}});
}

void split(const unsigned *in, unsigned *out, int shift) {
  int at[16] = {}, sum = 0;
  for (int k = 0; k < 256; ++k)
    ++at[in[k] >> shift & 15];
  for (int &place : at)
    sum += std::exchange(place, sum);
  for (int k = 0; k < 256; ++k)
    out[at[in[k] >> shift & 15]++] = in[k];
}

void radixSplit(Kinds::Group &group) {
  constexpr int n = 1 << 20;
  const int shift = 8;
  Data<unsigned> in(n), out(n);
  fill(in, 1, 0, 4e9);
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(shift, in, out),
                 .loop =
                     [&] {
                       for (int k = 0; k < n; k += 256)
                         split(in.get() + k, out.get() + k, shift);
                     },
                 .outputs = {bits(out)}});
}

void mergePath(Kinds::Group &group) {
  constexpr int na = 1 << 19, nb = 400000;
  Data<int> a(na), b(nb), out(na + nb);
  fill(a, 1, 0, 2e9);
  fill(b, 2, 0, 2e9);
  std::sort(a.get(), a.get() + na);
  std::sort(b.get(), b.get() + nb);
  group.measure(
      {.grid = {blocksFor((na + nb + 15) / 16, 128)},
       .block = {128},
       .arguments = args(na, nb, a, b, out),
       .loop = [&] { std::merge(a.get(), a.get() + na, b.get(), b.get() + nb, out.get()); },
       .outputs = {bits(out)}});
}

void binarySearch(Kinds::Group &group) {
  constexpr int n = 1 << 17, length = 1 << 18;
  Data<int> sorted(length), wanted(n), place(n);
  fill(sorted, 1, 0, 2e9);
  fill(wanted, 2, 0, 2e9);
  std::sort(sorted.get(), sorted.get() + length);
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(n, length, sorted, wanted, place),
                 .loop =
                     [&] {
                       const int *from = sorted.get();
                       for (int i = 0; i < n; ++i) { // without branches
                         const int key = wanted[i], *at = from;
                         for (int half = length / 2; half > 0; half /= 2)
                           at += at[half - 1] < key ? half : 0;
                         place[i] = static_cast<int>(at - from) + (*at < key);
                       }
                     },
                 .outputs = {bits(place)}});
}

void rankSort(Kinds::Group &group) {
  constexpr int n = 1 << 16;
  Data<float> in(n), out(n);
  fill(in, 1, 0, 1);
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(in, out),
                 .loop =
                     [&] {
                       for (int base = 0; base < n; base += 256) {
                         const float *s = in.get() + base;
                         int place[256] = {};
                         for (int k = 0; k < 256; ++k) {
                           const float key = s[k];
#pragma omp simd
                           for (int t = 0; t < 256; ++t)
                             place[t] += (key < s[t]) | ((key == s[t]) & (k < t));
                         }
                         for (int t = 0; t < 256; ++t)
                           out[base + place[t]] = s[t];
                       }
                     },
                 .outputs = {bits(out)}});
}

} // namespace

void measureSorting(Kinds &kinds) {
  kinds.measureAll("sorting", {{"bitonicSort", bitonicSort},
                               {"oddEvenSort", oddEvenSort},
                               {"radixCount", radixCount},
                               {"radixSplit", radixSplit},
                               {"mergePath", mergePath},
                               {"binarySearch", binarySearch},
                               {"rankSort", rankSort}});
}

} // namespace ptxrun::bench::kinds
