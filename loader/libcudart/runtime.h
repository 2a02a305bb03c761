// What every file of libcudart shares: exports, the last error, the primary context, the default
// stream's meaning.
#pragma once
#include "loader/boundary/body_names.h"
#include "loader/libcudart/cudart_abi.h"
#include "loader/libcudart/last_error.h"

#define FUNCTION(name) PTXRUN_NAME_BODY(name)
#include "loader/libcudart/functions.def"
#undef FUNCTION

#define PTXRUN_RUNTIME_API extern "C" __attribute__((visibility("default")))

/// Defines an exported function and its variant (`_ptsz`, `_ptds`) for which stream 0 is the
/// calling thread's own stream.
#define PTXRUN_RUNTIME_STREAM_API(name, suffix, parameters, arguments)                             \
  PTXRUN_RUNTIME_API cudaError_t name parameters;                                                  \
  PTXRUN_RUNTIME_API cudaError_t name##suffix parameters {                                         \
    ptxrun::runtime::PerThreadDefaultStream scope;                                                 \
    return name arguments;                                                                         \
  }                                                                                                \
  PTXRUN_RUNTIME_API cudaError_t name parameters

namespace ptxrun::runtime {

/// While one lives, stream 0 means the calling thread's default stream.
class PerThreadDefaultStream {
 public:
  PerThreadDefaultStream() : before_(isActive_) { isActive_ = true; }
  ~PerThreadDefaultStream() { isActive_ = before_; }
  PerThreadDefaultStream(const PerThreadDefaultStream &) = delete;
  PerThreadDefaultStream &operator=(const PerThreadDefaultStream &) = delete;
  static bool isActive() { return isActive_; }

 private:
  bool before_;
  static inline thread_local bool isActive_ = false;
};

/// The driver's handle for a stream as the runtime API was given it.
inline CUstream streamOf(cudaStream_t stream) {
  return !stream && PerThreadDefaultStream::isActive() ? CU_STREAM_PER_THREAD : stream;
}

/// The driver is initialised and the calling thread has a context (the primary one of the first
/// device unless it chose another).
CUresult enter();
/// cudaSetDevice: the calling thread goes on with the device's primary context.
CUresult chooseDevice(CUdevice);
/// The primary context of a device, retained for good.
CUresult contextOf(CUdevice, CUcontext &);
/// The device of the calling thread's context; behind enter().
CUdevice currentDevice();
/// enter(), then the call; the usual body of a function.
template <class Call> cudaError_t perform(Call call) {
  const CUresult entered = enter();
  return finish(entered == CUDA_SUCCESS ? call() : entered);
}

inline CUdeviceptr toDevice(const void *pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

} // namespace ptxrun::runtime
