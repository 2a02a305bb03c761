// Kernels whose threads each walk along a row of their own.
#pragma once
#include "translate/simt/shape.h"
#include "translate/simt/target.h"

namespace ptxrun::simt {

/// The best number of lanes where all innermost loops of a kernel are such walks: element after
/// element of rows that lie apart is loaded and stored. A gang has as many lines of the cache open
/// as it has rows, of which those at distances of a large power of two share few places.
struct RowWalks {
  /// 0: the kernel is another, or walks are nothing beside what else it does. With `areWritten` 8,
  /// 1 where there is little else to do, as many as a register has where there is much; loops that
  /// only read rows are changed to read whole lines (rows.h), by as many lanes as a register has.
  unsigned lanes = 0;
  bool areWritten = false; ///< some row
};
/// `shapes`: of the widest gang.
RowWalks rowWalksIn(const ShapeAnalysis &shapes, const Target &);

} // namespace ptxrun::simt
