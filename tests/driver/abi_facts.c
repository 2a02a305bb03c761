/* Prints every value, size and offset of the driver API that we declare. Compiled against our
 * header and against CUDA's own; the two outputs must be the same. */
#include "cuda_header.h"

#include <stddef.h>
#include <stdio.h>

#define VALUE(name) printf("%s %lld\n", #name, (long long)(name))
#define SIZE(type) printf("sizeof %s %zu\n", #type, sizeof(type))
#define OFFSET(type, member) printf("offsetof %s.%s %zu\n", #type, #member, offsetof(type, member))

static void printResults(void) {
#define RESULT(name, value, text) VALUE(name);
#include "loader/libcuda/results.def"
#undef RESULT
}

static void printDeviceAttributes(void) {
#define ATTRIBUTE(name, number, value) VALUE(CU_DEVICE_ATTRIBUTE_##name);
#include "loader/libcuda/device_attributes.def"
#undef ATTRIBUTE
  VALUE(CU_DEVICE_ATTRIBUTE_MAX);
}

static void printValues(void) {
  VALUE(CU_LIMIT_MAX);
  VALUE(CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED);
  VALUE(CU_FUNC_ATTRIBUTE_MAX);
  VALUE(CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
  VALUE(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
  VALUE(CU_FUNC_CACHE_PREFER_EQUAL);
  VALUE(CU_JIT_ERROR_LOG_BUFFER);
  VALUE(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
  VALUE(CU_JIT_GLOBAL_SYMBOL_COUNT);
  VALUE(CU_JIT_NUM_OPTIONS);
  VALUE(CU_JIT_INPUT_NVVM);
  VALUE(CU_LIBRARY_NUM_OPTIONS);
  VALUE(CU_MODULE_LAZY_LOADING);
  VALUE(CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
  VALUE(CU_MEMORYTYPE_UNIFIED);
  VALUE(CU_MEMHOSTREGISTER_READ_ONLY);
  VALUE(CU_MEMHOSTALLOC_WRITECOMBINED);
  VALUE(CU_MEM_ATTACH_SINGLE);
  VALUE(CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE);
  VALUE(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE);
  VALUE(CU_MEM_ADVISE_UNSET_ACCESSED_BY);
  VALUE(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY);
  VALUE(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID);
  VALUE(CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT);
  VALUE(CU_MEM_ALLOCATION_TYPE_MANAGED);
  VALUE(CU_MEMPOOL_ATTR_USED_MEM_HIGH);
  VALUE(CU_STREAM_NON_BLOCKING);
  VALUE(CU_EVENT_INTERPROCESS);
  VALUE(CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  VALUE(CU_STREAM_CAPTURE_MODE_RELAXED);
  VALUE(CU_STREAM_WAIT_VALUE_NOR);
  VALUE(CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  VALUE(CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
  VALUE(CU_CTX_FLAGS_MASK);
  VALUE(CU_FUNCTION_LOADING_STATE_LOADED);
  VALUE(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
  VALUE(CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B);
  VALUE(CU_TENSOR_MAP_INTERLEAVE_32B);
  VALUE(CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B);
  VALUE(CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
  VALUE(CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
  VALUE(CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128);
  VALUE((size_t)CU_STREAM_LEGACY);
  VALUE((size_t)CU_STREAM_PER_THREAD);
  VALUE((size_t)CU_LAUNCH_PARAM_BUFFER_POINTER);
  VALUE((size_t)CU_LAUNCH_PARAM_BUFFER_SIZE);
}

static void printLayouts(void) {
  SIZE(CUuuid);
  SIZE(CUdevprop);
  OFFSET(CUdevprop, textureAlign);
  SIZE(CUlaunchAttribute);
  OFFSET(CUlaunchAttribute, value);
  OFFSET(CUlaunchAttributeValue, programmaticEvent.triggerAtBlockStart);
  SIZE(CUlaunchConfig);
  OFFSET(CUlaunchConfig, hStream);
  OFFSET(CUlaunchConfig, numAttrs);
  SIZE(CUDA_MEMCPY2D);
  OFFSET(CUDA_MEMCPY2D, dstDevice);
  OFFSET(CUDA_MEMCPY2D, Height);
  SIZE(CUDA_MEMCPY3D);
  OFFSET(CUDA_MEMCPY3D, srcHeight);
  OFFSET(CUDA_MEMCPY3D, Depth);
  SIZE(CUDA_MEMCPY3D_PEER);
  OFFSET(CUDA_MEMCPY3D_PEER, dstContext);
  SIZE(CUmemLocation);
  SIZE(CUmemAccessDesc);
  SIZE(CUmemPoolProps);
  OFFSET(CUmemPoolProps, maxSize);
  OFFSET(CUmemPoolProps, usage);
  SIZE(CUgraphEdgeData);
  SIZE(CUtensorMap);
  printf("alignof CUtensorMap %zu\n", _Alignof(CUtensorMap));
}

int main(void) {
  printResults();
  printDeviceAttributes();
  printValues();
  printLayouts();
  return 0;
}
