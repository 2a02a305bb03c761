// The standard library that libcu++ has for kernels: span, mdspan, tuple, optional, variant, expected, array, complex, bit operations, limits, sums,
// functional, chrono, ranges of random engines.
// nvcc: -arch=compute_75 --expt-relaxed-constexpr
#include "check.h"
#include <cuda/functional>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/chrono>
#include <cuda/std/complex>
#include <cuda/std/expected>
#include <cuda/std/functional>
#include <cuda/std/limits>
#include <cuda/std/mdspan>
#include <cuda/std/numeric>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/variant>
#include <cuda/std/utility>

namespace std_ = cuda::std;

__host__ __device__ std_::optional<int> halved(int v) { return v % 2 ? std_::optional<int>() : std_::optional<int>(v / 2); }
__host__ __device__ std_::expected<float, int> root(float v) {
  if (v < 0)
    return std_::unexpected<int>(int(v));
  return sqrtf(v);
}
struct Visitor {
  __host__ __device__ double operator()(int v) const { return v + 0.5; }
  __host__ __device__ double operator()(double v) const { return v * 2; }
  __host__ __device__ double operator()(std_::tuple<int, float> t) const { return std_::get<0>(t) * std_::get<1>(t); }
};
/// The same code on the host and on the device.
__host__ __device__ double everything(int i, std_::span<const int> data) {
  double r = 0;
  std_::array<int, 6> a{5, 3, 9, i % 7, 1, 8};
  for (int k = 1; k < 6; ++k)
    for (int l = k; l > 0 && a[l] < a[l - 1]; --l)
      std_::swap(a[l], a[l - 1]);
  for (int k = 0; k < 6; ++k)
    r = r * 10 + a[k];
  r += std_::accumulate(a.begin(), a.end(), 0);
  r += std_::inner_product(a.begin(), a.end(), data.begin(), 0.0);
  auto part = data.subspan(i % 4, 5);
  r += part.back() + part.size() + data.first(3)[2];
  r += halved(i).value_or(-5) + (halved(i) ? 100 : 200);
  auto e = root(float(i - 20));
  r += e ? *e : e.error() * 3;
  std_::variant<int, double, std_::tuple<int, float>> v;
  if (i % 3 == 1)
    v = 1.25;
  else if (i % 3 == 2)
    v = std_::make_tuple(i, 0.5f);
  else
    v = i;
  r += std_::visit(Visitor(), v) + v.index() * 7;
  auto [x, y, z] = std_::make_tuple(i, i * 2.0, short(3));
  r += x + y + z;
  std_::complex<double> c(i * 0.1, -1), w = c * std_::conj(c) + std_::complex<double>(0, 2) / c;
  r += w.real() + w.imag() + std_::abs(c) + std_::norm(c);
  unsigned u = i * 2654435761u;
  r += std_::popcount(u) + std_::countl_zero(u | 1) + std_::countr_zero(u | 256) + std_::bit_width(u) + std_::has_single_bit(u) + std_::rotl(u, 5) % 1000;
  r += std_::bit_cast<unsigned>(float(i)) % 1001;
  r += std_::gcd(i + 12, 18) + std_::lcm(i + 1, 4) + std_::midpoint(i, 100);
  r += std_::numeric_limits<short>::max() + std_::numeric_limits<double>::digits;
  std_::chrono::milliseconds ms(i * 1500);
  r += std_::chrono::duration_cast<std_::chrono::seconds>(ms).count();
  int grid[12];
  std_::mdspan<int, std_::extents<int, 3, std_::dynamic_extent>> m(grid, 4);
  for (int p = 0; p < m.extent(0); ++p)
    for (int q = 0; q < m.extent(1); ++q)
      m(p, q) = p * 10 + q;
  r += grid[(i % 3) * 4 + i % 4] + m.size();
  std_::plus<> plus;
  r += plus(1, 2.5) + std_::greater<int>()(i, 5) + std_::invoke(Visitor(), 3);
  r += std_::exchange(a[0], 50) + a[0];
  return r;
}
__global__ void kernel(double *out, const int *data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = everything(i, std_::span<const int>(data, n));
}

int main() {
  std::vector<int> data(16);
  for (int i = 0; i < 16; ++i)
    data[i] = i * 4 % 19;
  int *d = toDevice(data);
  const int n = 256;
  double *out;
  CHECK(cudaMallocManaged(&out, n * 8));
  kernel<<<4, n / 4>>>(out, d, 16);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) {
    double want = everything(i, std_::span<const int>(data.data(), 16));
    EXPECT(std::fabs(out[i] - want) <= 1e-9 * std::fabs(want));
    if (failures && i < 3)
      printf("%d: %.17g, not %.17g\n", i, out[i], want);
  }
  return done();
}
