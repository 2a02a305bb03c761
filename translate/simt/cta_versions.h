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

/// A kernel begins with choices of versions: gangs whose lanes are all below the bound, away from
/// the edges, or agree on a quotient (`i / columns`) take one of their own. In most CTAs all gangs
/// do: such a CTA asks once, for all of them, and its gangs ask nothing. A quotient that all gangs
/// share is divided once. Nothing where `full` begins with no choice that can be asked about by the
/// least and the most that its numbers are in the CTA.
std::optional<CtaVersion> versionForCtas(ModuleContext &, llvm::Function &full,
                                         unsigned gangsPerCta);

} // namespace ptxrun::simt
