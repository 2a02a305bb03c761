// Multicast objects: memory that `multimem` instructions reach on all devices of a team at once.
#include <sys/mman.h>

#include <algorithm>

#include "loader/libcuda/api.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/cuda_multicast_api.h"
#include "loader/libcuda/device_info.h"
#include "loader/libcuda/virtual_memory.h"
#include "rt/memory/multicast.h"

namespace ptxrun::driver {

namespace {

constexpr int kClosed = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

/// One device's.
void showMember(CUdeviceptr address, const Mapping &mapping, const Multicast::Member &member) {
  mmap(pointer(address), mapping.bytes, PROT_NONE, kClosed | MAP_FIXED, -1, 0);
  if (mapping.access == CU_MEM_ACCESS_FLAGS_PROT_NONE)
    return;
  const size_t begin = mapping.offset, end = begin + mapping.bytes;
  for (const auto &[at, bound] : member.bindings) {
    const size_t from = std::max(at, begin), to = std::min(at + bound.bytes, end);
    if (from >= to)
      continue;
    void *const place = pointer(address + (from - begin));
    mapShared(bound.memory->file, place, to - from, bound.memoryOffset + (from - at));
    mprotect(place, to - from, protectionOf(mapping.access));
  }
}

} // namespace

Multicast::Member *Multicast::find(CUdevice device) {
  const auto found =
      std::ranges::find_if(team, [&](const Member &member) { return member.device == device; });
  return found == team.end() ? nullptr : &*found;
}

void showBindings(CUdeviceptr address, Mapping &mapping) {
  const Multicast &object = *mapping.memory->multicast;
  for (size_t i = 0; i < object.team.size(); ++i) {
    if (i > mapping.replicas.size()) {
      void *place = mmap(nullptr, mapping.bytes, PROT_NONE, kClosed, -1, 0);
      if (place == MAP_FAILED)
        throw std::bad_alloc();
      mapping.replicas.push_back(reinterpret_cast<CUdeviceptr>(place));
    }
    showMember(i == 0 ? address : mapping.replicas[i - 1], mapping, object.team[i]);
  }
  if (!mapping.replicas.empty())
    rt::setReplicas(address, mapping.bytes, {mapping.replicas.begin(), mapping.replicas.end()});
}

void forgetReplicas(CUdeviceptr address, Mapping &mapping) {
  if (mapping.replicas.empty())
    return;
  rt::forgetReplicas(address);
  for (const CUdeviceptr place : mapping.replicas)
    munmap(pointer(place), mapping.bytes);
  mapping.replicas.clear();
}

namespace {

CUresult checkProperties(const CUmulticastObjectProp *p) {
  if (!p || p->numDevices == 0 || p->flags != 0 ||
      p->numDevices > static_cast<unsigned>(deviceCount()))
    return CUDA_ERROR_INVALID_VALUE;
  // One that is meant for other processes serves this one as well; exporting it is refused.
  if (p->handleTypes & ~static_cast<unsigned long long>(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
    return notSupported("a multicast object with other handles than file descriptors");
  return CUDA_SUCCESS;
}

CUresult enterMulticast(CUmemGenericAllocationHandle handle,
                        std::shared_ptr<PhysicalMemory> &object) {
  PTXRUN_TRY(checkInitialised());
  object = resolve<PhysicalMemory>(pointer(handle));
  return object && object->multicast ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/// Nothing that was launched may still use what changes.
void synchroniseCurrent() {
  if (Context *context = currentContext(); context && !context->isDestroyed())
    context->synchronise();
}

/// Called with the address space's mutex held.
void showEverywhere(AddressSpace &space, const PhysicalMemory &object) {
  for (auto &[address, mapping] : space.mapped)
    if (mapping.memory.get() == &object)
      showBindings(address, mapping);
}

CUresult bind(CUmemGenericAllocationHandle handle, size_t offset, Multicast::Binding binding,
              unsigned long long flags) {
  std::shared_ptr<PhysicalMemory> object;
  PTXRUN_TRY(enterMulticast(handle, object));
  const size_t size = object->bytes;
  if (flags != 0 || !isWhole(binding.bytes) || offset % kPhysicalGranularity != 0 ||
      binding.memoryOffset % kPhysicalGranularity != 0 || offset > size ||
      binding.bytes > size - offset || binding.memoryOffset > binding.memory->bytes ||
      binding.bytes > binding.memory->bytes - binding.memoryOffset)
    return CUDA_ERROR_INVALID_VALUE;
  synchroniseCurrent();
  AddressSpace &space = AddressSpace::instance();
  std::lock_guard lock(space.mutex);
  Multicast::Member *member = object->multicast->find(binding.memory->device());
  if (!member)
    return CUDA_ERROR_INVALID_DEVICE;
  if (!object->multicast->isComplete())
    return CUDA_ERROR_ILLEGAL_STATE; // all devices join before memory is bound
  for (const auto &[at, bound] : member->bindings)
    if (at < offset + binding.bytes && offset < at + bound.bytes)
      return CUDA_ERROR_INVALID_VALUE;
  member->bindings[offset] = std::move(binding);
  showEverywhere(space, *object);
  return CUDA_SUCCESS;
}

} // namespace

} // namespace ptxrun::driver

using namespace ptxrun::driver;

PTXRUN_API CUresult cuMulticastCreate(CUmemGenericAllocationHandle *handle,
                                      const CUmulticastObjectProp *properties) {
  PTXRUN_TRY(checkInitialised());
  PTXRUN_TRY(checkProperties(properties));
  if (!handle || !isWhole(properties->size))
    return CUDA_ERROR_INVALID_VALUE;
  const auto object = std::make_shared<PhysicalMemory>(
      properties->size, std::make_unique<Multicast>(properties->numDevices));
  *handle = reinterpret_cast<CUmemGenericAllocationHandle>(publish<void *>(object));
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle handle, CUdevice device) {
  std::shared_ptr<PhysicalMemory> object;
  PTXRUN_TRY(enterMulticast(handle, object));
  PTXRUN_TRY(checkDevice(device));
  std::lock_guard lock(AddressSpace::instance().mutex);
  Multicast &multicast = *object->multicast;
  if (multicast.isComplete() || multicast.find(device))
    return CUDA_ERROR_INVALID_DEVICE;
  multicast.team.push_back({device, {}});
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuMulticastBindMem(CUmemGenericAllocationHandle handle, size_t offset,
                                       CUmemGenericAllocationHandle memoryHandle,
                                       size_t memoryOffset, size_t bytes,
                                       unsigned long long flags) {
  PTXRUN_TRY(checkInitialised());
  auto memory = resolve<PhysicalMemory>(pointer(memoryHandle));
  if (!memory || memory->multicast)
    return CUDA_ERROR_INVALID_VALUE;
  return bind(handle, offset, {bytes, std::move(memory), memoryOffset}, flags);
}

PTXRUN_API CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle handle, size_t offset,
                                        CUdeviceptr address, size_t bytes,
                                        unsigned long long flags) {
  PTXRUN_TRY(checkInitialised());
  Multicast::Binding binding{bytes, nullptr, 0};
  {
    AddressSpace &space = AddressSpace::instance();
    std::lock_guard lock(space.mutex);
    const auto mapping = space.containing(address);
    if (mapping == space.mapped.end() || mapping->second.memory->multicast ||
        bytes > mapping->second.bytes - (address - mapping->first))
      return CUDA_ERROR_INVALID_VALUE;
    binding.memory = mapping->second.memory;
    binding.memoryOffset = mapping->second.offset + (address - mapping->first);
  }
  return bind(handle, offset, std::move(binding), flags);
}

PTXRUN_API CUresult cuMulticastUnbind(CUmemGenericAllocationHandle handle, CUdevice device,
                                      size_t offset, size_t bytes) {
  std::shared_ptr<PhysicalMemory> object;
  PTXRUN_TRY(enterMulticast(handle, object));
  PTXRUN_TRY(checkDevice(device));
  synchroniseCurrent();
  AddressSpace &space = AddressSpace::instance();
  std::lock_guard lock(space.mutex);
  Multicast::Member *member = object->multicast->find(device);
  if (!member)
    return CUDA_ERROR_INVALID_DEVICE;
  const auto found = member->bindings.find(offset);
  if (found == member->bindings.end() || found->second.bytes != bytes)
    return CUDA_ERROR_INVALID_VALUE;
  member->bindings.erase(found);
  showEverywhere(space, *object);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuMulticastGetGranularity(size_t *granularity,
                                              const CUmulticastObjectProp *properties,
                                              CUmulticastGranularity_flags option) {
  PTXRUN_TRY(checkInitialised());
  PTXRUN_TRY(checkProperties(properties));
  if (!granularity || option > CU_MULTICAST_GRANULARITY_RECOMMENDED)
    return CUDA_ERROR_INVALID_VALUE;
  *granularity = kPhysicalGranularity;
  return CUDA_SUCCESS;
}
