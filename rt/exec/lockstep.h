// Runs the gangs of a CTA barrier by barrier (sync/lockstep.h).
#pragma once
#include "rt/launch/records.h"

namespace ptxrun::rt {

/// On the carrier fiber: runs the gangs of a group of one CTA from their start, for as long as they
/// keep in step.
void runLockstep(struct Worker &, GroupState &);

} // namespace ptxrun::rt
