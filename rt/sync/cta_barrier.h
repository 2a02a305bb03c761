// The sixteen barriers of a CTA (PTX ISA 9.7.13.1: bar, barrier).
//
// Counting is by warps. A gang's arrival stands for its live lanes; when all live lanes of its warp
// have arrived, the warp has, and counts for 32 threads, however many it has. A barrier completes
//   without thread count  when every warp with live threads has arrived;
//   with a count          when that many warps have arrived, or no live warp is left that has not
//   arrived and the warps that
//                         exited without arriving make up the difference ("non-exited threads").
// Waiters of a completed barrier become ready in the order of arrival.
#pragma once
#include "rt/launch/records.h"

namespace ptxrun::rt {

/// After threads of the CTA have exited: completes barriers that waited for no one else.
void recheckBarriers(CtaState &);

/// The gang has arrived at the full barrier: it waits there, or is ready where it was the last.
void arriveAndQueue(GangState &, uint32_t barrier);

} // namespace ptxrun::rt
