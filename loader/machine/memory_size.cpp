#include "loader/machine/memory_size.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "loader/machine/device_info.h"

namespace ptxrun::machine {

namespace {

/// A "Name: value kB" line of /proc/meminfo, in bytes.
size_t readMeminfo(const char *name) {
  std::ifstream file("/proc/meminfo");
  for (std::string key; file >> key;) {
    size_t kilobytes = 0;
    file >> kilobytes;
    if (key == name)
      return kilobytes << 10;
    file.ignore(256, '\n');
  }
  return 0;
}

/// The control group's limit (version 2 or 1), or all there is.
size_t readLimit() {
  for (const char *path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    size_t limit = 0;
    if (file >> limit && limit > 0)
      return limit;
  }
  return SIZE_MAX;
}

/// PTXRUN_MEMORY: bytes, or a number with K, M, G or T behind it; 0 where it is neither.
size_t readSetting() {
  const char *text = std::getenv("PTXRUN_MEMORY");
  if (!text)
    return 0;
  const char *end = text + std::strlen(text);
  size_t number = 0;
  const auto [rest, error] = std::from_chars(text, end, number);
  constexpr std::string_view kUnits = "KMGT";
  const size_t unit = rest == end ? 0 : kUnits.find(*rest) + 1;
  const bool isWhole = rest == end || (rest + 1 == end && unit > 0);
  return error == std::errc() && isWhole && number <= SIZE_MAX >> (10 * unit)
             ? number << (10 * unit)
             : 0;
}

/// Half of what the process may use: programs that fill the device keep copies in host memory.
size_t defaultTotal() { return std::min(readMeminfo("MemTotal:"), readLimit()) / 2; }

} // namespace

size_t totalMemory() {
  static const size_t bytes = [] {
    const size_t setting = readSetting();
    return setting ? setting : defaultTotal() / deviceCount();
  }();
  return bytes;
}

size_t unusedHostMemory() { return readMeminfo("MemAvailable:"); }

size_t availableMemory(size_t used) {
  const size_t left = totalMemory() > used ? totalMemory() - used : 0;
  return std::min(left, unusedHostMemory());
}

} // namespace ptxrun::machine
