// Who waits where: in reports of deadlocks and of launches that ran out of time, and as debuggers
// show it.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "rt/launch/records.h"

namespace ptxrun::rt {

/// The group can never go on: fails the launch with a report of who waits where.
void failDeadlock(GroupState &);
/// The same where all that is left of the launch only spins (RunOptions::endsHangs).
void failHang(const std::vector<GroupState *> &inFlight);
/// The launch has run out of time: adds who waits for what in this group to its report.
void reportUnfinished(GroupState &);

/// A thread of the groups in flight, as a stopped launch shows it.
struct ThreadSight {
  GangPlace place;
  WaitKind wait = WaitKind::unstarted;
  std::string waitsAt; ///< "barrier 0: 1 of 4 warps (32 of 128 threads) have arrived"; empty: it
                       ///< does not wait
  const char *window = nullptr;
};
/// All threads of the groups in flight on the worker of this gang, in the order of blocks.
std::vector<ThreadSight> threadsInFlight(const GangState &);
/// The barriers of the CTAs in flight at which somebody has arrived, and the clusters' ones: block
/// and text.
std::vector<std::pair<uint64_t, std::string>> barriersInFlight(const GangState &);

} // namespace ptxrun::rt
