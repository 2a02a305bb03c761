#include "loader/machine/device_info.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include "loader/machine/memory_size.h"

namespace ptxrun::machine {

namespace {

/// "90", "9.0", "sm_90" and "sm_90a" all mean 9.0; "120" means 12.0. Anything else leaves the
/// default.
void readArchitecture(DeviceInfo &info) {
  const char *value = getenv("PTXRUN_SM");
  if (!value || !*value)
    return;
  if (strncmp(value, "sm_", 3) == 0)
    value += 3;
  int major = 0, minor = 0;
  if (sscanf(value, "%d.%d", &major, &minor) != 2) {
    minor = major % 10;
    major /= 10;
  }
  if (major < 5 || major > 12 || minor < 0 || minor > 9) {
    info.complaint = std::string("PTXRUN_SM=") + value + " is not a compute capability; using " +
                     std::to_string(info.major) + "." + std::to_string(info.minor);
    return;
  }
  info.major = major;
  info.minor = minor;
}

/// Largest dynamic shared memory a block may ask for, by compute capability.
int sharedOptin(int architecture) {
  switch (architecture) {
  case 75:
    return 64 << 10;
  case 80:
  case 87:
    return 163 << 10;
  case 86:
  case 89:
  case 120:
  case 121:
    return 99 << 10;
  default:
    return architecture >= 90 ? 227 << 10 : architecture >= 70 ? 96 << 10 : 48 << 10;
  }
}

void readProcessor(DeviceInfo &info) {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string model = "x86-64";
  double megahertz = 0;
  for (std::string line; std::getline(cpuinfo, line);) {
    const size_t colon = line.find(": ");
    if (colon == std::string::npos)
      continue;
    if (line.rfind("model name", 0) == 0) {
      model = line.substr(colon + 2);
    } else if (line.rfind("cpu MHz", 0) == 0) {
      megahertz = strtod(line.c_str() + colon + 2, nullptr);
      break;
    }
  }
  info.name = "ptxrun CPU (" + model + ")";
  info.clockKilohertz = megahertz > 0 ? static_cast<int>(megahertz * 1000) : 2'000'000;
  const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  info.lastLevelCacheBytes = cache > 0 && cache < INT32_MAX ? static_cast<int>(cache) : 1 << 20;
}

int availableProcessors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return CPU_COUNT(&set);
  return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

DeviceInfo makeDeviceInfo() {
  DeviceInfo info;
  readProcessor(info);
  readArchitecture(info);
  info.workers = availableProcessors();
  constexpr int kLargestCluster = 16;
  info.multiprocessors = info.major >= 9 ? std::max(info.workers, kLargestCluster) : info.workers;
  info.sharedPerBlockOptin = sharedOptin(info.architecture());
  const int architecture = info.architecture();
  if (architecture == 75)
    info.threadsPerMultiprocessor = 1024;
  else if (architecture == 86 || architecture == 87 || architecture == 89 || architecture >= 120)
    info.threadsPerMultiprocessor = 1536;
  memcpy(info.uuid.data(), "ptxrun-cpu-dev-0", info.uuid.size());
  info.totalMemory = totalMemory();
  if (const char *devices = getenv("PTXRUN_DEVICES");
      devices && *devices && !readDeviceCount(devices))
    info.complaint += (info.complaint.empty() ? "" : "; ") + std::string("PTXRUN_DEVICES=") +
                      devices + " is no number from 1 to " + std::to_string(kMostDevices) +
                      "; using 1";
  return info;
}

} // namespace

std::optional<unsigned> readDeviceCount(const char *text) {
  unsigned count = 0;
  const char *end = text + strlen(text);
  const auto [rest, error] = std::from_chars(text, end, count);
  if (error != std::errc() || rest != end || count == 0 || count > kMostDevices)
    return std::nullopt;
  return count;
}

unsigned deviceCount() {
  static const unsigned count = [] {
    const char *value = getenv("PTXRUN_DEVICES");
    return value && *value ? readDeviceCount(value).value_or(1) : 1;
  }();
  return count;
}

const DeviceInfo &deviceInfo(unsigned index) {
  static const auto *devices = [] {
    const DeviceInfo first = makeDeviceInfo();
    auto *all = new std::vector<DeviceInfo>(deviceCount(), first);
    for (unsigned i = 1; i < all->size(); ++i) {
      (*all)[i].uuid.back() = "0123456789abcdef"[i];
      (*all)[i].pci.bus = i;
      (*all)[i].complaint.clear();
    }
    return all;
  }();
  return (*devices)[index];
}

std::string uuidText(const DeviceInfo &info) {
  std::string text = "GPU";
  char digits[3];
  size_t at = 0;
  for (const char byte : info.uuid) {
    if (at == 0 || at == 4 || at == 6 || at == 8 || at == 10)
      text += '-';
    snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(byte));
    text += digits;
    ++at;
  }
  return text;
}

bool readPciAddress(const char *text, PciAddress &address) {
  if (sscanf(text, "%x:%x:%x", &address.domain, &address.bus, &address.slot) == 3)
    return true;
  address.domain = 0;
  return sscanf(text, "%x:%x", &address.bus, &address.slot) == 2;
}

} // namespace ptxrun::machine
