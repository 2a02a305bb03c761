// Accumulators of matrix instructions that stay in one place in memory: an instruction adds to them
// there, and neither the loop around it nor the next instruction moves them.
#pragma once
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Instructions.h>

#include <optional>
#include <vector>

namespace ptxrun::simt {

class ShapeAnalysis;

/// The registers c of one instruction, d of another and phis between them, which follow each other
/// and of which no two are needed at the same time, are a home. Blocks that not all lanes reach
/// have none.
class Accumulators {
 public:
  using Registers = llvm::SmallVector<const llvm::Value *, 4>;

  /// `operandsOf`: the registers c of a call that is an instruction with such accumulators, whose
  /// results, as many, are its value's elements; nothing for any other.
  Accumulators(const llvm::Function &, const ShapeAnalysis &,
               llvm::function_ref<std::optional<Registers>(const llvm::CallBase &)> operandsOf);

  struct Place {
    unsigned home, part;
  };
  /// Where a phi's value is; nothing for those without a home.
  std::optional<Place> placeOf(const llvm::PHINode &) const;
  /// Where an edge finds the value that it gives such a phi: already there, or elsewhere.
  bool isInPlace(const llvm::PHINode &, const llvm::BasicBlock *from) const;

  /// The instruction's home; nothing where its accumulators are needed again.
  std::optional<unsigned> homeOf(const llvm::CallBase &) const;
  /// Whether the registers c are in the instruction's home already.
  bool isInPlace(const llvm::CallBase &) const;

 private:
  /// An instruction's results, or as many phis of a block.
  struct Group {
    Registers values{}; ///< phis; of an instruction nothing
    const llvm::CallBase *call = nullptr;
    unsigned count = 0;
    std::optional<unsigned> operands;                            ///< group of the registers c
    llvm::DenseMap<const llvm::BasicBlock *, unsigned> incoming; ///< of phis: groups by edge
    unsigned home = 0;
    const llvm::BasicBlock *block() const;
  };

  std::optional<unsigned> groupOf(const Registers &);
  unsigned addPhis(const Registers &);
  void addPhisBehind(unsigned group);
  void join();
  bool isFree(unsigned home) const;
  void dissolve(unsigned home);

  const ShapeAnalysis &shapes_;
  std::vector<Group> groups_;
  llvm::DenseMap<const llvm::CallBase *, unsigned> calls_;
  llvm::DenseMap<const llvm::PHINode *, Place> phis_; ///< group and part
};

} // namespace ptxrun::simt
