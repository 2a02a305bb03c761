#include "translate/lower/fatal_errors.h"

#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/PrettyStackTrace.h>

#include <csetjmp>
#include <cstdio>
#include <mutex>

namespace ptxrun::lower {

namespace {

/// Work that is being run on this thread.
struct Guard {
  jmp_buf place;
  std::string message;
  Guard *outer = nullptr;
};

thread_local Guard *innermost = nullptr;

/// LLVM's frames have no clean-up code to run and its objects are in the middle of a change:
/// nothing is unwound, as in LLVM's own CrashRecoveryContext.
void leave(void *, const char *reason, bool) {
  if (innermost) {
    innermost->message = reason ? reason : "no reason given";
    longjmp(innermost->place, 1);
  }
  std::fprintf(stderr, "LLVM ERROR: %s\n",
               reason ? reason : ""); // what LLVM itself does; it aborts
}

} // namespace

std::optional<std::string> runUntilFatalError(llvm::function_ref<void()> work) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::install_fatal_error_handler(leave);
    llvm::install_bad_alloc_error_handler(leave);
  });
  Guard guard;
  guard.outer = innermost;
  const void *const trace = llvm::SavePrettyStackState();
  if (setjmp(guard.place) == 0) {
    innermost = &guard;
    work();
    innermost = guard.outer;
    return std::nullopt;
  }
  innermost = guard.outer;
  llvm::RestorePrettyStackState(trace);
  return std::move(guard.message);
}

} // namespace ptxrun::lower
