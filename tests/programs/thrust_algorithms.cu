// nvcc: -arch=compute_80 --extended-lambda
// Thrust as programs use it: vectors, iterators, sorts, scans, reductions by key, sets, searches, partitions, gathers, tuples.
#include "check.h"
#include <algorithm>
#include <map>
#include <numeric>
#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/logical.h>
#include <thrust/partition.h>
#include <thrust/random.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/unique.h>

int main() {
  const int n = 3001;
  thrust::host_vector<int> h(n);
  thrust::default_random_engine engine(7);
  thrust::uniform_int_distribution<int> pick(-100, 100);
  for (int &x : h)
    x = pick(engine);
  thrust::device_vector<int> d = h, values(n);
  std::vector<int> v(h.begin(), h.end());
  EXPECT(thrust::reduce(d.begin(), d.end()) == std::accumulate(v.begin(), v.end(), 0));
  EXPECT(thrust::count_if(d.begin(), d.end(), [] __device__(int x) { return x > 50; }) ==
         std::count_if(v.begin(), v.end(), [](int x) { return x > 50; }));
  EXPECT(thrust::max_element(d.begin(), d.end()) - d.begin() == std::max_element(v.begin(), v.end()) - v.begin());
  auto dot = thrust::inner_product(d.begin(), d.end(), d.begin(), 0ll);
  EXPECT(dot == std::inner_product(v.begin(), v.end(), v.begin(), 0ll));
  thrust::sequence(values.begin(), values.end());
  thrust::stable_sort_by_key(thrust::device, d.begin(), d.end(), values.begin(), thrust::greater<int>());
  std::vector<int> order(n), got(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return v[a] > v[b]; });
  thrust::copy(values.begin(), values.end(), got.begin());
  EXPECT(got == order);
  thrust::sort(d.begin(), d.end());
  std::sort(v.begin(), v.end());
  thrust::device_vector<int> keys(n), sums(n);
  auto ends = thrust::reduce_by_key(d.begin(), d.end(), thrust::make_constant_iterator(1), keys.begin(), sums.begin());
  std::map<int, int> histogram;
  for (int x : v)
    ++histogram[x];
  size_t i = 0;
  EXPECT(ends.first - keys.begin() == (long)histogram.size());
  for (auto [key, count] : histogram) {
    EXPECT(keys[i] == key && sums[i] == count);
    if (++i == 20)
      break;
  }
  thrust::device_vector<int> scan(n);
  thrust::exclusive_scan(d.begin(), d.end(), scan.begin(), 5);
  EXPECT(scan[n - 1] == 5 + std::accumulate(v.begin(), v.end() - 1, 0));
  thrust::inclusive_scan(d.begin(), d.end(), scan.begin(), thrust::maximum<int>());
  EXPECT(scan[n - 1] == v.back());
  EXPECT(thrust::lower_bound(d.begin(), d.end(), 10) - d.begin() == std::lower_bound(v.begin(), v.end(), 10) - v.begin());
  auto last = thrust::unique(d.begin(), d.end());
  EXPECT(last - d.begin() == (long)histogram.size());
  thrust::device_vector<float> x(n), y(n);
  thrust::transform(thrust::make_counting_iterator(0), thrust::make_counting_iterator(n), x.begin(), [] __device__(int i) { return i * 0.5f; });
  thrust::fill(y.begin(), y.end(), 2.f);
  thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), [] __device__(float a, float b) { return 3 * a + b; });
  EXPECT(y[100] == 152.f);
  auto zipped = thrust::make_zip_iterator(thrust::make_tuple(x.begin(), y.begin()));
  float most = thrust::transform_reduce(zipped, zipped + n,
                                        [] __device__(const thrust::tuple<float, float> &t) -> float { return thrust::get<1>(t) - thrust::get<0>(t); },
                                        0.f, thrust::maximum<float>());
  EXPECT(most == 2 + (n - 1.f));
  auto middle = thrust::partition(x.begin(), x.end(), [] __device__(float a) { return (int)a % 2 == 0; });
  EXPECT(thrust::all_of(x.begin(), middle, [] __device__(float a) { return (int)a % 2 == 0; }));
  std::vector<int> a{1, 3, 5, 7, 9, 9}, b{3, 4, 5, 9}, both(6);
  thrust::device_vector<int> da = a, db = b, dc(6);
  auto end = thrust::set_intersection(da.begin(), da.end(), db.begin(), db.end(), dc.begin());
  EXPECT(end - dc.begin() == 3 && dc[0] == 3 && dc[1] == 5 && dc[2] == 9);
  thrust::device_vector<double> big(100000, 0.25);
  EXPECT(thrust::reduce(big.begin(), big.end()) == 25000.);
  std::vector<double> doubles(5000);
  for (size_t k = 0; k < doubles.size(); ++k)
    doubles[k] = std::sin(k * 12.9898) * (k % 7 ? 1 : -1e10);
  thrust::device_vector<double> dd = doubles;
  thrust::sort(dd.begin(), dd.end(), thrust::greater<double>());
  std::sort(doubles.rbegin(), doubles.rend());
  EXPECT(thrust::equal(dd.begin(), dd.end(), thrust::device_vector<double>(doubles).begin()));
  return done();
}
