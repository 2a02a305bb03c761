// Random kernels (random_kernel.h) against their oracle: every W asked for, both tiers, whole
// launches. The CPU level is the process's (PTXRUN_CPU).
//
//   fuzz_kernels FIRST LAST [lanes=1,8,16,32] [tiers=baseline,optimised] [keep=DIR] [show=SEED]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "loader/device/device.h"
#include "loader/device/memory.h"
#include "tests/fuzz/random_kernel.h"

namespace ptxrun::fuzz {
namespace {

struct Setting {
  unsigned lanes;
  device::Tiers tiers;
  const char *name;
};

struct Parameters {
  uint32_t *memory;
  uint32_t parameter;
};

/// What went wrong; empty if every word is as the oracle says.
std::string problemOf(const RandomKernel &kernel, const std::string &text, const Setting &setting) {
  device::LoadOptions load;
  load.useCache = false;
  load.tiers = setting.tiers;
  device::Outcome outcome;
  auto module = device::Module::load("k.ptx", text, load, outcome);
  if (!module)
    return outcome.message;
  const std::vector<uint32_t> before = kernel.memory();
  auto *memory = static_cast<uint32_t *>(device::allocateMemory(before.size() * 4));
  std::copy(before.begin(), before.end(), memory);
  const Parameters parameters{memory, kernel.parameter()};
  device::LaunchOptions launch;
  launch.grid = {kernel.grid(), 1, 1};
  launch.block = {kernel.block()[0], kernel.block()[1], 1};
  launch.params = &parameters;
  launch.code.lanes = setting.lanes;
  launch.timeout = std::chrono::seconds(60);
  launch.threads = 1;
  std::string problem;
  const device::KernelInfo &info = module->kernels()[0];
  const device::Variant variant = module->compile(info, launch, outcome);
  if (variant.kernel && setting.lanes != 1 && variant.needs.lanes != setting.lanes &&
      !(kernel.mayNeedThreads() && variant.needs.lanes == 1))
    problem = "runs at W = " + std::to_string(variant.needs.lanes) + ": " + variant.reason;
  if (variant.kernel)
    outcome = module->launch(info, variant, launch);
  if (!outcome.isOk())
    problem = outcome.message;
  const std::vector<uint32_t> expected = kernel.expected();
  for (size_t n = 0; n < expected.size() && problem.empty(); ++n)
    if (memory[n] != expected[n])
      problem = "word " + std::to_string(n) + " is " + std::to_string(memory[n]) +
                ", the oracle has " + std::to_string(expected[n]);
  device::freeMemory(memory);
  return problem;
}

bool isAsked(const std::string &list, const std::string &name) {
  std::istringstream names(list);
  for (std::string one; std::getline(names, one, ',');)
    if (one == name)
      return true;
  return false;
}

int run(int count, char **arguments) {
  std::string lanes = "1,8,16,32", tiers = "baseline,optimised", keep;
  for (int k = 3; k < count; ++k) {
    const std::string argument = arguments[k];
    if (argument.starts_with("lanes="))
      lanes = argument.substr(6);
    else if (argument.starts_with("tiers="))
      tiers = argument.substr(6);
    else if (argument.starts_with("keep="))
      keep = argument.substr(5);
    else if (argument.starts_with("show="))
      return std::puts(RandomKernel(std::stoull(argument.substr(5))).text().c_str()) < 0;
    else
      return std::fprintf(stderr, "fuzz_kernels: what is '%s'?\n", arguments[k]), 2;
  }
  std::vector<Setting> settings;
  for (unsigned w : {1u, 8u, 16u, 32u})
    for (const auto &[tier, name] : {std::pair{device::Tiers::baseline, "baseline"},
                                     std::pair{device::Tiers::optimised, "optimised"}})
      if (isAsked(lanes, std::to_string(w)) && isAsked(tiers, name))
        settings.push_back({w, tier, name});
  uint64_t launches = 0, failures = 0;
  for (uint64_t seed = std::stoull(arguments[1]); seed <= std::stoull(arguments[2]); ++seed) {
    const RandomKernel kernel(seed);
    const std::string text = kernel.text();
    for (const Setting &setting : settings) {
      ++launches;
      const std::string problem = problemOf(kernel, text, setting);
      if (problem.empty())
        continue;
      ++failures;
      std::printf("seed %llu, W = %u, %s, block %u x %u: %s\n", (unsigned long long)seed,
                  setting.lanes, setting.name, kernel.block()[0], kernel.block()[1],
                  problem.c_str());
      std::fflush(stdout);
      if (!keep.empty())
        std::ofstream(keep + "/seed" + std::to_string(seed) + ".ptx") << text;
    }
  }
  const char *level = std::getenv("PTXRUN_CPU");
  std::printf("%llu launches at %s, %llu of them wrong\n", (unsigned long long)launches,
              level ? level : "this CPU's level", (unsigned long long)failures);
  device::endBackground();
  return failures ? 1 : 0;
}

} // namespace
} // namespace ptxrun::fuzz

int main(int count, char **arguments) {
  if (count < 3) {
    std::fputs("usage: fuzz_kernels FIRST LAST [lanes=1,8,16,32] [tiers=baseline,optimised] "
               "[keep=DIR] [show=SEED]\n",
               stderr);
    return 2;
  }
  return ptxrun::fuzz::run(count, arguments);
}
