#include "loader/device/memory.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <string>

#include "loader/device/observer.h"
#include "rt/memory/device_heap.h"
#include "rt/memory/device_memory.h"

namespace ptxrun::device {

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

/// The control group's limit, or all there is.
size_t readLimit() {
  std::ifstream file("/sys/fs/cgroup/memory.max");
  size_t limit = 0;
  return file >> limit && limit > 0 ? limit : SIZE_MAX;
}

} // namespace

size_t totalMemory() {
  static const size_t bytes = std::min(readMeminfo("MemTotal:"), readLimit());
  return bytes;
}

size_t availableMemory() {
  const size_t used = allocatedBytes();
  const size_t left = totalMemory() > used ? totalMemory() - used : 0;
  return std::min(left, readMeminfo("MemAvailable:"));
}

size_t allocatedBytes() { return rt::deviceBytesInUse(); }

void *allocateMemory(size_t bytes) {
  bytes = std::max<size_t>(bytes, 1);
  if (bytes > totalMemory() || allocatedBytes() + bytes > totalMemory())
    return nullptr;
  void *base = rt::allocateDevice(bytes);
  if (Observer *told = observer(); told && base)
    told->allocated(base, bytes);
  return base;
}

bool freeMemory(void *address) {
  if (Observer *told = observer(); told && address)
    told->freed(address);
  return rt::freeDevice(address);
}

namespace {
std::atomic<Observer *> theObserver{nullptr};
}
void setObserver(Observer *observer) { theObserver.store(observer, std::memory_order_release); }
Observer *observer() { return theObserver.load(std::memory_order_acquire); }

std::optional<MemoryRange> findAllocation(const void *address) {
  const auto found = rt::findDevice(reinterpret_cast<uint64_t>(address));
  if (!found)
    return std::nullopt;
  return MemoryRange{reinterpret_cast<void *>(found->base), found->bytes};
}

void setDeviceHeapLimit(size_t bytes) { rt::setDeviceHeapLimit(bytes); }

} // namespace ptxrun::device
