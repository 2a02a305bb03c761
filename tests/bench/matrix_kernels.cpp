// Products of 1024 x 1024 on tensor cores: f16 by mma, wgmma and tcgen05 against OpenBLAS' sgemm on
// converted inputs (or the blocked loop where it is not installed), bytes against a loop.
#include <dlfcn.h>

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
  Reference() {
    for (const char *name : {"libopenblas.so.0", "libopenblas.so"})
      if (void *library = dlopen(name, RTLD_NOW)) {
        sgemm_ = reinterpret_cast<Sgemm *>(dlsym(library, "cblas_sgemm"));
        if (auto *setThreads =
                reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads")))
          setThreads(1);
        break;
      }
  }
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
  Sgemm *sgemm_ = nullptr;
};

/// f16 bits of an integer from -2 to 2.
uint16_t halfOf(int i) {
  constexpr uint16_t kHalves[] = {0xc000, 0xbc00, 0, 0x3c00, 0x4000};
  return kHalves[i + 2];
}

struct Operands {
  Data<uint16_t> a{kCount}, b{kCount};
  Data<float> floatA{kCount}, floatB{kCount}, transposedB{kCount}, c{kCount};
  Operands() {
    std::mt19937 random(1);
    for (size_t i = 0; i < kCount; ++i) {
      const int x = int(random() % 5) - 2, y = int(random() % 5) - 2;
      a[i] = halfOf(x);
      b[i] = halfOf(y);
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

void halves(Table &table, Operands &x, const Reference &reference, const std::string &name,
            double bar, Sample &sample, const Sample::Launch &launch) {
  if (table.wants(name)) {
    Subject s{name, bar, 1.1, [&] { sample.run(launch); }, {}, {}, {}, {}, {}};
    s.loop = [&] {
      reference.multiply(x.floatA.get(), x.floatB.get(), x.transposedB.get(), x.c.get());
    };
    expectBits(s, x.c); // sums of small integers: exact in any order
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
  s.loop = [&] { loops::gemmBytes(kSize, a.get(), b.get(), sums.get()); };
  auto expected = std::make_shared<std::vector<float>>();
  s.snapshot = [&, expected] {
    expected->assign(sums.get(), sums.get() + kCount);
    std::memset(c.get(), 0, c.bytes());
  };
  s.compare = [&, expected] { return compareBytes(c.get(), expected->data(), c.bytes()); };
  table.measure(s);
}

} // namespace

void measureMatrixKernels(Table &table) {
  const bool wantsHalves = table.wants("gemm_mma_exact") || table.wants("gemm_wgmma_exact") ||
                           table.wants("gemm_tcgen05_exact");
  if (wantsHalves) {
    Operands x;
    const Reference reference;
    Sample mma("gemm_mma");
    halves(table, x, reference, "gemm_mma", 2.0, mma,
           mma.bind("gemmMma", Dim{8, 8}, Dim{128}, x.a.get(), x.b.get(), x.c.get(), kSize, kSize));
    Sample wgmma("wgmma_gemm");
    auto launch = wgmma.bind("gemm", Dim{8, 8}, Dim{384}, mapOf(x.a, 128), mapOf(x.b, 128),
                             x.c.get(), kSize, kSize);
    launch.shared = 132096;
    halves(table, x, reference, "gemm_wgmma", 1.4, wgmma, launch);
    Sample tcgen05("tcgen05_gemm");
    launch = tcgen05.bind("gemm", Dim{8, 8}, Dim{128}, mapOf(x.a, 128), mapOf(x.b, 64), x.c.get(),
                          kSize, kSize);
    launch.shared = 74752;
    halves(table, x, reference, "gemm_tcgen05", 1.4, tcgen05, launch);
  }
  if (table.wants("gemm_int8"))
    bytes(table);
}

} // namespace ptxrun::bench
