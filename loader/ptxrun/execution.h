// Running a plan: loads the module, makes the buffers, launches in order, writes and checks the
// results.
#pragma once
#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>

#include "loader/capture/recorder.h"
#include "loader/device/launch_settings.h"
#include "loader/machine/device_info.h"
#include "loader/ptxrun/arguments.h"
#include "loader/ptxrun/compare.h"
#include "loader/ptxrun/errors.h"
#include "loader/ptxrun/interrupt.h"
#include "loader/ptxrun/module_file.h"
#include "loader/ptxrun/npy.h"
#include "loader/ptxrun/plan.h"
#include "loader/ptxrun/progress.h"
#include "loader/ptxrun/tensor_argument.h"
#include "loader/ptxrun/workload.h"

namespace ptxrun::command {

using Clock = std::chrono::steady_clock;

inline double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct Buffer {
  std::string name;
  BufferSpec spec;
  Array now;
  std::optional<Array>
      before; ///< contents before the first launch, kept where they are needed again
};

/// How long each stage of compiling took, added up over all kernels and forms of their code.
class StageTimes {
 public:
  void add(std::string_view stage, double milliseconds) {
    std::lock_guard lock(mutex_); // stages end on the threads that ran them
    for (auto &[name, sum] : times_)
      if (name == stage) {
        sum += milliseconds;
        return;
      }
    times_.emplace_back(stage, milliseconds);
  }
  void print() const {
    const char *separator = "stages: ";
    for (const auto &[name, sum] : times_) {
      std::printf("%s%s %.2f ms", separator, name.c_str(), sum);
      separator = ", ";
    }
    if (!times_.empty())
      std::printf("\n");
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<std::string, double>> times_; ///< in the order of their first end
};

struct Timing {
  double compileMs = 0;
  bool isFromCache = false;
  unsigned lanes = 0;
  bool hasEnded = false; ///< without an error
  std::vector<double> runMs;
};

class Execution final : public Workload {
 public:
  Execution(const Plan &plan, const RunOptions &options) : plan_(plan), options_(options) {}

  void run() {
    startRecording();
    device::LoadOptions loadOptions;
    loadOptions.dumpDirectory = options_.dumpDirectory;
    loadOptions.stopAfter = options_.stopAfter;
    loadOptions.useCache = options_.useCache;
    loadOptions.cacheDirectory = options_.cacheDirectory;
    loadOptions.tiers = options_.tiers;
    if (options_.isTimed)
      loadOptions.onStage = [this](std::string_view stage, std::string_view, double milliseconds) {
        stages_.add(stage, milliseconds);
      };
    module_ = loadModule(plan_.module, loadOptions);
    if (!options_.stopAfter.empty())
      return stopAfterStage();
    launches_.assign(plan_.launches.begin(), plan_.launches.end());
    timings_.resize(launches_.size());
    makeBuffers();
    cancel_ = watchInterrupts();
    if (options_.explore)
      return options_.explore(*this);
    if (options_.debug)
      return debugLaunches();
    device::Outcome outcome;
    for (unsigned round = 0; round < std::max(1u, options_.repeat) && outcome.isOk(); ++round) {
      if (round)
        restoreBuffers();
      printed_.clear();
      launchNumber_ = 0;
      for (size_t k = 0; k < launches_.size() && outcome.isOk(); ++k)
        outcome = asExpected(launches_[k], launch(k));
    }
    if (auto *recorder = capture::Recorder::instance())
      recorder->finish();
    report();
    checkOutcome(outcome);
    if (outcome.isOk())
      writeOutputs();
    checkExpectations();
  }

  // plan_workload.cpp
  WorkloadResult run(const ScheduleTry &) override;
  std::vector<std::string> names() const override;
  std::string describeByte(size_t buffer, uint64_t offset) const override;
  LaunchInfo launch(uint64_t number) const override;

 private:
  friend class DescribedProgram;
  void debugLaunches(); // plan_debug.cpp

  void startRecording() {
    if (options_.record.empty())
      return;
    capture::RecordOptions wanted;
    wanted.file = options_.record;
    wanted.keepsInputsApart = options_.inputs == "digest";
    if (std::string problem = capture::Recorder::start(wanted); !problem.empty())
      throw UsageError("--record: " + problem);
    capture::Recorder::instance()->noteAllHostVisible(); // buffers are filled where they lie
  }

  void stopAfterStage() {
    device::Outcome outcome;
    const bool isOfModule = options_.stopAfter == "parse" || options_.stopAfter == "check";
    for (const Launch &launch : plan_.launches) {
      if (!module_ || isOfModule)
        break; // stopped while loading: it need not have a kernel
      auto &kernel = chooseKernel(*module_, launch.kernel);
      device::LaunchOptions options = launchOptions(launch);
      if (std::string problem = completeShape(kernel, options); !problem.empty())
        throw Failed(problem);
      module_->compile(kernel, options, outcome);
      if (!outcome.isOk() && outcome.code != device::Code::stopped)
        throw Failed(outcome.message);
    }
    if (options_.isQuiet)
      return;
    std::printf("stopped after %s%s\n", options_.stopAfter.c_str(),
                options_.dumpDirectory.empty()
                    ? ""
                    : ("; the dumps are in " + options_.dumpDirectory).c_str());
    stages_.print();
  }

  /// The first who says something of a setting; all texts were read before.
  void readSetting(const device::LaunchSetting &setting, const Launch &launch,
                   device::LaunchOptions &options) const {
    const bool isOverridden = setting.effect == device::LaunchSetting::speed;
    const Settings &first = isOverridden ? options_.settings : launch.settings,
                   &second = isOverridden ? launch.settings : options_.settings;
    for (const Settings *given : {&first, &second, &options_.environment})
      if (const auto text = given->find(setting.word); text != given->end()) {
        setting.read(text->second, options);
        return;
      }
  }

  abi::Dim3 dimensions(const std::array<std::string, 3> &texts) const {
    uint32_t values[3];
    for (size_t k = 0; k < 3; ++k) {
      int64_t value = Expression(texts[k], plan_.constants).asInteger();
      if (value < 1 || value > UINT32_MAX)
        throw UsageError("'" + texts[k] + "' is no extent of a grid or block" +
                         (value < 1 ? ": it must be at least 1"
                                    : ": grids have at most 2147483647 blocks in x and 65535 in y "
                                      "and z, blocks at most 1024 threads"));
      values[k] = static_cast<uint32_t>(value);
    }
    return {values[0], values[1], values[2]};
  }

  std::vector<Symbol> symbols(bool areInitial) const {
    std::vector<Symbol> result = plan_.constants;
    for (const Buffer &buffer : buffers_)
      result.push_back(
          {buffer.name, areInitial && buffer.before ? &*buffer.before : &buffer.now, 0});
    return result;
  }

  Buffer *findBuffer(std::string_view name) {
    for (Buffer &buffer : buffers_)
      if (buffer.name == name)
        return &buffer;
    return nullptr;
  }

  void makeBuffer(const std::string &name, const BufferSpec &spec) {
    for (const Symbol &constant : plan_.constants)
      if (constant.name == name)
        throw UsageError("'" + name + "' is both a constant and a buffer");
    if (findBuffer(name))
      throw UsageError("there are two buffers named '" + name + "'");
    buffers_.push_back(
        {name, spec, makeArray(spec, plan_.directory, symbols(false)), std::nullopt});
  }

  /// Named buffers first, then those written in the place of an argument.
  void makeBuffers() {
    for (const NamedBuffer &buffer : plan_.buffers)
      makeBuffer(buffer.name, buffer.spec);
    for (size_t k = 0; k < launches_.size(); ++k)
      for (size_t a = 0; a < launches_[k].arguments.size(); ++a)
        makeInlineBuffer(k, a);
    bool isNeededAgain = options_.repeat > 1 || options_.explore;
    for (const Expectation &expectation : plan_.expectations)
      isNeededAgain |= !expectation.value.empty();
    if (!isNeededAgain)
      return;
    for (Buffer &buffer : buffers_)
      buffer.before = buffer.now.copy();
  }

  void makeInlineBuffer(size_t launch, size_t argument) {
    std::string &text = launches_[launch].arguments[argument];
    if (!looksLikeBuffer(text))
      return;
    std::string name = (launches_.size() > 1 ? "launch " + std::to_string(launch + 1) + ", " : "") +
                       "argument " + std::to_string(argument + 1);
    makeBuffer(name, parseBufferSpec(text));
    text = name;
  }

  bool looksLikeBuffer(const std::string &text) {
    if (findBuffer(text) || isTensorMap(text))
      return false;
    BufferSpec spec = parseBufferSpec(text);
    if (spec.role != BufferSpec::Role::in || text.starts_with("in:") || isGenerated(text) ||
        text.ends_with(".npy"))
      return true;
    bool isNumber = !text.empty() && std::strchr("+-0123456789={", text[0]);
    return !isNumber && std::filesystem::is_regular_file(
                            joinPath(plan_.directory, text.substr(0, text.rfind(':'))));
  }

  void restoreBuffers() {
    tensorMaps_.clear();
    for (Buffer &buffer : buffers_)
      std::memcpy(buffer.now.data(), buffer.before->data(), buffer.now.bytes());
  }

  /// A tensor-map is encoded once; kernels may change the one that they are pointed to.
  const void *addressOfTensorMap(std::string_view text) {
    auto [entry, isNew] = tensorMaps_.try_emplace(std::string(text));
    if (isNew) {
      const rt::TensorMap map = makeTensorMap(
          text, [this](std::string_view name) { return addressOf(name); }, plan_.constants);
      entry->second = Array(Element::u8, {sizeof map});
      std::memcpy(entry->second.data(), &map, sizeof map);
    }
    return entry->second.data();
  }

  /// A buffer's name, with an offset in bytes if there is a '+', or a tensor-map.
  std::optional<const void *> addressOf(std::string_view text) {
    if (isTensorMap(text))
      return addressOfTensorMap(text);
    if (Buffer *buffer = findBuffer(text))
      return buffer->now.data();
    size_t plus = text.rfind('+');
    if (plus == std::string_view::npos)
      return std::nullopt;
    Buffer *buffer = findBuffer(text.substr(0, plus));
    if (!buffer)
      return std::nullopt;
    return buffer->now.data() + Expression(text.substr(plus + 1), plan_.constants).asInteger();
  }

  /// Constants' names and `=expression` become numbers; `r` is the turn of a launch with `times`.
  std::vector<std::string> resolvedArguments(const Launch &launch, const device::KernelInfo &kernel,
                                             unsigned turn) {
    std::vector<Symbol> constants = plan_.constants;
    constants.push_back({"r", nullptr, turn});
    std::vector<std::string> texts = launch.arguments;
    for (size_t k = 0; k < texts.size(); ++k) {
      bool isConstant = std::any_of(plan_.constants.begin(), plan_.constants.end(),
                                    [&](const Symbol &symbol) { return symbol.name == texts[k]; });
      if (!isConstant && !texts[k].starts_with("="))
        continue;
      Expression value(isConstant ? texts[k] : texts[k].substr(1), constants);
      bool isReal = k < kernel.parameters.size() && isa::isFloat(kernel.parameters[k].type);
      char digits[40];
      if (isReal)
        std::snprintf(digits, sizeof digits, "%.17g", value.asDouble());
      texts[k] = isReal ? digits : std::to_string(value.asInteger());
    }
    return texts;
  }

  device::LaunchOptions launchOptions(const Launch &launch) {
    device::LaunchOptions options;
    options.grid = dimensions(launch.grid);
    options.block = dimensions(launch.block);
    if (launch.cluster)
      options.cluster = {(*launch.cluster)[0], (*launch.cluster)[1], (*launch.cluster)[2]};
    int64_t shared = Expression(launch.sharedBytes, plan_.constants).asInteger();
    if (shared < 0 || shared > UINT32_MAX)
      throw UsageError("'" + launch.sharedBytes + "' is no size of shared memory");
    options.dynamicSharedBytes = static_cast<uint32_t>(shared);
    options.isCooperative = launch.isCooperative;
    options.threads = options_.threads;
    options.cancel = cancel_;
    options.endsHangs = !options_.debug;
    for (const device::LaunchSetting &setting : device::launchSettings())
      readSetting(setting, launch, options);
    if (tried_)
      applyTry(options);
    if (keepsPrinted())
      options.printf = [this](std::string_view text) {
        std::lock_guard lock(printMutex_);
        printed_ += text;
        if (!options_.isQuiet && !tried_)
          std::fwrite(text.data(), 1, text.size(), stdout);
      };
    return options;
  }

  /// Why the launch would be refused; empty where it would not.
  std::string completeShape(const device::KernelInfo &kernel, device::LaunchOptions &options) {
    std::string problem = device::shapeLaunch(kernel, options);
    if (problem.empty())
      problem =
          device::findExcess(kernel, options, module_->staticMemory(kernel).sharedBytes,
                             static_cast<uint64_t>(machine::deviceInfo().sharedPerBlockOptin));
    return problem;
  }

  bool keepsPrinted() const {
    return tried_ || std::any_of(plan_.expectations.begin(), plan_.expectations.end(),
                                 [](const Expectation &e) { return e.printed.has_value(); });
  }

  device::Outcome launch(size_t index) {
    const Launch &launch = launches_[index];
    const device::KernelInfo &kernel = chooseKernel(*module_, launch.kernel);
    device::LaunchOptions options = launchOptions(launch);
    if (std::string problem = completeShape(kernel, options); !problem.empty())
      return device::Outcome::failed(device::Code::invalidValue, std::move(problem));
    Timing &timing = timings_[index];
    device::Outcome outcome;
    auto start = Clock::now();
    uint64_t blocks = uint64_t{options.grid.x} * options.grid.y * options.grid.z;
    auto variant = module_->compile(kernel, options, outcome);
    if (!outcome.isOk())
      return outcome;
    if (timing.runMs.empty())
      timing.compileMs = millisecondsSince(start), timing.isFromCache = variant.isFromCache;
    timing.lanes = variant.needs.lanes;
    double ms = 0;
    for (unsigned turn = 0; turn < launch.times && outcome.isOk(); ++turn) {
      auto params = packArguments(kernel, resolvedArguments(launch, kernel, turn),
                                  [this](std::string_view text) { return addressOf(text); });
      options.params = params.data();
      options.launchNumber = launchNumber_++;
      if (tried_)
        noteLaunch(launch, kernel, options);
      std::atomic<uint64_t> finished{0};
      options.finishedCtas = &finished;
      ProgressBar bar(kernel.name, blocks, finished, options_.showsProgress);
      start = Clock::now();
      outcome = module_->launch(kernel, variant, options);
      if (outcome.code == device::Code::illegalAddress)
        outcome.message += notAddresses(kernel, resolvedArguments(launch, kernel, turn));
      ms += millisecondsSince(start);
    }
    timing.runMs.push_back(ms);
    timing.hasEnded = outcome.isOk();
    return outcome;
  }

  static std::string shapeText(abi::Dim3 d) {
    std::string text = std::to_string(d.x);
    if (d.y > 1 || d.z > 1)
      text += "x" + std::to_string(d.y);
    if (d.z > 1)
      text += "x" + std::to_string(d.z);
    return text;
  }

  void report() {
    if (options_.isQuiet)
      return;
    for (size_t k = 0; k < launches_.size(); ++k) {
      Timing &timing = timings_[k];
      if (!timing.hasEnded)
        continue;
      const Launch &launch = launches_[k];
      std::printf(
          "%s: grid %s, block %s, %u lane%s", chooseKernel(*module_, launch.kernel).name.c_str(),
          shapeText(dimensions(launch.grid)).c_str(), shapeText(dimensions(launch.block)).c_str(),
          timing.lanes, timing.lanes == 1 ? "" : "s");
      if (launch.times > 1)
        std::printf(", %u times", launch.times);
      if (options_.isTimed)
        reportTime(timing);
      std::printf("\n");
    }
    stages_.print();
  }

  static void reportTime(Timing &timing) {
    std::sort(timing.runMs.begin(), timing.runMs.end());
    std::printf("; %s in %.2f ms, ran in %.3f ms",
                timing.isFromCache ? "found in the cache" : "compiled", timing.compileMs,
                timing.runMs[timing.runMs.size() / 2]);
    if (timing.runMs.size() > 1)
      std::printf(" (median of %zu; best %.3f)", timing.runMs.size(), timing.runMs.front());
  }

  // execute.cpp
  /// ok where a launch failed as its description says.
  device::Outcome asExpected(const Launch &, device::Outcome);
  void checkOutcome(const device::Outcome &);
  void writeOutputs();
  void checkExpectations();
  std::string checkPrinted(const Expectation &);
  std::string checkBuffer(const Expectation &);

  const Plan &plan_;
  const RunOptions &options_;
  StageTimes stages_; ///< with --time; outlives the module, which tells it
  std::unique_ptr<device::Module> module_;
  std::vector<Launch> launches_;
  std::vector<Timing> timings_;
  std::deque<Buffer> buffers_;
  std::map<std::string, Array> tensorMaps_; ///< by their texts
  const std::atomic<bool> *cancel_ = nullptr;
  uint64_t launchNumber_ = 0; ///< of this round
  void applyTry(device::LaunchOptions &) const;
  void noteLaunch(const Launch &, const device::KernelInfo &, device::LaunchOptions &);
  const ScheduleTry *tried_ = nullptr; ///< while run(ScheduleTry) is at work
  std::vector<LaunchInfo> infos_;      ///< of its launches
  std::mutex printMutex_;
  std::string printed_;
};

} // namespace ptxrun::command
