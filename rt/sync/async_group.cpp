#include "rt/sync/async_group.h"

namespace ptxrun::rt {

void freeAsyncGroups(AsyncGroups *) {}
void resetAsyncGroups(AsyncGroups &) {}

} // namespace ptxrun::rt
