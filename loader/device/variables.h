// Module variables in device memory.
#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loader/device/device.h"
#include "translate/check/checked_module.h"

namespace ptxrun::device {

/// The `.global` and `.const` variables of a module: their memory, initial values and addresses.
class VariableMemory {
 public:
  VariableMemory() = default;
  ~VariableMemory();
  VariableMemory(const VariableMemory &) = delete;
  VariableMemory &operator=(const VariableMemory &) = delete;

  /// Allocates all variables in one piece, fills in initialisers, then the addresses that these
  /// hold. The checked module must outlive this.
  ///   managedOf   null, or the module of the same text, longer-lived, whose managed variables are
  ///               this one's, too
  Outcome place(const check::Module &, const Module *managedOf);
  /// Gives all variables their first values again, where they lie; in this memory, in one piece.
  std::span<const char> restore();
  const std::vector<VariableInfo> &infos() const { return infos_; }
  void *base() const { return block_; } ///< of all variables; null if there are none
  /// By its name in the PTX, functions' own variables included; null if there is none.
  void *find(std::string_view name) const;

 private:
  struct Placed {
    const check::Variable *variable;
    char *address;
  };
  Outcome fill();

  const check::Module *module_ = nullptr;
  std::vector<Placed> own_; ///< without those of `managedOf`
  void *block_ = nullptr;
  size_t blockBytes_ = 0;
  std::vector<VariableInfo> infos_;
  std::map<std::string, void *, std::less<>> addresses_;
  std::vector<std::pair<const check::Variable *, void *>> opaque_;
};

} // namespace ptxrun::device
