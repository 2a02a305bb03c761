// What the driver remembers of memory: what an allocation is for, and host memory that was
// registered.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include "loader/device/memory.h"
#include "loader/libcuda/cuda_abi.h"

namespace ptxrun::device {
class Module;
}

namespace ptxrun::driver {

class Context;

enum class MemoryUse {
  device,
  host,
  managed,
  registered,
  pool,
  mapped ///< by virtual memory management, or from another process
};

struct MemoryRecord {
  MemoryUse use = MemoryUse::device;
  unsigned flags = 0; ///< as given to cuMemHostAlloc, cuMemHostRegister, cuMemAllocManaged
  Context *context = nullptr;
  CUdevice device = -1; ///< where it lies; the context's, or the first, unless it is said
  void *pool = nullptr; ///< the pool's handle
  void *base = nullptr; ///< filled in by the functions below
  size_t bytes = 0;
  uint64_t id = 0;
};

/// Allocates and remembers; CUDA_ERROR_OUT_OF_MEMORY, also where the record's device has not so
/// much.
CUresult allocate(CUdeviceptr *, size_t bytes, MemoryRecord);
/// Frees; CUDA_ERROR_INVALID_VALUE for what is not the start of an allocation (host memory
/// included: freed by address).
CUresult release(CUdeviceptr);
/// Host memory of the program's own; CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, _NOT_REGISTERED.
CUresult registerHost(void *, size_t bytes, MemoryRecord);
CUresult unregisterHost(void *);
/// Memory that somebody else maps and unmaps (MemoryUse::mapped); of a pool that processes share,
/// where the record names one.
void noteMapped(void *, size_t bytes, MemoryRecord);
void forgetMapped(void *);
/// Gives memory of such a pool back; CUDA_ERROR_INVALID_VALUE for any other address.
CUresult releaseToSharedPool(CUdeviceptr);
/// Frees what the context owns: its allocations, host memory and managed memory, what it
/// registered, mapped or opened of others; of pools, which are the device's, what the primary one
/// took.
void releaseMemoryOf(Context &);
/// Gives memory of a pool back to it.
void releasePooled(const MemoryRecord &);
/// The bytes of a device that allocations hold.
size_t heldBytes(CUdevice);
/// The variables of a loaded module, which lie in one piece: whose they are and which of them are
/// managed, until they are forgotten. Memory that no call allocated, and that none frees.
///   record   context (null: of no one), device
void noteVariables(const device::Module &, MemoryRecord record);
void forgetVariables(const device::Module &);
/// What lies at an address; nullopt for memory that the driver knows nothing of.
std::optional<MemoryRecord> findMemory(const void *);

} // namespace ptxrun::driver
