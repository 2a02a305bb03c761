// GangModule: LLVM IR of W lanes at once with the entry points of intrinsics/abi.h. Made by simt,
// compiled by jit.
#pragma once
#include <llvm/Support/Error.h>

#include <array>
#include <string>

#include "intrinsics/abi.h"
#include "translate/lower/lane_module.h"
#include "translate/simt/passes.h"
#include "translate/simt/target.h"

namespace ptxrun::simt {

/// How much work goes into code. W and every bit of the results are the same in both.
enum class Tier : uint8_t {
  baseline,  ///< ready soon: one version of the code, under masks; for the first launch
  optimised, ///< up to six times the compilation, code that is up to five times as fast
};

struct GangOptions {
  unsigned lanes = 0;              ///< 1, 8, 16, 32; 0 lets simt choose
  std::array<uint32_t, 3> block{}; ///< %ntid, compiled in; 0,0,0 = read from the Launch at run time
  /// No grid of this launch has more threads along any axis than 2^31 - 1 (lets 32-bit global
  /// indices be proven not to wrap).
  bool isGridBelow2G = true;
  Target target = targetFor(CpuLevel::avx2);
  /// Somebody else decides which gang runs next (clusters, cooperative grids, seeded schedules):
  /// every gang must be able to suspend.
  bool schedulesGangs = false;
  Tier tier = Tier::optimised;
  /// The module announces its accesses (translate/observe): each may suspend its thread.
  bool isWatched = false;
  PassSet passesLeftOut = {};
};

/// The form in which a module offers the kernel; the function of that name is its entry point
/// (intrinsics/abi.h).
enum class EntryPoint : uint32_t {
  gang,      ///< abi::GangFunction: one gang, on a fiber
  gangStart, ///< abi::GangStartFunction: one gang, a coroutine; every suspension is inline
  ctaRange   ///< abi::CtaRangeFunction: whole CTAs; no gang suspends
};
inline constexpr const char *kEntryNames[] = {"gang", "gang_start", "cta_range"};

struct GangModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  abi::KernelNeeds needs;
  std::string reason; ///< why this W: one sentence for `ptxrun inspect`
  EntryPoint entry = EntryPoint::gang;
  Tier tier = Tier::optimised;
};

/// Widens a LaneModule. Never declines: what it cannot widen runs lane by lane; what needs lanes to
/// progress independently gets W = 1 (unless options ask for a width, then the reason says what may
/// go wrong).
/// `observer` is told behind each pass that ran; the module is then verified there, too.
llvm::Expected<GangModule> widen(lower::LaneModule, const GangOptions &,
                                 const PassObserver &observer = {});

} // namespace ptxrun::simt
