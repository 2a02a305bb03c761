// Histograms and scattered additions.
#include <algorithm>

#include "tests/bench/kinds/kinds.h"

namespace ptxrun::bench::kinds {
namespace {

constexpr int kCount = 2 << 20;

void countBytes(size_t n, const uint8_t *x, unsigned *bins) {
  unsigned tables[4][256] = {};
  for (size_t i = 0; i < n; i += 4)
    for (size_t k = 0; k < 4; ++k)
      ++tables[k][x[i + k]];
  for (size_t bin = 0; bin < 256; ++bin)
    bins[bin] += tables[0][bin] + tables[1][bin] + tables[2][bin] + tables[3][bin];
}

void bytes(Kinds::Group &group, double values) {
  Data<uint8_t> x(4 * kCount);
  Data<unsigned> bins(256);
  fill(x, 1, 0, values);
  group.measure({.grid = {128},
                 .block = {256},
                 .arguments = args(4 * kCount, x, bins),
                 .loop = [&] { countBytes(4 * kCount, x.get(), bins.get()); },
                 .outputs = {bits(bins)},
                 .prepare = clearer(bins)});
}
void sharedHistogram(Kinds::Group &group) { bytes(group, 256); }
void crowdedHistogram(Kinds::Group &group) { bytes(group, 3); }

void words(Kinds::Group &group, unsigned shift) {
  Data<unsigned> x(kCount), bins(1u << (32 - shift));
  fill(x, 1, 0, 4294967295.0);
  group.measure({.grid = {kCount / 256},
                 .block = {256},
                 .arguments = args(kCount, x, bins),
                 .loop =
                     [&] {
                       for (int i = 0; i < kCount; ++i)
                         ++bins[x[i] >> shift];
                     },
                 .outputs = {bits(bins)},
                 .prepare = clearer(bins)});
}
void globalHistogram(Kinds::Group &group) { words(group, 16); }
void crowdedGlobalHistogram(Kinds::Group &group) { words(group, 29); }

void addFloats(Kinds::Group &group, int places, unsigned blocks) {
  Data<int> index(kCount);
  Data<float> x(kCount), sums(places);
  fill(index, 1, 0, places);
  fill(x, 2, 0, 1);
  group.measure({.grid = {blocks},
                 .block = {256},
                 .arguments = args(kCount, index, x, sums),
                 .loop =
                     [&] {
                       for (int i = 0; i < kCount; ++i)
                         sums[index[i]] += x[i];
                     },
                 .outputs = {near(sums, 1e-3)},
                 .prepare = clearer(sums)});
}
void scatterAddFloat(Kinds::Group &group) { addFloats(group, 65536, kCount / 256); }
void sharedFloatSums(Kinds::Group &group) { addFloats(group, 1024, 128); }

void bucketSlots(Kinds::Group &group) {
  constexpr int n = 1 << 20, buckets = 16384, slots = 160;
  Data<int> key(n), used(buckets), bucket(buckets * slots);
  fill(key, 1, 0, buckets);
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(n, slots, key, used, bucket),
                 .loop =
                     [&] {
                       for (int i = 0; i < n; ++i)
                         if (int slot = used[key[i]]++; slot < slots)
                           bucket[key[i] * slots + slot] = i;
                     },
                 .outputs = {bits(used)},
                 .prepare = clearer(used)});
}

void scatterMax(Kinds::Group &group) {
  constexpr int places = 10000;
  Data<int> index(kCount), x(kCount), most(places);
  fill(index, 1, 0, places);
  fill(x, 2, 0, 1e9);
  group.measure({.grid = {kCount / 256},
                 .block = {256},
                 .arguments = args(kCount, index, x, most),
                 .loop =
                     [&] {
                       for (int i = 0; i < kCount; ++i)
                         most[index[i]] = std::max(most[index[i]], x[i]);
                     },
                 .outputs = {bits(most)},
                 .prepare = clearer(most)});
}

void privateCounters(Kinds::Group &group) {
  constexpr int length = 200, blocks = 64;
  Data<uint8_t> x(static_cast<size_t>(length) * 128 * blocks);
  Data<int> counts(16);
  fill(x, 1, 0, 256);
  group.measure({.grid = {blocks},
                 .block = {128},
                 .arguments = args(length, x, counts),
                 .loop =
                     [&] {
                       unsigned bins[256] = {};
                       countBytes(x.size(), x.get(), bins);
                       for (int bin = 0; bin < 256; ++bin)
                         counts[bin % 16] += static_cast<int>(bins[bin]);
                     },
                 .outputs = {bits(counts)},
                 .prepare = clearer(counts)});
}

void casAddDouble(Kinds::Group &group) {
  constexpr int n = 1 << 20, places = 65536;
  Data<int> index(n);
  Data<double> x(n), sums(places);
  fill(index, 1, 0, places);
  fill(x, 2, 0, 1);
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(n, index, x, sums),
                 .loop =
                     [&] {
                       for (int i = 0; i < n; ++i)
                         sums[index[i]] += x[i];
                     },
                 .outputs = {near(sums, 1e-6)},
                 .prepare = clearer(sums)});
}

void brightVotes(Kinds::Group &group) {
  constexpr int side = 256, angles = 64, distances = 1024;
  Data<uint8_t> image(side * side);
  Data<float> cosine(angles), sine(angles);
  Data<int> votes(angles * distances);
  fill(image, 1, 0, 256);
  for (int k = 0; k < angles; ++k) {
    // Whole numbers by sixteenths: sums of them are exact in any order.
    cosine[k] = static_cast<float>((k * 5 % 33 - 16) / 16.0);
    sine[k] = static_cast<float>((k * 11 % 33 - 16) / 16.0);
  }
  group.measure({.grid = {side / 16, side / 16},
                 .block = {16, 16},
                 .arguments = args(side, side, angles, distances, image, cosine, sine, votes),
                 .loop =
                     [&] {
                       for (int y = 0; y < side; ++y)
                         for (int x = 0; x < side; ++x)
                           if (image[y * side + x] >= 240)
                             for (int k = 0; k < angles; ++k)
                               ++votes[k * distances +
                                       static_cast<int>(static_cast<float>(x) * cosine[k] +
                                                        static_cast<float>(y) * sine[k]) +
                                       distances / 2];
                     },
                 .outputs = {bits(votes)},
                 .prepare = clearer(votes)});
}

} // namespace

void measureUpdates(Kinds &kinds) {
  kinds.measureAll("updates", {{"sharedHistogram", sharedHistogram},
                               {"crowdedHistogram", crowdedHistogram},
                               {"globalHistogram", globalHistogram},
                               {"crowdedGlobalHistogram", crowdedGlobalHistogram},
                               {"scatterAddFloat", scatterAddFloat},
                               {"sharedFloatSums", sharedFloatSums},
                               {"bucketSlots", bucketSlots},
                               {"scatterMax", scatterMax},
                               {"privateCounters", privateCounters},
                               {"casAddDouble", casAddDouble},
                               {"brightVotes", brightVotes}});
}

} // namespace ptxrun::bench::kinds
