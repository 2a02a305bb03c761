// Special registers (PTX ISA 10) as words of the vocabulary, with the ranges the manual and the
// hardware limits give.
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <optional>

#include "intrinsics/abi.h"
#include "translate/lower/lane_builder.h"
#include "translate/lower/module_builder.h"
#include "translate/lower/types.h"

namespace ptxrun::lower {

namespace {

struct Range {
  uint64_t low, end;
};

constexpr uint64_t kMaxGridX = 0x7fffffff, kMaxGridYZ = 65535;

/// [low, end) of a register, component 1..3 (x, y, z), in blocks of a shape that may be known.
std::optional<Range> rangeOf(llvm::StringRef name, unsigned component, const BlockShape &shape) {
  const bool isX = component <= 1, isZ = component == 3;
  const uint64_t known = component ? shape[component - 1] : 0;
  const uint64_t block = known ? known : isZ ? 64 : 1024, grid = isX ? kMaxGridX : kMaxGridYZ;
  if (name == "tid")
    return Range{0, block};
  if (name == "ntid")
    return Range{1, block + 1};
  if (name == "ctaid" || name == "clusterid")
    return Range{0, grid};
  if (name == "nctaid" || name == "nclusterid")
    return Range{1, grid + 1};
  if (name == "cluster_ctaid" || name == "cluster_ctarank")
    return Range{0, 32};
  if (name == "cluster_nctaid" || name == "cluster_nctarank")
    return Range{1, 33};
  if (name == "laneid" || name == "warpid")
    return Range{0, 32};
  if (name == "nwarpid")
    return Range{1, 33};
  return std::nullopt;
}

bool isCounter(llvm::StringRef name) {
  return name == "clock" || name == "clock_hi" || name == "clock64" || name == "globaltimer";
}

/// Registers whose value depends on nothing here: performance counters and graph handles read as
/// zero (10.32 and on leave their values open).
bool isAlwaysZero(llvm::StringRef name) {
  return name.starts_with("pm") || name == "current_graph_exec";
}

/// Bytes in whose multiples the hardware of a target gives shared memory to CTAs (10.30).
uint32_t sharedUnit(uint32_t target) { return target >= 30 && target < 80 ? 256 : 128; }

/// %reserved_smem_offset_begin, _end, _cap, _0, _1: the reserved region is what lies before a
/// CTA's own variables, all of it.
std::optional<uint32_t> reservedSharedOffset(llvm::StringRef name) {
  if (!name.consume_front("reserved_smem_offset_"))
    return std::nullopt;
  if (name == "0" || name == "1")
    return abi::kReservedSharedOffsets[name == "1"];
  return name == "begin" ? 0 : abi::kSharedFirstOffset;
}

} // namespace

llvm::Value *LaneBuilder::specialRegister(isa::SpecialRegister special, uint8_t component) {
  const std::string name(isa::spelling(special));
  llvm::Type *type = irType(ir.getContext(), isa::typeOf(special));
  if (name == "globaltimer_lo" || name == "globaltimer_hi") {
    llvm::Value *whole = word("ptx.sreg.globaltimer", intType(64), {}, WordEffect::ordered);
    return ir.CreateTrunc(name == "globaltimer_lo" ? whole : ir.CreateLShr(whole, 32), type);
  }
  if (const auto offset = reservedSharedOffset(name))
    return llvm::ConstantInt::get(type, *offset);
  if (isAlwaysZero(name) || component == 4)
    return llvm::Constant::getNullValue(type);
  if (name == "total_smem_size" || name == "aggr_smem_size") {
    const uint32_t unit = sharedUnit(module_.checked().target);
    llvm::Value *used = word("ptx.sreg.total_smem_size", type, {}, WordEffect::pure);
    llvm::Value *total = ir.CreateAnd(ir.CreateAdd(used, constant(32, unit - 1)), -unit);
    return name == "total_smem_size" ? total
                                     : ir.CreateAdd(total, constant(32, abi::kSharedFirstOffset));
  }
  if (name == "is_explicit_cluster")
    type = intType(1);
  std::string full = "ptx.sreg." + name;
  if (component)
    full.append(".").append(1, "xyz"[component - 1]);
  llvm::CallInst *call =
      word(full, type, {}, isCounter(name) ? WordEffect::ordered : WordEffect::pure);
  if (const auto range = rangeOf(name, component, module_.options().block)) {
    const unsigned bits = type->getIntegerBitWidth();
    call->setMetadata(llvm::LLVMContext::MD_range, llvm::MDBuilder(ir.getContext())
                                                       .createRange(llvm::APInt(bits, range->low),
                                                                    llvm::APInt(bits, range->end)));
  }
  return call;
}

} // namespace ptxrun::lower
