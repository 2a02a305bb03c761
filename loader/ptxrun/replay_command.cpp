// ptxrun replay: runs a recording again and compares every launch.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <regex>

#include "loader/device/launch_settings.h"
#include "loader/ptxrun/commands.h"
#include "loader/ptxrun/errors.h"
#include "loader/ptxrun/interrupt.h"
#include "loader/ptxrun/module_file.h"
#include "loader/ptxrun/plot.h"
#include "loader/ptxrun/recorded_program.h"
#include "loader/ptxrun/replay_report.h"
#include "loader/ptxrun/run_arguments.h"
#include "loader/ptxrun/shape_text.h"
#include "loader/ptxrun/suggest.h"

namespace ptxrun::command {

namespace {

constexpr const char *kReplayFooter =
    R"(Exit codes: 0 every launch gives the same bits as when it was recorded, 1 one differs, 2 the command line or the
file is wrong. Addresses are those of the recorded program.

  ptxrun replay run.rec                            every launch, verified
  ptxrun replay run.rec --launch 7 --export l.toml launch 7 as a description for ptxrun run
  ptxrun replay run.rec --substitute ptx=fixed.ptx what changes with another module?
  ptxrun replay run.rec --launch 7 --last-write 0x200000000040)";

struct ReplayArguments {
  std::string trace, file, kernel, schedule, grid, block, dumpFolder, exportFile, lastWrite,
      plotFile, tiers = "tiered";
  std::optional<uint64_t> launch, from, to;
  std::vector<std::string> substitutions;
  unsigned repeat = 1, lanes = 0;
  int threads = 0;
  bool isTimed = false, isQuiet = false, isPlain = false;
};

class ReplayRun {
 public:
  explicit ReplayRun(ReplayArguments &given) : given_(given) {}

  void run() {
    startTrace(given_.trace);
    if (!given_.plotFile.empty()) {
      const auto plot = [&](debug::Program &program, const auto &) {
        plotLaunches(program, given_.plotFile);
        return true;
      };
      visitRecorded(given_.file, given_.launch, given_.schedule, plot);
      return;
    }
    readOptions();
    capture::Replayer replayer(options_);
    replayer_ = &replayer;
    try {
      replayer.run([this](const capture::LaunchReport &r) { report(r); },
                   [this](const capture::LaunchEvent &event, device::Module &module,
                          const device::KernelInfo &kernel) {
                     if (given_.exportFile.empty() || event.number != options_.to)
                       return;
                     exportLaunch(given_.exportFile, event, module, replayer_->textOf(event.module),
                                  kernel, replayer_->memory());
                   });
    } catch (const capture::BadRecording &) {
      if (capture::Replayer::wasAddressTaken)
        startAgain();
      throw;
    }
    for (const std::string &module : replayer.unusedSubstitutions())
      throw UsageError("--substitute: " + given_.file + " loads no module '" + module +
                       "'; there are " + replayer.moduleNames());
    if (!given_.dumpFolder.empty())
      dumpMemory(replayer.memory(), given_.dumpFolder);
    finish();
  }

 private:
  void readOptions() {
    index_ = capture::readIndex(given_.file);
    options_.file = given_.file;
    options_.cancel = watchInterrupts();
    options_.schedule = given_.schedule;
    options_.threads = given_.threads;
    options_.repeat = given_.repeat;
    device::LaunchOptions environment;
    device::readEnvironment(environment, [](const std::string &wrong) { throw UsageError(wrong); });
    options_.code = environment.code;
    if (given_.lanes)
      options_.code.lanes = given_.lanes;
    if (!device::readTiers(given_.tiers, options_.tiers))
      throw UsageError("--tiers takes optimised, baseline or tiered, not '" + given_.tiers + "'");
    if (given_.launch)
      given_.from = given_.to = given_.launch;
    options_.from = given_.from.value_or(0);
    options_.to = given_.to.value_or(~uint64_t{0});
    requireLaunches();
    if (!given_.lastWrite.empty()) {
      if (!given_.launch && !given_.to)
        throw UsageError("--last-write needs --launch N");
      record_.keepsAccesses = true;
      options_.scheduleRecord = &record_;
      options_.schedule = given_.schedule.empty() ? "oldest-first" : given_.schedule;
      char *end = nullptr;
      lastWriteAddress_ = std::strtoull(given_.lastWrite.c_str(), &end, 0);
      if (*end || !isdigit(static_cast<unsigned char>(given_.lastWrite[0])))
        throw UsageError("--last-write takes an address, not '" + given_.lastWrite + "'");
      record_.watchBegin = lastWriteAddress_;
      record_.watchEnd = lastWriteAddress_ + 1;
    }
    if (!given_.exportFile.empty() && !given_.launch)
      throw UsageError("--export needs --launch N");
    if (!given_.grid.empty())
      options_.grid = shapeOf(given_.grid, "--grid");
    if (!given_.block.empty())
      options_.block = shapeOf(given_.block, "--block");
    if (options_.grid || options_.block)
      std::fprintf(stderr,
                   "ptxrun: launches run with another shape than they were recorded with\n");
    for (const std::string &text : given_.substitutions) {
      const size_t equals = text.find('=');
      if (equals == std::string::npos)
        throw UsageError("--substitute takes MODULE=FILE.ptx, not '" + text + "'");
      const std::string file = text.substr(equals + 1);
      options_.substitutions.push_back({text.substr(0, equals), readText(file), file});
    }
    device::LaunchOptions ignored;
    if (std::string problem =
            given_.schedule.empty() ? "" : device::readSchedule(given_.schedule, ignored);
        !problem.empty())
      throw UsageError("--schedule: " + problem);
    if (!given_.isQuiet)
      options_.printf = [](std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), stdout);
      };
  }

  /// There must be something to do.
  void requireLaunches() const {
    if (given_.launch &&
        std::ranges::find(index_.launches, *given_.launch,
                          &capture::RecordingIndex::Launch::number) == index_.launches.end())
      throw UsageError(given_.file + " has no launch " + std::to_string(*given_.launch));
    const std::regex names(given_.kernel);
    std::vector<std::string> kernels;
    for (const auto &launch : index_.launches)
      if (launch.number >= options_.from && launch.number <= options_.to) {
        if (std::regex_search(launch.kernel, names))
          return;
        kernels.push_back(launch.kernel);
      }
    if (index_.launches.empty())
      return;
    if (kernels.empty())
      throw UsageError(given_.file + " has no launch from " + std::to_string(options_.from) +
                       (given_.to ? " to " + std::to_string(options_.to) : " on") +
                       "; its launches are " + std::to_string(index_.launches.front().number) +
                       " to " + std::to_string(index_.launches.back().number));
    const std::string near = nearestName(given_.kernel, kernels);
    throw UsageError(given_.file + " has no launch of a kernel that matches '" + given_.kernel +
                     "'" + (near.empty() ? "" : "; did you mean '" + near + "'?"));
  }

  void report(const capture::LaunchReport &r) {
    if (!given_.kernel.empty() && !std::regex_search(r.event->kernel, std::regex(given_.kernel)))
      return;
    ++launches_;
    const std::string name =
        "launch " + std::to_string(r.event->number) + ", kernel '" + r.event->kernel + "'";
    if (!given_.lastWrite.empty())
      return answerLastWrite(r);
    if (r.difference.empty()) {
      if (given_.isTimed)
        printTime(name, r);
      if (!r.isVerified && !given_.isQuiet)
        std::printf("%s: it had not ended when the recording ends; now %s\n", name.c_str(),
                    r.outcome.isOk() ? "it does" : r.outcome.message.c_str());
      else if (!r.outcome.isOk() && !given_.isQuiet)
        std::printf("%s: fails as recorded: %s\n", name.c_str(), r.outcome.message.c_str());
      return;
    }
    if (differences_++ == 0)
      explain(name, r);
  }

  void printTime(const std::string &name, const capture::LaunchReport &r) {
    std::vector<double> sorted = r.milliseconds;
    std::ranges::sort(sorted);
    if (!sorted.empty())
      std::printf("%s: %.3f ms (median of %zu, %u lanes)\n", name.c_str(),
                  sorted[sorted.size() / 2], sorted.size(), r.lanes);
  }

  void answerLastWrite(const capture::LaunchReport &r) {
    if (r.event->number != options_.to)
      return;
    const device::Module *module = replayer_->module(r.event->module);
    const std::string answer = lastWrite(record_, lastWriteAddress_, *module,
                                         replayer_->textOf(r.event->module), *r.event);
    std::printf("%s\n", answer.c_str());
  }

  /// The first difference: which byte, and who wrote it.
  void explain(const std::string &name, const capture::LaunchReport &r) {
    std::printf("%s: %s\n", name.c_str(), r.difference.c_str());
    if (!r.piece || given_.isPlain || options_.grid || options_.block)
      return;
    std::fflush(stdout);
    std::string problem;
    const ReferenceMemory expected(given_.file, r.event->number, problem);
    const auto byte =
        problem.empty() ? expected.firstDifference(replayer_->memory(), *r.piece) : std::nullopt;
    if (!byte) {
      std::printf("  %s\n", problem.empty() ? "no byte differs" : problem.c_str());
      return;
    }
    std::printf("  first differing byte: 0x%llx is 0x%02x; recorded was 0x%02x\n",
                static_cast<unsigned long long>(byte->address), byte->found, byte->expected);
    std::vector<std::string> arguments;
    for (const std::string &text : given_.substitutions)
      arguments.insert(arguments.end(), {"--substitute", text});
    if (!given_.schedule.empty() && given_.schedule != "fast" && given_.schedule != "serial")
      arguments.insert(arguments.end(), {"--schedule", given_.schedule});
    const std::string writer =
        findLastWrite(given_.file, r.event->number, byte->address, arguments);
    std::printf("  %s\n", writer.empty() ? "nothing wrote it in this launch" : writer.c_str());
  }

  void finish() {
    if (!given_.lastWrite.empty())
      return;
    if (differences_)
      throw Failed(differences_ == 1 ? "" : std::to_string(differences_) + " launches differ");
    if (given_.isQuiet)
      return;
    uint64_t ended = 0;
    for (const auto &launch : index_.launches)
      ended += launch.result.has_value();
    if (index_.launches.empty())
      std::printf("no launch was recorded\n");
    else if (launches_ != 0)
      std::printf("%llu launch%s, %sthe same bits as recorded\n",
                  static_cast<unsigned long long>(launches_), launches_ == 1 ? "" : "es",
                  launches_ == 1 ? "" : "each ");
    if (ended < index_.launches.size())
      std::printf("launch %llu had not ended when the recording ends\n",
                  static_cast<unsigned long long>(index_.launches.back().number));
    else if (!index_.isComplete)
      std::printf("the recording ends before the program did\n");
  }

  ReplayArguments &given_;
  capture::ReplayOptions options_;
  capture::RecordingIndex index_;
  capture::Replayer *replayer_ = nullptr;
  rt::ScheduleRecord record_;
  uint64_t lastWriteAddress_ = 0, launches_ = 0, differences_ = 0;
};

void replay(ReplayArguments &given) {
  try {
    ReplayRun(given).run();
  } catch (const capture::BadRecording &bad) {
    const std::string what = bad.what();
    throw UsageError(what.starts_with(given.file) ? what : given.file + ": " + what);
  } catch (const std::regex_error &error) {
    throw UsageError(std::string("--kernel: ") + error.what());
  }
}

} // namespace

void addReplay(CLI::App &app) {
  auto *command = app.add_subcommand("replay", "Run a recording again and compare every launch");
  auto given = std::make_shared<ReplayArguments>();
  command->footer(kReplayFooter);
  command->add_option("FILE", given->file, "The recording")->required();
  command->add_option("--launch", given->launch, "One launch, by its number from 0 on");
  command->add_option("--from", given->from, "The first launch that is compared");
  command->add_option("--to", given->to, "The last launch that runs");
  command->add_option("--kernel", given->kernel, "Compare launches of kernels whose names match");
  command
      ->add_option("--substitute", given->substitutions,
                   "Load another file in a module's place: MODULE=FILE.ptx")
      ->allow_extra_args(false)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--schedule", given->schedule,
                      "Another schedule than recorded, as for ptxrun run");
  command->add_option("--grid", given->grid, "Another grid: X, X,Y or X,Y,Z");
  command->add_option("--block", given->block, "Another block: X, X,Y or X,Y,Z");
  command
      ->add_option("--lanes", given->lanes,
                   "Threads per SIMD gang where the recording leaves it open")
      ->check(CLI::IsMember({1, 8, 16, 32}));
  command->add_option("--threads", given->threads, "CPU threads")->check(CLI::PositiveNumber);
  command->add_option("--tiers", given->tiers, "Which code runs: optimised, baseline or tiered")
      ->capture_default_str();
  command->add_option("--repeat", given->repeat, "Run each launch so often")
      ->check(CLI::PositiveNumber);
  command->add_flag("--time", given->isTimed, "Print how long each launch takes");
  command->add_option("--trace", given->trace,
                      "Write what happens when to this file, for Perfetto or chrome://tracing");
  command->add_option("--dump-memory", given->dumpFolder,
                      "Write all memory after the last launch to this folder");
  command->add_option("--export", given->exportFile,
                      "Write the launch as a description (.toml) with its buffers");
  command->add_option(
      "--plot", given->plotFile,
      "Write a page (HTML) that shows what the warps of launch --launch do, per line");
  command->add_option("--last-write", given->lastWrite,
                      "Who wrote this address last in launch --launch");
  command->add_flag("-q,--quiet", given->isQuiet, "Say only what went wrong");
  command->add_flag("--plain", given->isPlain, "Do not look for the byte that differs");
  command->callback([given] { replay(*given); });
}

} // namespace ptxrun::command
