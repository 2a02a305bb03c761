#include "tests/bench/kinds/kinds.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "translate/check/checked_module.h"

namespace ptxrun::bench::kinds {
namespace {

// The bars. W: within so much of the best W for so many of the kernels.
constexpr double kMeanBar = 1.2, kWorstBar = 3.0, kWidthBar = 1.15, kWidthShare = 0.9;
// Milliseconds that compiling a kernel of fewer instructions takes.
constexpr size_t kFewInstructions = 100;
constexpr double kBaselineBar = 5, kOptimisedBar = 30;

[[noreturn]] void stop(const std::string &message) {
  std::fprintf(stderr, "bench_kinds: %s\n", message.c_str());
  std::exit(1);
}

std::vector<std::byte> pack(const device::KernelInfo &info, const Arguments &arguments) {
  if (info.parameters.size() != arguments.size())
    stop(info.name + " has " + std::to_string(info.parameters.size()) + " parameters");
  std::vector<std::byte> packed(info.parameterBytes);
  for (size_t k = 0; k < arguments.size(); ++k) {
    if (info.parameters[k].bytes != arguments[k].size())
      stop(info.name + ": parameter " + std::to_string(k) + " has another size");
    std::copy(arguments[k].begin(), arguments[k].end(),
              packed.begin() + static_cast<ptrdiff_t>(info.parameters[k].offset));
  }
  return packed;
}

double geometricMean(const std::vector<double> &ratios) {
  double sum = 0;
  for (double ratio : ratios)
    sum += std::log(ratio);
  return std::exp(sum / static_cast<double>(std::max<size_t>(1, ratios.size())));
}

void launch(device::Module &module, const device::KernelInfo &info,
            const device::LaunchOptions &options) {
  device::Outcome outcome = module.launch(info, options);
  if (!outcome.isOk())
    stop(info.name + ": " + outcome.message);
}

double timed(const Kind &kind, const std::function<void()> &run) {
  if (kind.prepare)
    kind.prepare();
  const double start = secondsNow();
  run();
  return secondsNow() - start;
}

/// Clears the outputs, runs, and says what differs from what the loop left.
std::string findDifference(const Kind &kind, const std::vector<std::vector<std::byte>> &expected,
                           const std::function<void()> &run) {
  for (const Output &output : kind.outputs)
    std::memset(output.data, 0, output.bytes);
  timed(kind, run);
  for (size_t k = 0; k < expected.size(); ++k)
    if (std::string wrong = kind.outputs[k].compare(expected[k].data()); !wrong.empty())
      return wrong;
  return "";
}

} // namespace

Kinds::Group::Group(Kinds &owner, const std::string &file)
    : owner_(owner), module_(loadModule(std::string(PTXRUN_KINDS) + "/" + file + ".ptx")) {}

void Kinds::Group::measure(const Kind &kind) {
  if (owner_.options_.compiles)
    owner_.measureCompiling(*module_, name_, kind);
  else
    owner_.measure(*module_, name_, kind);
}

void Kinds::measureAll(const char *file, const Kernels &kernels) {
  auto isWanted = [&](const std::string &name) {
    return name.find(options_.only) != std::string::npos;
  };
  if (std::none_of(kernels.begin(), kernels.end(),
                   [&](const auto &kernel) { return isWanted(kernel.first); }))
    return;
  Group group(*this, file);
  for (const auto &[name, run] : kernels)
    if (isWanted(name)) {
      group.name_ = name;
      run(group);
    }
}

void Kinds::tryWidths(device::Module &module, const device::KernelInfo &info,
                      device::LaunchOptions options, const Kind &kind, unsigned chosen) {
  struct Width {
    unsigned lanes; ///< 0: chosen by the planner.
    double least = INFINITY;
  };
  std::vector<Width> widths = {{0}};
  for (unsigned lanes : {1u, 8u, 16u, 32u})
    if (lanes != chosen)
      widths.push_back({lanes});
  // In turn, so that all find the same caches; code is compiled in the first round.
  for (int round = 0; round <= std::max(5, options_.rounds / 2); ++round) {
    for (Width &width : widths) {
      options.code.lanes = width.lanes;
      const double time = timed(kind, [&] { launch(module, info, options); });
      if (round > 0)
        width.least = std::min(width.least, time);
    }
    if (round > 0)
      std::erase_if(widths, [tooLong = 2.5 * widths[0].least](const Width &width) {
        return width.least > tooLong;
      });
  }
  const Width &best =
      *std::min_element(widths.begin(), widths.end(),
                        [](const Width &a, const Width &b) { return a.least < b.least; });
  const double toBest = widths[0].least / best.least;
  toBestWidth_.push_back(toBest);
  std::printf(" %6.2f", toBest);
  if (best.lanes != 0)
    std::printf(" (%u)", best.lanes);
}

void Kinds::measure(device::Module &module, const std::string &kernel, const Kind &kind) {
  const device::KernelInfo *info = module.findKernel(kernel);
  if (!info)
    stop("no kernel " + kernel);
  const std::vector<std::byte> params = pack(*info, kind.arguments);
  device::LaunchOptions options;
  options.grid = kind.grid;
  options.block = kind.block;
  options.params = params.data();
  options.dynamicSharedBytes = kind.shared;
  options.threads = 1;
  const std::function<void()> ours = [&] { launch(module, *info, options); };

  timed(kind, kind.loop);
  std::vector<std::vector<std::byte>> expected;
  for (const Output &output : kind.outputs) {
    const auto *bytes = static_cast<const std::byte *>(output.data);
    expected.emplace_back(bytes, bytes + output.bytes);
  }
  const std::string wrong = findDifference(kind, expected, ours);
  std::vector<double> mine, theirs;
  for (int round = 0; round < options_.rounds; ++round) {
    mine.push_back(timed(kind, ours));
    theirs.push_back(timed(kind, kind.loop));
  }
  device::Outcome outcome;
  const unsigned lanes = module.compile(*info, options, outcome).needs.lanes;
  const double ratio = medianMs(mine) / medianMs(theirs);
  toLoop_.push_back(ratio);
  std::printf("%-22s %8.3f %8.3f %6.2f  %2u", kernel.c_str(), medianMs(mine), medianMs(theirs),
              ratio, lanes);
  if (options_.triesWidths)
    tryWidths(module, *info, options, kind, lanes);
  if (ratio > kWorstBar) {
    tooSlow_.push_back(kernel);
    std::printf("  above the bar");
  }
  wrong_ += !wrong.empty();
  std::printf("%s\n", wrong.empty() ? "" : ("  WRONG: " + wrong).c_str());
  std::fflush(stdout);
}

void Kinds::measureCompiling(const device::Module &loaded, const std::string &kernel,
                             const Kind &kind) {
  const check::Function *function = loaded.checked().findFunction(kernel);
  if (!function)
    stop("no kernel " + kernel);
  const size_t instructions = function->body.size();
  auto milliseconds = [&](device::Tiers tiers) {
    device::LoadOptions loading;
    loading.useCache = false;
    loading.tiers = tiers;
    std::vector<double> times;
    for (int round = 0; round < options_.rounds; ++round) {
      const auto module = loadModule(loaded.name(), loading); // none that has the code already
      device::LaunchOptions options;
      options.grid = kind.grid;
      options.block = kind.block;
      device::Outcome outcome;
      const double start = secondsNow();
      module->compile(*module->findKernel(kernel), options, outcome);
      times.push_back(secondsNow() - start);
      if (!outcome.isOk())
        stop(kernel + ": " + outcome.message);
    }
    return *std::min_element(times.begin(), times.end()) * 1e3;
  };
  const double baseline = milliseconds(device::Tiers::baseline),
               optimised = milliseconds(device::Tiers::optimised);
  std::printf("%-22s %12zu %9.2f %9.2f", kernel.c_str(), instructions, baseline, optimised);
  if (instructions < kFewInstructions) {
    baselineMs_.push_back(baseline);
    optimisedMs_.push_back(optimised);
    if (baseline > kBaselineBar || optimised > kOptimisedBar) {
      tooLong_.push_back(kernel);
      std::printf("  above the bar");
    }
  }
  std::printf("\n");
  std::fflush(stdout);
}

bool Kinds::summaryOfCompiling() const {
  std::printf("%zu kernels of fewer than %zu instructions: geometric means %.2f and %.2f ms, "
              "%zu above %g or %g\n",
              baselineMs_.size(), kFewInstructions, geometricMean(baselineMs_),
              geometricMean(optimisedMs_), tooLong_.size(), kBaselineBar, kOptimisedBar);
  return tooLong_.empty();
}

bool Kinds::summary() const {
  if (options_.compiles)
    return summaryOfCompiling();
  const double mean = geometricMean(toLoop_);
  std::printf("%zu kernels: geometric mean %.2f of the loops' time (bar %.2f), %zu above %g, %u "
              "wrong\n",
              toLoop_.size(), mean, kMeanBar, tooSlow_.size(), kWorstBar, wrong_);
  bool areWidthsRight = true;
  if (options_.triesWidths) {
    const auto near = std::count_if(toBestWidth_.begin(), toBestWidth_.end(),
                                    [](double ratio) { return ratio <= kWidthBar; });
    const double share = static_cast<double>(near) / static_cast<double>(toBestWidth_.size());
    areWidthsRight = share >= kWidthShare;
    std::printf("automatic W within %.2f of the best W: %.0f %% (bar %.0f %%)\n", kWidthBar,
                100 * share, 100 * kWidthShare);
  }
  return mean <= kMeanBar && tooSlow_.empty() && wrong_ == 0 && areWidthsRight;
}

} // namespace ptxrun::bench::kinds
