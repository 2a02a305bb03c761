// LLVM's view of a CPU level.
#pragma once
#include <llvm/Support/CodeGen.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>

#include "translate/simt/gang_module.h"

namespace ptxrun::jit {

/// The CPU whose instruction set a level may use: features beyond it are never used, so any CPU of the level runs the code.
const char *levelCpu(simt::CpuLevel);
/// The CPU to schedule for; the choice among instructions of the level cannot change a result.
const std::string &tuneCpu();

std::unique_ptr<llvm::TargetMachine> createTargetMachine(simt::CpuLevel, llvm::CodeGenOptLevel);

/// A TargetMachine borrowed from a pool (it is costly to make and not thread-safe); goes back when the borrower dies.
class BorrowedTarget {
 public:
  BorrowedTarget(simt::CpuLevel, llvm::CodeGenOptLevel);
  ~BorrowedTarget();
  BorrowedTarget(const BorrowedTarget &) = delete;
  BorrowedTarget &operator=(const BorrowedTarget &) = delete;
  llvm::TargetMachine &operator*() const { return *machine_; }
  llvm::TargetMachine *operator->() const { return machine_.get(); }

 private:
  simt::CpuLevel level_;
  llvm::CodeGenOptLevel effort_;
  std::unique_ptr<llvm::TargetMachine> machine_;
};

}  // namespace ptxrun::jit
