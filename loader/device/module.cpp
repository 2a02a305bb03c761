#include <llvm/Support/Error.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <mutex>
#include <shared_mutex>

#include "loader/device/device.h"
#include "loader/device/join.h"
#include "loader/device/kernel_info.h"
#include "loader/device/variables.h"
#include "translate/lower/shared_names.h"
#include "translate/translate.h"

namespace ptxrun::device {

namespace {

constexpr uint64_t kTwoGibi = uint64_t{1} << 31;

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
  return options;
}

/// True if no axis of the grid has 2^31 threads or more.
bool isBelow2G(abi::Dim3 grid, abi::Dim3 block) {
  return uint64_t{grid.x} * block.x < kTwoGibi && uint64_t{grid.y} * block.y < kTwoGibi &&
         uint64_t{grid.z} * block.z < kTwoGibi;
}

bool isExplicitCluster(const KernelInfo &kernel, const LaunchOptions &options) {
  return options.cluster.x != 0 || kernel.clusterShape[0] != 0 || kernel.isExplicitCluster;
}

translate::VariantKey variantFor(const KernelInfo &kernel, const LaunchOptions &options) {
  translate::VariantKey key;
  key.lanes = options.lanes;
  key.block = {options.block.x, options.block.y, options.block.z};
  key.isGridBelow2G = isBelow2G(options.grid, options.block);
  key.defersCopies = options.asyncCopies != rt::AsyncCopies::eager;
  key.schedulesGangs = options.isCooperative || options.schedule != rt::Schedule::fast ||
                       isExplicitCluster(kernel, options) || key.defersCopies;
  return key;
}

Code codeOf(rt::Status status) {
  switch (status) {
  case rt::Status::ok:
    return Code::ok;
  case rt::Status::illegalAddress:
    return Code::illegalAddress;
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
  LoadedModule(std::string name, std::unique_ptr<translate::Module> translated)
      : name_(std::move(name)), translated_(std::move(translated)) {
    kernels_ = describeKernels(translated_->checked());
  }

  Outcome placeVariables() { return variables_.place(translated_->checked()); }

  const std::string &name() const override { return name_; }
  const check::Module &checked() const override { return translated_->checked(); }
  std::span<const KernelInfo> kernels() const override { return kernels_; }
  std::span<const VariableInfo> variables() const override { return variables_.infos(); }

  Variant compile(const KernelInfo &, const LaunchOptions &, Outcome &) override;

 private:
  struct Made {
    const KernelInfo *kernel;
    translate::VariantKey key;
    Variant variant;
  };

  const std::string name_;
  std::unique_ptr<translate::Module> translated_;
  std::vector<KernelInfo> kernels_;
  VariableMemory variables_;
  std::shared_mutex mutex_; // guards made_
  std::vector<Made> made_;  // short: few block shapes per kernel occur
};

Variant LoadedModule::compile(const KernelInfo &kernel, const LaunchOptions &options,
                              Outcome &outcome) {
  const translate::VariantKey key = variantFor(kernel, options);
  const auto matches = [&](const Made &made) { return made.kernel == &kernel && made.key == key; };
  {
    std::shared_lock lock(mutex_);
    if (auto found = std::ranges::find_if(made_, matches); found != made_.end())
      return found->variant;
  }
  std::string unresolved;
  auto compiled = translated_->kernel(kernel.name, key, [&](std::string_view name) {
    void *address = variables_.find(name);
    if (!address)
      unresolved = name;
    return address;
  });
  if (!compiled) {
    llvm::Error error = compiled.takeError();
    Code code = error.isA<translate::Stopped>() ? Code::stopped : Code::invalidPtx;
    std::string text = llvm::toString(std::move(error));
    if (!unresolved.empty()) {
      code = Code::unresolved;
      text = "kernel '" + kernel.name + "' uses the variable '" + unresolved +
             "', which nothing defines: " + text;
    }
    outcome = Outcome::failed(code, std::move(text));
    return {};
  }
  const jit::Kernel &made = **compiled;
  const bool needsStacks = made.code().needs.maySuspend && !made.code().gangStart;
  Variant variant{*compiled, made.code().needs, made.reason(), needsStacks, made.fromCache};
  std::unique_lock lock(mutex_);
  if (std::ranges::none_of(made_, matches))
    made_.push_back({&kernel, key, variant});
  return variant;
}

template <class Infos> auto *findByName(const Infos &infos, std::string_view name) {
  const auto found = std::ranges::find_if(infos, [&](const auto &i) { return i.name == name; });
  return found == infos.end() ? nullptr : &*found;
}

} // namespace

std::unique_ptr<Module> Module::load(std::string name, std::string text, const LoadOptions &options,
                                     Outcome &outcome) {
  joinTranslateAndRuntime();
  std::string errorText;
  auto translated =
      translate::Module::load(name, std::move(text), translateOptions(options), errorText);
  if (!translated) {
    outcome = Outcome::failed(Code::invalidPtx, std::move(errorText));
    return nullptr;
  }
  auto module = std::make_unique<LoadedModule>(std::move(name), std::move(translated));
  outcome = module->placeVariables();
  if (!outcome.isOk())
    return nullptr;
  return module;
}

bool readAsyncCopies(std::string_view text, LaunchOptions &options) {
  constexpr std::string_view kSeed = "seed:";
  if (text == "eager" || text == "late") {
    options.asyncCopies = text == "late" ? rt::AsyncCopies::late : rt::AsyncCopies::eager;
    return true;
  }
  if (!text.starts_with(kSeed))
    return false;
  text.remove_prefix(kSeed.size());
  const char *end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, options.asyncSeed);
  if (text.empty() || error != std::errc() || rest != end)
    return false;
  options.asyncCopies = rt::AsyncCopies::seeded;
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
  rt::LaunchRequest request;
  request.code = &variant.kernel->code();
  request.grid = options.grid;
  request.block = options.block;
  if (options.cluster.x != 0)
    request.cluster = options.cluster;
  request.isExplicitCluster = isExplicitCluster(kernel, options);
  request.dynamicSharedBytes = options.dynamicSharedBytes;
  request.params = options.params;
  request.isCooperative = options.isCooperative;
  request.threads = options.threads;
  request.timeout = options.timeout;
  request.cancel = options.cancel;
  request.finishedCtas = options.finishedCtas;
  request.schedule = options.schedule;
  request.asyncCopies = options.asyncCopies;
  request.seed = options.seed + options.asyncSeed * 0x9e3779b97f4a7c15u; // one generator for both
  request.printf = options.printf;
  const rt::Failure failure = rt::run(request);
  if (failure.status == rt::Status::ok)
    return {};
  const auto nameShared = [&](uint64_t offset) {
    const check::Function *function = checked().findFunction(kernel.name);
    return function ? lower::sharedVariableAt(checked(), *function, offset) : std::string();
  };
  return Outcome::failed(codeOf(failure.status), describeFailure(failure, *variant.kernel,
                                                                 kernel.name, name(), nameShared));
}

} // namespace ptxrun::device
