// GangModule: LLVM IR of W lanes at once with the entry points of intrinsics/abi.h. Made by simt, compiled by jit.
#pragma once
#include <llvm/Support/Error.h>

#include <array>
#include <string>

#include "intrinsics/abi.h"
#include "translate/lower/lane_module.h"

namespace ptxrun::simt {

enum class CpuLevel : uint8_t { sse4, avx2, avx512 };

struct GangOptions {
  unsigned lanes = 0;                 ///< 1, 8, 16, 32; 0 lets simt choose
  std::array<uint32_t, 3> block{};    ///< %ntid, compiled in; 0,0,0 = read from the Launch at run time
  /// No grid of this launch has more threads along any axis than 2^31 - 1 (lets 32-bit global indices be proven not to wrap).
  bool isGridBelow2G = true;
  CpuLevel level = CpuLevel::avx2;
};

/// Entry points in `module`, by name: `cta_range` where the kernel never suspends (abi::CtaRangeFunction), `gang_start` where
/// it does and every suspension is inline (abi::GangStartFunction), `gang` (abi::GangFunction) unless there is `gang_start`.
struct GangModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  abi::KernelNeeds needs;
  std::string reason;   ///< why this W: one sentence for `ptxrun inspect`
  bool hasCtaRange = false;
  bool hasGangStart = false;
};

/// Widens a LaneModule. Never declines: what it cannot widen runs lane by lane; what needs lanes to progress
/// independently gets W = 1 (unless options ask for a width, then the reason says what may go wrong).
llvm::Expected<GangModule> widen(lower::LaneModule, const GangOptions &);

}  // namespace ptxrun::simt
