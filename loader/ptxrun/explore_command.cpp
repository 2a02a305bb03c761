// ptxrun explore: many schedules of a kernel, a launch description or a recorded launch.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "loader/capture/blocks.h"
#include "loader/capture/replayer.h"
#include "loader/device/launch_settings.h"
#include "loader/ptxrun/commands.h"
#include "loader/ptxrun/errors.h"
#include "loader/ptxrun/module_file.h"
#include "loader/ptxrun/run_arguments.h"
#include "loader/ptxrun/workload.h"

namespace ptxrun::command {

namespace {

constexpr const char *kTimeoutSeconds = "20";

bool isRecording(const std::string &file) {
  std::ifstream stream(file, std::ios::binary);
  char magic[sizeof capture::kMagic] = {};
  return stream.read(magic, sizeof magic) && std::memcmp(magic, capture::kMagic, sizeof magic) == 0;
}

/// One recorded launch, from the memory it had.
class RecordedLaunch final : public Workload {
 public:
  RecordedLaunch(const capture::LaunchEvent &event, device::Module &module,
                 const device::KernelInfo &kernel, std::string text,
                 const capture::MemoryTable &memory, std::chrono::nanoseconds timeout)
      : event_(event), module_(module), kernel_(kernel), text_(std::move(text)), timeout_(timeout) {
    for (const auto &[base, range] : memory.ranges) {
      ranges_.push_back({base, range.bytes});
      before_.emplace_back(reinterpret_cast<const char *>(base), range.bytes);
    }
  }

  WorkloadResult run(const ScheduleTry &how) override {
    for (size_t i = 0; i < ranges_.size(); ++i)
      std::memcpy(reinterpret_cast<void *>(ranges_[i].base), before_[i].data(), ranges_[i].bytes);
    device::LaunchOptions options;
    options.timeout = timeout_;
    options.endsHangs = true;
    capture::applyLaunch(event_, options);
    options.hasPinnedLanes = false; // the schedule is not that of the recording
    options.script = nullptr;
    if (how.script)
      useScript(how.script, options);
    else
      device::readSchedule(how.schedule, options);
    WorkloadResult result;
    options.printf = [&](std::string_view text) { result.printed += text; };
    if (how.records) {
      how.records->resize(1);
      how.records->front().keepsAccesses = how.keepsAccesses;
      options.scheduleRecord = &how.records->front();
    }
    device::Outcome outcome;
    const device::Variant variant = module_.compile(kernel_, options, outcome);
    if (variant.kernel)
      outcome = module_.launch(kernel_, variant, options);
    if (!outcome.isOk()) {
      result.failure = nameOf(outcome.code);
      result.message = outcome.message;
    }
    for (const capture::Span &range : ranges_)
      result.contents.emplace_back(reinterpret_cast<const char *>(range.base), range.bytes);
    return result;
  }
  std::vector<std::string> names() const override {
    return std::vector<std::string>(ranges_.size());
  }
  std::string describeByte(size_t buffer, uint64_t offset) const override {
    char text[64];
    std::snprintf(text, sizeof text, "the byte at 0x%llx",
                  static_cast<unsigned long long>(ranges_[buffer].base + offset));
    return text;
  }
  LaunchInfo launch(uint64_t) const override {
    return {&module_, text_, event_.kernel, event_.grid, event_.block};
  }

 private:
  const capture::LaunchEvent &event_;
  device::Module &module_;
  const device::KernelInfo &kernel_;
  const std::string text_;
  const std::chrono::nanoseconds timeout_;
  std::vector<capture::Span> ranges_;
  std::vector<std::string> before_;
};

struct ExploreArguments {
  ExploreOptions options;
  std::optional<uint64_t> launch;
};

/// True if all results are the same.
bool exploreRecording(const std::string &file, const ExploreArguments &given,
                      std::chrono::nanoseconds timeout) {
  capture::RecordingIndex index = capture::readIndex(file);
  if (index.launches.empty())
    throw UsageError(file + " has no launches");
  if (given.launch &&
      std::ranges::find(index.launches, *given.launch, &capture::RecordingIndex::Launch::number) ==
          index.launches.end())
    throw UsageError(file + " has no launch " + std::to_string(*given.launch));
  bool isSame = true;
  capture::ReplayOptions options;
  options.file = file;
  options.from = given.launch.value_or(index.launches.front().number);
  options.to = given.launch.value_or(index.launches.back().number);
  capture::Replayer replayer(options);
  replayer.run([](const capture::LaunchReport &) {},
               [&](const capture::LaunchEvent &event, device::Module &module,
                   const device::KernelInfo &kernel) {
                 std::printf("launch %llu, kernel '%s'\n",
                             static_cast<unsigned long long>(event.number), event.kernel.c_str());
                 RecordedLaunch launch(event, module, kernel, replayer.textOf(event.module),
                                       replayer.memory(), timeout);
                 isSame &= explore(launch, given.options);
                 launch.run({}); // what follows finds what serial leaves
               });
  return isSame;
}

std::chrono::nanoseconds timeoutOf(const RunOptions &options) {
  device::LaunchOptions read;
  const std::string wrong = device::readSetting(*device::findSetting("timeout"), "--timeout",
                                                options.settings.at("timeout"), read);
  if (!wrong.empty())
    throw UsageError(wrong);
  return read.timeout;
}

void run(RunArguments &plan, ExploreArguments &given) {
  if (given.options.output.empty())
    given.options.output = std::filesystem::path(plan.file).stem().string() + ".schedule";
  plan.options.settings.try_emplace("timeout", kTimeoutSeconds);
  bool isSame = true;
  if (isRecording(plan.file)) {
    try {
      isSame = exploreRecording(plan.file, given, timeoutOf(plan.options));
    } catch (const capture::BadRecording &bad) {
      throw UsageError(bad.what());
    }
  } else {
    plan.options.showsProgress = false;
    plan.options.explore = [&](Workload &workload) { isSame = explore(workload, given.options); };
    runAsAsked(plan);
  }
  if (!isSame)
    throw Failed("");
}

} // namespace

void addExplore(CLI::App &app) {
  auto *command =
      app.add_subcommand("explore", "Run a kernel, launch description or recording under many "
                                    "schedules: do results differ, and who raced?");
  auto plan = addRunOptions(*command);
  auto given = std::make_shared<ExploreArguments>();
  command->add_option("--seeds", given->options.seeds, "How many seeds to try")
      ->capture_default_str();
  command->add_option("--first-seed", given->options.firstSeed, "The first of them")
      ->capture_default_str();
  command->add_flag("--all", given->options.isThorough,
                    "Try all seeds, also after the first other result");
  command
      ->add_option("--shrink-seconds", given->options.shrinkSeconds,
                   "Time to look for a shorter script")
      ->capture_default_str();
  command->add_option("-o,--output", given->options.output,
                      "Where the script is written (default: NAME.schedule)");
  command->add_option("--launch", given->launch, "Of a recording: which launch");
  command->footer("Exit codes: 0 all schedules give the same result, 1 they do not, 2 the command "
                  "line or a file is wrong.");
  command->callback([plan, given] { run(*plan, *given); });
}

} // namespace ptxrun::command
