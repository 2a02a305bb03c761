// The exported functions (loader/boundary). Those that no file here defines are there all the same,
// so that programs link and start, and answer NOT_SUPPORTED.
#include "loader/boundary/exported.h"
#include "loader/libcuda/report.h"
#include "loader/libcuda/thrown.h"
#include "rt/launch/floating_environment.h"

using ptxrun::boundary::Thrown;
using ptxrun::boundary::Word;

namespace ptxrun::driver {

CUresult resultOf(Thrown thrown) {
  switch (thrown) {
  case Thrown::outOfMemory:
    return CUDA_ERROR_OUT_OF_MEMORY;
  case Thrown::operatingSystem:
    return CUDA_ERROR_OPERATING_SYSTEM;
  case Thrown::other:
    break;
  }
  return CUDA_ERROR_UNKNOWN;
}

} // namespace ptxrun::driver

#define FUNCTION(name, version, symbol)                                                            \
  PTXRUN_EXPORT_BODY(symbol, ptxrun::driver::notSupported, ptxrun::driver::resultOf,               \
                     ptxrun::rt::CalledEnvironment)
#define PER_THREAD(name, version, symbol) FUNCTION(name, version, symbol)
#define ALIAS(name, version, symbol)
#include "loader/libcuda/functions.def"
