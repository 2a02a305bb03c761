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
  enum class Kind : uint8_t {
    neighbours, ///< lanes on end
    /// The same; what mostly holds of active lanes counts as known: a group that loads from one
    /// place gets one value, and counts on in loops.
    guessed,
    columns, ///< every n-th lane, of n groups: the k of a fragment is the lane's number % 4
  };
  /// Groups of `lanes`, which divide the gang.
  LaneGroups(const ShapeAnalysis &shapes, unsigned lanes, Kind kind = Kind::neighbours)
      : shapes_(shapes), lanes_(lanes), kind_(kind) {}

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
  Offsets ofDisjointBits(const llvm::BinaryOperator &);
  unsigned zerosOfFirst(const llvm::Value *) const;
  unsigned firstOf(unsigned lane) const;

  const ShapeAnalysis &shapes_;
  unsigned lanes_, depth_ = 0;
  Kind kind_;
  llvm::DenseMap<const llvm::Value *, Offsets> known_;
  llvm::DenseMap<const llvm::Value *, unsigned> zeros_; ///< of the first lanes: low bits
};

} // namespace ptxrun::simt
