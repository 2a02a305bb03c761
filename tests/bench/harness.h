// Times one computation in several implementations, in turn within one run, on the same data;
// prints ratios.
#pragma once
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "intrinsics/matrix/policy.h"
#include "loader/device/device.h"
#include "loader/device/memory.h"

namespace ptxrun::bench {

/// The buffers that there are, for runAsProgram.
void noteBuffer(void *base, size_t bytes);
void forgetBuffer(void *base);
/// The copy that a program makes, of host memory, told to a recording.
void copyToDevice(char *to, const std::string &from);

/// A buffer as all implementations get it: 2 MiB-aligned, huge pages (device::allocateMemory).
template <class T> class Data {
 public:
  explicit Data(size_t count)
      : count_(count), data_(static_cast<T *>(device::allocateMemory(count * sizeof(T)))) {
    std::memset(static_cast<void *>(data_), 0, count * sizeof(T));
    noteBuffer(data_, bytes());
  }
  ~Data() {
    forgetBuffer(data_);
    device::freeMemory(data_);
  }
  Data(const Data &) = delete;
  T *get() { return data_; }
  T &operator[](size_t k) { return data_[k]; }
  size_t size() const { return count_; }
  size_t bytes() const { return count_ * sizeof(T); }

 private:
  size_t count_;
  T *data_;
};

/// Optimised. Exits with a message when it does not load.
std::unique_ptr<device::Module> loadModule(const std::string &path,
                                           const device::LoadOptions & = {});

/// A sample's module and one way to launch its kernels through our own libraries.
class Sample {
 public:
  /// `name` is the file in samples/ without .ptx. Exits with a message when it does not load.
  explicit Sample(const std::string &name);
  /// Of a text.
  Sample(const std::string &name, const std::string &text);
  struct Launch {
    std::string kernel;
    abi::Dim3 grid, block;
    std::vector<std::byte> params;
    uint32_t shared = 0;              ///< bytes of dynamic shared memory
    matrix::PolicyChoice matrix = {}; ///< how matrix instructions sum
  };
  /// Packs the arguments by the kernel's parameter list.
  template <class... A>
  Launch bind(const std::string &kernel, abi::Dim3 grid, abi::Dim3 block, A... arguments) {
    Launch launch{kernel, grid, block, {}};
    const device::KernelInfo &info = find(kernel, sizeof...(A));
    launch.params.resize(info.parameterBytes);
    size_t k = 0;
    ((std::memcpy(launch.params.data() + info.parameters[k].offset, &arguments,
                  info.parameters[k].bytes),
      ++k),
     ...);
    return launch;
  }
  void run(const Launch &);

 private:
  const device::KernelInfo &find(const std::string &kernel, size_t arguments);
  std::string name_;
  std::unique_ptr<device::Module> module_;
};

struct Subject {
  std::string name;
  double bar = 0, reach = 0; ///< the goal: at most so much of the OpenMP loop's time
  std::function<void()> ours, loop;
  std::function<void()> opencl;  ///< empty: not available
  std::function<void()> prepare; ///< before every single run, not timed; may be empty
  /// `compare` holds what was left behind against the loop's result; empty if right, else what is
  /// wrong.
  std::function<void()> snapshot;       ///< after the loop ran
  std::function<std::string()> compare; ///< after another one ran
  double operations = 0;                ///< not 0: their rate, for each thread, is printed
  double leastRate = 0;                 ///< another goal: so many 1e9 operations a second
};

struct Options {
  int rounds = 11;
  std::string only; ///< part of a subject's name; "=NAME": all of it
  bool hasOpenCl = true;
  int threads = 0;
  bool isAsProgram = false; ///< copies, kernels and copies back, one line for all
};

/// What to print behind a number that has a bar; those above theirs are counted.
const char *verdict(bool isAboveBar);
/// How many were above their bars, of what is not in the table.
unsigned countMissedBars();

class Table {
 public:
  explicit Table(const Options &options) : options_(options) {}
  /// Validates, times in turn, prints a line.
  void measure(const Subject &);
  /// What follows is bound by arithmetic: with several threads, how many times as fast as one they
  /// are is held to kScalingBar (of two threads).
  void expectScaling() { expectsScaling_ = true; }
  bool wants(const std::string &name) const {
    if (options_.only.starts_with('='))
      return name == options_.only.substr(1);
    return options_.only.empty() || name.find(options_.only) != std::string::npos;
  }
  /// Of the subjects that were measured.
  const std::vector<std::string> &names() const { return names_; }
  /// Geometric means and what missed its bar.
  void summary() const;
  bool isAllRight() const { return failures_ == 0 && missed_ == 0; }

 private:
  Options options_;
  static constexpr double kScalingBar = 0.95; ///< of a thread's work, for each thread
  double scaling(const Subject &) const;
  /// Prints it; true if it is below the goal.
  bool rateMisses(const Subject &, double ms) const;
  bool expectsScaling_ = false;
  std::vector<std::string> names_;
  std::vector<double> toLoop_, toOpenCl_;
  unsigned failures_ = 0, missed_ = 0;
};

/// Sets the team size of our launches and of the loops.
void setThreads(int threads);
double medianMs(std::vector<double> seconds);
/// Wall time; with one thread the process's own CPU time, which other load does not disturb.
double secondsNow();
double wallSecondsNow();

/// Relative difference of two float arrays, judged against `tolerance`; empty if within.
std::string compareFloats(const float *got, const float *expected, size_t count, double tolerance,
                          double absolute);
std::string compareBytes(const void *got, const void *expected, size_t bytes);

/// What the loop left behind becomes the reference, bit for bit; `data` is cleared so that a run
/// that does nothing is found out.
template <class T> void expectBits(Subject &subject, Data<T> &data) {
  auto expected = std::make_shared<std::vector<T>>();
  subject.snapshot = [expected, &data] {
    expected->assign(data.get(), data.get() + data.size());
    std::memset(static_cast<void *>(data.get()), 0, data.bytes());
  };
  subject.compare = [expected, &data] {
    return compareBytes(data.get(), expected->data(), data.bytes());
  };
}

void measureMemoryKernels(Table &);
void measureComputeKernels(Table &);
void measureMatrixKernels(Table &);
/// mma, type by type.
void measureMatrixTypes(Table &);
void measureAtomics();
void measureLatencies();
/// Asynchronous copies against memcpy.
void measureCopies();
/// What recordings of these subjects cost.
void measureRecordings(const std::vector<std::string> &subjects, const Options &);
/// The subject as a program that copies to the device, launches and copies back. Prints seconds,
/// the bytes of memory written and the number of rounds.
void runAsProgram(const Subject &, int rounds);
/// A program of 2,000 small launches. Prints the same.
void runManyLaunches();
/// ldmatrix and tcgen05.ld.
void measureFragments();
/// A function of OpenBLAS, which is told to use one thread; null where it is not installed.
void *blasFunction(const char *name);

} // namespace ptxrun::bench
