// Signals of running kernels: a bad access stops the launch, not the process; so does the watchdog's interrupt.
#pragma once

namespace ptxrun::rt {

/// Installs the handlers (SIGSEGV, SIGBUS, SIGFPE, SIGILL and the interrupt) once per process. Faults that are not a
/// kernel's go to the handlers that were there before.
void installFaultHandlers();
/// Gives the calling thread an alternate signal stack (a kernel may have used up its own); null if it has one already.
void *installAlternateStack();
void removeAlternateStack(void *);
/// The signal with which the watchdog interrupts workers.
int interruptSignal();

/// While an entry point touches memory the kernel named: a fault there is the kernel's.
struct GuestAccess {
  explicit GuestAccess(struct Worker &);
  ~GuestAccess();
  Worker &worker;
};

} // namespace ptxrun::rt
