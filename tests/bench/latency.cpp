// Times that have no rival in the same run: launch, barrier, compilation, start of the command.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/bench/harness.h"

extern char **environ;

namespace ptxrun::bench {
namespace {

constexpr int kRounds = 21;

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

template <class Run> double medianOf(int rounds, Run run) {
  std::vector<double> times;
  for (int k = 0; k < rounds; ++k) {
    double start = wallSecondsNow();
    run();
    times.push_back(wallSecondsNow() - start);
  }
  return medianMs(times);
}

std::unique_ptr<device::Module> load(const std::string &name, const std::string &text,
                                     bool useCache,
                                     device::Tiers tiers = device::Tiers::optimised) {
  device::LoadOptions options;
  options.useCache = useCache;
  options.tiers = tiers;
  device::Outcome outcome;
  auto module = device::Module::load(name, text, options, outcome);
  if (!module)
    std::fprintf(stderr, "bench: %s\n", outcome.message.c_str()), std::exit(1);
  return module;
}

void report(const char *what, double value, const char *unit, double bar) {
  std::printf("%-52s %10.3f %-3s", what, value, unit);
  if (bar > 0)
    std::printf("  (at most %g)%s", bar, verdict(value > bar));
  std::printf("\n");
  std::fflush(stdout);
}

void measureLaunches(device::Module &module) {
  const device::KernelInfo &empty = *module.findKernel("empty");
  auto launchMs = [&](unsigned blocks) {
    device::LaunchOptions options;
    options.grid = {blocks, 1, 1};
    options.block = {256, 1, 1};
    for (int k = 0; k < 20; ++k)
      module.launch(empty, options);
    return medianOf(201, [&] { module.launch(empty, options); });
  };
  double one = launchMs(1), grid = launchMs(64), many = launchMs(65536);
  report("empty kernel, one block, launch to end", one * 1e3, "us", 5);
  report("empty kernel, 64 blocks, launch to end", grid * 1e3, "us", 15);
  report("per empty block of 256 threads", (many - grid) * 1e6 / (65536 - 64), "ns", 10);
}

/// The three forms of a kernel with barriers (translate/simt/README.md): regions; coroutines, where
/// somebody schedules the warps (here the launch is cooperative); fibers, where the barrier is in a
/// function that calls itself (there each thread is a gang).
void measureBarriers(device::Module &module) {
  struct Form {
    const char *name, *with, *without;
    bool isCooperative;
    unsigned gangsPerWarp;
    double bar;
  };
  constexpr Form kForms[] = {
      {"in regions", "barriers", "withoutBarriers", false, 1, 2},
      {"in coroutines", "barriers", "withoutBarriers", true, 1, 12},
      {"on fibers", "barriersInFunction", "withoutBarriersInFunction", false, 32, 12}};
  Data<uint32_t> out(1);
  struct {
    uint32_t rounds, padding;
    uint32_t *out;
  } params{10240, 0, out.get()};
  for (const Form &form : kForms)
    for (unsigned warps : {8u, 32u}) {
      device::LaunchOptions options;
      options.block = {warps * 32, 1, 1};
      options.params = &params;
      options.isCooperative = form.isCooperative;
      auto ms = [&](const char *kernel) {
        const device::KernelInfo &info = *module.findKernel(kernel);
        module.launch(info, options);
        return medianOf(kRounds, [&] { module.launch(info, options); });
      };
      double cost =
          (ms(form.with) - ms(form.without)) * 1e6 / params.rounds / (warps * form.gangsPerWarp);
      std::string what = "barrier " + std::string(form.name) + ", " + std::to_string(warps) +
                         " warps, per waiting gang";
      report(what.c_str(), cost, "ns", form.bar);
    }
}

void measureMbarriers(device::Module &module) {
  Data<uint32_t> out(1);
  struct {
    uint32_t rounds, padding;
    uint32_t *out;
  } params{100000, 0, out.get()};
  const device::KernelInfo &kernel = *module.findKernel("mbarrierRoundTrips");
  device::LaunchOptions options;
  options.block = {64, 1, 1};
  options.params = &params;
  module.launch(kernel, options);
  double ms = medianOf(kRounds, [&] { module.launch(kernel, options); });
  report("mbarrier, arrive and wait, between two warps and back", ms * 1e6 / params.rounds, "ns",
         40);
}

unsigned countInstructions(const std::string &ptx) {
  std::istringstream lines(ptx);
  unsigned count = 0;
  for (std::string line; std::getline(lines, line);) {
    size_t first = line.find_first_not_of(" \t{");
    if (first == std::string::npos || line[first] == '.' || line[first] == '/' ||
        line[first] == '$')
      continue;
    count += line.find(';') != std::string::npos;
  }
  return count;
}

struct Sample {
  const char *name;
  abi::Dim3 block;
};

/// Milliseconds from text to code that the first launch can run.
double compileMs(const Sample &sample, const std::string &text, device::Tiers tiers) {
  return medianOf(7, [&] {
    auto module = load(sample.name, text, false, tiers);
    device::Outcome outcome;
    device::LaunchOptions options;
    options.block = sample.block;
    module->compile(module->kernels()[0], options, outcome);
    if (!outcome.isOk())
      std::fprintf(stderr, "bench: %s\n", outcome.message.c_str()), std::exit(1);
  });
}

void measureCompilation() {
  std::printf(
      "\ncompilation without cache, module load to runnable kernel (and to optimised code):\n");
  for (const Sample &sample : {Sample{"saxpy", {256, 1, 1}},
                               {"reduce", {256, 1, 1}},
                               {"mandelbrot", {16, 16, 1}},
                               {"sgemm_naive", {16, 16, 1}},
                               {"transpose", {32, 8, 1}},
                               {"stencil2d", {32, 8, 1}},
                               {"histogram", {256, 1, 1}},
                               {"spmv", {256, 1, 1}},
                               {"nbody", {256, 1, 1}},
                               {"blackscholes", {256, 1, 1}},
                               {"bitonic", {512, 1, 1}},
                               {"sgemm_tiled", {256, 1, 1}},
                               {"sha256", {32, 1, 1}}}) {
    const std::string text = readFile(std::string(PTXRUN_SAMPLES) + "/" + sample.name + ".ptx");
    const unsigned instructions = countInstructions(text);
    const double ms = compileMs(sample, text, device::Tiers::tiered);
    const double optimisedMs = compileMs(sample, text, device::Tiers::optimised);
    const double bar = instructions < 100     ? 10
                       : instructions <= 500  ? 60
                       : instructions <= 2300 ? 300
                                              : 300 + 0.3 * (instructions - 2300);
    std::string what = std::string(sample.name) + ", " + std::to_string(instructions) +
                       " instructions (" + std::to_string(optimisedMs).substr(0, 5) + " ms)";
    report(what.c_str(), ms, "ms", bar);
  }
}

int runCommand(const std::string &cache) {
  std::string sample = std::string(PTXRUN_SAMPLES) + "/saxpy.ptx",
              cacheVariable = "PTXRUN_CACHE=" + cache;
  const char *arguments[] = {
      PTXRUN_COMMAND, "run",     sample.c_str(), "--grid", "4096",  "--block",           "256",
      "--arg",        "1048576", "--arg",        "2.0",    "--arg", "f32[1048576]:iota", "--arg",
      "f32[1048576]", "-q",      nullptr};
  std::vector<char *> environment{cacheVariable.data()};
  for (char **variable = environ; *variable; ++variable)
    if (std::string_view(*variable).substr(0, 13) != "PTXRUN_CACHE=")
      environment.push_back(*variable);
  environment.push_back(nullptr);
  pid_t child;
  if (posix_spawn(&child, PTXRUN_COMMAND, nullptr, nullptr, const_cast<char **>(arguments),
                  environment.data()) != 0)
    return -1;
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void measureStart() {
  namespace fs = std::filesystem;
  fs::path cache = fs::temp_directory_path() / ("ptxrun-bench-" + std::to_string(getpid()));
  fs::create_directories(cache);
  if (runCommand(cache.string()) != 0) {
    std::printf("%s cannot run saxpy\n", PTXRUN_COMMAND);
    return;
  }
  std::vector<double> cold, warm;
  for (int k = 0; k < 11; ++k) {
    fs::remove_all(cache);
    double start = wallSecondsNow();
    runCommand(cache.string());
    double middle = wallSecondsNow();
    runCommand(cache.string());
    cold.push_back(middle - start);
    warm.push_back(wallSecondsNow() - middle);
  }
  fs::remove_all(cache);
  std::printf("\n");
  report("ptxrun run saxpy.ptx, empty cache, wall", medianMs(cold), "ms", 80);
  report("ptxrun run saxpy.ptx, from the cache, wall", medianMs(warm), "ms", 25);
}

} // namespace

void measureLatencies() {
  auto module = load("barrier.ptx", readFile(PTXRUN_BENCH_FOLDER "/barrier.ptx"), true);
  std::printf("\n");
  measureLaunches(*module);
  measureBarriers(*module);
  measureMbarriers(*module);
  measureCompilation();
  measureStart();
}

} // namespace ptxrun::bench
