// bench [--threads N] [--rounds N] [--only NAME] [--no-latency]
// For itself: --as-program, --many-launches, --record FILE (recording.cpp).
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "loader/capture/recorder.h"
#include "tests/bench/harness.h"
#include "tests/bench/opencl.h"

namespace {
void measureSubjects(ptxrun::bench::Table &table) {
  measureMemoryKernels(table);
  measureComputeKernels(table);
  measureMatrixKernels(table);
  measureMatrixTypes(table);
}
} // namespace

int main(int count, char **arguments) {
  using namespace ptxrun::bench;
  Options options;
  bool hasLatency = true, isManyLaunches = false;
  std::string record;
  for (int k = 1; k < count; ++k) {
    std::string_view option = arguments[k];
    const char *value = k + 1 < count ? arguments[k + 1] : "";
    if (option == "--no-latency")
      hasLatency = false;
    else if (option == "--threads")
      options.threads = std::atoi(value), ++k;
    else if (option == "--rounds")
      options.rounds = std::atoi(value), ++k;
    else if (option == "--only")
      options.only = value, ++k;
    else if (option == "--as-program")
      options.isAsProgram = true, options.rounds = 3;
    else if (option == "--many-launches")
      isManyLaunches = true;
    else if (option == "--record")
      record = value, ++k;
    else if (option == "--no-opencl")
      options.hasOpenCl = false;
    else {
      std::fprintf(
          stderr,
          "usage: bench [--threads N] [--rounds N] [--only NAME] [--no-opencl] [--no-latency]\n");
      return 2;
    }
  }
  if (options.threads <= 0)
    options.threads = static_cast<int>(std::thread::hardware_concurrency());
  setThreads(options.threads);
  if (!record.empty()) {
    ptxrun::capture::RecordOptions recording;
    recording.file = record;
    if (const std::string problem = ptxrun::capture::Recorder::start(recording); !problem.empty()) {
      std::fprintf(stderr, "bench: %s\n", problem.c_str());
      return 2;
    }
  }
  if (options.isAsProgram || isManyLaunches) {
    Table table(options);
    if (isManyLaunches)
      runManyLaunches();
    else
      measureSubjects(table);
    if (ptxrun::capture::Recorder *recorder = ptxrun::capture::Recorder::instance())
      recorder->finish();
    return 0;
  }
  options.hasOpenCl = options.hasOpenCl && openClIsAvailable();
  std::printf("%d thread%s, medians of %d rounds in turn, %s ms; ratios are our time / theirs\n",
              options.threads, options.threads == 1 ? "" : "s", options.rounds,
              options.threads == 1 ? "CPU" : "wall");
  std::printf("%-14s %9s %9s %7s %6s %6s%s%s\n", "kernel", "ptxrun", "loop", "ratio", "bar",
              "reach", options.hasOpenCl ? "     PoCL   ratio" : "",
              options.threads > 1 ? "  one thread's time / ours" : "");
  Table table(options);
  measureSubjects(table);
  table.summary();
  if (table.wants("ldmatrix, tcgen05.ld: fragments"))
    measureFragments();
  if (hasLatency) {
    measureAtomics();
    measureLatencies();
    measureCopies();
    measureRecordings(table.names(), options);
  }
  if (countMissedBars() > 0)
    std::printf("%u of these missed their bars\n", countMissedBars());
  return table.isAllRight() && countMissedBars() == 0 ? 0 : 1;
}
