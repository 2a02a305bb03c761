// Virtual memory management: addresses reserved, memory created, the one mapped to the other,
// access granted. Physical memory is a file without a name, so that it can be mapped several times
// and handed to other processes.
#include <sys/mman.h>

#include <algorithm>
#include <array>
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

std::array<std::atomic<size_t>, machine::kMostDevices> physicalBytes{};

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

/// Puts the memory in its place, closed.
bool putInPlace(CUdeviceptr address, const Mapping &mapping) {
  if (!mapShared(mapping.memory->file, pointer(address), mapping.bytes, mapping.offset))
    return false;
  mprotect(pointer(address), mapping.bytes, PROT_NONE); // until access is granted
  return true;
}

} // namespace

CUdevice deviceOf(const CUmemAllocationProp &properties) {
  return properties.location.type == CU_MEM_LOCATION_TYPE_DEVICE ? properties.location.id : 0;
}

int protectionOf(unsigned access) {
  return access == CU_MEM_ACCESS_FLAGS_PROT_NONE   ? PROT_NONE
         : access == CU_MEM_ACCESS_FLAGS_PROT_READ ? PROT_READ
                                                   : PROT_READ | PROT_WRITE;
}

PhysicalMemory::PhysicalMemory(OwnedFile file, size_t bytes, const CUmemAllocationProp &properties)
    : Object(kKind), file(std::move(file)), bytes(bytes), properties(properties) {
  physicalBytes[static_cast<size_t>(device())] += bytes;
  announceHeldMemory(device());
  if (device::summary::isOn())
    device::summary::noteMappedMemory(static_cast<int64_t>(bytes));
}
PhysicalMemory::PhysicalMemory(size_t bytes, std::unique_ptr<Multicast> multicast)
    : Object(kKind), bytes(bytes), properties{}, multicast(std::move(multicast)) {}
PhysicalMemory::~PhysicalMemory() {
  if (multicast)
    return;
  physicalBytes[static_cast<size_t>(device())] -= bytes;
  announceHeldMemory(device());
  if (device::summary::isOn())
    device::summary::noteMappedMemory(-static_cast<int64_t>(bytes));
}

AddressSpace &AddressSpace::instance() {
  static auto *space = new AddressSpace;
  return *space;
}
bool AddressSpace::isReserved(CUdeviceptr address, size_t bytes) const {
  auto next = reserved.upper_bound(address);
  if (next == reserved.begin())
    return false;
  --next;
  return address - next->first <= next->second && bytes <= next->second - (address - next->first);
}
bool AddressSpace::isFree(CUdeviceptr address, size_t bytes) const {
  const auto next = mapped.lower_bound(address);
  if (next != mapped.end() && next->first < address + bytes)
    return false;
  return next == mapped.begin() ||
         std::prev(next)->first + std::prev(next)->second.bytes <= address;
}
std::vector<std::map<CUdeviceptr, Mapping>::iterator> AddressSpace::mappingsOf(CUdeviceptr address,
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
std::map<CUdeviceptr, Mapping>::iterator AddressSpace::containing(CUdeviceptr address) {
  auto next = mapped.upper_bound(address);
  if (next == mapped.begin())
    return mapped.end();
  --next;
  return address - next->first < next->second.bytes ? next : mapped.end();
}

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
  *granularity = kPhysicalGranularity;
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment,
                                        CUdeviceptr wanted, unsigned long long flags) {
  PTXRUN_TRY(checkInitialised());
  if (!address || !isWhole(bytes) || (alignment & (alignment - 1)) || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  void *base = reserve(bytes, std::max(alignment, kPhysicalGranularity),
                       wanted % kPhysicalGranularity == 0 ? pointer(wanted) : nullptr);
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
  if (!isWhole(bytes) || address % kPhysicalGranularity != 0 ||
      offset % kPhysicalGranularity != 0 || flags != 0 || offset > memory->bytes ||
      bytes > memory->bytes - offset)
    return CUDA_ERROR_INVALID_VALUE;
  AddressSpace &space = AddressSpace::instance();
  std::lock_guard lock(space.mutex);
  if (!space.isReserved(address, bytes) || !space.isFree(address, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  const Mapping mapping{bytes, offset, memory};
  if (!memory->multicast && !putInPlace(address, mapping))
    return CUDA_ERROR_OUT_OF_MEMORY;
  Mapping &placed = space.mapped[address] = mapping;
  if (memory->multicast)
    showBindings(address, placed);
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
    forgetReplicas(mapping->first, mapping->second);
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
    const bool wasOpen = m.access != CU_MEM_ACCESS_FLAGS_PROT_NONE;
    const bool isOpen = access != CU_MEM_ACCESS_FLAGS_PROT_NONE;
    if (isOpen && !wasOpen)
      noteMapped(pointer(at), m.bytes,
                 {MemoryUse::mapped, 0, currentContext(), m.memory->device()});
    else if (wasOpen && !isOpen)
      forgetMapped(pointer(at));
    m.access = access;
    if (m.memory->multicast)
      showBindings(at, m);
    else
      mprotect(pointer(at), m.bytes, protectionOf(access));
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
  const auto mapping = space.containing(address);
  if (mapping == space.mapped.end())
    return CUDA_ERROR_INVALID_VALUE;
  *flags = mapping->second.access;
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
  const auto mapping = space.containing(reinterpret_cast<CUdeviceptr>(address));
  if (mapping == space.mapped.end())
    return CUDA_ERROR_INVALID_VALUE;
  const auto &memory = mapping->second.memory;
  if (memory->handles++ == 0)
    publish<void *>(memory);
  *handle = reinterpret_cast<CUmemGenericAllocationHandle>(handleOf<void *>(memory.get()));
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
  if (memory->multicast)
    return notSupported("a multicast object that other processes share");
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
