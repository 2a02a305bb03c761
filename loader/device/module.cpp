#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>

#include "loader/device/code.h"
#include "loader/device/device.h"
#include "loader/device/form_record.h"
#include "loader/device/join.h"
#include "loader/device/joined_ctas.h"
#include "loader/device/kernel_info.h"
#include "loader/device/memory.h"
#include "loader/device/observer.h"
#include "loader/device/summary.h"
#include "loader/device/summary_forms.h"
#include "rt/exec/openmp.h"
#include "rt/exec/run.h"
#include "rt/observe/trace.h"
#include "translate/jit/kernel.h"
#include "translate/lower/shared_names.h"
#include "translate/simt/pass_names.h"
#include "translate/translate.h"

namespace ptxrun::device {

namespace {

translate::Options translateOptions(const LoadOptions &given) {
  translate::Options options;
  options.dumpDirectory = given.dumpDirectory;
  options.stopAfter = given.stopAfter;
  options.useCache = given.useCache;
  options.cacheDirectory = given.cacheDirectory;
  if (given.onStage)
    options.onStage = [tell = given.onStage](const translate::StageReport &report) {
      tell(report.stage, report.kernel, report.milliseconds);
    };
  if (given.breaks)
    options.breaks = [breaks = given.breaks](const CodeOptions &key) {
      return breaks(key.lanes, key.tier == Tier::baseline);
    };
  return options;
}

bool isExplicitCluster(const KernelInfo &kernel, const LaunchOptions &options) {
  return options.cluster.x != 0 || kernel.clusterShape[0] != 0 || kernel.isExplicitCluster;
}

/// The code that a launch needs. `joinable`: of a kernel, asked for where it matters.
template <class JoinableOf>
CodeOptions codeFor(const KernelInfo &kernel, const LaunchOptions &options,
                    const JoinableOf &joinable) {
  CodeOptions code = options.code;
  const bool isFast = options.schedule == rt::Schedule::fast;
  if (options.stepper || !(isFast || options.hasPinnedLanes))
    code.lanes = 1;
  code.isDebugged = options.stepper != nullptr;
  code.isWatched = code.isDebugged || (!isFast && options.schedule != rt::Schedule::serial);
  code.isRecorded = FormRecord::isOn() && !code.isWatched;
  code.block = {options.block.x, options.block.y, options.block.z};
  code.defersCopies = options.asyncCopies != rt::AsyncCopies::eager;
  code.schedulesGangs =
      options.isCooperative || !isFast || isExplicitCluster(kernel, options) || code.defersCopies;
  const bool mayJoin =
      isFast && !code.schedulesGangs && !code.isRecorded && code.checks == Checks{};
  if (mayJoin && options.block.x < abi::kWarpSize &&
      !code.passesLeftOut.has(simt::Pass::joinedCtas))
    code.joinedCtas = chooseJoinedCtas(joinable(), options,
                                       options.threads > 0 ? options.threads : rt::openMpThreads());
  return code;
}

/// The same code every time; watched code waits for the schedule, not for the processor.
Tiers repeatableTiers(const CodeOptions &key) {
  return key.isWatched ? Tiers::baseline : Tiers::optimised;
}

Code codeOf(rt::Status status) {
  switch (status) {
  case rt::Status::ok:
    return Code::ok;
  case rt::Status::illegalAddress:
    return Code::illegalAddress;
  case rt::Status::misaligned:
    return Code::misalignedAddress;
  case rt::Status::trap:
  case rt::Status::undefinedUse:
  case rt::Status::deadlock:
    return Code::launchFailed;
  case rt::Status::assertion:
    return Code::assertion;
  case rt::Status::timeout:
    return Code::timeout;
  case rt::Status::cancelled:
    return Code::cancelled;
  case rt::Status::outOfMemory:
    return Code::outOfMemory;
  case rt::Status::invalid:
    return Code::invalidValue;
  }
  return Code::launchFailed;
}

class LoadedModule final : public Module {
 public:
  LoadedModule(std::string name, std::unique_ptr<translate::Module> translated,
               const LoadOptions &options)
      : name_(std::move(name)), tiers_(options.tiers), source_(std::make_shared<Source>()) {
    source_->translated = std::move(translated);
    if (FormRecord::isOn())
      source_->record = std::make_unique<FormRecord>(checked());
    kernels_ = describeKernels(checked(), options.registerLimit);
  }

  ~LoadedModule() override {
    if (Observer *told = observer())
      told->moduleGone(*this);
  }

  Outcome placeVariables(const Module *managedOf) {
    return source_->variables.place(checked(), managedOf);
  }
  void *variableMemory() const { return source_->variables.base(); }

  const std::string &name() const override { return name_; }
  const check::Module &checked() const override { return source_->translated->checked(); }
  std::span<const KernelInfo> kernels() const override { return kernels_; }
  std::span<const VariableInfo> variables() const override { return source_->variables.infos(); }
  std::span<const char> restoreVariables() override { return source_->variables.restore(); }

  Variant compile(const KernelInfo &, const LaunchOptions &, Outcome &) override;
  const ScheduleDependence &scheduleDependence(const KernelInfo &) override;

 private:
  struct Made {
    const KernelInfo *kernel;
    CodeOptions key;
    Variant variant; ///< its kernel is null where the code cannot be compiled
    Outcome refusal; ///< why
  };

  /// Null kernel on errors.
  Variant make(const KernelInfo &, CodeOptions, Tiers, Outcome &);
  Joinable joinable(const KernelInfo &);
  /// Once for each kernel, before it is compiled.
  void countForms(const KernelInfo &);
  void remember(const KernelInfo &, const CodeOptions &, const Variant &, const Outcome &refusal);
  /// Null if there is none. Under the lock.
  Made *findMade(const KernelInfo &, const CodeOptions &);

  const std::string name_;
  const Tiers tiers_;
  const std::shared_ptr<Source> source_;
  std::vector<KernelInfo> kernels_;
  std::shared_mutex mutex_;    // guards made_ and counted_
  std::mutex dependenceMutex_; // guards dependences_
  std::map<const KernelInfo *, ScheduleDependence> dependences_;
  std::mutex joinableMutex_; // guards joinables_
  std::map<const KernelInfo *, Joinable> joinables_;
  std::set<const KernelInfo *> counted_; // by noteForms
  std::vector<Made> made_;               // short: few block shapes per kernel occur
};

Variant variantOf(std::shared_ptr<const jit::Kernel> kernel) {
  if (!kernel)
    return {};
  const abi::KernelCode &code = kernel->code();
  const bool needsStacks = code.needs.maySuspend && !code.gangStart;
  return {kernel, nullptr, code.needs, kernel->reason(), needsStacks, kernel->fromCache, false};
}

/// A mistake of ours in one form of the code need not be in the others. What to try then, in order.
std::vector<CodeOptions> saferThan(const CodeOptions &key) {
  std::vector<CodeOptions> forms;
  for (const unsigned lanes : {key.lanes, 1u})
    for (const Tier tier : {Tier::optimised, Tier::baseline}) {
      CodeOptions form = key;
      form.lanes = lanes;
      form.tier = tier;
      const bool isNoBetter = lanes == key.lanes && tier == Tier::baseline && lanes != 1;
      if (form != key && !isNoBetter && std::ranges::find(forms, form) == forms.end())
        forms.push_back(form);
    }
  return forms;
}

/// The calling thread's own time: what else the machine does is not counted.
uint64_t threadTimeNs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return uint64_t(now.tv_sec) * 1'000'000'000 + uint64_t(now.tv_nsec);
}

Variant LoadedModule::make(const KernelInfo &kernel, CodeOptions key, Tiers tiers,
                           Outcome &outcome) {
  const CodeOptions optimised = key;
  if (tiers == Tiers::tiered)
    if (Variant variant = variantOf(source_->find(kernel.name, key)); variant.kernel)
      return variant;
  if (tiers != Tiers::optimised)
    key.tier = Tier::baseline;
  const uint64_t before = threadTimeNs();
  Variant variant = variantOf(source_->compile(kernel.name, key, outcome));
  const uint64_t compiledIn = threadTimeNs() - before;
  const bool isFirstChoice = outcome.code != Code::internalError;
  for (const CodeOptions &form : saferThan(key)) {
    if (outcome.code != Code::internalError)
      break;
    std::fprintf(stderr, "ptxrun: %s; running %s code%s instead\n", outcome.message.c_str(),
                 form.tier == Tier::baseline ? "baseline" : "optimised",
                 form.lanes == 1 ? " of one thread at a time" : "");
    outcome = {};
    key = form;
    variant = variantOf(source_->compile(kernel.name, form, outcome));
  }
  variant.isBaseline = key.tier == Tier::baseline;
  if (variant.kernel && tiers == Tiers::tiered && isFirstChoice)
    variant.upgrade = std::make_shared<Upgrade>(source_, kernel.name, optimised, compiledIn);
  return variant;
}

LoadedModule::Made *LoadedModule::findMade(const KernelInfo &kernel, const CodeOptions &key) {
  const auto found = std::ranges::find_if(
      made_, [&](const Made &made) { return made.kernel == &kernel && made.key == key; });
  return found == made_.end() ? nullptr : &*found;
}

Joinable LoadedModule::joinable(const KernelInfo &kernel) {
  std::lock_guard lock(joinableMutex_);
  const auto [entry, isNew] = joinables_.try_emplace(&kernel);
  if (isNew)
    entry->second = readJoinable(checked(), kernel.name);
  return entry->second;
}

void LoadedModule::countForms(const KernelInfo &kernel) {
  std::unique_lock lock(mutex_);
  if (counted_.insert(&kernel).second)
    summary::noteForms(checked(), kernel.name);
}

void LoadedModule::remember(const KernelInfo &kernel, const CodeOptions &key,
                            const Variant &variant, const Outcome &refusal) {
  std::unique_lock lock(mutex_);
  if (Made *made = findMade(kernel, key))
    made->variant = variant;
  else
    made_.push_back({&kernel, key, variant, refusal});
}

Variant LoadedModule::compile(const KernelInfo &kernel, const LaunchOptions &options,
                              Outcome &outcome) {
  const CodeOptions key = codeFor(kernel, options, [&] { return joinable(kernel); });
  Variant variant;
  {
    std::shared_lock lock(mutex_);
    if (const Made *made = findMade(kernel, key)) {
      variant = made->variant;
      outcome = made->refusal;
      if (!variant.kernel)
        return variant;
    }
  }
  if (variant.kernel && !(variant.upgrade && variant.upgrade->isDue()))
    return variant;
  if (summary::isOn())
    countForms(kernel);
  // A schedule repeats itself only where every run takes the same code.
  const bool isRepeatable = options.schedule != rt::Schedule::fast;
  if (!variant.kernel) {
    variant = make(kernel, key, isRepeatable ? repeatableTiers(key) : tiers_, outcome);
  } else if (Variant better = variantOf(variant.upgrade->finish()); better.kernel) {
    variant = better;
  } else {
    variant.upgrade = nullptr;
  }
  // What the text is guilty of stays so; a lack of memory need not.
  if (variant.kernel || outcome.code == Code::invalidPtx)
    remember(kernel, key, variant, outcome);
  return variant;
}

const ScheduleDependence &LoadedModule::scheduleDependence(const KernelInfo &kernel) {
  std::lock_guard lock(dependenceMutex_);
  const auto [entry, isNew] = dependences_.try_emplace(&kernel);
  ScheduleDependence &known = entry->second;
  if (!isNew)
    return known;
  auto found = source_->translated->dependenceOf(kernel.name);
  if (!found) {
    known.amongThreads = "it cannot be examined: " + llvm::toString(found.takeError());
    return known;
  }
  known = {found->amongThreads,  found->amongBlocks, found->writesAnywhere,
           found->usesVariables, found->writes,      found->reads};
  return known;
}

/// What a launch is to the summary; what changed to better code on the way counts as that.
void summarise(const KernelInfo &kernel, const Variant &variant, const LaunchOptions &options,
               uint64_t nanoseconds) {
  const bool isBetter = variant.upgrade && variant.upgrade->kernel();
  const auto volume = [](abi::Dim3 d) { return uint64_t{d.x} * d.y * d.z; };
  summary::noteLaunch(kernel.name, variant.needs.lanes,
                      variant.isBaseline && !isBetter ? summary::Code::baseline
                                                      : summary::Code::optimised,
                      volume(options.grid) * volume(options.block), nanoseconds);
}

rt::Failure runBaseline(const rt::LaunchRequest &request, Upgrade &upgrade) {
  const auto start = std::chrono::steady_clock::now();
  rt::Failure failure = rt::run(request);
  const std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - start;
  upgrade.noteLaunch(uint64_t(taken.count()));
  return failure;
}

template <class Infos> auto *findByName(const Infos &infos, std::string_view name) {
  const auto found = std::ranges::find_if(infos, [&](const auto &i) { return i.name == name; });
  return found == infos.end() ? nullptr : &*found;
}

} // namespace

std::unique_ptr<Module> Module::load(std::string name, std::string text, const LoadOptions &options,
                                     Outcome &outcome) {
  joinTranslateAndRuntime();
  rt::trace::Scope traced("compile", "load");
  if (rt::trace::isOn())
    traced.add("module", rt::trace::quoted(name));
  std::string errorText;
  Observer *told = observer();
  const std::string kept = told ? text : std::string();
  const summary::Stopwatch watch;
  auto translated =
      translate::Module::load(name, std::move(text), translateOptions(options), errorText);
  if (summary::isOn())
    summary::noteLoad(watch.nanoseconds());
  if (!translated) {
    outcome = Outcome::failed(Code::invalidPtx, std::move(errorText));
    return nullptr;
  }
  auto module = std::make_unique<LoadedModule>(std::move(name), std::move(translated), options);
  if (told)
    told->moduleLoading();
  outcome = module->placeVariables(options.managedOf);
  if (told)
    told->moduleLoaded(outcome.isOk() ? module.get() : nullptr, kept, module->variableMemory());
  if (!outcome.isOk())
    return nullptr;
  return module;
}

bool Variant::isOutdated() const { return upgrade && upgrade->isDue(); }

bool readTiers(std::string_view text, Tiers &tiers) {
  if (text == "optimised")
    tiers = Tiers::optimised;
  else if (text == "baseline")
    tiers = Tiers::baseline;
  else if (text == "tiered")
    tiers = Tiers::tiered;
  else
    return false;
  return true;
}

const KernelInfo *Module::findKernel(std::string_view name) const {
  return findByName(kernels(), name);
}
const VariableInfo *Module::findVariable(std::string_view name) const {
  return findByName(variables(), name);
}

StaticMemory Module::staticMemory(const KernelInfo &kernel) const {
  return measureStaticMemory(checked(), kernel.name);
}

namespace {

/// The allocations that a launch's pointer parameters point into.
std::vector<uint64_t> allocationsOf(const std::vector<uint32_t> &offsets, const KernelInfo &kernel,
                                    const void *params) {
  std::vector<uint64_t> bases;
  for (const uint32_t offset : offsets) {
    uint64_t address = 0;
    if (params && offset + sizeof address <= kernel.parameterBytes)
      memcpy(&address, static_cast<const char *>(params) + offset, sizeof address);
    const auto range = findAllocation(reinterpret_cast<const void *>(address));
    bases.push_back(range ? reinterpret_cast<uint64_t>(range->base) : address);
  }
  return bases;
}

} // namespace

std::string Module::scheduleDependence(const KernelInfo &kernel, const LaunchOptions &options) {
  const ScheduleDependence &known = scheduleDependence(kernel);
  if (!known.amongThreads.empty())
    return known.amongThreads;
  const bool isOneBlock = uint64_t{options.grid.x} * options.grid.y * options.grid.z == 1;
  if (!isOneBlock && !known.amongBlocks.empty())
    return known.amongBlocks;
  const auto written = allocationsOf(known.writes, kernel, options.params);
  const auto read = allocationsOf(known.reads, kernel, options.params);
  for (size_t i = 0; i < written.size(); ++i) {
    for (size_t k = 0; k < read.size(); ++k)
      if (read[k] == written[i] && known.reads[k] != known.writes[i])
        return "two of its parameters point into one allocation, which it writes";
    for (size_t k = 0; k < i; ++k)
      if (written[k] == written[i])
        return "it writes one allocation through two parameters";
  }
  return {};
}

int Module::targetArchitecture() const { return static_cast<int>(checked().target); }

Outcome Module::launch(const KernelInfo &kernel, const LaunchOptions &given) {
  LaunchOptions options = given;
  if (std::string problem = shapeLaunch(kernel, options); !problem.empty())
    return Outcome::failed(Code::invalidValue, std::move(problem));
  Outcome outcome;
  const Variant variant = compile(kernel, options, outcome);
  return variant.kernel ? launch(kernel, variant, options) : outcome;
}

Outcome Module::launch(const KernelInfo &kernel, const Variant &variant,
                       const LaunchOptions &options) {
  Observer *told = observer();
  if (!told)
    return run(kernel, variant, options);
  return told->launch(*this, kernel, options, [&](const LaunchOptions &chosen) {
    Outcome outcome;
    const Variant suitable = compile(kernel, chosen, outcome);
    return suitable.kernel ? run(kernel, suitable, chosen) : outcome;
  });
}

Outcome Module::run(const KernelInfo &kernel, const Variant &variant,
                    const LaunchOptions &options) {
  rt::LaunchRequest request;
  request.code = &variant.kernel->code();
  request.upgrade = variant.upgrade.get();
  static_cast<rt::RunOptions &>(request) = options;
  if (options.cluster.x != 0)
    request.cluster = options.cluster;
  request.isExplicitCluster = isExplicitCluster(kernel, options);
  static const rt::ScheduleScript kSerial;
  request.script = &kSerial;
  if (options.script)
    if (const auto found = options.script->launches.find(options.launchNumber);
        found != options.script->launches.end())
      request.script = &found->second;
  rt::trace::Scope traced("launch", kernel.name);
  if (rt::trace::isOn()) {
    const auto shape = [](abi::Dim3 d) {
      return "[" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) +
             "]";
    };
    traced.add("grid", shape(options.grid));
    traced.add("block", shape(options.block));
    traced.add("lanes", variant.needs.lanes);
    traced.add("stream", options.stream);
  }
  const summary::Stopwatch watch;
  const rt::Failure failure =
      variant.upgrade ? runBaseline(request, *variant.upgrade) : rt::run(request);
  if (summary::isOn())
    summarise(kernel, variant, options, watch.nanoseconds());
  if (failure.status == rt::Status::ok)
    return {};
  const auto nameShared = [&](uint64_t offset) {
    const check::Function *function = checked().findFunction(kernel.name);
    return function ? lower::sharedVariableAt(checked(), *function, offset) : std::string();
  };
  std::vector<std::shared_ptr<const jit::Kernel>> ran{variant.kernel};
  if (variant.upgrade)
    if (auto better = variant.upgrade->kernel())
      ran.push_back(std::move(better));
  return Outcome::failed(codeOf(failure.status),
                         describeFailure(failure, ran, kernel.name, name(), nameShared));
}

} // namespace ptxrun::device
