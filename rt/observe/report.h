// Failures as text: who waits where, which thread did it.
#pragma once
#include <string>

#include "rt/exec/records.h"

namespace ptxrun::rt {

/// On a kernel's stack: fails the launch at this gang. The caller then calls leaveKernel.
void recordFailure(GangState &, Status, std::string message, uint32_t line = 0);
/// Leaves the kernel for good. The stack is abandoned: nothing with a destructor may be alive on it
/// (so this is a call of its own, after the temporaries of the message are gone).
[[noreturn]] void leaveKernel(GangState &);
/// The group can never go on: fails the launch with a report of who waits where.
void failDeadlock(GroupState &);
/// The launch has run out of time: adds who waits for what in this group to its report.
void reportUnfinished(GroupState &);
/// What the gang waits for: "barrier 3: 2 of 4 warps (64 of 128 threads) have arrived".
std::string describeWait(const GangState &);
/// The barriers of the CTA at which somebody has arrived, as describeWait has them.
std::vector<std::string> describeBarriers(const CtaState &);
/// The barrier of the cluster; empty where nobody has arrived.
std::string describeClusterBarrierInUse(const GroupState &);
/// Where the gang is, for a Failure.
/// The call in the kernel that led to the calling entry point; 0 if it cannot be found.
uint64_t callingKernelPlace();
void fillPlace(Failure &, const GangState &);
/// "thread block (1,2,3), threads 32 to 63".
std::string describeGang(const GangState &);

} // namespace ptxrun::rt
