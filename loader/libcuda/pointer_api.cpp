// What a pointer points to.
#include <cstring>

#include "loader/libcuda/api.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/memory.h"

using namespace ptxrun::driver;

namespace {

template <class T> CUresult store(void *data, T value) {
  memcpy(data, &value, sizeof value);
  return CUDA_SUCCESS;
}

unsigned memoryType(MemoryUse use) {
  return use == MemoryUse::host || use == MemoryUse::registered ? CU_MEMORYTYPE_HOST
                                                                : CU_MEMORYTYPE_DEVICE;
}

/// The value for memory the driver knows.
CUresult attributeOf(const MemoryRecord &record, CUpointer_attribute attribute, CUdeviceptr pointer,
                     void *data) {
  const auto base = reinterpret_cast<CUdeviceptr>(record.base);
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT:
    return store(data, record.context ? handleOf<CUcontext>(record.context) : nullptr);
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    return store(data, memoryType(record.use));
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    return store(data, pointer);
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    if (record.use == MemoryUse::device || record.use == MemoryUse::pool ||
        record.use == MemoryUse::mapped)
      return CUDA_ERROR_INVALID_VALUE;
    return store(data, reinterpret_cast<void *>(pointer));
  case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    return store(data, 0u);
  case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    return store(data, static_cast<unsigned long long>(record.id));
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    return store(data, record.use == MemoryUse::managed ? 1u : 0u);
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    return store(data, record.device);
  case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    return store(data, record.use == MemoryUse::device ? 1u : 0u);
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
  case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    return store(data, base);
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
  case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    return store(data, record.bytes);
  case CU_POINTER_ATTRIBUTE_MAPPED:
    return store(data, 1u);
  case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    return store(data,
                 record.use == MemoryUse::mapped
                     ? static_cast<unsigned long long>(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
                     : 0ull);
  case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    return store(data, 0u);
  case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    return store(data, 3u);
  case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    return store(data, record.pool);
  case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
    return store(data, static_cast<unsigned long long>(record.id));
  case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
    return store(data, 0u);
  case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

size_t attributeBytes(CUpointer_attribute attribute) {
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
  case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
  case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
  case CU_POINTER_ATTRIBUTE_MAPPED:
  case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
  case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
  case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
    return 4;
  case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
    return 0;
  default:
    return 8;
  }
}

} // namespace

PTXRUN_API CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute,
                                          CUdeviceptr pointer) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  if (!data)
    return CUDA_ERROR_INVALID_VALUE;
  const auto record = findMemory(reinterpret_cast<const void *>(pointer));
  return record ? attributeOf(*record, attribute, pointer, data) : CUDA_ERROR_INVALID_VALUE;
}

/// Unlike the single question this one succeeds for unknown pointers, with zeros (device ordinal:
/// -2).
PTXRUN_API CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes,
                                           void **data, CUdeviceptr pointer) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  if (!attributes || !data)
    return CUDA_ERROR_INVALID_VALUE;
  const auto record = findMemory(reinterpret_cast<const void *>(pointer));
  for (unsigned i = 0; i < count; ++i) {
    if (record && attributeOf(*record, attributes[i], pointer, data[i]) == CUDA_SUCCESS)
      continue;
    memset(data[i], 0, attributeBytes(attributes[i]));
    if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
      store(data[i], -2);
  }
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
                                          CUdeviceptr pointer) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ||
      !findMemory(reinterpret_cast<const void *>(pointer)))
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}
