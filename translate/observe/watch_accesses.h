// The stage from LaneModule to LaneModule that makes threads announce their accesses of memory.
#pragma once
#include "translate/lower/lane_module.h"

namespace ptxrun::observe {

/// Puts a call of `ptx.observe.access` before every access of memory that other threads may see:
/// loads, stores, atomics and the words of the vocabulary that touch memory. To be run before the
/// scalar passes: the calls keep every access that the PTX has, in its order.
void watchAccesses(lower::LaneModule &);

} // namespace ptxrun::observe
