// What every file of libcuda shares: how a function is exported, its per-thread-default-stream
// twin, and the checks at the head of each call.
#include "loader/boundary/body_names.h"

// In every file again: a precompiled header forgets the names of what it does not declare.
#define FUNCTION(name, version, symbol) PTXRUN_NAME_BODY(symbol)
#define PER_THREAD(name, version, symbol) PTXRUN_NAME_BODY(symbol)
#define ALIAS(name, version, symbol)
#include "loader/libcuda/functions.def"
#undef FUNCTION
#undef PER_THREAD
#undef ALIAS

#ifndef PTXRUN_LIBCUDA_API_H
#define PTXRUN_LIBCUDA_API_H
#define PTXRUN_LIBCUDA_PLAIN_NAMES
#include "loader/libcuda/cuda_api.h"
#include "loader/libcuda/cuda_logs_api.h"
#include "loader/libcuda/report.h"

#define PTXRUN_API extern "C" __attribute__((visibility("default")))

/// Defines an exported function that takes a stream, and its variant (`_ptsz`, `_ptds`) for which
/// stream 0 is the calling thread's own stream. `arguments` repeats the parameter names. The body
/// follows the macro.
#define PTXRUN_STREAM_API(name, suffix, parameters, arguments)                                     \
  PTXRUN_API CUresult name parameters;                                                             \
  PTXRUN_API CUresult name##suffix parameters {                                                    \
    ptxrun::driver::PerThreadDefaultStream scope;                                                  \
    return name arguments;                                                                         \
  }                                                                                                \
  PTXRUN_API CUresult name parameters

/// Leaves the calling function with the error unless the expression is CUDA_SUCCESS.
#define PTXRUN_TRY(expression)                                                                     \
  do {                                                                                             \
    if (CUresult tried_ = (expression); tried_ != CUDA_SUCCESS)                                    \
      return tried_;                                                                               \
  } while (0)

namespace ptxrun::driver {

/// While one lives, stream handle 0 means the calling thread's default stream.
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

/// CUDA_SUCCESS once cuInit has run and the process is neither ending nor a fork's child.
CUresult checkInitialised();
/// Set by cuInit; returns at once when it is already set.
CUresult initialise();

} // namespace ptxrun::driver

#endif
