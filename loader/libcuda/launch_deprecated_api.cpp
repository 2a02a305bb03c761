// The launch functions of before CUDA 4: a function keeps its block shape, shared memory and
// parameters from call to call until it is launched with a grid.
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "loader/libcuda/context.h"
#include "loader/libcuda/module.h"

using namespace ptxrun::driver;

namespace {

/// Bytes of parameters that a kernel can have at most.
constexpr unsigned kMostParameterBytes = 4096;

struct Settings {
  std::array<unsigned, 3> block{1, 1, 1};
  unsigned sharedBytes = 0;
  std::vector<char> parameters;
};

/// By function. Never destroyed: programs launch while the process ends.
struct AllSettings {
  std::mutex mutex;
  std::map<CUfunction, Settings> byFunction;
};
AllSettings &allSettings() {
  static auto *instance = new AllSettings;
  return *instance;
}

template <class Change> CUresult change(CUfunction function, Change apply) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  if (!resolveFunction(function))
    return CUDA_ERROR_INVALID_HANDLE;
  AllSettings &all = allSettings();
  std::lock_guard lock(all.mutex);
  return apply(all.byFunction[function]);
}

CUresult setParameter(CUfunction function, int offset, const void *value, unsigned bytes) {
  return change(function, [&](Settings &settings) {
    if (offset < 0 || !value || static_cast<unsigned>(offset) > kMostParameterBytes ||
        bytes > kMostParameterBytes - static_cast<unsigned>(offset))
      return CUDA_ERROR_INVALID_VALUE;
    const size_t end = static_cast<size_t>(offset) + bytes;
    if (settings.parameters.size() < end)
      settings.parameters.resize(end);
    std::memcpy(settings.parameters.data() + offset, value, bytes);
    return CUDA_SUCCESS;
  });
}

CUresult launchGrid(CUfunction function, int width, int height, CUstream stream) {
  Settings settings;
  PTXRUN_TRY(change(function, [&](Settings &kept) {
    settings = kept;
    return width > 0 && height > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  }));
  size_t bytes = settings.parameters.size();
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, settings.parameters.data(),
                   CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  return cuLaunchKernel(function, static_cast<unsigned>(width), static_cast<unsigned>(height), 1,
                        settings.block[0], settings.block[1], settings.block[2],
                        settings.sharedBytes, stream, nullptr, bytes ? extra : nullptr);
}

} // namespace

PTXRUN_API CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
  return change(function, [&](Settings &settings) {
    if (x <= 0 || y <= 0 || z <= 0)
      return CUDA_ERROR_INVALID_VALUE;
    settings.block = {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)};
    return CUDA_SUCCESS;
  });
}
PTXRUN_API CUresult cuFuncSetSharedSize(CUfunction function, unsigned bytes) {
  return change(function, [&](Settings &settings) {
    settings.sharedBytes = bytes;
    return CUDA_SUCCESS;
  });
}
PTXRUN_API CUresult cuParamSetSize(CUfunction function, unsigned bytes) {
  return change(function, [&](Settings &settings) {
    if (bytes > kMostParameterBytes)
      return CUDA_ERROR_INVALID_VALUE;
    settings.parameters.resize(bytes);
    return CUDA_SUCCESS;
  });
}
PTXRUN_API CUresult cuParamSeti(CUfunction function, int offset, unsigned value) {
  return setParameter(function, offset, &value, sizeof value);
}
PTXRUN_API CUresult cuParamSetf(CUfunction function, int offset, float value) {
  return setParameter(function, offset, &value, sizeof value);
}
PTXRUN_API CUresult cuParamSetv(CUfunction function, int offset, void *values, unsigned bytes) {
  return setParameter(function, offset, values, bytes);
}
/// What a module's reference is bound to, its kernels see anyway.
PTXRUN_API CUresult cuParamSetTexRef(CUfunction function, int, CUtexref) {
  return change(function, [](Settings &) { return CUDA_SUCCESS; });
}

PTXRUN_API CUresult cuLaunch(CUfunction function) { return launchGrid(function, 1, 1, nullptr); }
PTXRUN_API CUresult cuLaunchGrid(CUfunction function, int width, int height) {
  return launchGrid(function, width, height, nullptr);
}
PTXRUN_API CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
  return launchGrid(function, width, height, stream);
}

/// A launch of CUDA 9 to 12 for each of several devices: here for the one there is.
PTXRUN_API CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *launches,
                                                         unsigned count, unsigned flags) {
  constexpr unsigned kFlags = 3; // no synchronisation before, none after
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  if (!launches || count == 0 || flags > kFlags)
    return CUDA_ERROR_INVALID_VALUE;
  if (count > 1) // each takes a device of its own
    return CUDA_ERROR_INVALID_DEVICE;
  const CUDA_LAUNCH_PARAMS &l = launches[0];
  if (!l.hStream || l.hStream == CU_STREAM_LEGACY || l.hStream == CU_STREAM_PER_THREAD)
    return CUDA_ERROR_INVALID_VALUE; // the default streams are no device's
  return cuLaunchCooperativeKernel(l.function, l.gridDimX, l.gridDimY, l.gridDimZ, l.blockDimX,
                                   l.blockDimY, l.blockDimZ, l.sharedMemBytes, l.hStream,
                                   l.kernelParams);
}
