// Subjects bound by arithmetic.
#include <random>

#include "tests/bench/harness.h"
#include "tests/bench/loops.h"
#include "tests/bench/opencl.h"

namespace ptxrun::bench {
namespace {

using Dim = abi::Dim3;

void fillRandom(Data<float> &data, uint32_t seed, float low, float high) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> value(low, high);
  for (size_t k = 0; k < data.size(); ++k)
    data[k] = value(random);
}

/// What the loop left behind becomes the reference; `data` is cleared so that a run that does
/// nothing is found out.
void expectFloats(Subject &subject, Data<float> &data, double tolerance, double absolute) {
  auto expected = std::make_shared<std::vector<float>>();
  subject.snapshot = [expected, &data] {
    expected->assign(data.get(), data.get() + data.size()),
        std::memset(data.get(), 0, data.bytes());
  };
  subject.compare = [=, &data] {
    return compareFloats(data.get(), expected->data(), data.size(), tolerance, absolute);
  };
}

void blackScholes(Table &table) {
  int n = 4 << 20;
  Data<float> price(n), strike(n), years(n), call(n), put(n);
  fillRandom(price, 1, 5, 30);
  fillRandom(strike, 2, 1, 100);
  fillRandom(years, 3, 0.25f, 10);
  Sample sample("blackscholes");
  unsigned blocks = static_cast<unsigned>(n / 256);
  auto launch = sample.bind("blackScholes", Dim{blocks}, Dim{256}, n, 0.02f, 0.3f, price.get(),
                            strike.get(), years.get(), call.get(), put.get());
  Subject s{"blackscholes",
            0.6,
            0.45,
            [&] { sample.run(launch); },
            [&] {
              loops::blackScholes(n, 0.02f, 0.3f, price.get(), strike.get(), years.get(),
                                  call.get(), put.get());
            },
            {},
            {},
            {},
            {}};
  s.opencl = openClRun({{"blackScholes",
                         {blocks, 1},
                         {256, 1},
                         {clScalar(n), clScalar(0.02f), clScalar(0.3f), clBuffer(price),
                          clBuffer(strike), clBuffer(years), clBuffer(call), clBuffer(put)}}});
  expectFloats(s, put, 1e-4, 1e-4);
  table.measure(s);
}

void mandelbrot(Table &table) {
  int width = 1024, height = 1024, limit = 1000;
  float left = -2.0f, top = 1.25f, step = 2.5f / 1024;
  Data<int> iterations(static_cast<size_t>(width) * height);
  Sample sample("mandelbrot");
  auto launch = sample.bind("mandelbrot", Dim{32, 128}, Dim{32, 8}, width, height, limit, left, top,
                            step, iterations.get());
  Subject s{"mandelbrot",
            0.10,
            0.05,
            [&] { sample.run(launch); },
            [&] { loops::mandelbrot(width, height, limit, left, top, step, iterations.get()); },
            {},
            {},
            {},
            {}};
  s.opencl = openClRun({{"mandelbrot",
                         {32, 128},
                         {32, 8},
                         {clScalar(width), clScalar(height), clScalar(limit), clScalar(left),
                          clScalar(top), clScalar(step), clBuffer(iterations)}}});
  expectBits(s, iterations);
  table.measure(s);
}

void nbody(Table &table) {
  int n = 8192;
  Data<float> body(4 * n), acceleration(4 * n);
  fillRandom(body, 1, -1, 1);
  Sample sample("nbody");
  unsigned blocks = static_cast<unsigned>(n / 256);
  auto launch =
      sample.bind("nbody", Dim{blocks}, Dim{256}, n, 0.01f, body.get(), acceleration.get());
  Subject s{"nbody",
            1.2,
            1.0,
            [&] { sample.run(launch); },
            [&] { loops::nbody(n, 0.01f, body.get(), acceleration.get()); },
            {},
            {},
            {},
            {}};
  s.opencl = openClRun({{"nbody",
                         {blocks, 1},
                         {256, 1},
                         {clScalar(n), clScalar(0.01f), clBuffer(body), clBuffer(acceleration)}}});
  expectFloats(s, acceleration, 1e-3, 0.2);
  table.measure(s);
}

void sgemm(Table &table, bool isTiled) {
  int n = 1024;
  Data<float> a(static_cast<size_t>(n) * n), b(a.size()), c(a.size());
  fillRandom(a, 1, -1, 1);
  fillRandom(b, 2, -1, 1);
  Sample sample(isTiled ? "sgemm_tiled" : "sgemm_naive");
  unsigned groups = isTiled ? 8 : 64;
  auto launch = sample.bind(isTiled ? "sgemmTiled" : "sgemmNaive", Dim{groups, groups},
                            isTiled ? Dim{256} : Dim{16, 16}, n, a.get(), b.get(), c.get());
  Subject s{isTiled ? "sgemm_tiled" : "sgemm_naive",
            isTiled ? 3.0 : 3.5,
            isTiled ? 2.1 : 0.5,
            [&] { sample.run(launch); },
            {},
            {},
            {},
            {},
            {}};
  if (isTiled)
    s.loop = [&] { loops::sgemmBlocked(n, a.get(), b.get(), c.get()); };
  else
    s.loop = [&] { loops::sgemmInterchanged(n, a.get(), b.get(), c.get()); };
  std::array<size_t, 2> block =
      isTiled ? std::array<size_t, 2>{256, 1} : std::array<size_t, 2>{16, 16};
  s.opencl = openClRun({{isTiled ? "sgemmTiled" : "sgemmNaive",
                         {groups, groups},
                         block,
                         {clScalar(n), clBuffer(a), clBuffer(b), clBuffer(c)}}});
  expectFloats(s, c, 1e-4, 1e-3);
  table.measure(s);
}

void bitonic(Table &table) {
  size_t n = 4 << 20;
  Data<uint32_t> source(n), keys(n);
  std::mt19937 random(1);
  for (size_t k = 0; k < n; ++k)
    source[k] = random();
  Sample sample("bitonic");
  unsigned blocks = static_cast<unsigned>(n / 1024);
  auto launch = sample.bind("bitonic", Dim{blocks}, Dim{512}, keys.get());
  Subject s{"bitonic",
            1.0,
            0.08,
            [&] { sample.run(launch); },
            [&] { loops::sortRuns(blocks, 1024, keys.get()); },
            {},
            [&] { std::memcpy(keys.get(), source.get(), keys.bytes()); },
            {},
            {}};
  s.opencl = openClRun({{"bitonic", {blocks, 1}, {512, 1}, {clBuffer(keys)}}});
  expectBits(s, keys);
  table.measure(s);
}

void sha256(Table &table) {
  int n = 1 << 18, blocksPerMessage = 1;
  Data<uint32_t> message(static_cast<size_t>(n) * 16), digest(static_cast<size_t>(n) * 8);
  std::mt19937 random(1);
  for (size_t k = 0; k < message.size(); ++k)
    message[k] = random();
  Sample sample("sha256");
  unsigned blocks = static_cast<unsigned>(n / 128);
  auto launch = sample.bind("sha256", Dim{blocks}, Dim{128}, n, blocksPerMessage, message.get(),
                            digest.get());
  Subject s{"sha256",
            1.3,
            1.05,
            [&] { sample.run(launch); },
            [&] { loops::sha256(static_cast<size_t>(n), message.get(), digest.get()); },
            {},
            {},
            {},
            {}};
  s.opencl =
      openClRun({{"sha256",
                  {blocks, 1},
                  {128, 1},
                  {clScalar(n), clScalar(blocksPerMessage), clBuffer(message), clBuffer(digest)}}});
  expectBits(s, digest);
  table.measure(s);
}

} // namespace

void measureComputeKernels(Table &table) {
  table.expectScaling();
  if (table.wants("blackscholes"))
    blackScholes(table);
  if (table.wants("mandelbrot"))
    mandelbrot(table);
  if (table.wants("nbody"))
    nbody(table);
  if (table.wants("sgemm_naive"))
    sgemm(table, false);
  if (table.wants("sgemm_tiled"))
    sgemm(table, true);
  if (table.wants("bitonic"))
    bitonic(table);
  if (table.wants("sha256"))
    sha256(table);
}

} // namespace ptxrun::bench
