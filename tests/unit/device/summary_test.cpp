// The page of a summary, from made-up counts; and that counting loses nothing among threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "loader/device/summary_counts.h"

namespace ptxrun::device::summary {
namespace {

bool has(const std::string &page, std::string_view part) {
  return page.find(part) != std::string::npos;
}

Counts twoKernels() {
  Counts counts;
  counts.wallNanoseconds = 2'000'000'000;
  counts.kernels = {{"small", 10, 1'000'000, 10, {1}}, {"_Z5scalePfi", 4, 300'000'000, 1, {8, 32}}};
  counts.transfers[0] = {3, 3 << 20, 2'500'000};
  counts.transfers[1] = {1, 512, 900};
  counts.modules = 2;
  counts.cacheHits = 5;
  counts.cacheMisses = 7;
  counts.compileNanoseconds = 80'000'000;
  counts.loadNanoseconds = 4'000'000;
  counts.peakBytes = 96 << 20;
  return counts;
}

TEST(Summary, ListsKernelsByTimeWithTheirShare) {
  const std::string page = describe(twoKernels());
  EXPECT_TRUE(has(page, "summary of 2 s: kernels 301 ms, transfers 2.5 ms, compilation 84 ms"))
      << page;
  EXPECT_TRUE(has(
      page,
      "        4     300 ms      75 ms   99.7%  8,32  optimised, 1 baseline  scale(float*, int)"))
      << page;
  EXPECT_TRUE(has(page, "       10       1 ms     100 us    0.3%  1     baseline    small"))
      << page;
  EXPECT_LT(page.find("scale("), page.find("small"));
}

TEST(Summary, TellsTransfersCompilationAndMemory) {
  const std::string page = describe(twoKernels());
  EXPECT_TRUE(has(page, "        3    3.0 MiB     2.5 ms  host to device")) << page;
  EXPECT_TRUE(has(page, "        1      512 B     900 ns  device to host")) << page;
  EXPECT_FALSE(has(page, "device to device"));
  EXPECT_TRUE(
      has(page, "modules loaded: 2 in 4 ms; kernels compiled: 7, found in the cache: 5, in 80 ms"))
      << page;
  EXPECT_TRUE(has(page, "at most 96.0 MiB")) << page;
  EXPECT_FALSE(has(page, "hint")) << page;
}

TEST(Summary, TellsOfEachFormWhatItsResultsAreWorth) {
  Counts counts = twoKernels();
  using Kind = isa::Accuracy::Kind;
  counts.forms = {{"div.approx{.ftz}.f32 d, a, b;", {Kind::approximate, "2 ulp"}, 7},
                  {"add.type d, a, b;", {Kind::exact, {}}, 12},
                  {"future d, a;", {Kind::unsupported, {}}, 1}};
  const std::string page = describe(counts);
  EXPECT_TRUE(has(page, "1 exact, 1 approximate, 1 unsupported")) << page;
  const size_t add = page.find("12  exact"), div = page.find("7  2 ulp"),
               future = page.find("1  unsupported");
  EXPECT_TRUE(add < div && div < future && future != page.npos) << page;
  EXPECT_TRUE(has(page, "div.approx{.ftz}.f32 d, a, b;")) << page;
}

TEST(Summary, OfNothingSaysSo) {
  const std::string page = describe({});
  EXPECT_TRUE(has(page, "no kernel was launched")) << page;
  EXPECT_FALSE(has(page, "transfers\n")) << page;
}

TEST(Summary, StaysShortWithHundredsOfKernels) {
  Counts counts;
  for (uint64_t i = 0; i < 400; ++i)
    counts.kernels.push_back({"kernel" + std::to_string(i), 2, 100'000 + i, 0, {32}});
  const std::string page = describe(counts);
  EXPECT_LT(std::ranges::count(page, '\n'), 40);
  EXPECT_TRUE(has(page, "      760 ")) << page;
  EXPECT_TRUE(has(page, "of 380 more kernels")) << page;
}

TEST(Summary, HintsWhereTinyLaunchesDominate) {
  Counts counts;
  counts.kernels = {{"tiny", 9900, 40'000'000, 0, {32}}, {"large", 100, 10'000'000, 0, {32}}};
  counts.tinyLaunches = 9900;
  counts.tinyNanoseconds = 40'000'000;
  counts.tinyThreads = 9900 * 32;
  const std::string page = describe(counts);
  EXPECT_TRUE(has(
      page, "hint: 9900 of 10000 launches took less than 20 us (4.04 us in the mean, 32 threads), "
            "80% of the kernels' time, and starting each costs about 1 us more:"))
      << page;
  for (const char *remedy : {"graph", "batching", "larger blocks"})
    EXPECT_TRUE(has(page, remedy)) << page;
  counts.tinyThreads = uint64_t{9900} * 100'000;
  EXPECT_FALSE(has(describe(counts), "larger blocks"));
  counts.kernels[1].nanoseconds = 1'000'000'000;
  EXPECT_FALSE(has(describe(counts), "hint"));
  // Starting so many costs more than what all kernels do.
  counts.kernels[0].launches = counts.tinyLaunches = 2'000'000;
  EXPECT_TRUE(has(describe(counts), "hint"));
}

TEST(Summary, CountsLaunchesOfManyThreads) {
  start();
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 1000; ++i) {
        noteLaunch("shared", 8 << (t % 2), Code::baseline, 32, 1000);
        noteTransfer(Direction::fill, 16, 10);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  noteMemory(4096);
  noteMappedMemory(8192);
  noteMappedMemory(-8192);
  const std::string page = text();
  EXPECT_TRUE(has(page, "     4000       4 ms       1 us  100.0%  8,16  baseline    shared"))
      << page;
  EXPECT_TRUE(has(page, "     4000   62.5 KiB      40 us  fill")) << page;
  EXPECT_TRUE(has(page, "at most 12.0 KiB")) << page;
}

} // namespace
} // namespace ptxrun::device::summary
