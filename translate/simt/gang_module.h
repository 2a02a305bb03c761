// GangModule: LLVM IR of W lanes at once with the entry points of intrinsics/abi.h. Made by simt,
// compiled by jit.
#pragma once
#include <llvm/Support/Error.h>

#include <string>

#include "intrinsics/abi.h"
#include "translate/lower/lane_module.h"
#include "translate/simt/passes.h"
#include "translate/simt/target.h"
#include "translate/support/code_options.h"

namespace ptxrun::simt {

/// The form in which a module offers the kernel; the function of that name is its entry point
/// (intrinsics/abi.h).
enum class EntryPoint : uint32_t {
  gang,      ///< abi::GangFunction: one gang, on a fiber
  gangStart, ///< abi::GangStartFunction: one gang, a coroutine; every suspension is inline
  ctaRange   ///< abi::CtaRangeFunction: whole CTAs; no gang suspends
};
inline constexpr const char *kEntryNames[] = {"gang", "gang_start", "cta_range"};

/// An attribute of functions while which nothing else sees their CTA's `.shared` memory.
inline constexpr const char *kPrivateShared = "ptx.private.shared";

/// An attribute of calls off the main line, which leave its registers alone where that is possible.
/// Their last argument, null, is the place a fault is reported at: where another function calls for
/// the kernel, the address behind the kernel's call.
inline constexpr const char *kOffMainLine = "ptx.off.main.line";

struct GangModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  abi::KernelNeeds needs;
  std::string reason; ///< why this W: one sentence for `ptxrun inspect`
  EntryPoint entry = EntryPoint::gang;
  unsigned gangsAtOnce = 1; ///< that run in lockstep
  Tier tier = Tier::optimised;
};

/// Widens a LaneModule. Never declines: what it cannot widen runs lane by lane; what needs lanes to
/// progress independently gets W = 1 (unless options ask for a width, then the reason says what may
/// go wrong).
/// `observer` is told behind each pass that ran; the module is then verified there, too.
llvm::Expected<GangModule> widen(lower::LaneModule, const CodeOptions &,
                                 const PassObserver &observer = {});

} // namespace ptxrun::simt
