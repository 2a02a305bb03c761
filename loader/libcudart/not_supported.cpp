// Every function of the runtime API that no other file defines: exported, and answering
// cudaErrorNotSupported. The definitions are weak: one elsewhere in the library takes their place.
#include <cstdio>
#include <cstdlib>

#define FUNCTION(name)                                                                             \
  extern "C" __attribute__((visibility("default"), weak)) int name() {                             \
    return ptxrun::runtime::notSupported(#name);                                                   \
  }

namespace ptxrun::runtime {
namespace {

constexpr int kNotSupported = 801;

int notSupported(const char *name) {
  static const bool isVerbose = getenv("PTXRUN_VERBOSE") != nullptr;
  if (isVerbose)
    fprintf(stderr, "ptxrun: %s is not supported\n", name);
  return kNotSupported;
}

} // namespace
} // namespace ptxrun::runtime

#include "loader/libcudart/functions.def"
