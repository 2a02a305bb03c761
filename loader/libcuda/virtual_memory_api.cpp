// Virtual memory management: addresses reserved, memory created, the one mapped to the other,
// access granted. Physical memory is a file without a name, so that it can be mapped several times
// and handed to other processes.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>

#include "loader/device/memory.h"
#include "loader/device/summary.h"
#include "loader/libcuda/api.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/device_info.h"
#include "loader/libcuda/memory.h"
#include "loader/libcuda/shared_memory.h"
#include "loader/libcuda/usage_table.h"
#include "loader/libcuda/virtual_memory.h"

namespace ptxrun::driver {

namespace {

constexpr size_t kGranularity = 2 << 20;
std::array<std::atomic<size_t>, machine::kMostDevices> physicalBytes{};

/// Where memory of these properties counts; the host's counts as the first device's.
CUdevice deviceOf(const CUmemAllocationProp &properties) {
  return properties.location.type == CU_MEM_LOCATION_TYPE_DEVICE ? properties.location.id : 0;
}

/// Handles and mappings hold it; handles are counted by how often they were given out.
class PhysicalMemory : public Object {
 public:
  static constexpr Kind kKind = Kind::physicalMemory;
  PhysicalMemory(OwnedFile file, size_t bytes, const CUmemAllocationProp &properties)
      : Object(kKind), file(std::move(file)), bytes(bytes), properties(properties) {
    physicalBytes[static_cast<size_t>(device())] += bytes;
    if (device::summary::isOn())
      device::summary::noteMappedMemory(static_cast<int64_t>(bytes));
  }
  ~PhysicalMemory() override {
    physicalBytes[static_cast<size_t>(device())] -= bytes;
    if (device::summary::isOn())
      device::summary::noteMappedMemory(-static_cast<int64_t>(bytes));
  }

  CUdevice device() const { return deviceOf(properties); }

  const OwnedFile file;
  const size_t bytes;
  const CUmemAllocationProp properties;
  std::atomic<int> handles{1};
};

struct Mapping {
  size_t bytes;
  std::shared_ptr<PhysicalMemory> memory;
  unsigned access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
};

/// Reserved ranges and what is mapped into them, by address. Never destroyed.
struct AddressSpace {
  std::mutex mutex;
  std::map<CUdeviceptr, size_t> reserved;
  std::map<CUdeviceptr, Mapping> mapped;

  static AddressSpace &instance() {
    static auto *space = new AddressSpace;
    return *space;
  }
  bool isReserved(CUdeviceptr address, size_t bytes) const {
    auto next = reserved.upper_bound(address);
    if (next == reserved.begin())
      return false;
    --next;
    return address - next->first <= next->second && bytes <= next->second - (address - next->first);
  }
  bool isFree(CUdeviceptr address, size_t bytes) const {
    const auto next = mapped.lower_bound(address);
    if (next != mapped.end() && next->first < address + bytes)
      return false;
    return next == mapped.begin() ||
           std::prev(next)->first + std::prev(next)->second.bytes <= address;
  }
  /// The mappings that the range consists of, whole ones side by side; empty if it does not.
  std::vector<std::map<CUdeviceptr, Mapping>::iterator> mappingsOf(CUdeviceptr address,
                                                                   size_t bytes) {
    std::vector<std::map<CUdeviceptr, Mapping>::iterator> found;
    const CUdeviceptr end = address + bytes;
    for (auto at = mapped.find(address); at != mapped.end() && at->first == address; ++at) {
      found.push_back(at);
      address += at->second.bytes;
      if (address >= end)
        break;
    }
    if (address != end)
      found.clear();
    return found;
  }
  /// The mapping that contains the address.
  Mapping *containing(CUdeviceptr address) {
    auto next = mapped.upper_bound(address);
    if (next == mapped.begin())
      return nullptr;
    --next;
    return address - next->first < next->second.bytes ? &next->second : nullptr;
  }
};

void *pointer(CUdeviceptr address) { return reinterpret_cast<void *>(address); }
bool isWhole(size_t bytes) { return bytes != 0 && bytes % kGranularity == 0; }

/// Reserves addresses; null where there are none.
void *reserve(size_t bytes, size_t alignment, void *wanted) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  if (wanted) {
    void *at = mmap(wanted, bytes, PROT_NONE, kFlags | MAP_FIXED_NOREPLACE, -1, 0);
    if (at == wanted)
      return at;
    if (at != MAP_FAILED)
      munmap(at, bytes);
  }
  void *at = mmap(nullptr, bytes + alignment, PROT_NONE, kFlags, -1, 0);
  if (at == MAP_FAILED)
    return nullptr;
  const auto first = reinterpret_cast<uintptr_t>(at);
  const uintptr_t base = (first + alignment - 1) / alignment * alignment;
  if (base > first)
    munmap(at, base - first);
  if (first + alignment > base)
    munmap(reinterpret_cast<void *>(base + bytes), first + alignment - base);
  return reinterpret_cast<void *>(base);
}

CUresult checkProperties(const CUmemAllocationProp *p) {
  if (!p || p->type != CU_MEM_ALLOCATION_TYPE_PINNED)
    return CUDA_ERROR_INVALID_VALUE;
  switch (p->location.type) {
  case CU_MEM_LOCATION_TYPE_DEVICE:
    PTXRUN_TRY(checkDevice(p->location.id));
    break;
  case CU_MEM_LOCATION_TYPE_HOST:
  case CU_MEM_LOCATION_TYPE_HOST_NUMA:
  case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
    break; // all memory is the host's
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (p->requestedHandleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
    return notSupported("memory with handles other than file descriptors");
  return CUDA_SUCCESS;
}

CUresult enterMemory(CUmemGenericAllocationHandle handle, std::shared_ptr<PhysicalMemory> &memory) {
  PTXRUN_TRY(checkInitialised());
  memory = resolve<PhysicalMemory>(pointer(handle));
  return memory ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

int protectionOf(unsigned access) {
  return access == CU_MEM_ACCESS_FLAGS_PROT_NONE   ? PROT_NONE
         : access == CU_MEM_ACCESS_FLAGS_PROT_READ ? PROT_READ
                                                   : PROT_READ | PROT_WRITE;
}

} // namespace

size_t createdPhysicalBytes(CUdevice device) { return physicalBytes[static_cast<size_t>(device)]; }

} // namespace ptxrun::driver

using namespace ptxrun::driver;
namespace device = ptxrun::device;

PTXRUN_API CUresult cuMemGetAllocationGranularity(size_t *granularity,
                                                  const CUmemAllocationProp *properties,
                                                  CUmemAllocationGranularity_flags option) {
  PTXRUN_TRY(checkInitialised());
  if (!granularity || option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
    return CUDA_ERROR_INVALID_VALUE;
  PTXRUN_TRY(checkProperties(properties));
  *granularity = kGranularity;
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment,
                                        CUdeviceptr wanted, unsigned long long flags) {
  PTXRUN_TRY(checkInitialised());
  if (!address || !isWhole(bytes) || (alignment & (alignment - 1)) || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  void *base = reserve(bytes, std::max(alignment, kGranularity),
                       wanted % kGranularity == 0 ? pointer(wanted) : nullptr);
  if (!base)
    return CUDA_ERROR_OUT_OF_MEMORY;
  AddressSpace &space = AddressSpace::instance();
  std::lock_guard lock(space.mutex);
  *address = reinterpret_cast<CUdeviceptr>(base);
  space.reserved[*address] = bytes;
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
  PTXRUN_TRY(checkInitialised());
  AddressSpace &space = AddressSpace::instance();
  std::lock_guard lock(space.mutex);
  const auto found = space.reserved.find(address);
  if (found == space.reserved.end() || found->second != bytes || !space.isFree(address, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  munmap(pointer(address), bytes);
  space.reserved.erase(found);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes,
                                const CUmemAllocationProp *properties, unsigned long long flags) {
  PTXRUN_TRY(checkInitialised());
  if (!handle || !isWhole(bytes) || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  PTXRUN_TRY(checkProperties(properties));
  if (bytes > freeDeviceMemory(deviceOf(*properties)))
    return CUDA_ERROR_OUT_OF_MEMORY;
  OwnedFile file = OwnedFile::make(bytes);
  if (!file.isOpen())
    return CUDA_ERROR_OUT_OF_MEMORY;
  const auto memory = std::make_shared<PhysicalMemory>(std::move(file), bytes, *properties);
  *handle = reinterpret_cast<CUmemGenericAllocationHandle>(publish<void *>(memory));
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  std::shared_ptr<PhysicalMemory> memory;
  PTXRUN_TRY(enterMemory(handle, memory));
  if (--memory->handles == 0)
    withdraw<PhysicalMemory>(pointer(handle)); // mappings keep the memory
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                             CUmemGenericAllocationHandle handle, unsigned long long flags) {
  std::shared_ptr<PhysicalMemory> memory;
  PTXRUN_TRY(enterMemory(handle, memory));
  if (!isWhole(bytes) || address % kGranularity != 0 || offset % kGranularity != 0 || flags != 0 ||
      offset > memory->bytes || bytes > memory->bytes - offset)
    return CUDA_ERROR_INVALID_VALUE;
  AddressSpace &space = AddressSpace::instance();
  std::lock_guard lock(space.mutex);
  if (!space.isReserved(address, bytes) || !space.isFree(address, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  if (!mapShared(memory->file, pointer(address), bytes, offset))
    return CUDA_ERROR_OUT_OF_MEMORY;
  mprotect(pointer(address), bytes, PROT_NONE); // until access is granted
  space.mapped[address] = {bytes, std::move(memory)};
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
  Context *context = currentContext();
  PTXRUN_TRY(checkInitialised());
  if (context && !context->isDestroyed())
    context->synchronise(); // nothing that was launched may still use it
  AddressSpace &space = AddressSpace::instance();
  std::lock_guard lock(space.mutex);
  const auto mappings = space.mappingsOf(address, bytes);
  if (mappings.empty())
    return CUDA_ERROR_INVALID_VALUE;
  for (const auto &mapping : mappings) {
    if (mapping->second.access != CU_MEM_ACCESS_FLAGS_PROT_NONE)
      forgetMapped(pointer(mapping->first));
    space.mapped.erase(mapping);
  }
  mmap(pointer(address), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
       -1, 0);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes,
                                   const CUmemAccessDesc *descriptions, size_t count) {
  PTXRUN_TRY(checkInitialised());
  if (!descriptions || count == 0)
    return CUDA_ERROR_INVALID_VALUE;
  unsigned access = CU_MEM_ACCESS_FLAGS_PROT_NONE; // of everyone together: there is one memory
  for (size_t i = 0; i < count; ++i) {
    const CUmemAccessDesc &d = descriptions[i];
    if (d.location.type == CU_MEM_LOCATION_TYPE_DEVICE)
      PTXRUN_TRY(checkDevice(d.location.id));
    if (d.flags != CU_MEM_ACCESS_FLAGS_PROT_NONE && d.flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
        d.flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
      return CUDA_ERROR_INVALID_VALUE;
    access |= d.flags;
  }
  AddressSpace &space = AddressSpace::instance();
  std::lock_guard lock(space.mutex);
  const auto mappings = space.mappingsOf(address, bytes);
  if (mappings.empty())
    return CUDA_ERROR_INVALID_VALUE;
  for (const auto &mapping : mappings) {
    auto &[at, m] = *mapping;
    mprotect(pointer(at), m.bytes, protectionOf(access));
    const bool wasOpen = m.access != CU_MEM_ACCESS_FLAGS_PROT_NONE;
    const bool isOpen = access != CU_MEM_ACCESS_FLAGS_PROT_NONE;
    if (isOpen && !wasOpen)
      noteMapped(pointer(at), m.bytes,
                 {MemoryUse::mapped, 0, currentContext(), m.memory->device()});
    else if (wasOpen && !isOpen)
      forgetMapped(pointer(at));
    m.access = access;
  }
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location,
                                   CUdeviceptr address) {
  PTXRUN_TRY(checkInitialised());
  if (!flags || !location)
    return CUDA_ERROR_INVALID_VALUE;
  if (location->type == CU_MEM_LOCATION_TYPE_DEVICE)
    PTXRUN_TRY(checkDevice(location->id));
  AddressSpace &space = AddressSpace::instance();
  std::lock_guard lock(space.mutex);
  const Mapping *mapping = space.containing(address);
  if (!mapping)
    return CUDA_ERROR_INVALID_VALUE;
  *flags = mapping->access;
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *properties,
                                                           CUmemGenericAllocationHandle handle) {
  std::shared_ptr<PhysicalMemory> memory;
  PTXRUN_TRY(enterMemory(handle, memory));
  if (!properties)
    return CUDA_ERROR_INVALID_VALUE;
  *properties = memory->properties;
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle,
                                                void *address) {
  PTXRUN_TRY(checkInitialised());
  if (!handle)
    return CUDA_ERROR_INVALID_VALUE;
  AddressSpace &space = AddressSpace::instance();
  std::lock_guard lock(space.mutex);
  const Mapping *mapping = space.containing(reinterpret_cast<CUdeviceptr>(address));
  if (!mapping)
    return CUDA_ERROR_INVALID_VALUE;
  if (mapping->memory->handles++ == 0)
    publish<void *>(mapping->memory);
  *handle = reinterpret_cast<CUmemGenericAllocationHandle>(handleOf<void *>(mapping->memory.get()));
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuMemExportToShareableHandle(void *shareable,
                                                 CUmemGenericAllocationHandle handle,
                                                 CUmemAllocationHandleType type,
                                                 unsigned long long flags) {
  std::shared_ptr<PhysicalMemory> memory;
  PTXRUN_TRY(enterMemory(handle, memory));
  if (!shareable || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
    return notSupported("exporting memory by other handles than file descriptors");
  if (!(memory->properties.requestedHandleTypes & type))
    return CUDA_ERROR_INVALID_VALUE;
  const int copy = duplicateFile(memory->file);
  if (copy < 0)
    return CUDA_ERROR_OPERATING_SYSTEM;
  *static_cast<int *>(shareable) = copy; // the program's, to close or to send
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle,
                                                   void *shareable,
                                                   CUmemAllocationHandleType type) {
  PTXRUN_TRY(checkInitialised());
  if (!handle)
    return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
    return notSupported("importing memory by other handles than file descriptors");
  OwnedFile file = OwnedFile::copyOf(static_cast<int>(reinterpret_cast<intptr_t>(shareable)));
  const size_t bytes = file.isOpen() ? file.bytes() : 0;
  if (!isWhole(bytes))
    return CUDA_ERROR_INVALID_VALUE;
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = type;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  const auto memory = std::make_shared<PhysicalMemory>(std::move(file), bytes, properties);
  *handle = reinterpret_cast<CUmemGenericAllocationHandle>(publish<void *>(memory));
  return CUDA_SUCCESS;
}
