#include "translate/translate.h"

#include <llvm/Support/raw_ostream.h>

#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>

#include "intrinsics/matrix/policy.h"
#include "translate/check/check.h"
#include "translate/jit/code_cache.h"
#include "translate/lower/fatal_errors.h"
#include "translate/lower/internal_error.h"
#include "translate/lower/lower.h"
#include "translate/lower/passes.h"
#include "translate/observe/check_alignment.h"
#include "translate/observe/checked_text.h"
#include "translate/observe/watch_accesses.h"
#include "translate/stage_watch.h"
#include "translate/syntax/parser.h"
#include "translate/syntax/printer.h"

namespace ptxrun::translate {

using llvm::Expected;

namespace {

std::string print(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

std::string text(unsigned number) { return std::to_string(number); }
std::string text(bool) { return {}; }
std::string text(BlockShape block) {
  return std::to_string(block[0]) + "x" + std::to_string(block[1]) + "x" + std::to_string(block[2]);
}
std::string text(CpuLevel level) { return jit::levelName(level); }
std::string text(CpuModel model) { return std::to_string(unsigned(model)); }
std::string text(Tier tier) { return tier == Tier::baseline ? "baseline" : "optimised"; }
std::string text(matrix::PolicyChoice choice) { return matrix::policyName(choice.policy); }
std::string text(Checks) { return {}; }
std::string text(PassSet passes) { return std::to_string(passes.bits()); }

/// A kernel and those options that are not as they are where nobody says: "k block 256x1x1".
std::string variantName(std::string_view kernel, const CodeOptions &code) {
  std::string words(kernel);
  CodeOptions usual;
  usual.level = code.level;
  usual.model = code.model;
#define CODE_OPTION(type, name, default_, meaning)                                                 \
  if (code.name != usual.name)                                                                     \
    words.append(" " #name).append(text(code.name).empty() ? "" : " ").append(text(code.name));
#define CODE_SETTING(type, name, default_, word, effect, read, takes, meaning)                     \
  CODE_OPTION(type, name, default_, meaning)
#include "translate/support/code_options.def"
#undef CODE_SETTING
#undef CODE_OPTION
  return words;
}

void add(jit::CacheKeyBuilder &builder, BlockShape block) {
  for (const uint32_t extent : block)
    builder.add(uint64_t{extent});
}
void add(jit::CacheKeyBuilder &builder, matrix::PolicyChoice choice) {
  builder.add(uint64_t{choice.isExact}).add(uint64_t(choice.policy));
}
void add(jit::CacheKeyBuilder &builder, Checks checks) { builder.add(uint64_t{checks.alignment}); }
void add(jit::CacheKeyBuilder &builder, PassSet passes) { builder.add(uint64_t{passes.bits()}); }
template <class Number> void add(jit::CacheKeyBuilder &builder, Number number) {
  builder.add(static_cast<uint64_t>(number));
}

/// Everything of a module that its kernels refer to; lives as long as the last of them.
struct Source {
  Source(std::string name, std::string text) : file(std::move(name), std::move(text)) {}
  support::SourceFile file;
  std::unique_ptr<check::CheckedModule> checked;
  check::Module empty; ///< stands in where checking was not asked for

  const check::Module &module() const { return checked ? checked->module() : empty; }
};

/// The `.loc` in force at a PTX line.
jit::SourceLine sourceLineOf(const check::Module &module, uint32_t ptxLine) {
  for (const check::Function *function : module.functions)
    for (const check::Instruction &instruction : function->body) {
      if (instruction.line != ptxLine || instruction.location == 0)
        continue;
      const check::Location &location = module.locations[instruction.location];
      if (location.file >= module.files.size())
        return {};
      return {std::string(module.files[location.file]), location.line};
    }
  return {};
}

/// Instructions that multiply matrices: 9.7.14 to 9.7.16.
bool usesMatrices(const check::Module &module) {
  for (const check::Function *function : module.functions)
    for (const check::Instruction &instruction : function->body)
      for (const std::string_view section : {"9.7.14.", "9.7.15.", "9.7.16."})
        if (instruction.form->section.starts_with(section))
          return true;
  return false;
}

class LoadedModule final : public Module {
 public:
  LoadedModule(std::shared_ptr<Source> source, const Options &options,
               std::unique_ptr<observe::StageDump> dump)
      : source_(std::move(source)), options_(options), dump_(std::move(dump)) {
    // A dump wants to see every stage, so it does not take a short cut.
    const std::string directory =
        options.useCache && !dump_ ? jit::cacheDirectory(options.cacheDirectory) : "";
    if (!directory.empty())
      cache_ = std::make_unique<jit::CodeCache>(directory);
    usesMatrices_ = usesMatrices(checked());
  }

  const check::Module &checked() const override { return source_->module(); }

  Expected<std::shared_ptr<jit::Kernel>> kernel(std::string_view name, const CodeOptions &code,
                                                const VariableResolver &resolver) override {
    return kernel(name, code, resolver, /*mayCompile=*/true);
  }
  Expected<std::shared_ptr<jit::Kernel>> findKernel(std::string_view name, const CodeOptions &code,
                                                    const VariableResolver &resolver) override {
    return kernel(name, code, resolver, /*mayCompile=*/false);
  }
  Expected<observe::Dependence> dependenceOf(std::string_view name) override;

 private:
  /// What follows from the module, the CPU and the options themselves: code that is the same has
  /// the same options.
  void complete(CodeOptions &code) const {
    code.level = jit::hostTarget().level;
    code.model = jit::hostTarget().model;
    const auto target = static_cast<unsigned>(checked().target);
    code.matrix.policy =
        usesMatrices_ ? matrix::resolve(code.matrix, target) : matrix::Policy::fast;
    code.matrix.isExact = false;
    code.isWatched |= code.isDebugged;
    if (code.isWatched) {
      code.lanes = 1;
      code.schedulesGangs = true;
    }
  }

  struct Slot {
    std::mutex mutex;
    std::shared_ptr<jit::Kernel> kernel;
  };

  Expected<std::shared_ptr<jit::Kernel>> kernel(std::string_view name, CodeOptions code,
                                                const VariableResolver &resolver, bool mayCompile) {
    complete(code);
    Slot &slot = slotOf(name, code);
    std::lock_guard lock(slot.mutex); // whoever comes second waits for the first one's kernel
    if (slot.kernel)
      return slot.kernel;
    Expected<std::shared_ptr<jit::Kernel>> made = obtain(name, code, resolver, mayCompile);
    if (made)
      slot.kernel = *made;
    return made;
  }

  Slot &slotOf(std::string_view name, const CodeOptions &code) {
    std::lock_guard lock(mutex_);
    return slots_[{std::string(name), code}];
  }

  jit::CacheKey cacheKey(std::string_view kernel, const CodeOptions &code) {
    {
      std::lock_guard lock(mutex_);
      if (!textDigest_)
        textDigest_ = jit::CacheKeyBuilder().add(source_->file.text()).finish();
    }
    jit::CacheKeyBuilder builder;
    builder.add({reinterpret_cast<const char *>(textDigest_->data()), textDigest_->size()});
    builder.add(kernel);
    forEachOption(code, [&](const char *, const auto &value) { add(builder, value); });
    return builder.add(jit::codeFingerprint(code.level)).finish();
  }

  Expected<std::shared_ptr<jit::Kernel>> load(jit::ObjectCode object,
                                              const VariableResolver &resolver) {
    return jit::load(std::move(object), resolver, [source = source_](uint32_t ptxLine) {
      return sourceLineOf(source->module(), ptxLine);
    });
  }

  Expected<std::shared_ptr<jit::Kernel>> obtain(std::string_view name, const CodeOptions &code,
                                                const VariableResolver &resolver, bool mayCompile);
  Expected<jit::ObjectCode> runStages(const check::Function &, const CodeOptions &, StageWatch &);
  llvm::Error explain(llvm::Error, const check::Function &, const CodeOptions &);

  std::shared_ptr<Source> source_;
  const Options options_;
  std::unique_ptr<observe::StageDump> dump_;
  std::unique_ptr<jit::CodeCache> cache_;
  bool usesMatrices_ = false;
  std::mutex mutex_; ///< guards what follows
  std::map<std::pair<std::string, CodeOptions>, Slot> slots_;
  std::optional<jit::CacheKey> textDigest_;
};

/// From the disk cache, or compiled.
Expected<std::shared_ptr<jit::Kernel>> LoadedModule::obtain(std::string_view name,
                                                            const CodeOptions &code,
                                                            const VariableResolver &resolver,
                                                            bool mayCompile) {
  const check::Function *function = checked().findFunction(name);
  if (!function || !function->isEntry || function->isDeclaration)
    return llvm::createStringError("%s: there is no kernel named '%s'",
                                   source_->file.name().c_str(), std::string(name).c_str());
  StageWatch watch(options_, dump_.get(), std::string(name), variantName(name, code));
  const bool mayUseCache = cache_ && options_.stopAfter.empty();
  const jit::CacheKey cacheName = mayUseCache ? cacheKey(name, code) : jit::CacheKey();

  if (mayUseCache)
    if (std::optional<jit::ObjectCode> found = cache_->find(cacheName)) {
      Expected<std::shared_ptr<jit::Kernel>> kernel = load(std::move(*found), resolver);
      watch.after("cache", "", nullptr);
      if (kernel) {
        (*kernel)->fromCache = true;
        return kernel;
      }
      // The linker does not take it: made anew, or the error is the same once more.
      llvm::consumeError(kernel.takeError());
    }

  if (!mayCompile)
    return nullptr;
  Expected<jit::ObjectCode> object = runStages(*function, code, watch);
  if (!object)
    return explain(object.takeError(), *function, code);
  if (mayUseCache)
    cache_->store(cacheName, *object);
  Expected<std::shared_ptr<jit::Kernel>> kernel = load(std::move(*object), resolver);
  watch.after("load", "", nullptr);
  return kernel;
}

/// An internal error with the kernel's name and the folder of a second run, with dumps. Other
/// errors as they are.
llvm::Error LoadedModule::explain(llvm::Error error, const check::Function &function,
                                  const CodeOptions &code) {
  return llvm::handleErrors(
      std::move(error), [&](std::unique_ptr<lower::InternalError> found) -> llvm::Error {
        const std::string variant = variantName(function.name, code);
        std::string where = options_.dumpDirectory, problem;
        if (where.empty()) {
          std::error_code ignored;
          const auto folder = std::filesystem::temp_directory_path(ignored) /
                              ("ptxrun-internal-error-" + std::to_string(getpid()));
          std::unique_ptr<observe::StageDump> dump =
              ignored ? nullptr : observe::StageDump::create(folder.string(), problem);
          if (dump) {
            dump->write("input", "input.ptx", "", 0, source_->file.text());
            const Options quiet;
            StageWatch watch(quiet, dump.get(), std::string(function.name), variant);
            llvm::consumeError(runStages(function, code, watch).takeError());
            dump->write(found->stage, "problem.txt", variant, 0, found->problem);
            where = dump->directory();
          }
        }
        const std::string firstLine = found->problem.substr(0, found->problem.find('\n'));
        auto said = std::make_unique<lower::InternalError>(
            found->stage, firstLine + " (kernel " + variant + ", " + source_->file.name() + ":" +
                              std::to_string(function.line) + ")" +
                              (where.empty() ? "" : "; please report it with " + where));
#ifndef NDEBUG
        if (!options_.breaks) { // falling back to safer code would hide it from tests
          std::fprintf(stderr, "ptxrun: %s\n", said->message().c_str());
          std::abort();
        }
#endif
        return llvm::Error(std::move(said));
      });
}

Expected<observe::Dependence> LoadedModule::dependenceOf(std::string_view name) {
  const check::Function *function = checked().findFunction(name);
  support::Diagnostics diagnostics(source_->file);
  if (!function)
    return llvm::createStringError("there is no such kernel");
  Expected<lower::LaneModule> lane = lower::lowerKernel(checked(), *function, {}, diagnostics);
  if (!lane)
    return lane.takeError();
  return observe::examineDependence(*lane);
}

/// The stages of one kernel, in order.
Expected<jit::ObjectCode> LoadedModule::runStages(const check::Function &function,
                                                  const CodeOptions &code, StageWatch &watch) {
  support::Diagnostics diagnostics(source_->file);
  Expected<lower::LaneModule> lane = lower::withoutFatalErrors<lower::LaneModule>(
      "lower", [&] { return lower::lowerKernel(checked(), function, code, diagnostics); });
  if (!lane) {
    if (!diagnostics.hasErrors())
      return lane.takeError();
    llvm::consumeError(lane.takeError());
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   llvm::StringRef(diagnostics.text()));
  }
  watch.after("lower", "lane.ll", [&] { return print(*lane->module); });
  if (watch.isLast("lower"))
    return llvm::make_error<Stopped>("lower");

  if (options_.breaks && options_.breaks(code))
    return llvm::make_error<lower::InternalError>("simt", "asked for");

  if (code.isWatched || code.checks.alignment) {
    if (code.isWatched)
      observe::watchAccesses(*lane);
    if (code.checks.alignment)
      observe::checkAlignment(*lane);
    lower::optimise(*lane->module, *lane->kernel, code);
    watch.after("observe", "watched.ll", [&] { return print(*lane->module); });
  }

  simt::PassObserver observer;
  if (watch.isDumping())
    observer = [&](const simt::PassInfo &pass, const llvm::Module &m) {
      watch.within("simt", std::string(pass.name) + ".ll", print(m));
    };
  Expected<simt::GangModule> gang = lower::withoutFatalErrors<simt::GangModule>(
      "simt", [&] { return simt::widen(std::move(*lane), code, observer); });
  if (!gang)
    return gang.takeError();
  watch.after("simt", "gang.ll", [&] { return print(*gang->module); });
  if (watch.isLast("simt"))
    return llvm::make_error<Stopped>("simt");

  jit::CompileObserver compiling;
  if (watch.isDumping()) {
    compiling.afterOptimise = [&](const llvm::Module &m) {
      watch.within("jit", "optimised.ll", print(m));
    };
    compiling.afterAssembly = [&](std::string_view text) { watch.within("jit", "asm.s", text); };
  }
  Expected<jit::ObjectCode> object = lower::withoutFatalErrors<jit::ObjectCode>("jit", [&] {
    return jit::compile(std::move(*gang), function.name, simt::targetFor(code.level, code.model),
                        compiling);
  });
  if (!object)
    return object.takeError();
  watch.after("jit", "", nullptr);
  if (watch.isLast("jit"))
    return llvm::make_error<Stopped>("jit");
  return object;
}

} // namespace

std::unique_ptr<Module> Module::load(std::string name, std::string text, const Options &options,
                                     std::string &errorText) {
  std::unique_ptr<observe::StageDump> dump;
  if (!options.dumpDirectory.empty()) {
    dump = observe::StageDump::create(options.dumpDirectory, errorText);
    if (!dump)
      return nullptr;
  }
  auto source = std::make_shared<Source>(std::move(name), std::move(text));
  source->file.place(0); // finds line starts: not thread-safe later
  if (dump)
    dump->write("input", "input.ptx", "", 0, source->file.text());

  support::Diagnostics diagnostics(source->file);
  StageWatch watch(options, dump.get());
  const std::unique_ptr<syntax::ast::Module> tree = syntax::parse(source->file, diagnostics);
  watch.after("parse", "ast.ptx", [&] { return syntax::print(*tree); });
  if (!watch.isLast("parse") && !diagnostics.hasErrors()) {
    source->checked = check::check(*tree, diagnostics);
    watch.after("check", "checked.txt", [&] { return observe::checkedText(source->module()); });
  }
  if (diagnostics.hasErrors()) {
    errorText = diagnostics.text();
    return nullptr;
  }
  return std::make_unique<LoadedModule>(std::move(source), options, std::move(dump));
}

CpuLevel cpuLevel() { return jit::cpuLevel(); }

bool hasCachedCode() { return jit::hasEntries(jit::cacheDirectory("")); }

char Stopped::ID = 0;
void Stopped::log(llvm::raw_ostream &out) const { out << "stopped after " << stage; }
std::error_code Stopped::convertToErrorCode() const { return llvm::inconvertibleErrorCode(); }

} // namespace ptxrun::translate
