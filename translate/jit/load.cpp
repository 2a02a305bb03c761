// Relocatable object to Kernel: a JITDylib of its own, symbols bound by name, entry points looked
// up.
#include <llvm/ExecutionEngine/Orc/LLJIT.h>

#include <atomic>
#include <mutex>

#include "translate/jit/jit.h"
#include "translate/jit/places.h"
#include "translate/jit/session.h"
#include "translate/jit/symbols.h"

namespace ptxrun::jit {

using namespace llvm;
using namespace llvm::orc;

namespace {

constexpr StringRef kVariablePrefix = "ptxrun.var.";

CodeListener &codeListener() {
  static auto *instance = new CodeListener;
  return *instance;
}

/// Answers the linker's questions for one kernel. Names without an answer go to `missing`; they
/// fail the lookup.
class SymbolGenerator : public DefinitionGenerator {
 public:
  explicit SymbolGenerator(const VariableResolver &resolver) : resolver_(&resolver) {}

  Error tryToGenerate(LookupState &, LookupKind, JITDylib &dylib, JITDylibLookupFlags,
                      const SymbolLookupSet &wanted) override {
    SymbolMap found;
    for (const auto &[name, flags] : wanted) {
      const StringRef text = *name;
      const void *address = nullptr;
      if (text.starts_with(kVariablePrefix)) {
        const StringRef variable = text.drop_front(kVariablePrefix.size());
        if (*resolver_)
          address = (*resolver_)(std::string_view(variable.data(), variable.size()));
      } else {
        address = findProcessSymbol(std::string_view(text.data(), text.size()));
      }
      if (address)
        found[name] = {ExecutorAddr::fromPtr(address), JITSymbolFlags::Exported};
      else
        missing += (missing.empty() ? "" : ", ") + text.str();
    }
    return found.empty() ? Error::success() : dylib.define(absoluteSymbols(std::move(found)));
  }

  std::string missing;

 private:
  const VariableResolver *resolver_; // valid while load() runs, which is when every symbol is bound
};

class LoadedKernel final : public Kernel {
 public:
  LoadedKernel(ObjectCode object, SourceMap sources)
      : object_(std::move(object)), sources_(std::move(sources)) {
    code_.needs = object_.needs;
    reason_ = object_.reason;
  }

  ~LoadedKernel() override {
    if (isListenerTold_ && codeListener().onUnload)
      codeListener().onUnload(pointer(range_.textBegin), pointer(range_.textEnd));
    if (dylib_)
      cantFail(session_->getExecutionSession().removeJITDylib(*dylib_));
  }

  Error link(const VariableResolver &resolver) {
    Expected<LLJIT *> made = session();
    if (!made)
      return made.takeError();
    session_ = *made;
    static std::atomic<unsigned> counter = 0;
    Expected<JITDylib &> dylib =
        session_->createJITDylib(object_.kernel + "#" + std::to_string(counter++));
    if (!dylib)
      return dylib.takeError();
    dylib_ = &*dylib;
    SymbolGenerator &generator = dylib_->addGenerator(std::make_unique<SymbolGenerator>(resolver));
    if (Error error = session_->addObjectFile(
            *dylib_, MemoryBuffer::getMemBuffer(object_.elf, object_.kernel,
                                                /*RequiresNullTerminator=*/false)))
      return error;
    if (Error error = findEntry()) {
      if (generator.missing.empty())
        return error;
      consumeError(std::move(error));
      return createStringError("kernel '%s' refers to %s, which nothing defines",
                               object_.kernel.c_str(), generator.missing.c_str());
    }
    dylib_->removeGenerator(generator);
    range_ = takeCodeRange(*dylib_);
    if (codeListener().onLoad)
      codeListener().onLoad(pointer(range_.textBegin), pointer(range_.textEnd));
    isListenerTold_ = true;
    return Error::success();
  }

  std::optional<CodePlace> placeOf(const void *pc) const override {
    const auto address = reinterpret_cast<uint64_t>(pc);
    if (address < range_.begin || address >= range_.end)
      return std::nullopt;
    CodePlace place;
    place.kernel = object_.kernel;
    if (address >= range_.textBegin && address < range_.textEnd)
      place.ptxLine = lineAt(object_.elf, address - range_.textBegin);
    if (place.ptxLine != 0 && sources_) {
      const SourceLine source = sources_(place.ptxLine);
      place.sourceFile = source.file;
      place.sourceLine = source.line;
    }
    return place;
  }

 private:
  static const void *pointer(uint64_t address) { return reinterpret_cast<const void *>(address); }

  Error findEntry() {
    Expected<ExecutorAddr> entry =
        session_->lookup(*dylib_, object_.kernel + "." + simt::kEntryNames[size_t(object_.entry)]);
    if (!entry)
      return entry.takeError();
    switch (object_.entry) {
    case simt::EntryPoint::gang:
      code_.gang = entry->toPtr<abi::GangFunction>();
      break;
    case simt::EntryPoint::gangStart:
      code_.gangStart = entry->toPtr<abi::GangStartFunction>();
      break;
    case simt::EntryPoint::ctaRange:
      code_.ctaRange = entry->toPtr<abi::CtaRangeFunction>();
      break;
    }
    return Error::success();
  }

  ObjectCode object_;
  SourceMap sources_;
  LLJIT *session_ = nullptr;
  JITDylib *dylib_ = nullptr;
  CodeRange range_;
  bool isListenerTold_ = false;
};

} // namespace

void setCodeListener(CodeListener listener) { codeListener() = std::move(listener); }

Expected<std::shared_ptr<Kernel>> load(ObjectCode object, const VariableResolver &resolver,
                                       SourceMap sources) {
  auto kernel = std::make_shared<LoadedKernel>(std::move(object), std::move(sources));
  if (Error error = kernel->link(resolver))
    return std::move(error);
  return kernel;
}

} // namespace ptxrun::jit
