// The two generations of cuGetProcAddress.
#include "loader/libcuda/api.h"
#include "loader/libcuda/proc_address.h"

using namespace ptxrun::driver;

PTXRUN_API CUresult cuGetProcAddress_v2(const char *name, void **address, int version,
                                        uint64_t flags, CUdriverProcAddressQueryResult *status) {
  constexpr uint64_t kFlags =
      CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (!name || !address || (flags & ~kFlags) || flags == kFlags)
    return CUDA_ERROR_INVALID_VALUE;
  const bool isPerThread = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  const Lookup lookup = findFunction(name, version, isPerThread, address);
  if (status)
    *status = lookup == Lookup::found         ? CU_GET_PROC_ADDRESS_SUCCESS
              : lookup == Lookup::unknownName ? CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
                                              : CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
  return CUDA_SUCCESS; // with a null pointer, as NVIDIA's driver 580 (tests/hardware)
}

PTXRUN_API CUresult cuGetProcAddress(const char *name, void **address, int version,
                                     uint64_t flags) {
  return cuGetProcAddress_v2(name, address, version, flags, nullptr);
}

/// Code that is compiled for per-thread default streams asks through this name.
PTXRUN_API CUresult cuGetProcAddress_v2_ptsz(const char *name, void **address, int version,
                                             uint64_t flags,
                                             CUdriverProcAddressQueryResult *status) {
  if (flags == CU_GET_PROC_ADDRESS_DEFAULT)
    flags = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  return cuGetProcAddress_v2(name, address, version, flags, status);
}
