// loader/device: where translate and rt meet. Loads a PTX module, gives its variables device
// memory, compiles the variant a launch needs, runs it, and turns a failure into a message. The
// driver API (loader/libcuda) and the `ptxrun` command both launch through here and nowhere else.
// Includes neither LLVM nor translate's stages.
//
//   Outcome outcome;
//   auto module = device::Module::load("saxpy.ptx", text, {}, outcome);
//       (null: outcome.message has the diagnostics)
//   const device::KernelInfo *kernel = module->findKernel("saxpy");
//   std::vector<std::byte> params(kernel->parameterBytes);
//       (to be filled in at kernel->parameters[i].offset)
//   device::LaunchOptions options;
//   options.grid = {4096};
//   options.block = {256};
//   options.params = params.data();
//   outcome = module->launch(*kernel, options);
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "intrinsics/abi.h"
#include "intrinsics/texture.h"
#include "loader/device/outcome.h"
#include "loader/device/schedule.h"
#include "rt/launch/launch.h"
#include "translate/isa/types.h"
#include "translate/support/code_options.h"

namespace ptxrun::check {
struct Module;
}
namespace ptxrun::jit {
class Kernel;
}
namespace ptxrun::rt {
class Stepper;
}

namespace ptxrun::device {

/// One `.param` of a kernel, in order. Offsets follow the PTX declaration (each at the next
/// multiple of its alignment).
struct Parameter {
  std::string name;
  isa::Type type = isa::Type::none; ///< element type: b8 for `.param .align 8 .b8 x[24]`
  uint8_t vector = 1;
  bool isArray = false;   ///< declared with dimensions: a struct by value
  bool isPointer = false; ///< `.ptr` was written; nvcc does not write it, a 64-bit parameter may
                          ///< still be a pointer
  uint32_t alignment = 1;
  uint64_t bytes = 0;
  uint64_t offset = 0;
};

/// What is known of a kernel before it is compiled. Owned by its Module.
struct KernelInfo {
  std::string name;
  std::vector<Parameter> parameters;
  uint64_t parameterBytes = 0; ///< size of the buffer a launch reads
  std::array<uint32_t, 3> maxntid{}, reqntid{},
      clusterShape{}; ///< .maxntid .reqntid .reqnctapercluster; 0 = not given
  uint32_t minnctapersm = 0, maxnreg = 0, maxClusterRank = 0;
  bool isExplicitCluster = false;
  bool areBlocksClusters = false; ///< .blocksareclusters
  /// 32-bit registers that the PTX declares, at most what .maxnreg, the block's size and
  /// LoadOptions::registerLimit leave a thread, and 255.
  uint32_t registerCount = 0;
  uint32_t line = 0; ///< PTX line of its `.entry`
};

/// Memory that a kernel and what it calls declare. Found by reading its code, without compiling it.
struct StaticMemory {
  uint64_t sharedBytes = 0; ///< `.shared` variables that are referred to, dynamic ones not counted
  uint64_t localBytes = 0;  ///< `.local` variables, per thread
  uint64_t constantBytes = 0; ///< `.const` variables of the module
};

/// A `.global` or `.const` variable of a module, in device memory for the module's life.
struct VariableInfo {
  std::string name;
  void *address = nullptr;
  uint64_t bytes = 0;
  bool isConstant = false;
  bool isManaged = false;
  /// Of .texref, .samplerref and .surfref variables: what they are (abi::ImageKind), and the handle
  /// of the record (rt/texture/registry.h) that says what is bound.
  abi::ImageKind image = abi::ImageKind::none;
  uint64_t imageHandle = 0;
};

/// Which code launches run. The results are the same bits.
enum class Tiers {
  optimised, ///< the best there is; each variant is compiled once, thoroughly
  baseline,  ///< what is compiled soonest
  tiered ///< the first launch of a variant runs baseline code and changes to optimised code on the
         ///< way if it takes long; later launches run optimised code
};
/// "optimised", "baseline" or "tiered"; false for anything else.
bool readTiers(std::string_view text, Tiers &);

/// How to load.
class Module;

struct LoadOptions {
  std::string dumpDirectory;  ///< numbered files of every stage; empty: none
  std::string stopAfter;      ///< stage name (parse, check, lower, simt, jit); empty: run all
  bool useCache = true;       ///< the on-disk code cache
  std::string cacheDirectory; ///< empty: the default place
  Tiers tiers = Tiers::optimised;
  /// A module of the same text, longer-lived, whose managed variables are this one's, too: of
  /// another device.
  const Module *managedOf = nullptr;
  uint32_t registerLimit =
      0; ///< registers that a thread may have (-maxrregcount); 0: no such limit
  /// Told after each stage (parse, check, lower, simt, jit, load; cache), on the thread that ran
  /// it; `kernel` is empty for stages of the whole module.
  std::function<void(std::string_view stage, std::string_view kernel, double milliseconds)> onStage;
  /// For tests of what comes then: the forms of code whose compilation is to end in an internal
  /// error.
  std::function<bool(unsigned lanes, bool isBaseline)> breaks;
};

class Upgrade;

/// What a compiled variant looks like from outside; the code itself stays with the module.
struct Variant {
  std::shared_ptr<const jit::Kernel> kernel;
  std::shared_ptr<Upgrade> upgrade; ///< of baseline code that is to be replaced; else null
  abi::KernelNeeds needs;
  std::string reason;       ///< why this W
  bool needsStacks = false; ///< every gang that waits keeps a native stack
  bool isFromCache = false;
  bool isBaseline = false; ///< compiled quickly, not thoroughly

  /// There is better code by now, or it is worth waiting for: compile() gives it.
  bool isOutdated() const;
};

/// Whether what a kernel computes can depend on who runs first, and which memory it touches.
struct ScheduleDependence {
  std::string amongThreads;   ///< why it does, even in a grid of one block; empty: it does not
  std::string amongBlocks;    ///< why it does in larger grids
  bool writesAnywhere = true; ///< not only through the parameters below
  bool writesVariables = true;
  std::vector<uint32_t> writes, reads; ///< offsets of pointers among the parameters
};

/// One launch: what it asks of the runtime, and of the code. launch_settings.h has what users name.
struct LaunchOptions : rt::RunOptions {
  /// W is 1 and `lanes` ignored under all schedules but fast, unless hasPinnedLanes. What follows
  /// from the rest of the launch (block, tier and so on) compile() fills in.
  CodeOptions code;
  abi::Dim3 cluster{0, 0, 0};                 ///< 0,0,0: not asked for
  bool hasPinnedLanes = false;                ///< `serial` at the W that `code.lanes` names
  std::shared_ptr<const ScheduleFile> script; ///< of Schedule::scripted
  uint64_t launchNumber = 0;                  ///< which section of the script applies
  uint64_t stream = 0;                        ///< a number for it, for observers
};

/// Completes the shape of a launch by the kernel's directives: the cluster of .reqnctapercluster,
/// and with .blocksareclusters the grid, which counted clusters, and the block. To be called once
/// for each launch, before it is compiled. What the directives have against the launch; empty:
/// nothing.
std::string shapeLaunch(const KernelInfo &, LaunchOptions &);

/// What a GPU launches at most (CUDA C++ Programming Guide, compute capabilities; the same for
/// all).
inline constexpr uint32_t kMaxGridX = 0x7fffffff, kMaxGridYz = 65535;
inline constexpr uint32_t kMaxBlockThreads = 1024, kMaxBlockXy = 1024, kMaxBlockZ = 64;
inline constexpr uint32_t kPortableCluster = 8, kMaxCluster = 16; ///< blocks

/// Why the driver would refuse a launch, and what to do; empty where it would not. After
/// shapeLaunch. `staticSharedBytes`: what the kernel declares; `maxSharedBytes`: what a block may
/// have of the device's.
std::string findExcess(const KernelInfo &, const LaunchOptions &, uint64_t staticSharedBytes,
                       uint64_t maxSharedBytes);

/// A loaded PTX module. Thread-safe; launches of it may run at once. Compiled code and variables
/// live as long as it does.
class Module {
 public:
  /// Parses, checks, and gives module variables memory with their initial values. `name` is how
  /// diagnostics call the text. Null on errors, and `outcome` says why (invalidPtx, outOfMemory).
  static std::unique_ptr<Module> load(std::string name, std::string text, const LoadOptions &,
                                      Outcome &outcome);
  virtual ~Module() = default;

  virtual const std::string &name() const = 0;
  virtual const check::Module &checked() const = 0;
  virtual std::span<const KernelInfo> kernels() const = 0;     ///< in the order of the PTX
  virtual std::span<const VariableInfo> variables() const = 0; ///< module scope, .global and .const
  /// Gives the variables their first values again. No launch of it may run. The memory that they
  /// lie in.
  virtual std::span<const char> restoreVariables() = 0;
  const KernelInfo *findKernel(std::string_view name) const;     ///< null if there is none
  const VariableInfo *findVariable(std::string_view name) const; ///< null if there is none
  StaticMemory staticMemory(const KernelInfo &) const;
  int targetArchitecture() const; ///< 90 for `.target sm_90a`

  /// The compiled code that such a launch uses: from memory, the disk cache, or compiled now. It
  /// depends on `code`, the block, and on who schedules its gangs: cluster, isCooperative,
  /// schedule. On errors the variant's kernel is null and `outcome` holds the diagnostics.
  virtual Variant compile(const KernelInfo &, const LaunchOptions &, Outcome &outcome) = 0;

  /// Read from the kernel's code once.
  virtual const ScheduleDependence &scheduleDependence(const KernelInfo &) = 0;
  /// Why this launch's results can depend on the schedule; empty: they cannot.
  std::string scheduleDependence(const KernelInfo &, const LaunchOptions &);

  /// Compiles if need be, runs to the end on the calling thread and OpenMP workers. A failure's
  /// message names kernel, PTX line, source line, CTA, thread and address as far as they are known.
  Outcome launch(const KernelInfo &, const LaunchOptions &);
  /// The same with a variant that compile() gave for this launch.
  Outcome launch(const KernelInfo &, const Variant &, const LaunchOptions &);

 private:
  Outcome run(const KernelInfo &, const Variant &, const LaunchOptions &);
};

/// Starts making this process ready for its first kernel, in the background.
void prepare();

/// Makes the compiler ready, on the calling thread (3 ms), unless the code cache holds code and it
/// may not be needed: then prepare() does that. For what a program does once before its first
/// module.
void readyCompiler();

/// Waits for what is compiled in the background, and drops what has not begun. A program must call
/// it before it ends, unless its static destructors leave the compiler alone (loader/libcuda does).
void endBackground();

/// The sentence for a failed launch (see Module::launch). `kernels`: the codes it ran; `fileName`
/// is the PTX's name; `nameShared` the variable at an offset in shared memory, empty where there is
/// none.
std::string describeFailure(const rt::Failure &,
                            std::span<const std::shared_ptr<const jit::Kernel>> kernels,
                            std::string_view kernelName, std::string_view fileName,
                            const std::function<std::string(uint64_t)> &nameShared);

} // namespace ptxrun::device
