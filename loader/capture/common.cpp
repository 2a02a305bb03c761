#include "loader/capture/common.h"

#include <cstring>

#include "rt/memory/device_heap.h"
#include "rt/memory/device_memory.h"

namespace ptxrun::capture {

void chooseOrder(device::Module &module, const device::KernelInfo &kernel,
                 device::LaunchOptions &options) {
  if (options.schedule != rt::Schedule::fast || module.scheduleDependence(kernel, options).empty())
    return;
  options.schedule = rt::Schedule::serial;
  options.hasPinnedLanes = true;
  device::Outcome ignored;
  const device::Variant variant = module.compile(kernel, options, ignored);
  options.code.lanes = variant.kernel ? variant.needs.lanes : 1;
}

void chooseDebuggedOrder(device::Module &module, const device::KernelInfo &kernel,
                         device::LaunchOptions &options) {
  const bool isFree = options.schedule == rt::Schedule::fast;
  unsigned lanes = options.hasPinnedLanes ? options.code.lanes : 1;
  if (isFree) {
    device::Outcome ignored;
    const device::Variant variant = module.compile(kernel, options, ignored);
    lanes = variant.kernel ? variant.needs.lanes : 1;
  }
  options.hasPinnedLanes = false;
  if (isFree)
    options.schedule = rt::Schedule::serial;
  if (lanes > 1) {
    options.schedule = rt::Schedule::gangs;
    options.gangThreads = lanes;
  }
}

void growHeap(MemoryTable &memory) {
  const uint64_t extent = rt::deviceHeapExtent();
  uint64_t known = 0;
  while (known < extent) {
    const Range *range = memory.find(rt::kDeviceHeapArena + known);
    if (!range) {
      memory.add(rt::kDeviceHeapArena + known, extent - known, false).isAnnounced = true;
      return;
    }
    known += range->bytes;
  }
}

std::vector<Change> changesOf(MemoryTable &memory, const device::ScheduleDependence &dependence,
                              const device::KernelInfo &kernel, const void *params,
                              uint64_t variables) {
  std::vector<Change> changes;
  growHeap(memory);
  if (dependence.writesAnywhere) {
    for (auto &[base, range] : memory.ranges)
      MemoryTable::update(range, changes);
    return changes;
  }
  std::map<uint64_t, Range *> written;
  const auto add = [&](uint64_t address) {
    if (Range *range = memory.find(address))
      written[range->base] = range;
  };
  if (dependence.writesVariables)
    add(variables);
  for (const uint32_t offset : dependence.writes) {
    uint64_t address = 0;
    if (offset + sizeof address <= kernel.parameterBytes)
      std::memcpy(&address, static_cast<const char *>(params) + offset, sizeof address);
    add(address);
  }
  for (const auto &[base, range] : written)
    MemoryTable::update(*range, changes);
  return changes;
}

} // namespace ptxrun::capture
