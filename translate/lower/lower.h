// The stage from CheckedModule to LaneModule.
#pragma once
#include <llvm/Support/Error.h>

#include "translate/check/checked_module.h"
#include "translate/lower/lane_module.h"
#include "translate/support/code_options.h"
#include "translate/support/diagnostics.h"

namespace ptxrun::lower {

/// Lowers one kernel and what it reaches, and optimises it (passes.h); code that is to be watched
/// comes as it was lowered, since the announcements come first. A form that cannot be executed yet
/// is an error at its line.
llvm::Expected<LaneModule> lowerKernel(const check::Module &, const check::Function &kernel,
                                       const CodeOptions &, support::Diagnostics &);

/// Whether calls of a function that is only declared have a meaning: vprintf, malloc and others.
bool isProvidedFunction(std::string_view name);

/// The lane contract (lane_module.h); returns the first sentence that does not hold, empty if all
/// do.
std::string verifyLaneModule(const LaneModule &);

} // namespace ptxrun::lower
