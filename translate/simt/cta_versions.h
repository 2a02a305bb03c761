// Versions of code that all gangs of a CTA take, chosen once for the CTA.
#pragma once
#include <optional>

#include "translate/simt/entry.h"

namespace ptxrun::simt {

/// What the gangs of some CTAs run instead of the body for any gang.
struct CtaVersion {
  llvm::Function *body = nullptr;
  /// As `body`, but gives an i1: whether `body` is right for all gangs of the CTA. The first thread
  /// and the mask do not count.
  llvm::Function *isRight = nullptr;
};

/// A kernel takes an index apart (`i / columns`, `i % columns`), and gangs whose lanes agree on the
/// quotient take a version of their own, for which each divides. Where the quotient is mostly the
/// same for all threads of a CTA, the CTA divides once: in the version for that, what depends on
/// the quotient is the same in each round of the loop over gangs. Nothing where `full` begins with
/// no such choice, or one that rises and falls from gang to gang.
std::optional<CtaVersion> versionForCtas(ModuleContext &, llvm::Function &full,
                                         unsigned gangsPerCta);

} // namespace ptxrun::simt
