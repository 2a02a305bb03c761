// The stage from LaneModule to LaneModule that makes threads check the alignment of what they
// access.
#pragma once
#include "translate/lower/lane_module.h"

namespace ptxrun::observe {

/// Puts a test before every load, store and atomic on memory that other threads may see whose
/// address need be aligned (PTX ISA 5.4.5, 9.7.9: to the access's size); where it is not, a call of
/// `ptx.observe.misaligned`, which ends the launch. To be run before the scalar passes: they fold
/// the tests of neighbours into one.
void checkAlignment(lower::LaneModule &);

} // namespace ptxrun::observe
