// What instructions are tried with: every combination of special values that fits, and random bits.
#pragma once
#include <cstddef>
#include <vector>

#include "tests/numerics/instructions.h"

namespace ptxrun::numerics {

struct Samples {
  size_t count = 0; ///< a multiple of ArrayRun::kBlock
  std::vector<Bytes> sources;
};

enum class NaNs {
  anywhere,
  inOneOperand, ///< of each element; which NaN comes out of several the manual leaves open
};

/// Samples for sources of these types: two sources see all pairs of special values, three all
/// triples of a third of them; packed operands have other values in their other elements. A lone
/// 16-bit source sees all its values.
Samples samplesFor(const std::vector<isa::Type> &sources, const std::vector<Field> &fields, NaNs);

/// Bits of one element of a type, 16 of f16x2.
unsigned elementBits(isa::Type);

} // namespace ptxrun::numerics
