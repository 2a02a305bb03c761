// Signals of running kernels: a bad access stops the launch, not the process; so does the
// watchdog's interrupt.
#pragma once
#include <cstdint>

namespace ptxrun::rt {

/// Installs the handlers (SIGSEGV, SIGBUS, SIGFPE, SIGILL and the interrupt) once per process.
/// Faults that are not a kernel's go to the handlers that were there before.
void installFaultHandlers();
/// Before a launch: a handler that the program has installed since does not take kernels' faults
/// away, and gets all others. Looks at once if `isUrgent`, else if it has not for 20 us.
void keepFaultHandlers(bool isUrgent);
/// Gives the calling thread an alternate signal stack (a kernel may have used up its own); null if
/// it has one already.
void *installAlternateStack();
void removeAlternateStack(void *);
/// The signal with which the watchdog interrupts workers.
int interruptSignal();

} // namespace ptxrun::rt
