// Versions of code (versions.cpp) that a whole CTA chooses instead of each gang for itself.
#pragma once
#include <optional>

#include "translate/simt/entry.h"

namespace ptxrun::simt {

/// Where a gang takes one of two versions, one of them right in any case, and barriers lie inside:
/// from now on the special version is taken if it is right for all gangs of the CTA. All gangs then
/// come to the same barriers. Where a test needs more than the gang's place and the kernel's
/// parameters (what a loop has added up), the other version is taken: gangs that choose there wait
/// for each other one by one.
void unifyVersions(ModuleContext &, llvm::Function &full, unsigned gangsPerCta);

/// The successor of a choice between versions that is right in any case; none if the branch is no
/// such choice.
std::optional<unsigned> generalVersion(const llvm::BranchInst &);

} // namespace ptxrun::simt
