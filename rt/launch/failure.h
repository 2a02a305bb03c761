// How a launch fails, and where: what entry points do with a gang that did something wrong.
#pragma once
#include <string>

#include "rt/launch/records.h"

namespace ptxrun::rt {

/// On a kernel's stack: fails the launch at this gang. The caller then calls leaveKernel.
void recordFailure(GangState &, Status, std::string message, uint32_t line = 0);
/// Leaves the kernel for good. The stack is abandoned: nothing with a destructor may be alive on it
/// (so this is a call of its own, after the temporaries of the message are gone).
[[noreturn]] void leaveKernel(GangState &);
/// The call in the kernel that led to the calling entry point; 0 if it cannot be found.
uint64_t callingKernelPlace();
/// A thread as the launch knows it.
struct ThreadPlace {
  abi::Dim3 ctaid;
  uint32_t number; ///< in its CTA, x first
};
/// The thread that the gang's code counts as the n-th (KernelNeeds::leadingAxis, joinedCtas).
ThreadPlace placeOfThread(const GangState &, uint32_t n);
/// Where the gang is.
void fillPlace(Failure &, const GangState &);
/// "thread block (1,2,3), threads 32 to 63", or, of a gang along y, "threads 3, 19 ... 243", or, of
/// joined CTAs, "one of thread blocks (0,0,0) to (7,0,0)".
std::string describeGang(const GangState &);
/// And which of its lanes; of joined CTAs, the first one's thread. None, or all: the gang.
std::string describeLanes(const GangState &, uint32_t mask);

} // namespace ptxrun::rt
