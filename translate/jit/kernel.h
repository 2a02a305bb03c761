// Kernel: machine code of one kernel variant and what the runtime must know to launch it.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "intrinsics/abi.h"

namespace ptxrun::jit {

struct CodePlace {
  std::string kernel;
  uint32_t ptxLine = 0;
  std::string sourceFile; ///< from .loc, empty if none
  uint32_t sourceLine = 0;
};

/// Owns its code (freed with the last owner). Immutable; launches may share it among threads.
class Kernel {
 public:
  virtual ~Kernel() = default;
  const abi::KernelCode &code() const { return code_; }
  const std::string &reason() const { return reason_; }
  /// Where a code address of this kernel comes from; nullopt if it lies outside. Callable after a
  /// fault (not from the handler).
  virtual std::optional<CodePlace> placeOf(const void *pc) const = 0;
  bool fromCache = false;

 protected:
  abi::KernelCode code_;
  std::string reason_;
};

} // namespace ptxrun::jit
