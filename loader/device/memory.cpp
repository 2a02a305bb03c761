#include "loader/device/memory.h"

#include <algorithm>
#include <atomic>

#include "loader/device/observer.h"
#include "loader/device/summary.h"
#include "loader/machine/device_info.h"
#include "loader/machine/memory_size.h"
#include "rt/memory/device_heap.h"
#include "rt/memory/device_memory.h"

namespace ptxrun::device {

namespace {

/// Allocations from here on are refused where the machine has not so much left: the system lets any
/// be made, and ends the process when it is used.
constexpr size_t kLarge = 64 << 20;

} // namespace

size_t totalMemory() { return machine::totalMemory(); }

size_t memoryOfAllDevices() {
  const unsigned devices = machine::deviceCount();
  return totalMemory() > SIZE_MAX / devices ? SIZE_MAX : totalMemory() * devices;
}

size_t availableMemory() {
  const size_t all = memoryOfAllDevices(), used = allocatedBytes();
  return std::min(all > used ? all - used : 0, machine::unusedHostMemory());
}

size_t allocatedBytes() { return rt::deviceBytesInUse(); }

void *allocateMemory(size_t bytes) {
  bytes = std::max<size_t>(bytes, 1);
  if (bytes > totalMemory() || allocatedBytes() + bytes > memoryOfAllDevices())
    return nullptr;
  if (bytes >= kLarge && bytes > machine::unusedHostMemory())
    return nullptr;
  void *base = rt::allocateDevice(bytes);
  if (Observer *told = observer(); told && base)
    told->allocated(base, bytes);
  if (summary::isOn())
    summary::noteMemory(allocatedBytes());
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
