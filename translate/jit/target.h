// LLVM's view of a CPU level.
#pragma once
#include <llvm/Support/CodeGen.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>

#include "translate/simt/gang_module.h"

namespace ptxrun::jit {

inline constexpr const char *kTriple = "x86_64-unknown-linux-gnu";
/// LLVM's own for this triple (checked when a TargetMachine is made).
inline constexpr const char *kDataLayout =
    "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128";

/// The CPU whose instruction set a level may use.
const char *levelCpu(CpuLevel);
/// What this CPU has beyond it and code may use, too (LLVM's list, possibly empty): part of the
/// fingerprint, so that no other CPU is given the code.
const std::string &levelFeatures(CpuLevel);
/// The CPU to schedule for; the choice among instructions of the level cannot change a result.
const std::string &tuneCpu();

std::unique_ptr<llvm::TargetMachine> createTargetMachine(CpuLevel, llvm::CodeGenOptLevel);

/// A TargetMachine borrowed from a pool (it is costly to make and not thread-safe); goes back when
/// the borrower dies.
class BorrowedTarget {
 public:
  BorrowedTarget(CpuLevel, llvm::CodeGenOptLevel);
  ~BorrowedTarget();
  BorrowedTarget(const BorrowedTarget &) = delete;
  BorrowedTarget &operator=(const BorrowedTarget &) = delete;
  llvm::TargetMachine &operator*() const { return *machine_; }
  llvm::TargetMachine *operator->() const { return machine_.get(); }

 private:
  CpuLevel level_;
  llvm::CodeGenOptLevel effort_;
  std::unique_ptr<llvm::TargetMachine> machine_;
};

} // namespace ptxrun::jit
