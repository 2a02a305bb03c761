// Where gangs narrower than a warp meet for a collective (vote, shfl, match, redux, bar.warp.sync;
// PTX ISA 9.7.13, 9.7.9.6).
#pragma once
#include "rt/launch/records.h"

namespace ptxrun::rt {

/// After lanes of the warp have exited: completes meetings that waited for no one else.
void recheckMeetings(CtaState &, uint32_t warp);
/// Nobody in the group can run: who has come to an activemask is who is active there. Of each warp
/// the first in the program, so that lanes which stayed behind can still join the others further
/// down.
void endOpenMeetings(GroupState &);
/// Nobody in the group can run: threads that wait at a collective whose membermask none of them is
/// in go on with what they brought. The manual leaves undefined what they get; on hardware none of
/// them waits for ever. True if there were any.
bool releaseNonMembers(GroupState &);

} // namespace ptxrun::rt
