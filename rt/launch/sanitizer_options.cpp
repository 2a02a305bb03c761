// What the sanitizers are told in every program of a build with them; <SANITIZER>_OPTIONS in the
// environment adds to it. Compiled into the programs themselves: the runtimes are there before any
// library, and look nowhere else.
#include <cstdlib>

#include "rt/launch/sanitizers.h"

#define PTXRUN_SEEN_BY_RUNTIME extern "C" __attribute__((visibility("default"), used))

#ifdef PTXRUN_ASAN
/// Threads have our alternate stack while they run kernels, or the program's: the sanitizer's has
/// no room for a program's handler.
PTXRUN_SEEN_BY_RUNTIME const char *__asan_default_options() { return "use_sigaltstack=0"; }
/// A finding is a failure, also where UBSan could go on.
PTXRUN_SEEN_BY_RUNTIME const char *__ubsan_default_options() {
  return "halt_on_error=1:print_stacktrace=1";
}
#endif

#ifdef PTXRUN_TSAN
/// OpenMP's tool for this sanitizer wants all interceptors of libraries that are not instrumented
/// to be ignored. A fiber that a launch abandons in one of them (a copy that faults) would be
/// ignored for good, and the sanitizer ends the process for it.
__attribute__((constructor)) static void leaveOutArcher() {
  setenv("ARCHER_OPTIONS", "enable=0", 0);
}

/// libomp is not instrumented: what it does among its own threads looks like races. libLLVM, linked
/// as a library of its own only here, destroys its list of passes when the process ends, without
/// having seen our threads' last use of it.
PTXRUN_SEEN_BY_RUNTIME const char *__tsan_default_suppressions() {
  return "race:libomp.so\nrace:llvm::PassRegistry::~PassRegistry\n";
}
#endif
