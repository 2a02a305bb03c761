#include "loader/libnvml/utilisation.h"

#include <bit>
#include <cstdio>
#include <fstream>
#include <string>

#include "loader/libnvml/affinity.h"
#include "loader/libnvml/library.h"
#include "loader/libnvml/nvml_api.h"

namespace ptxrun::nvml {

namespace {

/// "cpuN user nice system idle iowait irq softirq steal ...": what the line counts, nothing where
/// it is no such line. Guests' time is part of user's already.
std::optional<ProcessorTime> readLine(const std::string &line, const ProcessorSet &processors) {
  unsigned number = 0;
  unsigned long long user, nice, system, idle, wait, interrupt, softInterrupt, steal;
  if (sscanf(line.c_str(), "cpu%u %llu %llu %llu %llu %llu %llu %llu %llu", &number, &user, &nice,
             &system, &idle, &wait, &interrupt, &softInterrupt, &steal) != 9 ||
      !contains(processors, number))
    return std::nullopt;
  const uint64_t busy = user + nice + system + interrupt + softInterrupt + steal;
  return ProcessorTime{busy, busy + idle + wait};
}

unsigned count(const ProcessorSet &processors) {
  unsigned total = 0;
  for (const unsigned long word : processors)
    total += static_cast<unsigned>(std::popcount(word));
  return total;
}

} // namespace

ProcessorTime readProcessorTime() {
  const ProcessorSet processors = usableProcessors();
  std::ifstream file("/proc/stat");
  ProcessorTime sum;
  for (std::string line; std::getline(file, line) && line.starts_with("cpu");) {
    if (const auto time = readLine(line, processors)) {
      sum.busy += time->busy;
      sum.all += time->all;
    }
  }
  return sum;
}

void UtilisationMeter::start() {
  std::lock_guard lock(mutex_);
  before_ = readProcessorTime();
  last_.reset();
}

std::optional<unsigned> UtilisationMeter::percent() {
  std::lock_guard lock(mutex_);
  const ProcessorTime now = readProcessorTime();
  // Counters of idle processors may step back a little.
  const uint64_t all = now.all > before_.all ? now.all - before_.all : 0;
  const uint64_t busy = now.busy > before_.busy ? now.busy - before_.busy : 0;
  if (all == 0 || (last_ && all < kShortest * count(usableProcessors())))
    return last_;
  last_ = static_cast<unsigned>(busy >= all ? 100 : 100 * busy / all);
  before_ = now;
  return last_;
}

UtilisationMeter &utilisationMeter() {
  static UtilisationMeter meter;
  return meter;
}

} // namespace ptxrun::nvml

using namespace ptxrun::nvml;

/// Nothing on a CPU counts the time in which memory is accessed: that part is 0.
PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device,
                                                           nvmlUtilization_t *utilisation) {
  return answerFor(device, [&] {
    if (!utilisation)
      return NVML_ERROR_INVALID_ARGUMENT;
    *utilisation = {utilisationMeter().percent().value_or(0), 0};
    return NVML_SUCCESS;
  });
}
