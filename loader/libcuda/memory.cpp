#include "loader/libcuda/memory.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "loader/capture/recorder.h"
#include "loader/device/device.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/device_info.h"
#include "loader/libcuda/external_memory.h"
#include "loader/libcuda/ipc.h"
#include "loader/libcuda/memory_advice.h"
#include "loader/libcuda/usage_table.h"

namespace ptxrun::driver {

namespace {

/// By start address. Never destroyed: programs free memory while the process ends.
struct Records {
  std::shared_mutex mutex;
  std::map<uintptr_t, MemoryRecord> byAddress;
  std::map<uintptr_t, MemoryRecord> variables;      ///< of modules, each by itself
  std::map<uintptr_t, MemoryRecord> variableBlocks; ///< by where a module's variables begin
  uint64_t nextId = 1;

  /// The record that contains the address; end() if none does. Called with the mutex held.
  auto containing(uintptr_t address) { return containing(byAddress, address); }
  static std::map<uintptr_t, MemoryRecord>::iterator
  containing(std::map<uintptr_t, MemoryRecord> &records, uintptr_t address) {
    auto next = records.upper_bound(address);
    if (next == records.begin())
      return records.end();
    --next;
    return address - next->first < next->second.bytes ? next : records.end();
  }
};

Records &records() {
  static auto *instance = new Records;
  return *instance;
}

CUdevice deviceOf(const MemoryRecord &record) {
  return record.device >= 0 ? record.device : record.context ? record.context->device() : 0;
}

void remember(void *base, size_t bytes, MemoryRecord record) {
  Records &all = records();
  std::unique_lock lock(all.mutex);
  record.base = base;
  record.bytes = bytes;
  record.device = deviceOf(record);
  record.id = all.nextId++;
  all.byAddress[reinterpret_cast<uintptr_t>(base)] = record;
}

} // namespace

size_t heldBytes(CUdevice device) {
  if (deviceCount() == 1)
    return device::allocatedBytes(); // variables of modules, too
  Records &all = records();
  std::shared_lock lock(all.mutex);
  size_t held = 0;
  for (const auto &[address, record] : all.byAddress)
    if (record.device == device &&
        (record.use == MemoryUse::device || record.use == MemoryUse::managed ||
         record.use == MemoryUse::pool))
      held += record.bytes;
  return held;
}

CUresult allocate(CUdeviceptr *address, size_t bytes, MemoryRecord record) {
  if (deviceCount() > 1 && record.use != MemoryUse::host) {
    const size_t held = heldBytes(record.context ? record.context->device() : 0);
    if (held > device::totalMemory() || bytes > device::totalMemory() - held)
      return CUDA_ERROR_OUT_OF_MEMORY;
  }
  void *base = device::allocateMemory(bytes);
  if (!base)
    return CUDA_ERROR_OUT_OF_MEMORY;
  try {
    remember(base, bytes, record);
  } catch (const std::bad_alloc &) {
    device::freeMemory(base);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  if (auto *recorder = capture::Recorder::instance();
      recorder && (record.use == MemoryUse::host || record.use == MemoryUse::managed))
    recorder->noteHostVisible(base);
  announceHeldMemory(deviceOf(record));
  *address = reinterpret_cast<CUdeviceptr>(base);
  return CUDA_SUCCESS;
}

CUresult release(CUdeviceptr address) {
  Records &all = records();
  CUdevice device = 0;
  {
    std::unique_lock lock(all.mutex);
    const auto found = all.byAddress.find(address);
    if (found == all.byAddress.end() || found->second.use == MemoryUse::registered ||
        found->second.use == MemoryUse::mapped)
      return CUDA_ERROR_INVALID_VALUE;
    if (found->second.use == MemoryUse::managed)
      forget(address, found->second.bytes);
    device = found->second.device;
    all.byAddress.erase(found);
  }
  const bool wasThere = device::freeMemory(reinterpret_cast<void *>(address));
  announceHeldMemory(device);
  return wasThere ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult registerHost(void *address, size_t bytes, MemoryRecord record) {
  Records &all = records();
  {
    std::shared_lock lock(all.mutex);
    const auto first = reinterpret_cast<uintptr_t>(address);
    const auto next = all.byAddress.lower_bound(first);
    if (all.containing(first) != all.byAddress.end() ||
        (next != all.byAddress.end() && next->first < first + bytes))
      return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  }
  record.use = MemoryUse::registered;
  remember(address, bytes, record);
  if (auto *recorder = capture::Recorder::instance())
    recorder->noteHost(address, bytes);
  return CUDA_SUCCESS;
}

CUresult unregisterHost(void *address) {
  Records &all = records();
  std::unique_lock lock(all.mutex);
  const auto found = all.byAddress.find(reinterpret_cast<uintptr_t>(address));
  if (found == all.byAddress.end() || found->second.use != MemoryUse::registered)
    return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  if (auto *recorder = capture::Recorder::instance())
    recorder->forgetHost(address);
  all.byAddress.erase(found);
  return CUDA_SUCCESS;
}

void noteMapped(void *address, size_t bytes, MemoryRecord record) {
  remember(address, bytes, record);
  // Whoever else maps the memory may write it at any time, as a host does.
  if (auto *recorder = capture::Recorder::instance())
    recorder->noteHost(address, bytes);
}

void forgetMapped(void *address) {
  Records &all = records();
  std::unique_lock lock(all.mutex);
  if (auto *recorder = capture::Recorder::instance())
    recorder->forgetHost(address);
  all.byAddress.erase(reinterpret_cast<uintptr_t>(address));
}

void noteVariables(const device::Module &module, MemoryRecord record) {
  Records &all = records();
  std::unique_lock lock(all.mutex);
  if (record.device < 0)
    record.device = record.context ? record.context->device() : 0;
  for (const device::VariableInfo &variable : module.variables()) {
    if (const auto range = device::findAllocation(variable.address))
      all.variableBlocks.emplace(reinterpret_cast<uintptr_t>(range->base), record);
    // A copy of a library has the first one's managed variables.
    const auto [entry, isNew] =
        all.variables.try_emplace(reinterpret_cast<uintptr_t>(variable.address), record);
    if (!isNew)
      continue;
    MemoryRecord &noted = entry->second;
    noted.use = variable.isManaged ? MemoryUse::managed : MemoryUse::device;
    noted.flags = variable.isManaged ? CU_MEM_ATTACH_GLOBAL : 0;
    noted.base = variable.address;
    noted.bytes = variable.bytes;
    noted.id = all.nextId++;
  }
}

void forgetVariables(const device::Module &module) {
  Records &all = records();
  std::unique_lock lock(all.mutex);
  for (const device::VariableInfo &variable : module.variables()) {
    if (const auto range = device::findAllocation(variable.address))
      all.variableBlocks.erase(reinterpret_cast<uintptr_t>(range->base));
    if (all.variables.erase(reinterpret_cast<uintptr_t>(variable.address)) && variable.isManaged)
      forget(reinterpret_cast<CUdeviceptr>(variable.address), variable.bytes);
  }
}

void releaseMemoryOf(Context &context) {
  std::vector<MemoryRecord> owned;
  {
    Records &all = records();
    std::shared_lock lock(all.mutex);
    for (const auto &[address, record] : all.byAddress) {
      if (!record.context)
        continue;
      // Memory of the device's pools outlives the contexts that took it, until the primary's reset.
      const bool isOrphan = context.isPrimary() && record.pool && record.context->isDestroyed() &&
                            record.context->device() == context.device();
      if (&record.context->owner() == &context || isOrphan)
        owned.push_back(record);
    }
  }
  for (const MemoryRecord &record : owned) {
    const auto address = reinterpret_cast<CUdeviceptr>(record.base);
    const bool isPooled = record.pool && record.use != MemoryUse::mapped;
    switch (isPooled ? MemoryUse::pool : record.use) {
    case MemoryUse::device:
    case MemoryUse::host:
    case MemoryUse::managed:
      forgetExported(address);
      release(address);
      break;
    case MemoryUse::registered:
      unregisterHost(record.base);
      break;
    case MemoryUse::pool: // without a pool: a graph's
      if (record.pool && context.isPrimary())
        releasePooled(record);
      break;
    case MemoryUse::mapped:
      if (record.pool && context.isPrimary())
        releaseToSharedPool(address);
      else if (releaseExternalBuffer(address) != CUDA_SUCCESS)
        closeImported(address);
      break;
    }
  }
}

std::optional<MemoryRecord> findMemory(const void *address) {
  Records &all = records();
  std::shared_lock lock(all.mutex);
  const auto found = all.containing(reinterpret_cast<uintptr_t>(address));
  if (found != all.byAddress.end())
    return found->second;
  const auto variable = Records::containing(all.variables, reinterpret_cast<uintptr_t>(address));
  if (variable != all.variables.end())
    return variable->second;
  // Variables of functions are device memory that nothing names.
  if (const auto range = device::findAllocation(address)) {
    MemoryRecord record;
    const auto block = all.variableBlocks.find(reinterpret_cast<uintptr_t>(range->base));
    if (block != all.variableBlocks.end())
      record = block->second;
    record.device = std::max(record.device, 0);
    record.base = range->base;
    record.bytes = range->bytes;
    record.id = reinterpret_cast<uint64_t>(range->base);
    return record;
  }
  return std::nullopt;
}

} // namespace ptxrun::driver
