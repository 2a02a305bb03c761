// barrier.cluster (PTX ISA 9.7.13.3).
#pragma once
#include "rt/launch/records.h"

namespace ptxrun::rt {

/// After lanes of the gang have exited: completes the barrier if it waited for no one else.
void recheckClusterBarrier(GroupState &, GangState &);

} // namespace ptxrun::rt
