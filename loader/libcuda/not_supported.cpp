// Every function of the driver API that no other file defines: exported all the same, so that
// programs link and start, and answering NOT_SUPPORTED. The definitions are weak: one elsewhere in
// the library takes their place.
#include "loader/libcuda/report.h"

#define FUNCTION(name, version, symbol)                                                            \
  extern "C" __attribute__((visibility("default"), weak)) CUresult symbol() {                      \
    return ptxrun::driver::notSupported(#symbol);                                                  \
  }
#define PER_THREAD(name, version, symbol) FUNCTION(name, version, symbol)
#define ALIAS(name, version, symbol)
#include "loader/libcuda/functions.def"
