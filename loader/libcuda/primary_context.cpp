// The primary context of each device, which the runtime API shares with everybody. It is active
// while somebody retains it.
#include <array>
#include <mutex>

#include "loader/libcuda/api.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/device_info.h"
#include "loader/libcuda/handles.h"
#include "loader/libcuda/module.h"

using namespace ptxrun::driver;

namespace {

std::mutex primaryMutex;
std::array<unsigned, ptxrun::machine::kMostDevices> retainCounts{};

unsigned &retainCountOf(CUdevice device) { return retainCounts[static_cast<size_t>(device)]; }

CUresult enterDevice(CUdevice device) {
  PTXRUN_TRY(checkInitialised());
  return checkDevice(device);
}

/// With the context go what its device's code has in variables and function attributes; libraries
/// and the handles of their kernels stay.
void resetPrimary(CUdevice device) {
  primaryContext(device).reset();
  for (const auto &object : Registry::instance().all(Kind::library))
    static_cast<Library &>(*object).restoreFor(device);
}

} // namespace

PTXRUN_API CUresult cuDevicePrimaryCtxRetain(CUcontext *handle, CUdevice device) {
  PTXRUN_TRY(enterDevice(device));
  if (!handle)
    return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(primaryMutex);
  Context &context = primaryContext(device);
  context.setActive(true);
  ++retainCountOf(device);
  *handle = handleOf<CUcontext>(&context);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  PTXRUN_TRY(enterDevice(device));
  std::lock_guard lock(primaryMutex);
  if (retainCountOf(device) == 0)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (--retainCountOf(device) == 0) {
    resetPrimary(device);
    primaryContext(device).setActive(false);
  }
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return cuDevicePrimaryCtxRelease_v2(device);
}

PTXRUN_API CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  PTXRUN_TRY(enterDevice(device));
  std::lock_guard lock(primaryMutex);
  resetPrimary(device);
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  return cuDevicePrimaryCtxReset_v2(device);
}

PTXRUN_API CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  PTXRUN_TRY(enterDevice(device));
  if (flags & ~CU_CTX_FLAGS_MASK)
    return CUDA_ERROR_INVALID_VALUE;
  primaryContext(device).flags = flags;
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

PTXRUN_API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *isActive) {
  PTXRUN_TRY(enterDevice(device));
  std::lock_guard lock(primaryMutex);
  if (flags)
    *flags = primaryContext(device).flags;
  if (isActive)
    *isActive = retainCountOf(device) != 0;
  return CUDA_SUCCESS;
}
