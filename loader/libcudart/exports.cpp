// The exported functions (loader/boundary). Those that no file here defines are there all the same,
// and answer cudaErrorNotSupported.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "loader/boundary/exported.h"
#include "loader/libcudart/last_error.h"

using ptxrun::boundary::Thrown;
using ptxrun::boundary::Word;

namespace {

cudaError_t notSupported(const char *name) {
  static const bool isVerbose = getenv("PTXRUN_VERBOSE") != nullptr;
  if (isVerbose)
    fprintf(stderr, "ptxrun: %s is not supported\n", name);
  return cudaErrorNotSupported;
}

/// Registration gives handles and nothing: what could not be registered is null.
constexpr bool hasResult(std::string_view name) { return !name.starts_with("__cudaRegister"); }

struct NoScope {};

template <bool hasResult> Word resultOf(Thrown thrown) {
  const CUresult result = thrown == Thrown::outOfMemory       ? CUDA_ERROR_OUT_OF_MEMORY
                          : thrown == Thrown::operatingSystem ? CUDA_ERROR_OPERATING_SYSTEM
                                                              : CUDA_ERROR_UNKNOWN;
  const cudaError_t told = ptxrun::runtime::finish(result);
  return hasResult ? static_cast<Word>(told) : 0;
}

} // namespace

#define FUNCTION(name) PTXRUN_EXPORT_BODY(name, notSupported, resultOf<hasResult(#name)>, NoScope)
#include "loader/libcudart/functions.def"
