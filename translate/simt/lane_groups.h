// Lanes that are neighbours within groups: what a shape (shape.h) says of a whole gang, of 2, 4,
// ... lanes at a time. Groups may be any distance apart.
#pragma once
#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Value.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace ptxrun::simt {

class ShapeAnalysis;

class LaneGroups {
 public:
  /// Groups of `lanes`, which divide the gang. With `doGuess`, what mostly holds of active lanes
  /// counts as known: a group that loads from one place gets one value, and counts on in loops.
  LaneGroups(const ShapeAnalysis &shapes, unsigned lanes, bool doGuess = false)
      : shapes_(shapes), lanes_(lanes), doGuess_(doGuess) {}

  /// Of a value that a gang computes, of all its lanes: value(lane) = value(first lane of its
  /// group)
  /// + offset[lane], modulo 2^width. Nothing where that is not known.
  using Offsets = std::optional<std::vector<int64_t>>;
  Offsets offsetsOf(const llvm::Value *);

 private:
  Offsets evaluate(const llvm::Value *);
  Offsets guess(const llvm::Instruction &);
  Offsets ofShape(const llvm::Value *) const;
  Offsets same() const;
  bool areSame(const llvm::Value *);

  const ShapeAnalysis &shapes_;
  unsigned lanes_, depth_ = 0;
  bool doGuess_;
  llvm::DenseMap<const llvm::Value *, Offsets> known_;
};

} // namespace ptxrun::simt
