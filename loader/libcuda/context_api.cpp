// Contexts: created ones, the primary one, the stack of the calling thread.
#include "loader/device/memory.h"
#include "loader/libcuda/api.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/device_info.h"
#include "loader/libcuda/stream_capture.h"

using namespace ptxrun::driver;

namespace {

constexpr unsigned kApiVersion = 3020;

CUresult resolveContext(CUcontext handle, Context *&context) {
  PTXRUN_TRY(checkInitialised());
  if (!handle) {
    context = currentContext();
    return context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
  }
  context = resolve<Context>(handle).get();
  return context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

/// For the second versions of functions whose first have no context: bindings from before CUDA 13
/// (Numba's) look for any function's newest name and pass the first one's arguments. What is no
/// context is whatever was in the register, and the current one is meant.
CUresult resolveOrTakeCurrent(CUcontext handle, Context *&context) {
  return resolveContext(resolve<Context>(handle).get() ? handle : nullptr, context);
}

CUresult createContext(CUcontext *handle, unsigned flags, CUdevice device) {
  PTXRUN_TRY(checkInitialised());
  if (!handle || (flags & ~CU_CTX_FLAGS_MASK))
    return CUDA_ERROR_INVALID_VALUE;
  PTXRUN_TRY(checkDevice(device));
  Context *context = Context::create(flags, false, device);
  pushContext(context);
  *handle = handleOf<CUcontext>(context);
  return CUDA_SUCCESS;
}

} // namespace

PTXRUN_API CUresult cuCtxCreate(CUcontext *context, unsigned flags, CUdevice device) {
  return createContext(context, flags, device);
}
PTXRUN_API CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device) {
  return createContext(context, flags, device);
}
PTXRUN_API CUresult cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *, int affinityCount,
                                   unsigned flags, CUdevice device) {
  if (affinityCount != 0)
    return notSupported("execution affinity");
  return createContext(context, flags, device);
}
PTXRUN_API CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *parameters,
                                   unsigned flags, CUdevice device) {
  // The parameters speak of execution affinity and of graphics interoperation only: {params*,
  // count, cig*}.
  struct Parameters {
    void *affinity;
    int affinityCount;
    void *graphics;
  };
  if (auto *given = reinterpret_cast<Parameters *>(parameters);
      given && (given->affinityCount != 0 || given->graphics))
    return notSupported("execution affinity");
  return createContext(context, flags, device);
}

PTXRUN_API CUresult cuCtxDestroy_v2(CUcontext handle) {
  Context *context = nullptr;
  if (!handle)
    return CUDA_ERROR_INVALID_CONTEXT;
  PTXRUN_TRY(resolveContext(handle, context));
  if (context->isPrimary() || context->isGreen())
    return CUDA_ERROR_INVALID_CONTEXT;
  if (currentContext() == context)
    popContext();
  context->destroy();
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuCtxDestroy(CUcontext context) { return cuCtxDestroy_v2(context); }

PTXRUN_API CUresult cuCtxPushCurrent_v2(CUcontext handle) {
  Context *context = nullptr;
  if (!handle)
    return CUDA_ERROR_INVALID_CONTEXT;
  PTXRUN_TRY(resolveContext(handle, context));
  pushContext(context);
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuCtxPushCurrent(CUcontext context) { return cuCtxPushCurrent_v2(context); }

PTXRUN_API CUresult cuCtxPopCurrent_v2(CUcontext *handle) {
  PTXRUN_TRY(checkInitialised());
  Context *context = popContext();
  if (!context)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (handle)
    *handle = handleOf<CUcontext>(context);
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuCtxPopCurrent(CUcontext *context) { return cuCtxPopCurrent_v2(context); }

PTXRUN_API CUresult cuCtxSetCurrent(CUcontext handle) {
  PTXRUN_TRY(checkInitialised());
  Context *context = nullptr;
  if (handle)
    PTXRUN_TRY(resolveContext(handle, context));
  setCurrentContext(context);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuCtxGetCurrent(CUcontext *handle) {
  PTXRUN_TRY(checkInitialised());
  if (!handle)
    return CUDA_ERROR_INVALID_VALUE;
  Context *context = currentContext();
  *handle = context ? handleOf<CUcontext>(context) : nullptr;
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext handle) {
  Context *context = nullptr;
  PTXRUN_TRY(resolveOrTakeCurrent(handle, context));
  if (!device)
    return CUDA_ERROR_INVALID_VALUE;
  *device = context->device();
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuCtxGetDevice(CUdevice *device) { return cuCtxGetDevice_v2(device, nullptr); }

PTXRUN_API CUresult cuCtxGetFlags(unsigned *flags) {
  Context *context = nullptr;
  PTXRUN_TRY(resolveContext(nullptr, context));
  if (!flags)
    return CUDA_ERROR_INVALID_VALUE;
  *flags = context->flags | CU_CTX_MAP_HOST;
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuCtxSetFlags(unsigned flags) {
  Context *context = nullptr;
  PTXRUN_TRY(resolveContext(nullptr, context));
  if (flags & ~CU_CTX_FLAGS_MASK)
    return CUDA_ERROR_INVALID_VALUE;
  context->flags = flags;
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuCtxGetId(CUcontext handle, unsigned long long *id) {
  Context *context = nullptr;
  PTXRUN_TRY(resolveContext(handle, context));
  if (!id)
    return CUDA_ERROR_INVALID_VALUE;
  *id = context->id();
  return CUDA_SUCCESS;
}

/// Contexts use all multiprocessors but for green ones.
PTXRUN_API CUresult cuCtxGetExecAffinity(CUexecAffinityParam *affinity, CUexecAffinityType type) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  if (type != CU_EXEC_AFFINITY_TYPE_SM_COUNT)
    return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  if (!affinity)
    return CUDA_ERROR_INVALID_VALUE;
  affinity->type = type;
  affinity->param.smCount.val = context->isGreen()
                                    ? context->greenMultiprocessors()
                                    : static_cast<unsigned>(deviceInfo().multiprocessors);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuCtxSynchronize_v2(CUcontext handle) {
  Context *context = nullptr;
  PTXRUN_TRY(resolveOrTakeCurrent(handle, context));
  if (context->isDestroyed())
    return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  PTXRUN_TRY(checkNoCaptureIn(*context));
  context->synchronise();
  return context->error();
}
PTXRUN_API CUresult cuCtxSynchronize() { return cuCtxSynchronize_v2(nullptr); }

PTXRUN_API CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  if (limit < 0 || limit >= CU_LIMIT_MAX)
    return CUDA_ERROR_UNSUPPORTED_LIMIT;
  context->limits[limit] = value;
  if (limit == CU_LIMIT_MALLOC_HEAP_SIZE)
    ptxrun::device::setDeviceHeapLimit(value);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuCtxGetLimit(size_t *value, CUlimit limit) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  if (!value)
    return CUDA_ERROR_INVALID_VALUE;
  if (limit < 0 || limit >= CU_LIMIT_MAX)
    return CUDA_ERROR_UNSUPPORTED_LIMIT;
  *value = context->limits[limit];
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuCtxGetCacheConfig(CUfunc_cache *config) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  if (!config)
    return CUDA_ERROR_INVALID_VALUE;
  *config = static_cast<CUfunc_cache>(context->cacheConfig.load());
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  if (config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL)
    return CUDA_ERROR_INVALID_VALUE;
  context->cacheConfig = config;
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  if (!config)
    return CUDA_ERROR_INVALID_VALUE;
  *config = static_cast<CUsharedconfig>(context->sharedConfig.load());
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  context->sharedConfig = config;
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuCtxGetApiVersion(CUcontext handle, unsigned *version) {
  Context *context = nullptr;
  PTXRUN_TRY(resolveContext(handle, context));
  if (!version)
    return CUDA_ERROR_INVALID_VALUE;
  *version = kApiVersion;
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  if (least)
    *least = 0;
  if (greatest)
    *greatest = -5;
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuCtxResetPersistingL2Cache() {
  Context *context = nullptr;
  return enter(context);
}

PTXRUN_API CUresult cuCtxAttach(CUcontext *handle, unsigned flags) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  if (!handle || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  *handle = handleOf<CUcontext>(context);
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuCtxDetach(CUcontext handle) {
  Context *context = nullptr;
  return resolveContext(handle, context);
}

PTXRUN_API CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  Context *context = nullptr, *other = nullptr;
  PTXRUN_TRY(enter(context));
  if (flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  PTXRUN_TRY(resolveContext(peer, other));
  if (context == other)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (context->device() == other->device())
    return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
  return context->enablePeer(*other) ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}
PTXRUN_API CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  Context *context = nullptr, *other = nullptr;
  PTXRUN_TRY(enter(context));
  PTXRUN_TRY(resolveContext(peer, other));
  return context->disablePeer(*other) ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}
