// What the device says of its links to the host and to others, and notifications.
#include <algorithm>

#include "loader/libcuda/api.h"
#include "loader/libcuda/device_info.h"
#include "loader/libcuda/handles.h"

using namespace ptxrun::driver;

namespace {

/// Registered and never called: no budget is ever exceeded here.
class Notification final : public Object {
 public:
  static constexpr Kind kKind = Kind::notification;
  Notification() : Object(kKind) {}
};

/// Kernels' atomics are the host's own instructions.
unsigned hostCapability(CUatomicOperation operation) {
  constexpr unsigned kScalar = CU_ATOMIC_CAPABILITY_REDUCTION | CU_ATOMIC_CAPABILITY_SCALAR_32 |
                               CU_ATOMIC_CAPABILITY_SCALAR_64;
  constexpr unsigned kInteger =
      kScalar | CU_ATOMIC_CAPABILITY_SIGNED | CU_ATOMIC_CAPABILITY_UNSIGNED;
  switch (operation) {
  case CU_ATOMIC_OPERATION_EXCHANGE:
  case CU_ATOMIC_OPERATION_CAS: // results of these are always wanted
    return (kInteger & ~unsigned{CU_ATOMIC_CAPABILITY_REDUCTION}) | CU_ATOMIC_CAPABILITY_SCALAR_128;
  case CU_ATOMIC_OPERATION_FLOAT_ADD:
    return kScalar;
  case CU_ATOMIC_OPERATION_FLOAT_MIN: // no instruction of PTX, but for packed halves
  case CU_ATOMIC_OPERATION_FLOAT_MAX:
    return 0;
  default:
    return kInteger;
  }
}

bool areValid(const unsigned *capabilities, const CUatomicOperation *operations, unsigned count) {
  return capabilities && operations && count != 0 &&
         std::all_of(operations, operations + count, [](CUatomicOperation operation) {
           return operation >= CU_ATOMIC_OPERATION_INTEGER_ADD &&
                  operation < CU_ATOMIC_OPERATION_MAX;
         });
}

} // namespace

PTXRUN_API CUresult cuDeviceGetHostAtomicCapabilities(unsigned *capabilities,
                                                      const CUatomicOperation *operations,
                                                      unsigned count, CUdevice device) {
  PTXRUN_TRY(checkInitialised());
  if (!areValid(capabilities, operations, count))
    return CUDA_ERROR_INVALID_VALUE;
  PTXRUN_TRY(checkDevice(device));
  std::transform(operations, operations + count, capabilities, hostCapability);
  return CUDA_SUCCESS;
}

/// There are no two devices.
PTXRUN_API CUresult cuDeviceGetP2PAtomicCapabilities(unsigned *capabilities,
                                                     const CUatomicOperation *operations,
                                                     unsigned count, CUdevice, CUdevice) {
  PTXRUN_TRY(checkInitialised());
  return areValid(capabilities, operations, count) ? CUDA_ERROR_INVALID_DEVICE
                                                   : CUDA_ERROR_INVALID_VALUE;
}

PTXRUN_API CUresult cuDeviceRegisterAsyncNotification(CUdevice device, CUasyncCallback function,
                                                      void *, CUasyncCallbackHandle *callback) {
  PTXRUN_TRY(checkInitialised());
  PTXRUN_TRY(checkDevice(device));
  if (!function || !callback)
    return CUDA_ERROR_INVALID_VALUE;
  *callback = publish<CUasyncCallbackHandle>(std::make_shared<Notification>());
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuDeviceUnregisterAsyncNotification(CUdevice device,
                                                        CUasyncCallbackHandle callback) {
  PTXRUN_TRY(checkInitialised());
  PTXRUN_TRY(checkDevice(device));
  return withdraw<Notification>(callback) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
