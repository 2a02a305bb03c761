// Subjects bound by memory.
#include <random>

#include "tests/bench/harness.h"
#include "tests/bench/loops.h"
#include "tests/bench/opencl.h"

namespace ptxrun::bench {
namespace {

constexpr size_t kMi = 1 << 20;
using Dim = abi::Dim3;

unsigned blocksFor(size_t n, unsigned block) {
  return static_cast<unsigned>((n + block - 1) / block);
}

template <class T> void fillRandom(Data<T> &data, uint32_t seed, double low, double high) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(low, high);
  for (size_t k = 0; k < data.size(); ++k)
    data[k] = static_cast<T>(value(random));
}

/// A copy of what the loop left in `data`, and the comparison with it.
template <class T> void expectSame(Subject &subject, Data<T> &data, double tolerance) {
  auto expected = std::make_shared<std::vector<T>>();
  subject.snapshot = [expected, &data] { expected->assign(data.get(), data.get() + data.size()); };
  subject.compare = [=, &data]() -> std::string {
    if constexpr (std::is_same_v<T, float>)
      return compareFloats(data.get(), expected->data(), data.size(), tolerance, tolerance);
    else
      return compareBytes(data.get(), expected->data(), data.bytes());
  };
}

void saxpy(Table &table) {
  int n = 16 * kMi;
  Data<float> x(n), y(n);
  fillRandom(x, 1, -1, 1);
  Sample sample("saxpy");
  auto launch = sample.bind("saxpy", Dim{blocksFor(n, 256)}, Dim{256}, n, 0.5f, x.get(), y.get());
  Subject s{"saxpy",
            1.3,
            1.05,
            [&] { sample.run(launch); },
            [&] { loops::saxpy(n, 0.5f, x.get(), y.get()); },
            {},
            {},
            {},
            {}};
  s.opencl = openClRun({{"saxpy",
                         {blocksFor(n, 256), 1},
                         {256, 1},
                         {clScalar(n), clScalar(0.5f), clBuffer(x), clBuffer(y)}}});
  // In place: y starts anew before each run that is validated.
  auto reset = [&] { std::memset(static_cast<void *>(y.get()), 0, y.bytes()); };
  expectSame(s, y, 1e-6);
  auto snapshot = s.snapshot;
  s.snapshot = [&, snapshot] { snapshot(), reset(); };
  auto compare = s.compare;
  s.compare = [&, compare] {
    std::string result = compare();
    reset();
    return result;
  };
  table.measure(s);
}

void triad(Table &table) {
  int n = 8 * kMi;
  Data<double> a(n), b(n), c(n);
  fillRandom(b, 1, -1, 1);
  fillRandom(c, 2, -1, 1);
  Sample sample("triad");
  auto launch =
      sample.bind("triad", Dim{blocksFor(n, 256)}, Dim{256}, n, 3.0, a.get(), b.get(), c.get());
  Subject s{"triad",
            1.3,
            1.05,
            [&] { sample.run(launch); },
            [&] { loops::triad(n, 3.0, a.get(), b.get(), c.get()); },
            {},
            {},
            {},
            {}};
  s.opencl = openClRun({{"triad",
                         {blocksFor(n, 256), 1},
                         {256, 1},
                         {clScalar(n), clScalar(3.0), clBuffer(a), clBuffer(b), clBuffer(c)}}});
  auto expected = std::make_shared<std::vector<double>>();
  s.snapshot = [&] {
    expected->assign(a.get(), a.get() + n), std::memset(static_cast<void *>(a.get()), 0, a.bytes());
  };
  s.compare = [&]() -> std::string {
    for (int k = 0; k < n; ++k)
      if (std::abs(a[k] - (*expected)[k]) > 1e-12)
        return "element " + std::to_string(k);
    return "";
  };
  table.measure(s);
}

void copy4(Table &table) {
  int n = 4 * kMi;
  Data<float> from(4 * n), to(4 * n);
  fillRandom(from, 1, -1, 1);
  Sample sample("copy4");
  auto launch = sample.bind("copy4", Dim{blocksFor(n, 256)}, Dim{256}, n, from.get(), to.get());
  Subject s{"copy4",
            1.3,
            1.05,
            [&] { sample.run(launch); },
            [&] { loops::copy4(n, from.get(), to.get()); },
            {},
            {},
            {},
            {}};
  s.opencl = openClRun(
      {{"copy4", {blocksFor(n, 256), 1}, {256, 1}, {clScalar(n), clBuffer(from), clBuffer(to)}}});
  expectSame(s, to, 0);
  table.measure(s);
}

void reduce(Table &table) {
  int n = 16 * kMi;
  Data<float> x(n), sum(1);
  fillRandom(x, 1, 0, 1);
  Sample sample("reduce");
  unsigned blocks = 8192;
  auto launch = sample.bind("reduce", Dim{blocks}, Dim{256}, n, x.get(), sum.get());
  Subject s{"reduce",
            1.4,
            1.15,
            [&] { sample.run(launch); },
            [&] { sum[0] = loops::reduce(n, x.get()); },
            {},
            [&] { sum[0] = 0; },
            {},
            {}};
  s.opencl =
      openClRun({{"reduce", {blocks, 1}, {256, 1}, {clScalar(n), clBuffer(x), clBuffer(sum)}}});
  expectSame(s, sum, 1e-3);
  table.measure(s);
}

void scan(Table &table) {
  int n = 16 * kMi;
  int blocks = static_cast<int>(blocksFor(n, 1024));
  Data<uint32_t> in(n), out(n), totals(blocks);
  for (int k = 0; k < n; ++k)
    in[k] = k * 2654435761u >> 24;
  Sample sample("scan");
  Dim grid{static_cast<unsigned>(blocks)}, block{256};
  auto first = sample.bind("scanBlocks", grid, block, n, in.get(), out.get(), totals.get());
  auto second = sample.bind("scanTotals", Dim{1}, block, blocks, totals.get());
  auto third = sample.bind("addOffsets", grid, block, n, totals.get(), out.get());
  Subject s{"scan",
            1.4,
            1.15,
            [&] { sample.run(first), sample.run(second), sample.run(third); },
            [&] { loops::scan(n, in.get(), out.get()); },
            {},
            {},
            {},
            {}};
  size_t groups = static_cast<size_t>(blocks);
  s.opencl = openClRun(
      {{"scanBlocks",
        {groups, 1},
        {256, 1},
        {clScalar(n), clBuffer(in), clBuffer(out), clBuffer(totals)}},
       {"scanTotals", {1, 1}, {256, 1}, {clScalar(blocks), clBuffer(totals)}},
       {"addOffsets", {groups, 1}, {256, 1}, {clScalar(n), clBuffer(totals), clBuffer(out)}}});
  expectSame(s, out, 0);
  table.measure(s);
}

void stencil(Table &table) {
  int side = 4096;
  Data<float> in(static_cast<size_t>(side) * side), out(in.size());
  fillRandom(in, 1, -1, 1);
  Sample sample("stencil2d");
  auto launch =
      sample.bind("stencil2d", Dim{128, 512}, Dim{32, 8}, side, side, in.get(), out.get());
  Subject s{"stencil2d",
            1.7,
            1.4,
            [&] { sample.run(launch); },
            [&] { loops::stencil2d(side, side, in.get(), out.get()); },
            {},
            {},
            {},
            {}};
  s.opencl = openClRun({{"stencil2d",
                         {128, 512},
                         {32, 8},
                         {clScalar(side), clScalar(side), clBuffer(in), clBuffer(out)}}});
  expectSame(s, out, 1e-6);
  table.measure(s);
}

void transpose(Table &table) {
  int side = 4096;
  Data<float> in(static_cast<size_t>(side) * side), out(in.size());
  fillRandom(in, 1, -1, 1);
  Sample sample("transpose");
  auto launch =
      sample.bind("transpose", Dim{128, 128}, Dim{32, 8}, side, side, in.get(), out.get());
  Subject s{"transpose",
            0.8,
            0.55,
            [&] { sample.run(launch); },
            [&] { loops::transpose(side, side, in.get(), out.get()); },
            {},
            {},
            {},
            {}};
  s.opencl = openClRun({{"transpose",
                         {128, 128},
                         {32, 8},
                         {clScalar(side), clScalar(side), clBuffer(in), clBuffer(out)}}});
  expectSame(s, out, 0);
  table.measure(s);
}

void spmv(Table &table) {
  int rows = 65536;
  std::mt19937 random(5);
  Data<int> rowStart(rows + 1);
  for (int r = 0; r < rows; ++r)
    rowStart[r + 1] = rowStart[r] + 16 + static_cast<int>(random() % 97);
  size_t entries = static_cast<size_t>(rowStart[rows]);
  Data<int> column(entries);
  Data<float> value(entries), x(rows), y(rows);
  for (size_t k = 0; k < entries; ++k)
    column[k] = static_cast<int>(random() % rows);
  fillRandom(value, 2, -1, 1);
  fillRandom(x, 3, -1, 1);
  Sample sample("spmv");
  unsigned blocks = blocksFor(static_cast<size_t>(rows) * 32, 256);
  auto launch = sample.bind("spmv", Dim{blocks}, Dim{256}, rows, rowStart.get(), column.get(),
                            value.get(), x.get(), y.get());
  Subject s{"spmv",
            1.3,
            1.05,
            [&] { sample.run(launch); },
            [&] { loops::spmv(rows, rowStart.get(), column.get(), value.get(), x.get(), y.get()); },
            {},
            {},
            {},
            {}};
  s.opencl = openClRun({{"spmv",
                         {blocks, 1},
                         {256, 1},
                         {clScalar(rows), clBuffer(rowStart), clBuffer(column), clBuffer(value),
                          clBuffer(x), clBuffer(y)}}});
  expectSame(s, y, 1e-4);
  table.measure(s);
}

void histogram(Table &table) {
  int words = 8 * kMi;
  Data<uint32_t> data(words), bins(256);
  std::mt19937 random(5);
  for (int k = 0; k < words; ++k)
    data[k] = random();
  Sample sample("histogram");
  unsigned blocks = 512;
  auto launch = sample.bind("histogram", Dim{blocks}, Dim{256}, words, data.get(), bins.get());
  Subject s{"histogram",
            2.0,
            1.5,
            [&] { sample.run(launch); },
            [&] { loops::histogram(words, data.get(), bins.get()); },
            {},
            [&] { std::memset(bins.get(), 0, bins.bytes()); },
            {},
            {}};
  s.opencl = openClRun(
      {{"histogram", {blocks, 1}, {256, 1}, {clScalar(words), clBuffer(data), clBuffer(bins)}}});
  expectSame(s, bins, 0);
  table.measure(s);
}

} // namespace

void measureMemoryKernels(Table &table) {
  if (table.wants("saxpy"))
    saxpy(table);
  if (table.wants("triad"))
    triad(table);
  if (table.wants("copy4"))
    copy4(table);
  if (table.wants("reduce"))
    reduce(table);
  if (table.wants("scan"))
    scan(table);
  if (table.wants("stencil2d"))
    stencil(table);
  if (table.wants("transpose"))
    transpose(table);
  if (table.wants("spmv"))
    spmv(table);
  if (table.wants("histogram"))
    histogram(table);
}

} // namespace ptxrun::bench
