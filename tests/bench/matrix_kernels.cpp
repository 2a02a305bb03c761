// Products of 1024 x 1024 on tensor cores: f16 by mma, wmma, wgmma and tcgen05 and 8-bit floats by
// mma against OpenBLAS' sgemm on converted inputs (or the blocked loop where it is not installed),
// bytes against a loop. Attention against a loop in f32.
#include <bit>
#include <random>

#include "rt/memory/tensor_map.h"
#include "tests/bench/harness.h"
#include "tests/bench/loops.h"

namespace ptxrun::bench {
namespace {

using Dim = abi::Dim3;
constexpr int kSize = 1024;
constexpr size_t kCount = size_t{kSize} * kSize;

/// c = a b^T on floats.
class Reference {
 public:
  void multiply(float *a, float *b, float *transposedB, float *c) const {
    constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112;
    if (sgemm_)
      sgemm_(kRowMajor, kPlain, kTransposed, kSize, kSize, kSize, 1, a, kSize, b, kSize, 0, c,
             kSize);
    else
      loops::sgemmBlocked(kSize, a, transposedB, c);
  }

 private:
  using Sgemm = void(int, int, int, int, int, int, float, const float *, int, const float *, int,
                     float, float *, int);
  Sgemm *sgemm_ = reinterpret_cast<Sgemm *>(blasFunction("cblas_sgemm"));
};

/// Bits of an integer from -2 to 2 as f16 and as e4m3.
template <class T> T codeOf(int i);
template <> uint16_t codeOf(int i) {
  constexpr uint16_t kHalves[] = {0xc000, 0xbc00, 0, 0x3c00, 0x4000};
  return kHalves[i + 2];
}
template <> uint8_t codeOf(int i) {
  constexpr uint8_t kCodes[] = {0xc0, 0xb8, 0, 0x38, 0x40};
  return kCodes[i + 2];
}

template <class T> struct Operands {
  Data<T> a{kCount}, b{kCount};
  Data<float> floatA{kCount}, floatB{kCount}, transposedB{kCount}, c{kCount};
  Operands() {
    std::mt19937 random(1);
    for (size_t i = 0; i < kCount; ++i) {
      const int x = int(random() % 5) - 2, y = int(random() % 5) - 2;
      a[i] = codeOf<T>(x);
      b[i] = codeOf<T>(y);
      floatA[i] = float(x);
      floatB[i] = float(y);
      transposedB[i % kSize * kSize + i / kSize] = float(y);
    }
  }
};

/// A matrix of f16 in boxes of 64 x `rows`, 128 bytes swizzled.
rt::TensorMap mapOf(Data<uint16_t> &matrix, uint16_t rows) {
  rt::TensorMap map;
  map.rank = 2;
  map.type = rt::TensorType::f16;
  map.swizzle = rt::TensorSwizzle::bytes128;
  map.sizeLess1[0] = map.sizeLess1[1] = kSize - 1;
  map.address = reinterpret_cast<uint64_t>(matrix.get());
  map.stride[0] = kSize * 2;
  map.box[0] = 64;
  map.box[1] = rows;
  return map;
}

template <class T>
void product(Table &table, Operands<T> &x, const Reference &reference, const std::string &name,
             double bar, Sample &sample, const Sample::Launch &launch, double leastRate = 0) {
  if (table.wants(name)) {
    Subject s{name, bar, 1.1, [&] { sample.run(launch); }, {}, {}, {}, {}, {}};
    s.operations = 2.0 * kSize * kCount;
    s.leastRate = leastRate;
    s.loop = [&] {
      reference.multiply(x.floatA.get(), x.floatB.get(), x.transposedB.get(), x.c.get());
    };
    expectBits(s, x.c); // sums of small integers below 2^13: exact in any order
    table.measure(s);
  }
  if (table.wants(name + "_exact")) { // against the fast policy
    Sample::Launch exact = launch;
    exact.matrix.isExact = true;
    Subject s{name + "_exact",
              8,
              4,
              [&] { sample.run(exact); },
              [&] { sample.run(launch); },
              {},
              {},
              {},
              {}};
    expectBits(s, x.c);
    table.measure(s);
  }
}

void bytes(Table &table) {
  Data<int8_t> a(kCount), b(kCount);
  Data<float> ones(kSize), c(kCount);
  Data<int32_t> sums(kCount);
  std::mt19937 random(1);
  for (size_t i = 0; i < kCount; ++i) {
    a[i] = int8_t(random());
    b[i] = int8_t(random());
  }
  for (size_t i = 0; i < kSize; ++i)
    ones[i] = 1;
  Sample sample("gemm_int8");
  auto launch = sample.bind("gemmInt8", Dim{8, 8}, Dim{128}, a.get(), b.get(), ones.get(),
                            ones.get(), c.get(), kSize, kSize);
  Subject s{"gemm_int8", 1.2, 1.2, [&] { sample.run(launch); }, {}, {}, {}, {}, {}};
  s.loop = [&] { loops::gemmBytes(kSize, kSize, kSize, a.get(), b.get(), sums.get()); };
  auto expected = std::make_shared<std::vector<float>>();
  s.snapshot = [&, expected] {
    expected->assign(sums.get(), sums.get() + kCount);
    std::memset(c.get(), 0, c.bytes());
  };
  s.compare = [&, expected] { return compareBytes(c.get(), expected->data(), c.bytes()); };
  table.measure(s);
}

void halves(Table &table) {
  if (!table.wants("gemm_mma_exact") && !table.wants("gemm_wmma_exact") &&
      !table.wants("gemm_wgmma_exact") && !table.wants("gemm_tcgen05_exact"))
    return;
  Operands<uint16_t> x;
  const Reference reference;
  Sample mma("gemm_mma");
  product(table, x, reference, "gemm_mma", 2.0, mma,
          mma.bind("gemmMma", Dim{8, 8}, Dim{128}, x.a.get(), x.b.get(), x.c.get(), kSize, kSize));
  Sample wmma("gemm_wmma");
  product(
      table, x, reference, "gemm_wmma", 2.0, wmma,
      wmma.bind("gemmWmma", Dim{8, 8}, Dim{128}, x.a.get(), x.b.get(), x.c.get(), kSize, kSize));
  Sample wgmma("wgmma_gemm");
  auto launch = wgmma.bind("gemm", Dim{8, 8}, Dim{384}, mapOf(x.a, 128), mapOf(x.b, 128), x.c.get(),
                           kSize, kSize);
  launch.shared = 132096;
  product(table, x, reference, "gemm_wgmma", 1.4, wgmma, launch);
  Sample tcgen05("tcgen05_gemm");
  launch = tcgen05.bind("gemm", Dim{8, 8}, Dim{128}, mapOf(x.a, 128), mapOf(x.b, 64), x.c.get(),
                        kSize, kSize);
  launch.shared = 74752;
  product(table, x, reference, "gemm_tcgen05", 1.4, tcgen05, launch);
}

void floatsOfBytes(Table &table) {
  if (!table.wants("gemm_fp8_exact"))
    return;
  Operands<uint8_t> x;
  Sample sample("gemm_fp8");
  constexpr double kLeastRate = 70; // 1e9 operations a second
  product(table, x, Reference(), "gemm_fp8", 2.0, sample,
          sample.bind("gemmFp8", Dim{8, 8}, Dim{128}, x.a.get(), x.b.get(), 1.0f, 1.0f, x.c.get(),
                      kSize, kSize),
          kLeastRate);
}

/// One head of 64, in f16.
void attention(Table &table) {
  constexpr int kDepth = 64, kElements = kSize * kDepth;
  Data<uint16_t> inputs[3]{Data<uint16_t>(kElements), Data<uint16_t>(kElements),
                           Data<uint16_t>(kElements)};
  Data<uint16_t> o(kElements);
  Data<float> floats[3]{Data<float>(kElements), Data<float>(kElements), Data<float>(kElements)};
  Data<float> floatO(kElements), logSums(kSize);
  std::mt19937 random(1);
  for (int k = 0; k < 3; ++k)
    for (size_t i = 0; i < kElements; ++i) {
      const float x = float(int(random() % 128) - 64) / 32;
      inputs[k][i] = std::bit_cast<uint16_t>(_Float16(x));
      floats[k][i] = x;
    }
  Sample sample("flash_attention");
  auto launch = sample.bind("attendHalf", Dim{kSize / 64}, Dim{128}, inputs[0].get(),
                            inputs[1].get(), inputs[2].get(), o.get(), logSums.get(), kSize, 1);
  launch.shared = 46080;
  Subject s{"attention", 2.0, 1.1, [&] { sample.run(launch); }, {}, {}, {}, {}, {}};
  s.loop = [&] {
    loops::attention(kSize, floats[0].get(), floats[1].get(), floats[2].get(), floatO.get());
  };
  s.snapshot = [&] { std::memset(o.get(), 0, o.bytes()); };
  s.compare = [&] {
    std::vector<float> got(kElements);
    for (size_t i = 0; i < kElements; ++i)
      got[i] = float(std::bit_cast<_Float16>(o[i]));
    // Weights and results are rounded to f16, |v| is at most 2.
    return compareFloats(got.data(), floatO.get(), kElements, 0, 2e-3);
  };
  s.operations = 4.0 * kSize * kElements;
  table.measure(s);
}

} // namespace

void measureMatrixKernels(Table &table) {
  halves(table);
  floatsOfBytes(table);
  if (table.wants("gemm_int8"))
    bytes(table);
  if (table.wants("attention"))
    attention(table);
}

} // namespace ptxrun::bench
