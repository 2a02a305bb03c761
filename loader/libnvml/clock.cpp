// Clocks: the processors' own for graphics and SM; a CPU has no others that it tells of.
#include <fstream>
#include <optional>
#include <string>

#include "loader/libnvml/library.h"
#include "loader/libnvml/nvml_api.h"

using namespace ptxrun::nvml;

namespace {

/// The mean of all processors, in MHz, by /proc/cpuinfo.
std::optional<unsigned> currentClock() {
  std::ifstream file("/proc/cpuinfo");
  double sum = 0;
  int processors = 0;
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (!line.starts_with("cpu MHz") || colon == std::string::npos)
      continue;
    sum += std::stod(line.substr(colon + 1));
    ++processors;
  }
  return processors ? std::optional(static_cast<unsigned>(sum / processors)) : std::nullopt;
}

/// The first processor's, in MHz, where frequencies are scaled.
std::optional<unsigned> greatestClock() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
  unsigned kilohertz = 0;
  return file >> kilohertz ? std::optional(kilohertz / 1000) : std::nullopt;
}

template <class Read>
nvmlReturn_t storeClock(nvmlDevice_t device, nvmlClockType_t type, unsigned *megahertz, Read read) {
  return answerFor(device, [&] {
    if (!megahertz || type >= NVML_CLOCK_COUNT)
      return NVML_ERROR_INVALID_ARGUMENT;
    const bool isProcessors = type == NVML_CLOCK_GRAPHICS || type == NVML_CLOCK_SM;
    const std::optional<unsigned> clock = isProcessors ? read() : std::nullopt;
    return clock ? store(megahertz, *clock) : NVML_ERROR_NOT_SUPPORTED;
  });
}

} // namespace

PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type,
                                                    unsigned *megahertz) {
  return storeClock(device, type, megahertz, currentClock);
}

PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type,
                                                       unsigned *megahertz) {
  return storeClock(device, type, megahertz, greatestClock);
}

PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetClock(nvmlDevice_t device, nvmlClockType_t type,
                                                nvmlClockId_t id, unsigned *megahertz) {
  if (isInitialised() && id >= NVML_CLOCK_ID_COUNT)
    return NVML_ERROR_INVALID_ARGUMENT;
  return storeClock(device, type, megahertz,
                    [id] { return id == NVML_CLOCK_ID_CURRENT ? currentClock() : std::nullopt; });
}
