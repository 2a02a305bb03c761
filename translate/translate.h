// translate's front door: PTX text in, kernels out. Knows nothing of devices, streams or threads.
#pragma once
#include <llvm/Support/Error.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "translate/check/checked_module.h"
#include "translate/jit/jit.h"
#include "translate/jit/kernel.h"
#include "translate/observe/dependence.h"
#include "translate/simt/gang_module.h"
#include "translate/support/code_options.h"
#include "translate/support/diagnostics.h"

namespace ptxrun::translate {

/// One finished stage. `kernel` is empty for stages of the whole module (parse, check).
struct StageReport {
  std::string_view stage; ///< parse, check, lower, simt, jit, load; `cache` where a kernel came
                          ///< from the code cache
  std::string_view kernel;
  double milliseconds = 0; ///< the stage alone, without the writing of dumps
};

struct Options {
  std::string dumpDirectory; ///< numbered files of every stage and a manifest; empty: none
  std::string stopAfter;     ///< stage name (parse, check, lower, simt, jit); empty: run all
  bool useCache = true;      ///< the on-disk code cache
  std::string
      cacheDirectory; ///< empty: $PTXRUN_CACHE, else $XDG_CACHE_HOME/ptxrun, else ~/.cache/ptxrun
  std::function<void(const StageReport &)>
      onStage; ///< told after each stage, on the thread that ran it
  std::function<bool(const CodeOptions &)>
      breaks; ///< tests: compiling these variants ends in an internal error of stage simt
};

/// What Module::kernel answers when Options::stopAfter named a stage before the end: not a failure.
class Stopped : public llvm::ErrorInfo<Stopped> {
 public:
  static char ID;
  explicit Stopped(std::string stage) : stage(std::move(stage)) {}
  void log(llvm::raw_ostream &) const override;
  std::error_code convertToErrorCode() const override;
  std::string stage;
};

/// Address of a module variable (name as in the PTX) that generated code refers to; null if
/// unknown.
using VariableResolver = jit::VariableResolver;

/// One PTX module, parsed and checked. Kernels compile at their first use. Thread-safe.
class Module {
 public:
  virtual ~Module() = default;
  /// Parses and checks; on errors returns null and `errorText` holds the diagnostics. With
  /// Options::stopAfter "parse" the checked module is empty.
  static std::unique_ptr<Module> load(std::string name, std::string text, const Options &,
                                      std::string &errorText);
  virtual const check::Module &checked() const = 0;
  /// The variant for these options (but the level, which is the CPU's); from memory, from the disk
  /// cache, or compiled now. Errors carry
  /// diagnostics text; a lower::InternalError names the folder where what the stages made was
  /// written. The resolver must give the same addresses for the module's whole life. A
  /// kernel may outlive its module.
  virtual llvm::Expected<std::shared_ptr<jit::Kernel>>
  kernel(std::string_view name, const CodeOptions &, const VariableResolver &) = 0;
  /// Whether the kernel's results can depend on who runs first. Lowers it once more; not
  /// remembered.
  virtual llvm::Expected<observe::Dependence> dependenceOf(std::string_view name) = 0;
  /// The same, but null instead of compiling.
  virtual llvm::Expected<std::shared_ptr<jit::Kernel>>
  findKernel(std::string_view name, const CodeOptions &, const VariableResolver &) = 0;
};

/// The level in use: the CPU's best, or PTXRUN_CPU=sse4|avx2|avx512.
CpuLevel cpuLevel();

/// Whether the code cache (Options::cacheDirectory's default) is in use and holds any code.
bool hasCachedCode();

} // namespace ptxrun::translate
