// Device memory: allocation, questions about it, pool allocation, managed memory. All of it is host
// memory.

#include "loader/libcuda/api.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/device_info.h"
#include "loader/libcuda/external_memory.h"
#include "loader/libcuda/ipc.h"
#include "loader/libcuda/memory.h"
#include "loader/libcuda/stream_capture.h"
#include "loader/libcuda/usage_table.h"

using namespace ptxrun::driver;
namespace device = ptxrun::device;

namespace {

constexpr size_t kPitchAlignment = 512;

} // namespace

PTXRUN_API CUresult cuMemGetInfo_v2(size_t *freeBytes, size_t *totalBytes) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  if (freeBytes)
    *freeBytes = freeDeviceMemory(context->device());
  if (totalBytes)
    *totalBytes = device::totalMemory();
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  PTXRUN_TRY(checkUnsafeCall());
  if (!address || bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  return allocate(address, bytes, {MemoryUse::device, 0, context});
}

PTXRUN_API CUresult cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width,
                                       size_t height, unsigned elementBytes) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  PTXRUN_TRY(checkUnsafeCall());
  if (!address || !pitch || width == 0 || height == 0 ||
      (elementBytes != 4 && elementBytes != 8 && elementBytes != 16))
    return CUDA_ERROR_INVALID_VALUE;
  size_t row = 0, bytes = 0;
  if (__builtin_add_overflow(width, kPitchAlignment - 1, &row) ||
      __builtin_mul_overflow(row / kPitchAlignment * kPitchAlignment, height, &bytes))
    return CUDA_ERROR_OUT_OF_MEMORY;
  *pitch = row / kPitchAlignment * kPitchAlignment;
  return allocate(address, bytes, {MemoryUse::device, 0, context});
}

PTXRUN_API CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  PTXRUN_TRY(checkUnsafeCall());
  if (!address || bytes == 0 || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
    return CUDA_ERROR_INVALID_VALUE;
  return allocate(address, bytes, {MemoryUse::managed, flags, context});
}

PTXRUN_API CUresult cuMemFree_v2(CUdeviceptr address) {
  Context *context = nullptr;
  PTXRUN_TRY(checkInitialised());
  if (address == 0)
    return CUDA_SUCCESS;
  if (const CUresult result = enter(context); result != CUDA_SUCCESS) {
    // Without a current context the memory's own will do: programs free late, their contexts
    // popped.
    const auto record = findMemory(reinterpret_cast<const void *>(address));
    if (result != CUDA_ERROR_INVALID_CONTEXT || !record || !record->context ||
        record->context->isDestroyed())
      return result;
    context = record->context;
  }
  PTXRUN_TRY(checkUnsafeCall());
  context->synchronise(); // nothing that was launched may still use it
  if (auto allocation = findGraphAllocation(address))
    return allocation->free() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  forgetExported(address);
  if (releaseToSharedPool(address) == CUDA_SUCCESS ||
      releaseExternalBuffer(address) == CUDA_SUCCESS)
    return CUDA_SUCCESS;
  const auto record = findMemory(reinterpret_cast<const void *>(address));
  if (record && record->pool && reinterpret_cast<CUdeviceptr>(record->base) == address) {
    releasePooled(*record);
    return CUDA_SUCCESS;
  }
  return release(address);
}

PTXRUN_API CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  const auto record = findMemory(reinterpret_cast<const void *>(address));
  if (!record || record->use == MemoryUse::registered)
    return CUDA_ERROR_NOT_FOUND;
  if (base)
    *base = reinterpret_cast<CUdeviceptr>(record->base);
  if (bytes)
    *bytes = record->bytes;
  return CUDA_SUCCESS;
}

PTXRUN_STREAM_API(cuStreamAttachMemAsync, _ptsz,
                  (CUstream streamHandle, CUdeviceptr address, size_t bytes, unsigned flags),
                  (streamHandle, address, bytes, flags)) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  PTXRUN_TRY(enter(streamHandle, context, stream));
  (void)bytes;
  PTXRUN_TRY(forbidCapture(*stream));
  return address && flags <= 7 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
