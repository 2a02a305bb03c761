// Instructions of a warp that differ in their operands only, as one: each fragment is taken apart
// once, and accumulators stay in vector registers from one instruction to the next that adds to
// them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "intrinsics/matrix/tile.h"
#include "intrinsics/matrix/warp.h"

namespace ptxrun::matrix {

/// One instruction of a group, with numbers of fragments and of accumulators.
struct GroupMember {
  uint16_t a, b, d;
};

/// The head of a plan; `tiles` PanelTile and then `steps` PanelStep follow. Plain bytes: generated
/// code holds them as a constant, 8 bytes aligned.
struct WarpGroup {
  WarpOperation operation;        ///< isGroupable()
  uint16_t rows = 0, columns = 0; ///< fragments of A and of B
  uint16_t tiles = 0, steps = 0;
};
static_assert(std::has_unique_object_representations_v<WarpGroup>);

/// How to multiply the members, which are given in their order: accumulators that meet the same
/// fragments of A two by two, and fragments of B used on end where that is possible.
std::vector<std::byte> planGroup(const WarpOperation &, std::span<const GroupMember>);

/// `in`: registers of all fragments of A, then of B, 32 lanes of 32 bits each. `accumulators`: of
/// each number the registers c, which become d.
void multiplyGroup(const WarpGroup &, const uint32_t *in, float *const *accumulators);

/// A single one that isGroupable(), as multiplyWarp() has it.
void multiplyAlone(const WarpOperation &, const void *in, void *out);

} // namespace ptxrun::matrix
