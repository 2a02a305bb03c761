// Pending asynchronous copies of one gang's threads (cp.async and bulk groups). See async_copy.cpp.
#pragma once

namespace ptxrun::rt {

struct AsyncGroups;

void freeAsyncGroups(AsyncGroups *);
/// Drops everything pending, at the start of a CTA.
void resetAsyncGroups(AsyncGroups &);

} // namespace ptxrun::rt
