#include "rt/sync/mbarrier.h"

namespace ptxrun::rt {

std::string describeMbarrierWait(const GangState &) { return "an mbarrier"; }
bool completeLateCopies(GroupState &) { return false; }
bool releaseTimedWaits(GroupState &) { return false; }

} // namespace ptxrun::rt
