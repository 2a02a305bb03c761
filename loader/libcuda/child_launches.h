// What kernels launch: worked through when the grid that launched it has ended, one after the other
// in the order of the launches, what those launch in turn before the next. Tail launches come last.
#pragma once
#include "loader/libcuda/context.h"
#include "loader/libcuda/module.h"

namespace ptxrun::driver {

/// Runs what the kernel that has just ended left in its module's list. The module's lock for
/// launching kernels is held.
CUresult runChildren(Context &, Function &parent, uint64_t stream);

} // namespace ptxrun::driver
