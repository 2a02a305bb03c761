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

/// The head of a plan; `tiles` PanelTile and then their numbers follow. Plain bytes: generated code
/// holds them as a constant, 8 bytes aligned.
struct WarpGroup {
  WarpOperation operation;        ///< isGroupable()
  uint16_t rows = 0, columns = 0; ///< fragments of A and of B
  uint16_t tiles = 0;
  uint16_t products = 0; ///< of a fragment and a block; 65535: or more
  uint16_t unused = 0;
};
static_assert(std::has_unique_object_representations_v<WarpGroup>);
static_assert(sizeof(WarpGroup) % alignof(PanelTile) == 0);

/// How to multiply the members, which are given in their order: a tile has all accumulators that
/// meet the same fragments of A.
std::vector<std::byte> planGroup(const WarpOperation &, std::span<const GroupMember>);

/// `in`: registers of all fragments of A, then of B, 32 lanes of 32 bits each. `accumulators`: of
/// each number the registers c, which become d.
void multiplyGroup(const WarpGroup &, const uint32_t *in, float *const *accumulators);

/// A single one that isGroupable(), as multiplyWarp() has it.
void multiplyAlone(const WarpOperation &, const void *in, void *out);

} // namespace ptxrun::matrix
