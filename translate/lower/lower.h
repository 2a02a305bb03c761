// The stage from CheckedModule to LaneModule.
#pragma once
#include <llvm/Support/Error.h>

#include "intrinsics/matrix/element.h"
#include "translate/check/checked_module.h"
#include "translate/lower/lane_module.h"
#include "translate/support/diagnostics.h"

namespace ptxrun::lower {

/// How much of the scalar pass list runs. `quick`: registers become values, inlining, one
/// InstCombine, LICM; `full`: GVN and so on as well.
enum class Cleaning : uint8_t { none, quick, full };

struct LowerOptions {
  Cleaning cleaning = Cleaning::full;
  /// Leave the moment when cp.async copies to the runtime (checking modes); else they copy at once,
  /// which is legal and fast.
  bool deferAsyncCopies = false;
  /// The CPU's instructions take a rounding mode: directed rounding becomes `ptx.rounded.*`, and
  /// not the lane library's arithmetic.
  bool hasDirectedRounding = false;
  /// How matrix instructions sum.
  matrix::Policy matrix = matrix::Policy::fast;
  /// Every instruction is announced (`ptx.debug.*`), with all registers where a debugger reads them
  /// (check/debug_frame.h).
  bool isDebugged = false;
  /// Instructions leave marks that they were executed (check/execution_marks.h).
  bool isRecorded = false;
};

/// Lowers one kernel and what it reaches. A form that cannot be executed yet is an error at its
/// line.
llvm::Expected<LaneModule> lowerKernel(const check::Module &, const check::Function &kernel,
                                       const LowerOptions &, support::Diagnostics &);

/// The lane contract (lane_module.h); returns the first sentence that does not hold, empty if all
/// do.
std::string verifyLaneModule(const LaneModule &);

} // namespace ptxrun::lower
