// Values that are made of the thread's number alone, evaluated while compiling.
#pragma once
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Function.h>

#include <array>
#include <cstdint>
#include <vector>

namespace ptxrun::simt {

/// The integers of a function that only %tid, constants and the rounds of some loops decide, and
/// what they are for each thread of a block of known shape. Evaluates one thread in one round at a
/// time: setThread, then enter and next for each loop around what is asked for.
class ThreadNumbers {
 public:
  /// `mayCount`: for headers of loops whose rounds are evaluated; their phis count as known where
  /// they begin with and are moved on by what is known.
  ThreadNumbers(llvm::Function &, const std::array<uint32_t, 3> &block,
                llvm::function_ref<bool(const llvm::BasicBlock &)> mayCount);

  /// Integers (and doubles on the way to quotients) that can be asked for.
  bool isKnown(const llvm::Value *) const;

  void setThread(uint32_t number);
  /// Phis of the loop's header have what they begin with.
  void enter(const llvm::Loop &);
  /// Phis of the loop's header have what the round hands to the next.
  void next(const llvm::Loop &);
  /// The bits of a known value, in its width.
  uint64_t valueOf(const llvm::Value *);

  uint64_t evaluations() const { return evaluations_; }

 private:
  bool canEvaluate(const llvm::Instruction &) const;
  uint64_t evaluate(const llvm::Instruction &);
  void move(const llvm::Loop &, const llvm::BasicBlock &from);

  std::array<uint32_t, 3> block_, thread_{};
  llvm::DenseSet<const llvm::Value *> known_;
  struct Cached {
    uint64_t epoch = 0, bits = 0;
  };
  llvm::DenseMap<const llvm::Value *, Cached> values_;
  llvm::DenseMap<const llvm::Value *, uint64_t> phis_;
  uint64_t epoch_ = 0, evaluations_ = 0;
};

} // namespace ptxrun::simt
