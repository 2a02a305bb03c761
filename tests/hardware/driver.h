// What programs that run on a device ask of its driver.
#pragma once
#include <string>

#include "loader/libcuda/cuda_api.h"

namespace ptxrun::hardware {

inline std::string nameOf(CUresult result) {
  const char *name = nullptr;
  return cuGetErrorName(result, &name) == CUDA_SUCCESS ? name : std::to_string(int(result));
}

/// `log`: what the driver's compiler says against the text.
inline CUresult loadModule(CUmodule &module, const std::string &text, std::string &log) {
  char said[4096] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {said, reinterpret_cast<void *>(sizeof said)};
  const CUresult result = cuModuleLoadDataEx(&module, text.c_str(), 2, options, values);
  log = said;
  return result;
}

} // namespace ptxrun::hardware
