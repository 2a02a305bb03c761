// What texture and surface instructions have in common: handles, geometries, and the one word that
// all of them become.
#pragma once
#include "intrinsics/texture.h"
#include "translate/check/checked_module.h"
#include "translate/lower/lane_builder.h"

namespace ptxrun::lower {

/// The operands of ptx.texture; rows (abi::TextureRow) that nobody sets are undefined.
struct TextureWord {
  explicit TextureWord(LaneBuilder &);
  abi::TextureOperation operation;
  llvm::Value *texture = nullptr, *sampler = nullptr; ///< handles, i64
  llvm::SmallVector<llvm::Value *, abi::kTextureRows> rows;

  /// Sets rows from `first` on to these values, as bits.
  void set(LaneBuilder &, uint32_t first, llvm::ArrayRef<llvm::Value *> values);
  /// The kTextureResults results, i32 each.
  llvm::SmallVector<llvm::Value *, 4> emit(LaneBuilder &) const;
};

/// The geometry that an instruction names.
abi::TextureGeometry geometryOf(const check::Instruction &);
/// How many of x, y, z a geometry has.
unsigned dimensionsOf(abi::TextureGeometry);

/// The handle that an operand names: an opaque variable's or parameter's contents, or a register.
llvm::Value *handleOf(LaneBuilder &, const check::Operand &);

/// The operand `[texture, ...]`; handles and the coordinates go to the word.
void readImageOperand(LaneBuilder &, const check::Instruction &, const check::Operand &,
                      TextureWord &);

} // namespace ptxrun::lower
