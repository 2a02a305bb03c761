// The stage from GangModule to Kernel, in two halves: compile() makes a relocatable object (which
// the code cache keeps), load() puts an object into this process.
#pragma once
#include <llvm/Support/Error.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "translate/jit/kernel.h"
#include "translate/simt/gang_module.h"

namespace ptxrun::jit {

/// A kernel as position-independent code, not yet in memory. What the code cache stores.
struct ObjectCode {
  std::string kernel; ///< the kernel's name in the PTX
  abi::KernelNeeds needs;
  std::string reason; ///< why this W
  simt::EntryPoint entry = simt::EntryPoint::gang;
  std::string elf; ///< x86-64 ELF relocatable with line tables
};

/// Sees the module between the steps of compile(); every member may be empty. Assembly text is made
/// only if asked for.
struct CompileObserver {
  std::function<void(const llvm::Module &)> afterOptimise;
  std::function<void(std::string_view)> afterAssembly;
};

/// Optimises the module and generates code for a target. The bits a kernel computes do not
/// depend on the level: no contraction, no reassociation, no approximations that the PTX did not
/// ask for. Safe to call from several threads.
llvm::Expected<ObjectCode> compile(simt::GangModule, std::string_view kernel, const simt::Target &,
                                   const CompileObserver & = {});

/// Host address of a module variable by its PTX name; null if it has none.
using VariableResolver = std::function<void *(std::string_view name)>;
/// Source file and line of a PTX line; empty name where `.loc` said nothing.
struct SourceLine {
  std::string file;
  uint32_t line = 0;
};
using SourceMap = std::function<SourceLine(uint32_t ptxLine)>;

/// Links the object against the registered runtime symbols and the module's variables. The resolver
/// is called during the call only; the source map is kept as long as the kernel.
llvm::Expected<std::shared_ptr<Kernel>> load(ObjectCode, const VariableResolver &, SourceMap);

/// Makes an entry point of the runtime known to generated code (`ptxrun_*`). To be called before
/// the first load().
void registerRuntimeSymbol(std::string_view name, const void *address);

/// Told of the code of each kernel that load() maps, as far as it has lines, and of its end. What
/// it calls besides (jit/lane_accesses.h) is in sections of its own. Set once, before the first
/// load().
struct CodeListener {
  std::function<void(const void *begin, const void *end)> onLoad;
  std::function<void(const void *begin, const void *end)> onUnload;
};
void setCodeListener(CodeListener);

/// The level in use: the CPU's best, or PTXRUN_CPU=sse4|avx2|avx512 (a level the CPU lacks is
/// refused with a warning).
CpuLevel cpuLevel();
/// The CPU's best, whatever PTXRUN_CPU says.
CpuLevel bestCpuLevel();
const char *levelName(CpuLevel);
/// This CPU's model, or that of PTXRUN_TUNE, at the level in use.
const simt::Target &hostTarget();
/// The names that PTXRUN_TUNE takes: LLVM's, of the CPUs whose costs are known, and "generic".
std::span<const std::string> tunings();

/// What the bytes of an object depend on besides the module: CPU level, tuning, versions of LLVM
/// and of ptxrun itself.
std::string codeFingerprint(CpuLevel);

} // namespace ptxrun::jit
