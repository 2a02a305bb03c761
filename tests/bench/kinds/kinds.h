// The second table: kernels of many kinds, each beside the loop that a CPU programmer would write
// for the same result, both with one thread.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/bench/harness.h"

namespace ptxrun::bench::kinds {

using Dim = abi::Dim3;

/// Where results are left, and how they are held against the loop's.
struct Output {
  void *data;
  size_t bytes;
  /// What is wrong with the data there, given what the loop left; empty: nothing.
  std::function<std::string(const std::byte *expected)> compare;
};
/// The same bits.
template <class T> Output bits(Data<T> &data) {
  return {data.get(), data.bytes(), [&data](const std::byte *expected) {
            return compareBytes(data.get(), expected, data.bytes());
          }};
}
/// `tolerance` is relative, and absolute for numbers below one. T is float or double.
template <class T> Output near(Data<T> &data, double tolerance) {
  return {data.get(), data.bytes(), [&data, tolerance](const std::byte *expected) -> std::string {
            const T *theirs = reinterpret_cast<const T *>(expected);
            std::vector<float> got(data.get(), data.get() + data.size()),
                wanted(theirs, theirs + data.size());
            return compareFloats(got.data(), wanted.data(), got.size(), tolerance, tolerance);
          }};
}

/// A kernel's arguments, in order: numbers and structures as they are, Data as a pointer.
using Arguments = std::vector<std::vector<std::byte>>;
template <class T> std::vector<std::byte> argument(const T &value) {
  const auto *bytes = reinterpret_cast<const std::byte *>(&value);
  return {bytes, bytes + sizeof value};
}
template <class T> std::vector<std::byte> argument(Data<T> &data) { return argument(data.get()); }
template <class... A> Arguments args(A &&...each) { return {argument(each)...}; }

/// One launch, and the loop that does the same.
struct Kind {
  Dim grid, block;
  Arguments arguments;
  std::function<void()> loop;
  std::vector<Output> outputs;
  std::function<void()> prepare = {}; ///< before every run, not timed; outputs are not cleared then
  uint32_t shared = 0;                ///< bytes of dynamic shared memory
};

struct KindOptions {
  int rounds = 7;
  std::string only;        ///< part of a kernel's name
  bool triesWidths = true; ///< times W = 1, 8, 16 and 32, too
  bool compiles = false;   ///< times compiling instead of running
};

/// Measures, prints a line for each kernel, and keeps what the summary needs.
class Kinds {
 public:
  explicit Kinds(const KindOptions &options) : options_(options) {}
  /// Of one .ptx beside this header.
  class Group {
   public:
    /// The kernel that add() was asked for.
    void measure(const Kind &kind);

   private:
    friend class Kinds;
    Group(Kinds &owner, const std::string &file);
    Kinds &owner_;
    std::unique_ptr<device::Module> module_;
    std::string name_;
  };
  /// Runs each kernel's function (unless it is left out), which makes its data and calls measure().
  using Kernels = std::vector<std::pair<const char *, void (*)(Group &)>>;
  void measureAll(const char *file, const Kernels &);
  /// Prints it. Whether all results are right and all bars hold.
  bool summary() const;

 private:
  void measure(device::Module &, const std::string &kernel, const Kind &);
  /// What compiling takes, without the cache: baseline code, and optimised code.
  void measureCompiling(const device::Module &, const std::string &kernel, const Kind &);
  bool summaryOfCompiling() const;
  /// chosen: the W of the planner.
  void tryWidths(device::Module &, const device::KernelInfo &, device::LaunchOptions, const Kind &,
                 unsigned chosen);
  KindOptions options_;
  std::vector<double> toLoop_, toBestWidth_;
  std::vector<std::string> tooSlow_, tooLong_;
  std::vector<double> baselineMs_, optimisedMs_; ///< of kernels of few instructions
  unsigned wrong_ = 0;
};

template <class T> void fill(Data<T> &data, uint32_t seed, double low, double high) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(low, high);
  for (size_t k = 0; k < data.size(); ++k)
    data[k] = static_cast<T>(value(random));
}

/// A copy of what stands in `data` now, and the function that writes it back.
template <class T> std::function<void()> restorer(Data<T> &data) {
  auto copy = std::make_shared<std::vector<T>>(data.get(), data.get() + data.size());
  return [copy, &data] { std::memcpy(data.get(), copy->data(), data.bytes()); };
}
template <class T> std::function<void()> clearer(Data<T> &data) {
  return [&data] { std::memset(static_cast<void *>(data.get()), 0, data.bytes()); };
}

inline unsigned blocksFor(size_t n, unsigned block) {
  return static_cast<unsigned>((n + block - 1) / block);
}

void measureReductions(Kinds &);
void measureScans(Kinds &);
void measureUpdates(Kinds &);
void measureLayouts(Kinds &);
void measureIntegers(Kinds &);
void measureFunctions(Kinds &);
void measureSorting(Kinds &);
void measureSparse(Kinds &);
void measureBytes(Kinds &);
void measureGrids(Kinds &);
void measureDense(Kinds &);
void measureSimulation(Kinds &);
void measureModels(Kinds &);
void measureNetworks(Kinds &);
void measureTiles(Kinds &);

/// One thread, in blocks of 256, for each of n results: y[i] = f(i).
template <class T, class F>
void measureMap(Kinds::Group &group, int n, Data<T> &y, const Arguments &arguments,
                const Output &output, F f) {
  group.measure({.grid = {blocksFor(n, 256)},
                 .block = {256},
                 .arguments = arguments,
                 .loop =
                     [&] {
                       const F g = f; // in registers, whatever `to` points at
                       T *to = y.get();
#pragma omp simd
                       for (int i = 0; i < n; ++i)
                         to[i] = g(i);
                     },
                 .outputs = {output}});
}

} // namespace ptxrun::bench::kinds
