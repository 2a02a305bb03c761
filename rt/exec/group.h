// Making the records of a group ready for the next CTA (or cluster), and giving them back.
#pragma once
#include "rt/launch/records.h"

namespace ptxrun::rt {

/// A group of the worker, ready to run group number `number` of the launch; null when memory is
/// short (the launch has then failed). Allocates only while the worker's pool grows.
GroupState *openGroup(Worker &, LaunchState &, uint64_t number);
/// Gives a finished or abandoned group back to the worker's pool.
void closeGroup(Worker &, GroupState *);
/// Frees the worker's pool.
void freeGroupMemory(Worker &);

} // namespace ptxrun::rt
