// Page-locked host memory, allocated or registered. Devices see it at its own address.
#include "loader/libcuda/api.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/memory.h"
#include "loader/libcuda/stream_capture.h"

using namespace ptxrun::driver;

namespace {

constexpr unsigned kHostAllocFlags =
    CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
constexpr unsigned kHostRegisterFlags = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                                        CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;

bool isHostUse(MemoryUse use) { return use == MemoryUse::host || use == MemoryUse::registered; }

} // namespace

PTXRUN_API CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned flags) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  PTXRUN_TRY(checkUnsafeCall());
  if (!address || (flags & ~kHostAllocFlags))
    return CUDA_ERROR_INVALID_VALUE;
  if (bytes == 0) {
    *address = nullptr;
    return CUDA_SUCCESS;
  }
  CUdeviceptr allocated = 0;
  PTXRUN_TRY(allocate(&allocated, bytes, {MemoryUse::host, flags, context}));
  *address = reinterpret_cast<void *>(allocated);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuMemAllocHost_v2(void **address, size_t bytes) {
  return cuMemHostAlloc(address, bytes, 0);
}

PTXRUN_API CUresult cuMemFreeHost(void *address) {
  PTXRUN_TRY(checkInitialised());
  if (!address)
    return CUDA_SUCCESS;
  const auto record = findMemory(address);
  if (!record || record->base != address || record->use != MemoryUse::host || record->pool)
    return CUDA_ERROR_INVALID_VALUE;
  PTXRUN_TRY(checkUnsafeCall());
  if (record->context && !record->context->isDestroyed())
    record->context->synchronise();
  return release(reinterpret_cast<CUdeviceptr>(address));
}

PTXRUN_API CUresult cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  PTXRUN_TRY(checkUnsafeCall());
  if (!address || bytes == 0 || (flags & ~kHostRegisterFlags))
    return CUDA_ERROR_INVALID_VALUE;
  return registerHost(address, bytes, {MemoryUse::registered, flags, context});
}
PTXRUN_API CUresult cuMemHostRegister(void *address, size_t bytes, unsigned flags) {
  return cuMemHostRegister_v2(address, bytes, flags);
}

PTXRUN_API CUresult cuMemHostUnregister(void *address) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  if (!address)
    return CUDA_ERROR_INVALID_VALUE;
  context->synchronise();
  return unregisterHost(address);
}

PTXRUN_API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *device, void *address,
                                                 unsigned flags) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  if (!device || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  const auto record = findMemory(address);
  if (!record || !isHostUse(record->use))
    return CUDA_ERROR_INVALID_VALUE;
  *device = reinterpret_cast<CUdeviceptr>(address);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuMemHostGetFlags(unsigned *flags, void *address) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  if (!flags)
    return CUDA_ERROR_INVALID_VALUE;
  const auto record = findMemory(address);
  if (!record || !isHostUse(record->use))
    return CUDA_ERROR_INVALID_VALUE;
  *flags = record->flags | CU_MEMHOSTALLOC_DEVICEMAP;
  return CUDA_SUCCESS;
}
