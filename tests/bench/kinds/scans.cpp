// Scans and compaction.
#include <algorithm>

#include "tests/bench/kinds/kinds.h"

namespace ptxrun::bench::kinds {
namespace {

constexpr int kCount = 1 << 20;

void scanParts(size_t parts, size_t length, bool isExclusive, const int *x, int *__restrict y) {
  for (size_t p = 0; p < parts; ++p) {
    int sum = 0;
    for (size_t i = p * length; i < (p + 1) * length; ++i) {
      y[i] = isExclusive ? sum : sum + x[i];
      sum += x[i];
    }
  }
}

/// Blocks of 256 threads scan `length` numbers each.
void blocks(Kinds::Group &group, size_t length, bool isExclusive) {
  Data<int> x(kCount), y(kCount);
  fill(x, 1, 0, 100);
  group.measure({.grid = {static_cast<unsigned>(kCount / length)},
                 .block = {256},
                 .arguments = args(x, y),
                 .loop = [&] { scanParts(kCount / length, length, isExclusive, x.get(), y.get()); },
                 .outputs = {bits(y)},
                 .shared = 2048});
}
void blelloch(Kinds::Group &group) { blocks(group, 512, true); }
void inclusive(Kinds::Group &group) { blocks(group, 256, false); }

void lookBackScan(Kinds::Group &group) {
  constexpr int n = 4 * kCount, parts = n / 1024;
  Data<int> x(n), y(n), flags(parts), sums(parts), prefixes(parts);
  Data<unsigned> tickets(1);
  fill(x, 1, 0, 100);
  group.measure({.grid = {parts},
                 .block = {256},
                 .arguments = args(x, y, flags, sums, prefixes, tickets),
                 .loop = [&] { scanParts(1, n, false, x.get(), y.get()); },
                 .outputs = {bits(y)},
                 .prepare =
                     [&] {
                       clearer(flags)();
                       clearer(tickets)();
                     }});
}

void ballotCompact(Kinds::Group &group) {
  constexpr int limit = 300;
  Data<int> x(kCount), y(kCount), counts(kCount / 256);
  fill(x, 2, 0, 1000);
  group.measure({.grid = {kCount / 256},
                 .block = {256},
                 .arguments = args(kCount, limit, x, y, counts),
                 .loop =
                     [&] {
                       for (int b = 0; b < kCount / 256; ++b) {
                         int count = 0;
                         for (int i = b * 256; i < (b + 1) * 256; ++i) {
                           y[b * 256 + count] = x[i]; // overwritten unless it passes
                           count += x[i] < limit;
                         }
                         counts[b] = count;
                         std::fill(y.get() + b * 256 + count, y.get() + (b + 1) * 256, 0);
                       }
                     },
                 .outputs = {bits(y), bits(counts)}});
}

void aggregatedFilter(Kinds::Group &group) {
  constexpr int limit = 300;
  Data<int> x(kCount), y(kCount), count(1);
  fill(x, 2, 0, 1000);
  group.measure({.grid = {kCount / 256},
                 .block = {256},
                 .arguments = args(kCount, limit, x, y, count),
                 .loop =
                     [&] {
                       int kept = 0;
                       for (int i = 0; i < kCount; ++i) {
                         y[kept] = x[i];
                         kept += x[i] < limit;
                       }
                       count[0] = kept;
                     },
                 .outputs = {bits(count)},
                 .prepare = clearer(count)});
}

void runLength(Kinds::Group &group) {
  Data<int> x(kCount), values(kCount), starts(kCount), counts(kCount / 256);
  fill(x, 3, 0, 3);
  group.measure({.grid = {kCount / 256},
                 .block = {256},
                 .arguments = args(x, values, starts, counts),
                 .loop =
                     [&] {
                       for (int base = 0; base < kCount; base += 256) {
                         int runs = 0;
                         for (int t = 0; t < 256; ++t)
                           if (t == 0 || x[base + t - 1] != x[base + t]) {
                             values[base + runs] = x[base + t];
                             starts[base + runs++] = t;
                           }
                         counts[base / 256] = runs;
                       }
                     },
                 .outputs = {bits(values), bits(starts), bits(counts)}});
}

void segmentedScan(Kinds::Group &group) {
  Data<uint8_t> begins(kCount);
  Data<float> x(kCount), y(kCount);
  fill(x, 4, -1, 1);
  fill(begins, 5, 0, 1.2);
  group.measure({.grid = {kCount / 256},
                 .block = {256},
                 .arguments = args(begins, x, y),
                 .loop =
                     [&] {
                       float sum = 0;
                       for (int i = 0; i < kCount; ++i) {
                         sum = (begins[i] || i % 32 == 0 ? 0 : sum) + x[i];
                         y[i] = sum;
                       }
                     },
                 .outputs = {near(y, 1e-4)}});
}

} // namespace

void measureScans(Kinds &kinds) {
  kinds.measureAll("scans", {{"blelloch", blelloch},
                             {"hillisSteele", inclusive},
                             {"shuffleScan", inclusive},
                             {"lookBackScan", lookBackScan},
                             {"ballotCompact", ballotCompact},
                             {"aggregatedFilter", aggregatedFilter},
                             {"runLength", runLength},
                             {"segmentedScan", segmentedScan}});
}

} // namespace ptxrun::bench::kinds
