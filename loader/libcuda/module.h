// Modules, libraries and functions as the driver API shows them. A CUmodule and a CUlibrary are the
// same thing seen twice: a loaded image with its functions; a CUfunction and a CUkernel are both a
// Function.
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "loader/device/device.h"
#include "loader/libcuda/api.h"
#include "loader/libcuda/handles.h"

namespace ptxrun::driver {

class Module;
struct PreparedLaunch;

/// One kernel of a loaded image; part of its module (a shared_ptr to it keeps the whole module).
class Function : public Object {
 public:
  static constexpr Kind kKind = Kind::function;
  Function(Module &module, device::Module &code, const device::KernelInfo &info)
      : Object(kKind), module(module), code(code), info(info) {
    restoreAttributes();
    findDeviceRuntime();
  }

  /// Attributes as they are at first.
  void restoreAttributes();

  Module &module;
  device::Module &code;
  const device::KernelInfo &info;
  std::atomic<int> maxDynamicShared, carveout, cacheConfig, isNonPortableClusterAllowed;
  std::atomic<int> clusterWidth, clusterHeight, clusterDepth; ///< required; 0: none is
  std::atomic<int> clusterSchedulingPolicy;
  std::atomic<int> isClusterSizeRequired; ///< a launch has to name it
  /// Counts changes of the above.
  std::atomic<unsigned> attributeChanges{0};

  /// The last launch that was prepared; null where there was none.
  std::shared_ptr<const PreparedLaunch> lastLaunch() const {
    std::lock_guard lock(lastLaunchMutex_);
    return lastLaunch_;
  }
  void setLastLaunch(std::shared_ptr<const PreparedLaunch> launch) {
    std::lock_guard lock(lastLaunchMutex_);
    std::swap(lastLaunch_, launch); // the other goes without the lock
  }

  /// Of modules whose kernels launch (device_runtime.h), else null: the list of what was launched,
  /// how many bytes that takes, and the handle of the graph that runs.
  uint64_t *childList = nullptr, *childBytes = nullptr, *currentGraph = nullptr;

  /// Threads a block may have: .maxntid and the like, else the device's limit.
  int maxThreadsPerBlock() const;

 private:
  void findDeviceRuntime();
  mutable std::mutex lastLaunchMutex_;
  std::shared_ptr<const PreparedLaunch> lastLaunch_;
};

/// A loaded image: one or more PTX modules, their functions and variables.
class Module : public Object, public std::enable_shared_from_this<Module> {
 public:
  explicit Module(Kind kind) : Object(kind) {}
  ~Module() override;

  /// Loads every PTX text (`name` is how diagnostics call it); on failure the log says why. Texts
  /// that refer to one another become one module if no two define the same name; all others stay
  /// side by side, each complete in itself.
  /// `registerLimit`: what a thread may have, beside what the texts say; 0: no such limit.
  CUresult load(std::vector<std::string> ptx, const std::string &name, std::string &errorLog,
                unsigned registerLimit = 0);

  /// Of a whole program: what is wrong where a function that it calls is defined nowhere, else
  /// empty. Functions of NVIDIA's device runtime that are not there are told where they are run.
  std::string undefinedFunction() const;

  /// The function of that name, made at the first question; null if there is none.
  Function *findFunction(std::string_view name);
  /// All functions, in the order of the PTX.
  std::vector<Function *> functions();
  const device::VariableInfo *findVariable(std::string_view name) const;
  /// The kernel whose address is this number to kernels; null if there is none.
  std::shared_ptr<Function> findKernelByNumber(uint64_t number);
  /// Held while a kernel that may launch others runs, and what it launched: they share one list.
  std::recursive_mutex childMutex;
  /// As just loaded: first values of variables, attributes of functions. Handles stay.
  void restore();
  /// Whose variables its functions read and write.
  CUdevice device() const { return device_; }
  /// Withdraws the handles of its functions. The module goes when the last launch of it has ended.
  virtual void unload();

 protected:
  /// Loads what the other has loaded, for another device: the same code with variables of its own,
  /// but for managed ones. The other must live longer.
  CUresult loadCopyOf(const Module &, CUdevice);

 private:
  CUresult loadPart(std::string text, const std::string &name, device::Outcome &);
  /// `device` < 0: that of the context, or the first.
  void addPart(std::unique_ptr<device::Module>, CUdevice device = -1);
  Function *functionFor(device::Module &, const device::KernelInfo &);
  std::vector<std::unique_ptr<device::Module>> parts_;
  unsigned registerLimit_ = 0;
  CUdevice device_ = 0;
  /// Of each part, where there are other devices to load it for.
  struct Source {
    std::string name, text;
  };
  std::vector<Source> sources_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Function>> functions_; // those asked for
  std::unordered_map<uint64_t, Function *> byNumber_;
};

class LoadedModule : public Module {
 public:
  static constexpr Kind kKind = Kind::module;
  LoadedModule() : Module(kKind) {}
};
/// Belongs to no context: every device has variables of its own, made when they are first used.
class Library : public Module {
 public:
  static constexpr Kind kKind = Kind::library;
  Library() : Module(kKind) {}
  /// What the device's contexts use; the library itself for the first. Null: there is no memory.
  std::shared_ptr<Library> on(CUdevice);
  /// What the device's contexts use is as just loaded: its primary context is gone. Copies of other
  /// devices keep their values; managed variables are the first device's.
  void restoreFor(CUdevice);
  /// The library whose handle programs have.
  Library &published() { return original_ ? *original_ : *this; }
  void unload() override;

 private:
  std::mutex copiesMutex_;
  std::map<CUdevice, std::shared_ptr<Library>> copies_; ///< until it is unloaded
  std::shared_ptr<Library> original_;                   ///< of a copy
};

/// The module behind a CUmodule, also behind one that came out of a library.
std::shared_ptr<Module> resolveModule(CUmodule);
/// The function behind a CUfunction or CUkernel, of a library that of the current context's device;
/// keeps its module alive.
std::shared_ptr<Function> resolveFunction(const void *handle);
/// The same of a device, whichever context is current.
std::shared_ptr<Function> resolveFunctionOf(const void *handle, CUdevice);

/// JIT options as the API passes them.
struct JitOptions {
  unsigned count = 0;
  CUjit_option *names = nullptr;
  void **values = nullptr;
  /// Writes a text into the log buffer that the options name, and its length where they ask for it.
  void writeErrorLog(const std::string &) const;
  void writeInfoLog(const std::string &) const;
  bool hasErrorLog() const;
  /// CU_JIT_MAX_REGISTERS; 0: it is not there.
  unsigned maxRegisters() const;
};

/// Reads an image and loads it into `module`. On failure the error log is written (and shown when
/// verbose).
CUresult loadImage(Module &module, const void *image, const JitOptions &);
CUresult loadFile(Module &module, const char *path, const JitOptions &);
CUresult toResult(device::Code);

} // namespace ptxrun::driver
