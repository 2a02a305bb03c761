// What kernels launch: worked through when the grid that launched it has ended, one after the other
// in the order of the launches, what those launch in turn before the next. Tail launches come last.
#pragma once
#include <functional>

#include "loader/libcuda/context.h"
#include "loader/libcuda/module.h"

namespace ptxrun::driver {

/// Runs a grid of a kernel that may launch others (its Function has a list), then what it launched.
/// One grid of a module at a time: they share the list.
CUresult runWithChildren(Context &, Function &parent, uint64_t stream,
                         const std::function<CUresult()> &runGrid);

} // namespace ptxrun::driver
