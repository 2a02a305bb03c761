// Matrix instructions of a block that are done together: same form, other operands. What they read
// are values, not memory, so that they can wait until somebody wants a result.
#pragma once
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>

#include <map>
#include <optional>
#include <vector>

#include "intrinsics/matrix/group.h"

namespace ptxrun::simt {

/// The operation of a call of ptx.matrix.warp (lower/matrix.cpp); nothing for any other call.
std::optional<matrix::WarpOperation> matrixOperationOf(const llvm::CallBase &);

/// Where lanes may wait for others, or end.
bool isWaiting(const llvm::Instruction &);

/// Instructions that follow each other in one block with nothing between them but what carries
/// their results. An instruction whose registers c are all results of one before, which nobody else
/// wants, adds to the same accumulators.
class MatrixRun {
 public:
  using Registers = std::vector<const llvm::Value *>;
  /// The instructions of one set of accumulators.
  struct Chain {
    const llvm::CallBase *first = nullptr, *last = nullptr;
  };

  /// Takes the call; false, and nothing done, where it cannot be one of them.
  bool add(const llvm::CallBase &);
  /// Takes what only carries results of the run.
  bool addCarrier(const llvm::Instruction &);
  bool uses(const llvm::Instruction &) const;
  /// Whether the call would add to accumulators of the run.
  bool continues(const llvm::CallBase &) const;
  bool isEmpty() const { return members_.empty(); }

  const matrix::WarpOperation &operation() const { return operation_; }
  /// As planGroup() takes them: fragments by rows() and columns(), accumulators by chains().
  const std::vector<matrix::GroupMember> &members() const { return members_; }
  const std::vector<const llvm::CallBase *> &calls() const { return calls_; }
  const std::vector<Registers> &rows() const { return rows_.fragments; }
  const std::vector<Registers> &columns() const { return columns_.fragments; }
  const std::vector<Chain> &chains() const { return chains_; }

 private:
  struct Fragments {
    std::vector<Registers> fragments;
    std::map<Registers, uint16_t> numbers;
    uint16_t numberOf(const Registers &);
  };
  std::optional<uint16_t> continued(const llvm::CallBase &, const Registers &c) const;

  matrix::WarpOperation operation_;
  std::vector<matrix::GroupMember> members_;
  std::vector<const llvm::CallBase *> calls_;
  Fragments rows_, columns_;
  std::vector<Chain> chains_;
  llvm::DenseMap<const llvm::Value *, uint16_t> chainOf_; ///< calls, by number of their chain
  llvm::DenseSet<const llvm::Value *> made_;              ///< calls and what carries their results
};

/// Products of a warpgroup (ptx.warp.wgmma) that continue each other, with nothing between them
/// that memory or others could see, become one.
void joinProducts(llvm::Function &);

/// Moves matrix instructions together, down to where a result is wanted or the lanes wait.
void gatherMatrices(llvm::Function &);

} // namespace ptxrun::simt
