// mbarrier objects (PTX ISA 9.7.13.15) and what the scheduler asks of timed waits and asynchronous copies.
#pragma once
#include <string>

#include "rt/exec/records.h"

namespace ptxrun::rt {

/// Performs asynchronous copies of the group that were put off; true if there were any.
bool completeLateCopies(GroupState &);
/// What the gang waits for at an mbarrier, for reports.
std::string describeMbarrierWait(const GangState &);
/// No gang of the group can run: ends waits that have a time limit. True if there were any (and hope is not lost).
bool releaseTimedWaits(GroupState &);

} // namespace ptxrun::rt
