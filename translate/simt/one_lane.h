// Kernels whose lanes are better off one by one.
#pragma once
#include "translate/simt/shape.h"
#include "translate/simt/target.h"

namespace ptxrun::simt {

/// Whether one thread at a time is predicted to take less than a gang: its lanes mostly are
/// elsewhere (loops that they leave at different times, conditions on what they read), and what
/// they have in common is little beside what each does for itself (elements from all over memory,
/// divisions). `shapes`: of the widest gang.
bool isBetterAlone(const ShapeAnalysis &shapes, const Target &);

} // namespace ptxrun::simt
