// Kernels whose threads each walk along a row of their own, and write one.
#pragma once
#include "translate/simt/shape.h"
#include "translate/simt/target.h"

namespace ptxrun::simt {

/// The best number of lanes where all innermost loops of a kernel are such walks: element after
/// element of rows that lie apart is loaded and stored. A gang has as many lines of the cache open
/// as it has rows, of which those at distances of a large power of two share few places: 8 lanes,
/// and 1 where there is little else to do. 0: the kernel is another. (Loops that only read rows are
/// changed to read whole lines: rows.h.) `shapes`: of the widest gang.
unsigned lanesForRowWalks(const ShapeAnalysis &shapes, const Target &);

} // namespace ptxrun::simt
