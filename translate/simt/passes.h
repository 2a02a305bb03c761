// The passes of the stage (passes.def): their names, which of them run, and what is looked at
// behind each.
#pragma once
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/Error.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "translate/simt/pass_names.h"

namespace ptxrun::simt {

/// What can be said of the module between two passes.
enum Property : unsigned {
  kLaneCode = 1,  ///< functions of one thread (lower/lane_module.h)
  kOneReturn = 2, ///< each of them returns in one place
  kLoopForm = 4,  ///< no irreducible loops; LoopSimplify's and LCSSA form
  kGangCode = 8,  ///< wide bodies
  kEntry = 16,    ///< an entry point of intrinsics/abi.h
};

struct PassInfo {
  Pass pass;
  std::string_view name;
  enum Kind : uint8_t { needed, optional, part } kind;
  unsigned needs, preserves, gives; ///< sets of Property
  std::string_view what;
};
std::span<const PassInfo> passes(); ///< in the order of the enumeration

/// Told behind each pass that ran.
using PassObserver = std::function<void(const PassInfo &, const llvm::Module &)>;

/// One run through the list. Where somebody watches, and in builds with assertions, the module is
/// verified behind each pass; else only where the stage asks for it.
class PassRun {
 public:
  PassRun(llvm::Module &module, PassSet left, const PassObserver &observer)
      : module_(module), left_(left), observer_(observer) {}

  bool isOn(Pass p) const { return !left_.has(p); }
  /// Runs `step` unless the pass is left out or something failed before.
  void run(Pass, llvm::function_ref<void()> step);
  /// The same for a step that may find that it does not apply: nothing happened then. Returns
  /// whether it did.
  bool tryRun(Pass, llvm::function_ref<bool()> step);
  /// Verifies the module; `when` names the moment in the error's text.
  void verify(std::string_view when);

  /// The first problem: what a pass asked for was not there, or what it left behind was not in
  /// order.
  llvm::Error takeError();
  bool hasFailed() const { return !problem_.empty(); }

 private:
  bool begin(Pass);
  void end(Pass);
  void verifyLoops(const PassInfo &);

  llvm::Module &module_;
  const PassSet left_;
  const PassObserver &observer_;
  unsigned properties_ = kLaneCode;
  std::string problem_;
};

} // namespace ptxrun::simt
