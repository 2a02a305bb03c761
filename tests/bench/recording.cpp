// What recordings cost: programs that copy their buffers to the device, run a subject's kernels and
// copy back, each in a process of its own, with and without a recording; the files' sizes; how soon
// a launch in the middle is reached; and steps backwards in the debugger.
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "tests/bench/harness.h"

namespace ptxrun::bench {

namespace {

constexpr double kOverheadBar = 1.3, kMiddleBar = 0.6, kBytesPerLaunch = 200;
constexpr int kManyLaunches = 2000;

/// The output of a command; its exit status is not zero: nothing.
std::string outputOf(const std::string &command) {
  std::string text;
  FILE *pipe = popen(command.c_str(), "r");
  char buffer[4096];
  while (pipe && std::fgets(buffer, sizeof buffer, pipe))
    text += buffer;
  return pipe && pclose(pipe) == 0 ? text : "";
}

std::string quoted(const std::string &text) { return "'" + text + "'"; }

/// Seconds and bytes of memory that were written, as a child tells them.
struct Told {
  double seconds = 0, bytes = 0, launches = 0;
  bool isThere = false;
};
Told tell(const std::string &command) {
  Told told;
  told.isThere = std::sscanf(outputOf(command).c_str(), "%lf %lf %lf", &told.seconds, &told.bytes,
                             &told.launches) == 3;
  return told;
}

double bytesOf(const std::string &file) {
  struct stat facts {};
  return stat(file.c_str(), &facts) == 0 ? static_cast<double>(facts.st_size) : 0;
}

double secondsOf(const std::string &command) {
  const double start = wallSecondsNow();
  return std::system((command + " > /dev/null").c_str()) == 0 ? wallSecondsNow() - start : 0;
}

void printBar(const char *what, double value, const char *unit, double bar) {
  std::printf("%-52s %10.3f %s (at most %g)%s\n", what, value, unit, bar, verdict(value > bar));
}

/// 2,000 launches of a small kernel: how long until launch 1,000 has been run again.
void measureMiddle(const std::string &self, const std::string &file) {
  if (!tell(self + " --many-launches --record " + quoted(file)).isThere)
    return;
  const std::string replay = quoted(PTXRUN_COMMAND) + " replay -q " + quoted(file);
  const double whole = secondsOf(replay), middle = secondsOf(replay + " --launch 1000");
  std::printf("%-52s %10.3f s, all of them %.3f s%s\n", "to launch 1,000 of 2,000", middle, whole,
              verdict(middle == 0 || middle > whole * kMiddleBar + 0.05));
}

} // namespace

void runManyLaunches() {
  constexpr size_t kCount = 1 << 16;
  Data<float> x(kCount), y(kCount);
  for (size_t i = 0; i < kCount; ++i)
    x[i] = static_cast<float>(i);
  Sample sample("saxpy");
  copyToDevice(reinterpret_cast<char *>(x.get()),
               std::string(reinterpret_cast<char *>(x.get()), x.bytes()));
  const auto launch =
      sample.bind("saxpy", {kCount / 256}, {256}, static_cast<int>(kCount), 0.5f, x.get(), y.get());
  const double start = wallSecondsNow();
  for (int i = 0; i < kManyLaunches; ++i)
    sample.run(launch);
  std::printf("%.9f %.0f %d\n", wallSecondsNow() - start,
              static_cast<double>(y.bytes()) * kManyLaunches, kManyLaunches);
}

void measureRecordings(const std::vector<std::string> &subjects, const Options &options) {
  std::printf("\nrecordings: copies and kernels, time with a recording / time without:\n");
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length <= 0)
    return;
  self[length] = 0;
  const std::string bench = quoted(self) + " --threads " + std::to_string(options.threads);
  const std::string file = "/tmp/ptxrun-bench-" + std::to_string(getpid()) + ".rec";
  double logs = 0, largest = 0;
  size_t count = 0;
  for (const std::string &name : subjects) {
    const std::string program = bench + " --as-program --only " + quoted("=" + name);
    const Told usual = tell(program), recorded = tell(program + " --record " + quoted(file));
    if (!usual.isThere || !recorded.isThere)
      continue;
    const double ratio = recorded.seconds / usual.seconds;
    const double share = bytesOf(file) / (recorded.bytes + kBytesPerLaunch * recorded.launches);
    std::remove(file.c_str());
    std::printf("  %-20s %9.3f ms %7.2f   file / memory written %.2f\n", name.c_str(),
                usual.seconds * 1e3, ratio, share);
    std::fflush(stdout);
    logs += std::log(ratio);
    largest = std::max(largest, share);
    ++count;
  }
  if (count) {
    printBar("geometric mean", std::exp(logs / static_cast<double>(count)), "times", kOverheadBar);
    printBar("largest file", largest, "of memory written", 1);
  }
  measureMiddle(bench, file);
  std::remove(file.c_str());
  std::printf("stepping back:\n");
  std::fflush(stdout);
  const std::string steps =
      outputOf("python3 " PTXRUN_BENCH_FOLDER "/../debug/speed.py " + quoted(PTXRUN_COMMAND));
  std::printf("%s%s", steps.c_str(), verdict(steps.empty()));
}

} // namespace ptxrun::bench
