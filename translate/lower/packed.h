// Instructions on packed types: element by element on the scalar type of the elements.
#pragma once
#include "translate/lower/lane_builder.h"

namespace ptxrun::lower {

/// The element type of a packed type (f16x2 -> f16, u8x4 -> u8); any other type is its own element.
isa::Type elementOf(isa::Type);

/// Reads operands 1..count as in.type() (packed or not), computes each element by `element`, which
/// gets the operands' elements as their IR type (in order) and returns the result's, and writes
/// operand 0 with the results joined.
template <class Element>
void writePacked(LaneBuilder &b, const check::Instruction &in, unsigned count, Element element) {
  const isa::Type type = in.type();
  llvm::Type *part = b.typeOf(elementOf(type));
  llvm::SmallVector<llvm::SmallVector<llvm::Value *, 8>, 4> operands;
  for (unsigned i = 1; i <= count; ++i)
    operands.push_back(b.split(b.readBits(in.operands[i], isa::bitWidth(type)), part));
  llvm::SmallVector<llvm::Value *, 4> results;
  for (size_t lane = 0; lane < operands[0].size(); ++lane) {
    llvm::SmallVector<llvm::Value *, 4> elements;
    for (const auto &operand : operands)
      elements.push_back(operand[lane]);
    results.push_back(b.toBits(element(llvm::ArrayRef<llvm::Value *>(elements))));
  }
  b.write(in.operands[0], b.join(results), false);
}

} // namespace ptxrun::lower
