// wgmma.mma_async of one warp (PTX ISA 9.7.15.5, 9.7.15.6): rows 16w to 16w + 15 of D.
#pragma once
#include <cstdint>

#include "intrinsics/tensor_forms.h"
#include "rt/tensor/warp_registers.h"

namespace ptxrun::rt {

struct WgmmaOperands {
  abi::WgmmaForm form;
  uint64_t a = 0, b = 0; ///< descriptors
  bool hasInput = true;  ///< scale-d
  unsigned warp = 0;     ///< in its warpgroup
  const char *window = nullptr;
  ConstWarpRegisters registersA = nullptr;
  const uint32_t *metadata = nullptr; ///< sp-meta of the lanes
};

struct TensorScratch;

/// Reads the operands from the kernel's memory, rows with K on end: of A 32 bytes each, of B as
/// many as the instruction's k take.
void readTiles(const WgmmaOperands &, TensorScratch &);
/// d = a * b + d on fragments, as the figures of 9.7.15.5.1.1 have them.
void multiplyWarp(const WgmmaOperands &, TensorScratch &, WarpRegisters d);

} // namespace ptxrun::rt
