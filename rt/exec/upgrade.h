// Changing to better code while a launch runs: between chunks of CTAs, never within a CTA.
#pragma once
#include "rt/launch/worker.h"

namespace ptxrun::rt {

/// Whether better code may still come for what the worker runs.
inline bool awaitsUpgrade(const Worker &worker) {
  return worker.launch->request->upgrade && worker.code == worker.launch->code;
}
/// Makes better code the worker's, if there is some by now and it has the launch's form. To be
/// called between CTAs; may give the worker's idle fibers (and the carrier) larger stacks.
void takeUpgrade(Worker &);
/// Tells CodeUpgrade how long the worker has been running the launch's first code since it told
/// last. Returns those nanoseconds.
uint64_t tellRuntime(Worker &);

} // namespace ptxrun::rt
