// Functions and kernels: attributes, parameters, names. A CUfunction and a CUkernel are the same
// object here.
#include "loader/libcuda/api.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/device_info.h"
#include "loader/libcuda/module.h"

using namespace ptxrun::driver;

namespace {

/// The current context's, whatever that is.
constexpr CUdevice kCurrent = -1;

CUresult enterFunction(const void *handle, std::shared_ptr<Function> &function,
                       CUdevice device = kCurrent) {
  PTXRUN_TRY(checkInitialised());
  if (Context *context = currentContext())
    PTXRUN_TRY(context->error());
  function = device == kCurrent ? resolveFunction(handle) : resolveFunctionOf(handle, device);
  return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/// Attributes that are stored and answered back.
std::atomic<int> *storedAttribute(Function &function, CUfunction_attribute attribute) {
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    return &function.maxDynamicShared;
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    return &function.carveout;
  case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
    return &function.isClusterSizeRequired;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    return &function.clusterWidth;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    return &function.clusterHeight;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
    return &function.clusterDepth;
  case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    return &function.isNonPortableClusterAllowed;
  case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    return &function.clusterSchedulingPolicy;
  default:
    return nullptr;
  }
}

CUresult getAttribute(int *value, CUfunction_attribute attribute, const void *handle,
                      CUdevice device = kCurrent) {
  std::shared_ptr<Function> function;
  PTXRUN_TRY(enterFunction(handle, function, device));
  if (!value)
    return CUDA_ERROR_INVALID_VALUE;
  const auto memory = [&] { return function->code.staticMemory(function->info); };
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    *value = function->maxThreadsPerBlock();
    break;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    *value = static_cast<int>(memory().sharedBytes);
    break;
  case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    *value = static_cast<int>(memory().constantBytes);
    break;
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    *value = static_cast<int>(memory().localBytes);
    break;
  case CU_FUNC_ATTRIBUTE_NUM_REGS:
    *value = static_cast<int>(function->info.registerCount);
    break;
  case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    *value = function->code.targetArchitecture();
    break;
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
    *value = deviceInfo().architecture();
    break;
  case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    *value = 0;
    break;
  default: {
    const std::atomic<int> *stored = storedAttribute(*function, attribute);
    if (!stored)
      return CUDA_ERROR_INVALID_VALUE;
    *value = *stored;
  }
  }
  return CUDA_SUCCESS;
}

CUresult setAttribute(CUfunction_attribute attribute, int value, const void *handle,
                      CUdevice device = kCurrent) {
  std::shared_ptr<Function> function;
  PTXRUN_TRY(enterFunction(handle, function, device));
  std::atomic<int> *stored = storedAttribute(*function, attribute);
  if (!stored)
    return CUDA_ERROR_INVALID_VALUE;
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
    const auto used = static_cast<int>(function->code.staticMemory(function->info).sharedBytes);
    if (value < 0 || value > deviceInfo().sharedPerBlockOptin - used)
      return CUDA_ERROR_INVALID_VALUE;
  }
  const bool isClusterShape = attribute == CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH ||
                              attribute == CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT ||
                              attribute == CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH;
  if (isClusterShape && function->info.clusterShape[0] != 0)
    return CUDA_ERROR_NOT_PERMITTED; // set when it was compiled
  if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT &&
      (value < -1 || value > 100))
    return CUDA_ERROR_INVALID_VALUE;
  *stored = value;
  ++function->attributeChanges;
  return CUDA_SUCCESS;
}

CUresult setCacheConfig(const void *handle, CUfunc_cache config, CUdevice device = kCurrent) {
  std::shared_ptr<Function> function;
  PTXRUN_TRY(enterFunction(handle, function, device));
  if (config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL)
    return CUDA_ERROR_INVALID_VALUE;
  function->cacheConfig = config;
  return CUDA_SUCCESS;
}

CUresult getParameter(const void *handle, size_t index, size_t *offset, size_t *bytes) {
  std::shared_ptr<Function> function;
  PTXRUN_TRY(enterFunction(handle, function));
  const auto &parameters = function->info.parameters;
  if (!offset || index >= parameters.size())
    return CUDA_ERROR_INVALID_VALUE;
  *offset = parameters[index].offset;
  if (bytes)
    *bytes = parameters[index].bytes;
  return CUDA_SUCCESS;
}

CUresult getName(const char **name, const void *handle) {
  std::shared_ptr<Function> function;
  PTXRUN_TRY(enterFunction(handle, function));
  if (!name)
    return CUDA_ERROR_INVALID_VALUE;
  *name = function->info.name.c_str();
  return CUDA_SUCCESS;
}

} // namespace

PTXRUN_API CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute,
                                       CUfunction function) {
  return getAttribute(value, attribute, function);
}
PTXRUN_API CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute,
                                       int value) {
  return setAttribute(attribute, value, function);
}
PTXRUN_API CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  return setCacheConfig(function, config);
}
PTXRUN_API CUresult cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig) {
  std::shared_ptr<Function> function;
  return enterFunction(handle, function); // shared memory has no banks here
}
PTXRUN_API CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset,
                                       size_t *bytes) {
  return getParameter(function, index, offset, bytes);
}
PTXRUN_API CUresult cuFuncGetName(const char **name, CUfunction function) {
  return getName(name, function);
}

PTXRUN_API CUresult cuFuncGetModule(CUmodule *module, CUfunction handle) {
  std::shared_ptr<Function> function;
  PTXRUN_TRY(enterFunction(handle, function));
  if (!module)
    return CUDA_ERROR_INVALID_VALUE;
  *module = handleOf<CUmodule>(&function->module);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction handle) {
  std::shared_ptr<Function> function;
  PTXRUN_TRY(enterFunction(handle, function));
  if (!state)
    return CUDA_ERROR_INVALID_VALUE;
  *state = CU_FUNCTION_LOADING_STATE_LOADED;
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuFuncLoad(CUfunction handle) {
  std::shared_ptr<Function> function;
  return enterFunction(handle, function);
}

PTXRUN_API CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute,
                                         CUkernel kernel, CUdevice device) {
  PTXRUN_TRY(checkDevice(device));
  return getAttribute(value, attribute, kernel, device);
}
PTXRUN_API CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                                         CUdevice device) {
  PTXRUN_TRY(checkDevice(device));
  return setAttribute(attribute, value, kernel, device);
}
PTXRUN_API CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device) {
  PTXRUN_TRY(checkDevice(device));
  return setCacheConfig(kernel, config, device);
}
PTXRUN_API CUresult cuKernelGetName(const char **name, CUkernel kernel) {
  return getName(name, kernel);
}
PTXRUN_API CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset,
                                         size_t *bytes) {
  return getParameter(kernel, index, offset, bytes);
}
