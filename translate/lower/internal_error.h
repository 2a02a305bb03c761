// A mistake of ours that a stage found in what it was given or made: not the user's error.
#pragma once
#include <llvm/Support/Error.h>

#include <string>

namespace ptxrun::lower {

/// What a stage answers when its product breaks its contract. The launch can be served by another
/// variant of the kernel (another tier, W = 1), and whoever does so says it.
class InternalError : public llvm::ErrorInfo<InternalError> {
 public:
  static inline char ID = 0;
  InternalError(std::string stage, std::string problem)
      : stage(std::move(stage)), problem(std::move(problem)) {}
  void log(llvm::raw_ostream &out) const override {
    out << "internal error in stage " << stage << ": " << problem;
  }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

  std::string stage;   ///< lower, simt or jit
  std::string problem; ///< what is wrong, several lines perhaps
};

} // namespace ptxrun::lower
