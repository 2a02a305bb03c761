// wgmma.mma_async of one warp (PTX ISA 9.7.15.5, 9.7.15.6): rows 16w to 16w + 15 of D.
#pragma once
#include <cstdint>
#include <vector>

#include "intrinsics/tensor_forms.h"
#include "rt/tensor/operands.h"
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

/// The operands in shared memory of one product of a warpgroup. Its warps multiply one after the
/// other; the kernel may overwrite the tiles as soon as one of them has waited for the product, so
/// the first warp reads for all four.
struct WgmmaTiles {
  uint64_t number = 0; ///< of the warpgroup's products; 0: none
  uint64_t form = 0, a = 0, b = 0;
  std::vector<char> bytesA, bytesB; ///< 64 rows of A and n of B, 32 bytes along K and more
  bool isOnFragments = false;       ///< both in the order of readFragmentsAlongK()
  matrix::Sum sum;                  ///< of floats on fragments
  bool isPrepared = false;          ///< of B:
  Numbers numbers;                  ///< k rows of n,
  std::vector<float> columns;       ///< or as prepareColumns() has it
};

/// Of a warpgroup, by the number of the product that each warp has come to.
class WarpgroupTiles {
 public:
  /// The number of the next product of a warp (0 to 3), from 1 on.
  uint64_t next(unsigned warp) { return ++counts_[warp]; }
  /// The product's tiles, or those of an older one in their place.
  WgmmaTiles &at(uint64_t number) { return tiles_[number % kKept]; }
  void forget() {
    for (uint64_t &count : counts_)
      count = 0;
    for (WgmmaTiles &t : tiles_)
      t.number = 0;
  }

 private:
  static constexpr unsigned kKept = 32; ///< how far a warp may be ahead
  uint64_t counts_[4] = {};
  WgmmaTiles tiles_[kKept];
};

/// Reads the operands from the kernel's memory: all 64 rows of A, where it is there, and B.
void readTiles(const WgmmaOperands &, TensorScratch &, WgmmaTiles &);
/// d = a * b + d on fragments of one warp, as the figures of 9.7.15.5.1.1 have them.
void multiplyWarp(const WgmmaOperands &, WgmmaTiles &, TensorScratch &, WarpRegisters d);

} // namespace ptxrun::rt
