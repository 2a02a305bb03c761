// The summary's page: tables for people, and what would make the program faster.
#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "loader/device/readable_name.h"
#include "loader/device/summary_counts.h"

namespace ptxrun::device::summary {

namespace {

constexpr size_t kKernelsShown = 20, kNameShown = 72;
/// Starting a launch and noticing its end, measured with 200,000 of them; no kernel's time has it.
constexpr uint64_t kLaunchNanoseconds = 1000;
/// Fewer tiny launches are not worth a hint, nor are those with a smaller share of what all
/// launches cost.
constexpr uint64_t kManyTiny = 1000;
constexpr double kWorthShare = 0.5;
/// A tiny launch of fewer threads leaves cores without work.
constexpr uint64_t kFewThreads = 4096;

void append(std::string &text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void append(std::string &text, const char *format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  text += line;
}

/// "1.23 s", "45.6 ms", "7.89 us", "12 ns".
std::string timeText(double nanoseconds) {
  constexpr struct {
    double unit;
    const char *name;
  } kUnits[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
  char text[40];
  for (const auto &[unit, name] : kUnits)
    if (nanoseconds >= unit) {
      std::snprintf(text, sizeof text, "%.3g %s", nanoseconds / unit, name);
      if (nanoseconds / unit >= 1000)
        std::snprintf(text, sizeof text, "%.0f %s", nanoseconds / unit, name);
      return text;
    }
  std::snprintf(text, sizeof text, "%.0f ns", nanoseconds);
  return text;
}

std::string bytesText(uint64_t bytes) {
  const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit)
    value /= 1024;
  char text[40];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

double share(uint64_t part, uint64_t whole) {
  return whole ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string shortName(const std::string &name) {
  std::string text = readableName(name);
  if (text.size() > kNameShown)
    text = text.substr(0, kNameShown - 3) + "...";
  return text;
}

std::string lanesText(const std::vector<unsigned> &lanes) {
  std::string text;
  for (const unsigned w : lanes)
    text += (text.empty() ? "" : ",") + std::to_string(w);
  return text;
}

std::string codeText(const KernelCounts &kernel) {
  if (kernel.baselineLaunches == 0)
    return "optimised";
  if (kernel.baselineLaunches == kernel.launches)
    return "baseline";
  return "optimised, " + std::to_string(kernel.baselineLaunches) + " baseline";
}

uint64_t kernelTime(const Counts &counts) {
  uint64_t sum = 0;
  for (const KernelCounts &kernel : counts.kernels)
    sum += kernel.nanoseconds;
  return sum;
}

void appendTotals(std::string &page, const Counts &counts) {
  uint64_t transfers = 0;
  for (const TransferCounts &one : counts.transfers)
    transfers += one.nanoseconds;
  append(page, "ptxrun: summary of %s: kernels %s, transfers %s, compilation %s\n",
         timeText(static_cast<double>(counts.wallNanoseconds)).c_str(),
         timeText(static_cast<double>(kernelTime(counts))).c_str(),
         timeText(static_cast<double>(transfers)).c_str(),
         timeText(static_cast<double>(counts.compileNanoseconds + counts.loadNanoseconds)).c_str());
}

void appendKernels(std::string &page, const Counts &counts) {
  if (counts.kernels.empty()) {
    page += "  no kernel was launched\n";
    return;
  }
  std::vector<KernelCounts> kernels = counts.kernels;
  std::ranges::sort(kernels, std::greater<>(), &KernelCounts::nanoseconds);
  const uint64_t all = kernelTime(counts);
  append(page, "  %9s %10s %10s %7s  %-5s %-10s  %s\n", "launches", "total", "mean", "share", "W",
         "code", "kernel");
  uint64_t launchesLeft = 0, timeLeft = 0;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const KernelCounts &kernel = kernels[i];
    if (i >= kKernelsShown) {
      launchesLeft += kernel.launches;
      timeLeft += kernel.nanoseconds;
      continue;
    }
    const auto total = static_cast<double>(kernel.nanoseconds);
    append(page, "  %9llu %10s %10s %6.1f%%  %-5s %-10s  %s\n",
           static_cast<unsigned long long>(kernel.launches), timeText(total).c_str(),
           timeText(total / static_cast<double>(kernel.launches)).c_str(),
           100 * share(kernel.nanoseconds, all), lanesText(kernel.lanes).c_str(),
           codeText(kernel).c_str(), shortName(kernel.name).c_str());
  }
  if (kernels.size() > kKernelsShown)
    append(page, "  %9llu %10s %10s %6.1f%%  of %zu more kernels\n",
           static_cast<unsigned long long>(launchesLeft),
           timeText(static_cast<double>(timeLeft)).c_str(), "", 100 * share(timeLeft, all),
           kernels.size() - kKernelsShown);
}

/// What the results of each form are worth; the most frequent first.
void appendForms(std::string &page, const Counts &counts) {
  if (counts.forms.empty())
    return;
  std::vector<FormCounts> forms = counts.forms;
  std::ranges::sort(forms, [](const FormCounts &a, const FormCounts &b) {
    return a.instructions != b.instructions ? a.instructions > b.instructions
                                            : a.notation < b.notation;
  });
  const auto formsThatAre = [&](isa::Accuracy::Kind kind) {
    return std::ranges::count(forms, kind, [](const FormCounts &f) { return f.accuracy.kind; });
  };
  append(page,
         "  forms in the text of launched kernels: %td exact, %td approximate, %td unsupported\n",
         formsThatAre(isa::Accuracy::Kind::exact), formsThatAre(isa::Accuracy::Kind::approximate),
         formsThatAre(isa::Accuracy::Kind::unsupported));
  append(page, "  %12s  %-24s  form\n", "instructions", "results");
  for (const FormCounts &form : forms) {
    const std::string_view results = form.accuracy.kind == isa::Accuracy::Kind::exact ? "exact"
                                     : form.accuracy.kind == isa::Accuracy::Kind::unsupported
                                         ? "unsupported"
                                         : form.accuracy.bound;
    append(page, "  %12llu  %-24.*s  %.*s\n", static_cast<unsigned long long>(form.instructions),
           static_cast<int>(results.size()), results.data(), static_cast<int>(form.notation.size()),
           form.notation.data());
  }
}

void appendTransfers(std::string &page, const Counts &counts) {
  constexpr const char *kNames[kDirections] = {"host to device", "device to host",
                                               "device to device", "host to host", "fill"};
  bool isFirst = true;
  for (size_t i = 0; i < kDirections; ++i) {
    const TransferCounts &one = counts.transfers[i];
    if (one.count == 0)
      continue;
    if (isFirst)
      append(page, "  %9s %10s %10s  transfers\n", "count", "bytes", "time");
    isFirst = false;
    append(page, "  %9llu %10s %10s  %s\n", static_cast<unsigned long long>(one.count),
           bytesText(one.bytes).c_str(), timeText(static_cast<double>(one.nanoseconds)).c_str(),
           kNames[i]);
  }
}

void appendCompilation(std::string &page, const Counts &counts) {
  append(page,
         "  modules loaded: %llu in %s; kernels compiled: %llu, found in the cache: %llu, in %s\n",
         static_cast<unsigned long long>(counts.modules),
         timeText(static_cast<double>(counts.loadNanoseconds)).c_str(),
         static_cast<unsigned long long>(counts.cacheMisses),
         static_cast<unsigned long long>(counts.cacheHits),
         timeText(static_cast<double>(counts.compileNanoseconds)).c_str());
  append(page, "  memory: at most %s of the device (memory pinned for the host included)\n",
         bytesText(counts.peakBytes).c_str());
}

void appendHint(std::string &page, const Counts &counts) {
  uint64_t launches = 0;
  for (const KernelCounts &kernel : counts.kernels)
    launches += kernel.launches;
  const double ofCost = share(counts.tinyNanoseconds + counts.tinyLaunches * kLaunchNanoseconds,
                              kernelTime(counts) + launches * kLaunchNanoseconds);
  if (counts.tinyLaunches < kManyTiny || ofCost < kWorthShare)
    return;
  const uint64_t threads = counts.tinyThreads / counts.tinyLaunches;
  const double mean =
      static_cast<double>(counts.tinyNanoseconds) / static_cast<double>(counts.tinyLaunches);
  append(page,
         "  hint: %llu of %llu launches took less than %s (%s in the mean, %llu threads), %.0f%% "
         "of the kernels' "
         "time, and starting each costs about %s more:\n",
         static_cast<unsigned long long>(counts.tinyLaunches),
         static_cast<unsigned long long>(launches), timeText(kTinyNanoseconds).c_str(),
         timeText(mean).c_str(), static_cast<unsigned long long>(threads),
         100 * share(counts.tinyNanoseconds, kernelTime(counts)),
         timeText(kLaunchNanoseconds).c_str());
  page += "    - what repeats can be captured once as a graph (cudaStreamBeginCapture) and "
          "launched as one\n"
          "    - several small problems can share a launch, one per block (batching)\n";
  if (threads < kFewThreads)
    page += "    - so few threads do not occupy the cores: larger blocks, or more of them\n";
}

} // namespace

std::string describe(const Counts &counts) {
  std::string page;
  appendTotals(page, counts);
  appendKernels(page, counts);
  appendTransfers(page, counts);
  appendCompilation(page, counts);
  appendForms(page, counts);
  appendHint(page, counts);
  return page;
}

} // namespace ptxrun::device::summary
