#include "rt/launch/own_thread.h"

#include <pthread.h>
#include <signal.h>

#include <initializer_list>

#include "rt/launch/faults.h"
#include "rt/launch/floating_environment.h"

namespace ptxrun::rt {

void becomeOwnThread() {
  sigset_t set;
  sigfillset(&set);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, interruptSignal()})
    sigdelset(&set, signal);
  pthread_sigmask(SIG_SETMASK, &set, nullptr);
  FloatingState::setDefault();
}

} // namespace ptxrun::rt
