#include "tests/bench/harness.h"

#include <dlfcn.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>

namespace ptxrun::bench {
namespace {

int teamSize = 0;

[[noreturn]] void stop(const std::string &message) {
  std::fprintf(stderr, "bench: %s\n", message.c_str());
  std::exit(1);
}

} // namespace

void setThreads(int threads) {
  teamSize = threads;
  omp_set_num_threads(threads);
}

double wallSecondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double secondsNow() {
  if (teamSize != 1)
    return wallSecondsNow();
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double medianMs(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return seconds.empty() ? 0 : seconds[seconds.size() / 2] * 1e3;
}

static std::unique_ptr<device::Module> loadText(const std::string &name, const std::string &text,
                                                const device::LoadOptions &options = {}) {
  device::Outcome outcome;
  auto module = device::Module::load(name, text, options, outcome);
  if (!module)
    stop(outcome.message);
  return module;
}

std::unique_ptr<device::Module> loadModule(const std::string &path,
                                           const device::LoadOptions &options) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return loadText(path, text.str(), options);
}

Sample::Sample(const std::string &name) : name_(name) {
  module_ = loadModule(std::string(PTXRUN_SAMPLES) + "/" + name + ".ptx");
}

Sample::Sample(const std::string &name, const std::string &text)
    : name_(name), module_(loadText(name, text)) {}

const device::KernelInfo &Sample::find(const std::string &kernel, size_t arguments) {
  const device::KernelInfo *info = module_->findKernel(kernel);
  if (!info || info->parameters.size() != arguments)
    stop(name_ + ": no kernel " + kernel + " with " + std::to_string(arguments) + " parameters");
  return *info;
}

void Sample::run(const Launch &launch) {
  device::LaunchOptions options;
  options.grid = launch.grid;
  options.block = launch.block;
  options.params = launch.params.data();
  options.dynamicSharedBytes = launch.shared;
  options.code.matrix = launch.matrix;
  options.threads = teamSize;
  device::Outcome outcome = module_->launch(*module_->findKernel(launch.kernel), options);
  if (!outcome.isOk())
    stop(outcome.message);
}

std::string compareFloats(const float *got, const float *expected, size_t count, double tolerance,
                          double absolute) {
  double worst = 0;
  size_t where = 0;
  for (size_t k = 0; k < count; ++k) {
    double difference = std::fabs(static_cast<double>(got[k]) - expected[k]);
    double excess = std::isnan(difference)
                        ? INFINITY
                        : difference / (absolute + tolerance * std::fabs(expected[k]));
    if (excess > worst)
      worst = excess, where = k;
  }
  if (worst <= 1)
    return "";
  return "[" + std::to_string(where) + "] is " + std::to_string(got[where]) + ", the loop has " +
         std::to_string(expected[where]);
}

std::string compareBytes(const void *got, const void *expected, size_t bytes) {
  if (std::memcmp(got, expected, bytes) == 0)
    return "";
  size_t at = 0;
  while (static_cast<const char *>(got)[at] == static_cast<const char *>(expected)[at])
    ++at;
  return "byte " + std::to_string(at) + " of " + std::to_string(bytes) + " differs";
}

/// One thread's time divided by all threads' time, taken in turn: the median of the rounds.
double Table::scaling(const Subject &subject) const {
  std::vector<double> ratios;
  for (int round = 0; round < options_.rounds; ++round) {
    double seconds[2];
    for (int k = 0; k < 2; ++k) {
      setThreads(k == 0 ? 1 : options_.threads);
      if (subject.prepare)
        subject.prepare();
      double start = wallSecondsNow();
      subject.ours();
      seconds[k] = wallSecondsNow() - start;
    }
    ratios.push_back(seconds[0] / seconds[1]);
  }
  return medianMs(ratios) / 1e3;
}

bool Table::rateMisses(const Subject &subject, double ms) const {
  if (subject.operations == 0)
    return false;
  const double rate = subject.operations * 1e-6 / ms / options_.threads;
  std::printf("  %.1f Gop/s a thread", rate);
  if (subject.leastRate == 0)
    return false;
  std::printf(" (at least %g)", subject.leastRate);
  return rate < subject.leastRate;
}

void Table::measure(const Subject &subject) {
  if (!wants(subject.name))
    return;
  names_.push_back(subject.name);
  if (options_.isAsProgram)
    return runAsProgram(subject, options_.rounds);
  auto prepared = [&](const std::function<void()> &run) {
    if (subject.prepare)
      subject.prepare();
    run();
  };
  prepared(subject.loop);
  subject.snapshot();
  prepared(subject.ours);
  std::string wrong = subject.compare();
  std::string wrongOpenCl;
  bool hasOpenCl = options_.hasOpenCl && subject.opencl;
  if (hasOpenCl) {
    prepared(subject.opencl);
    wrongOpenCl = subject.compare();
  }
  std::vector<double> ours, loop, opencl;
  auto timed = [&](const std::function<void()> &run, std::vector<double> &times) {
    if (subject.prepare)
      subject.prepare();
    double start = secondsNow();
    run();
    times.push_back(secondsNow() - start);
  };
  // A slow one (naive matrix product under PoCL takes seconds) gets fewer rounds.
  auto isEnough = [](const std::vector<double> &times) {
    return times.size() >= 3 && times[0] > 0.5;
  };
  for (int round = 0; round < options_.rounds; ++round) {
    if (!isEnough(ours))
      timed(subject.ours, ours);
    if (!isEnough(loop))
      timed(subject.loop, loop);
    if (hasOpenCl && !isEnough(opencl))
      timed(subject.opencl, opencl);
  }
  double mine = medianMs(ours), theirs = medianMs(loop), rival = medianMs(opencl),
         ratio = mine / theirs;
  bool isMissed = subject.bar > 0 && ratio > subject.bar;
  std::printf("%-14s %9.3f %9.3f %7.2f %6.2f %6.2f", subject.name.c_str(), mine, theirs, ratio,
              subject.bar, subject.reach);
  if (hasOpenCl)
    std::printf(" %9.3f %7.2f", rival, mine / rival);
  if (expectsScaling_ && options_.threads > 1) {
    const double times = scaling(subject), bar = kScalingBar * options_.threads;
    std::printf("  %4.2f%s", times, times < bar ? " below the bar" : "");
    missed_ += times < bar;
  }
  isMissed |= rateMisses(subject, mine);
  missed_ += isMissed;
  std::printf("  %s\n", !wrong.empty() ? ("WRONG: " + wrong).c_str()
                        : isMissed     ? "above the bar"
                                       : "");
  if (!wrongOpenCl.empty())
    std::printf("               (PoCL's result differs: %s)\n", wrongOpenCl.c_str());
  std::fflush(stdout);
  failures_ += !wrong.empty();
  toLoop_.push_back(ratio);
  if (hasOpenCl)
    toOpenCl_.push_back(mine / rival);
}

static unsigned missedBars = 0;

const char *verdict(bool isAboveBar) {
  missedBars += isAboveBar;
  return isAboveBar ? "  above the bar" : "";
}

unsigned countMissedBars() { return missedBars; }

void Table::summary() const {
  auto mean = [](const std::vector<double> &ratios) {
    double sum = 0;
    for (double ratio : ratios)
      sum += std::log(ratio);
    return std::exp(sum / static_cast<double>(std::max<size_t>(1, ratios.size())));
  };
  std::printf("geometric mean: %.2f of the loops' time", mean(toLoop_));
  if (!toOpenCl_.empty())
    std::printf(", %.2f of PoCL's (%.1f times as fast)", mean(toOpenCl_), 1 / mean(toOpenCl_));
  std::printf("; %u missed their bars, %u wrong\n", missed_, failures_);
}

void *blasFunction(const char *name) {
  static void *const library = [] {
    // Its threads would wait in a loop, which counts as time of whatever is measured next.
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    // On CPUs that are newer than it is it takes SSE's kernels, a sixth as fast.
    if (__builtin_cpu_supports("avx512f"))
      setenv("OPENBLAS_CORETYPE", "SkylakeX", /*overwrite=*/0);
    void *opened = dlopen("libopenblas.so.0", RTLD_NOW);
    opened = opened ? opened : dlopen("libopenblas.so", RTLD_NOW);
    if (!opened)
      printf("OpenBLAS is not here (libopenblas0-pthread): products run against a blocked loop, "
             "which is "
             "several times slower\n");
    return opened;
  }();
  return library ? dlsym(library, name) : nullptr;
}

} // namespace ptxrun::bench
