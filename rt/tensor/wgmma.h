// wgmma.mma_async of one warp (PTX ISA 9.7.15.5, 9.7.15.6): rows 16w to 16w + 15 of D.
#pragma once
#include <cstdint>
#include <vector>

#include "intrinsics/matrix/tile.h"
#include "intrinsics/tensor_forms.h"
#include "rt/tensor/operands.h"
#include "rt/tensor/warp_registers.h"

namespace ptxrun::rt {

struct WgmmaOperands {
  static constexpr unsigned kMost = abi::WgmmaForm::kMostProducts;
  abi::WgmmaForm form;
  uint64_t a[kMost] = {}, b[kMost] = {}; ///< descriptors of each product
  unsigned first = 0;   ///< those before are without effect: this one's scale-d is zero
  bool hasInput = true; ///< scale-d of the first one
  unsigned warp = 0;    ///< in its warpgroup
  const char *window = nullptr;
  ConstWarpRegisters registersA = nullptr; ///< four of each product
  const uint32_t *metadata = nullptr;      ///< sp-meta of the lanes
};

struct TensorScratch;

/// Prepared operands: warp by warp of A (where it is there), of B block by block; product by
/// product.
struct OperandBuffers {
  FloatBuffer rows, columns;
};

/// The operands in shared memory of one call. A warpgroup's warps multiply one after the other; the
/// kernel may overwrite the tiles as soon as one of them has waited for the product, so the first
/// warp reads for all four.
struct WgmmaTiles {
  uint64_t number = 0; ///< of the warpgroup's products; 0: none
  uint64_t form = 0, a = 0, b = 0;
  unsigned uses = 0;          ///< warps that have multiplied with them
  bool isOnFragments = false; ///< as prepareRows() and prepareColumns() have them:
  matrix::Sum sum;            ///< of floats
  matrix::ByteProducts bytes; ///< of bytes
  OperandBuffers buffers;
  size_t rowPitch = 0, columnPitch = 0;
  std::vector<char> bytesA, bytesB; ///< or 64 rows of A and n of B, 32 bytes along K and more
  bool isDecoded = false;           ///< of B:
  Numbers numbers;                  ///< k rows of n
};

/// Of a warpgroup, by the number of the product that each warp has come to.
class WarpgroupTiles {
 public:
  /// The number of the next product of a warp (0 to 3), from 1 on, and of `products` behind it.
  uint64_t next(unsigned warp, unsigned products = 1) {
    const uint64_t first = counts_[warp] + 1;
    counts_[warp] += products;
    return first;
  }
  /// The product's tiles, or those of an older one in their place.
  WgmmaTiles &at(uint64_t number) { return tiles_[number % kKept]; }
  /// Before operands are read: with the memory of those that were given back, which is still in the
  /// caches.
  void begin(WgmmaTiles &tiles) {
    tiles.number = 0; // until all is there
    tiles.uses = 0;
    if (spare_.empty())
      return;
    tiles.buffers = std::move(spare_.back());
    spare_.pop_back();
  }
  /// A warp has multiplied: the last of four gives the memory back.
  void use(WgmmaTiles &tiles) {
    if (++tiles.uses < 4)
      return;
    tiles.number = 0;
    spare_.push_back(std::move(tiles.buffers));
  }
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
  std::vector<OperandBuffers> spare_;
};

/// Reads the operands from the kernel's memory: all 64 rows of A, where it is there, and B.
void readTiles(const WgmmaOperands &, TensorScratch &, WgmmaTiles &);
/// d = a * b + d, product by product, on fragments of one warp, as the figures of 9.7.15.5.1.1 have
/// them.
void multiplyWarp(const WgmmaOperands &, WgmmaTiles &, TensorScratch &, WarpRegisters d);

} // namespace ptxrun::rt
