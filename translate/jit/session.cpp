#include "translate/jit/session.h"

#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <llvm/ExecutionEngine/Orc/DebugObjectManagerPlugin.h>
#include <llvm/ExecutionEngine/Orc/Debugging/PerfSupportPlugin.h>
#include <llvm/ExecutionEngine/Orc/EPCDebugObjectRegistrar.h>
#include <llvm/ExecutionEngine/Orc/IRCompileLayer.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/ExecutionEngine/Orc/TargetProcess/JITLoaderGDB.h>
#include <llvm/ExecutionEngine/Orc/TargetProcess/JITLoaderPerf.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>

#include "translate/jit/jit.h"
#include "translate/jit/target.h"

namespace ptxrun::jit {

using namespace llvm;
using namespace llvm::orc;

namespace {

/// Looks at objects as they are linked, and at nothing that becomes of them.
class LinkPlugin : public ObjectLinkingLayer::Plugin {
 public:
  Error notifyFailed(MaterializationResponsibility &) override { return Error::success(); }
  Error notifyRemovingResources(JITDylib &, ResourceKey) override { return Error::success(); }
  void notifyTransferringResources(JITDylib &, ResourceKey, ResourceKey) override {}
};

/// Notes where the executable sections of each object came to lie.
class RangePlugin : public LinkPlugin {
 public:
  void modifyPassConfig(MaterializationResponsibility &what, jitlink::LinkGraph &,
                        jitlink::PassConfiguration &config) override {
    const JITDylib *dylib = &what.getTargetJITDylib();
    config.PostAllocationPasses.push_back([this, dylib](jitlink::LinkGraph &graph) {
      note(*dylib, graph);
      return Error::success();
    });
  }

  CodeRange take(const JITDylib &dylib) {
    std::lock_guard lock(mutex_);
    const auto node = ranges_.extract(&dylib);
    return node ? node.mapped() : CodeRange();
  }

 private:
  void note(const JITDylib &dylib, jitlink::LinkGraph &graph) {
    CodeRange range;
    for (jitlink::Section &section : graph.sections()) {
      if ((section.getMemProt() & MemProt::Exec) == MemProt::None || section.blocks().empty())
        continue;
      const jitlink::SectionRange place(section);
      const uint64_t begin = place.getStart().getValue(), end = place.getEnd().getValue();
      range.begin = range.begin ? std::min(range.begin, begin) : begin;
      range.end = std::max(range.end, end);
      if (section.getName() == ".text")
        range.textBegin = begin, range.textEnd = end;
    }
    std::lock_guard lock(mutex_);
    ranges_[&dylib] = range;
  }

  std::mutex mutex_;
  std::map<const JITDylib *, CodeRange> ranges_;
};

std::shared_ptr<RangePlugin> &rangePlugin() {
  static auto *instance = new std::shared_ptr<RangePlugin>(std::make_shared<RangePlugin>());
  return *instance;
}

bool isSwitchOn(const char *name) {
  const char *value = std::getenv(name);
  return value && *value && std::string_view(value) != "0";
}

/// PTXRUN_GDB=1: gdb learns of every object through its JIT interface, with PTX lines.
void addGdb(ExecutionSession &session, ObjectLinkingLayer &layer) {
  auto registrar = std::make_unique<EPCDebugObjectRegistrar>(
      session, ExecutorAddr::fromPtr(&llvm_orc_registerJITLoaderGDBAllocAction));
  layer.addPlugin(std::make_unique<DebugObjectManagerPlugin>(session, std::move(registrar),
                                                             /*RequireDebugSections=*/false,
                                                             /*AutoRegisterCode=*/true));
}

/// LLVM 19 leaves the flags of the jitdump's header as they come, and perf refuses most: none are
/// set. The file is known by its name among those that are open.
void clearJitdumpFlags() {
  static const int file = [] {
    const std::string name = "/jit-" + std::to_string(getpid()) + ".dump";
    std::error_code none;
    for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd", none)) {
      const std::string path = std::filesystem::read_symlink(entry.path(), none).string();
      if (path.ends_with(name))
        return open(path.c_str(), O_WRONLY | O_CLOEXEC);
    }
    return -1;
  }();
  constexpr uint64_t kNone = 0;
  constexpr off_t kFlags = 32; // behind magic, version, size, machine, padding, process and time
  if (file >= 0)
    (void)!pwrite(file, &kNone, sizeof kNone, kFlags);
}

shared::CWrapperFunctionResult recordForPerf(const char *data, uint64_t size) {
  const auto result = llvm_orc_registerJITLoaderPerfImpl(data, size);
  clearJitdumpFlags();
  return result;
}

/// Symbols of functions that only their own object knows (coroutines, copies of lanes) are pruned,
/// since its code finds them without: kept for those who look for names.
class KeepFunctions : public LinkPlugin {
 public:
  void modifyPassConfig(MaterializationResponsibility &, jitlink::LinkGraph &,
                        jitlink::PassConfiguration &config) override {
    config.PrePrunePasses.push_back([](jitlink::LinkGraph &graph) {
      for (jitlink::Symbol *symbol : graph.defined_symbols())
        if (symbol->hasName() && symbol->isCallable())
          symbol->setLive(true);
      return Error::success();
    });
  }
};

/// PTXRUN_PERF=1: a jitdump in ~/.debug/jit (or $JITDUMPDIR) for `perf inject --jit`.
void addPerf(ExecutionSession &session, ObjectLinkingLayer &layer) {
  layer.addPlugin(std::make_unique<KeepFunctions>());
  layer.addPlugin(std::make_unique<PerfSupportPlugin>(
      session.getExecutorProcessControl(),
      ExecutorAddr::fromPtr(&llvm_orc_registerJITLoaderPerfStart),
      ExecutorAddr::fromPtr(&llvm_orc_registerJITLoaderPerfEnd),
      ExecutorAddr::fromPtr(&recordForPerf), /*EmitDebugInfo=*/true,
      /*EmitUnwindInfo=*/false));
}

/// The session links objects only: it needs no TargetMachine, and a warm start does not pay for
/// one.
class NoCompiler : public IRCompileLayer::IRCompiler {
 public:
  NoCompiler() : IRCompiler({}) {}
  Expected<std::unique_ptr<MemoryBuffer>> operator()(Module &) override {
    return createStringError("jit: the session links objects only");
  }
};

Expected<std::unique_ptr<LLJIT>> createSession() {
  LLJITBuilder builder;
  builder.setJITTargetMachineBuilder(JITTargetMachineBuilder{Triple(kTriple)});
  builder.setDataLayout(DataLayout(kDataLayout));
  builder.setCompileFunctionCreator(
      [](JITTargetMachineBuilder) { return std::make_unique<NoCompiler>(); });
  builder.setLinkProcessSymbolsByDefault(false);
  builder.setPlatformSetUp(setUpInactivePlatform); // kernels have no static constructors
  builder.setObjectLinkingLayerCreator(
      [](ExecutionSession &session, const Triple &) -> Expected<std::unique_ptr<ObjectLayer>> {
        auto layer = std::make_unique<ObjectLinkingLayer>(session);
        layer->addPlugin(rangePlugin());
        if (isSwitchOn("PTXRUN_GDB"))
          addGdb(session, *layer);
        if (isSwitchOn("PTXRUN_PERF"))
          addPerf(session, *layer);
        return layer;
      });
  return builder.create();
}

} // namespace

Expected<LLJIT *> session() {
  static std::mutex mutex;
  static LLJIT *instance =
      nullptr; // never destroyed: worker threads may still run its code when the process exits
  std::lock_guard lock(mutex);
  if (instance)
    return instance;
  Expected<std::unique_ptr<LLJIT>> created = createSession();
  if (!created)
    return created.takeError();
  instance = created->release();
  // Every failure also reaches the caller of load(), which reports it.
  instance->getExecutionSession().setErrorReporter(
      [](Error error) { consumeError(std::move(error)); });
  return instance;
}

CodeRange takeCodeRange(const JITDylib &dylib) { return rangePlugin()->take(dylib); }

} // namespace ptxrun::jit
