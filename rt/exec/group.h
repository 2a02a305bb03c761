// Making the records of a group ready for the next CTA (or cluster), and giving them back.
#pragma once
#include <memory>

#include "rt/launch/records.h"

namespace ptxrun::rt {

/// Gives a finished or abandoned group back to the worker's pool.
void closeGroup(Worker &, GroupState *);

struct GroupCloser {
  void operator()(GroupState *group) const { closeGroup(*group->worker, group); }
};
/// A group that nobody else knows of yet: whatever is thrown, it goes back to the pool.
using OpenGroup = std::unique_ptr<GroupState, GroupCloser>;

/// A group of the worker, ready to run group number `number` of the launch; null when memory is
/// short (the launch has then failed). Allocates only while the worker's pool grows.
OpenGroup openGroup(Worker &, LaunchState &, uint64_t number);
/// The same, among those that the worker has in flight.
GroupState *openGroupInFlight(Worker &, LaunchState &, uint64_t number);
/// Frees the worker's pool.
void freeGroupMemory(Worker &);

} // namespace ptxrun::rt
