// ptxrun debug: a launch description, a kernel or a recorded launch, stopped and looked at
// anywhere.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstring>
#include <fstream>

#include "loader/capture/blocks.h"
#include "loader/capture/common.h"
#include "loader/capture/hash.h"
#include "loader/capture/replayer.h"
#include "loader/debug/machine.h"
#include "loader/ptxrun/commands.h"
#include "loader/ptxrun/debug_adapter.h"
#include "loader/ptxrun/debug_console.h"
#include "loader/ptxrun/errors.h"
#include "loader/ptxrun/module_file.h"
#include "loader/ptxrun/recorded_program.h"
#include "loader/ptxrun/replay_report.h"
#include "loader/ptxrun/run_arguments.h"
#include "rt/memory/device_memory.h"
#include "rt/observe/clock.h"

namespace ptxrun::command {

namespace {

constexpr const char *kFooter =
    R"(In the session `help` tells all commands; they are cuda-gdb's, and run backwards too.

  ptxrun debug run.rec --launch 7
  ptxrun debug launch.toml
  ptxrun debug saxpy.ptx --kernel saxpy --grid 4096 --block 256 --arg 1048576 --arg 2.0 --arg x.npy --arg inout:y.npy
  ptxrun debug launch.toml --batch -x commands.txt

    (ptxrun) break saxpy.cu:4 if threadIdx.x == 3
    (ptxrun) run
    (ptxrun) print y[i]
    (ptxrun) last-write &y[i]
    (ptxrun) reverse-step

Threads run one by one, in the order of --schedule (default: as recorded, or gangs:W with the W that
the launch has). PTX made with `nvcc -lineinfo` has source lines, with `nvcc -G` variables too.)";

struct DebugArguments {
  ConsoleOptions console;
  std::string adapter;            ///< "stdio" or a port; empty: no adapter
  DebugAdapter *served = nullptr; ///< who serves, once its client has said what to launch
  std::optional<uint64_t> launch;
};

/// One recorded launch, from the memory it had.
class RecordedProgram final : public debug::Program {
 public:
  RecordedProgram(const capture::LaunchEvent &event, device::Module &module,
                  const device::KernelInfo &kernel, std::string text,
                  const capture::MemoryTable &memory, const std::string &schedule,
                  const capture::ResultEvent *recorded)
      : number_(event.number), recorded_(recorded) {
    for (const auto &[base, range] : memory.ranges)
      if (base < rt::kDeviceHeapArena)
        memory_.push_back({reinterpret_cast<char *>(base), range.bytes});
    for (const Memory &memory : memory_)
      hashes_.push_back(hashesOf(memory));
    capture::applyLaunch(event, options_);
    if (!schedule.empty()) {
      options_.hasPinnedLanes = false;
      device::readSchedule(schedule, options_);
    }
    capture::chooseDebuggedOrder(module, kernel, options_);
    facts_.module = &module;
    facts_.kernel = &kernel;
    facts_.text = std::move(text);
    facts_.grid = options_.grid;
    facts_.block = options_.block;
    facts_.params = options_.params;
    facts_.isRepeatable = debug::isRepeatable(options_);
  }

  size_t launches() const override { return 1; }
  const debug::LaunchFacts &launch(size_t) const override { return facts_; }
  uint64_t numberOf(size_t) const override { return number_; }
  std::vector<Memory> memory() const override { return memory_; }
  debug::LaunchResult run(size_t, rt::Stepper &stepper, uint64_t firstGroup,
                          const rt::LaunchCheckpoint *from) override {
    device::LaunchOptions options = options_;
    debug::LaunchResult result;
    options.stepper = &stepper;
    options.firstGroup = firstGroup;
    options.from = from;
    options.printf = [&](std::string_view text) { result.printed += text; };
    result.outcome = facts_.module->launch(*facts_.kernel, options);
    return result;
  }

  /// Whether it came out as it was recorded.
  std::string check() override {
    if (!recorded_)
      return {};
    if (recorded_->code != 0)
      return "It failed when it was recorded: " + recorded_->message;
    std::map<uint64_t, uint64_t> wanted; // what was changed then; all else stays as it was
    for (const capture::Change &change : recorded_->changes)
      wanted[change.address] = change.hash;
    for (size_t i = 0; i < memory_.size(); ++i) {
      const std::vector<uint64_t> now = hashesOf(memory_[i]);
      for (size_t piece = 0; piece < now.size(); ++piece) {
        const uint64_t address =
            reinterpret_cast<uint64_t>(memory_[i].base) + piece * capture::kPieceBytes;
        const auto changed = wanted.find(address);
        if (now[piece] == (changed == wanted.end() ? hashes_[i][piece] : changed->second))
          continue;
        const uint64_t bytes =
            std::min(capture::kPieceBytes, memory_[i].bytes - piece * capture::kPieceBytes);
        char text[300];
        std::snprintf(
            text, sizeof text,
            "It wrote other values than when it was recorded, at 0x%llx or within the %llu bytes "
            "from there: threads race for them, or read clocks. Another --schedule may show "
            "what happened (ptxrun explore finds one).",
            static_cast<unsigned long long>(address), static_cast<unsigned long long>(bytes));
        return text;
      }
    }
    return {};
  }

 private:
  static std::vector<uint64_t> hashesOf(const Memory &memory) {
    std::vector<uint64_t> hashes((memory.bytes + capture::kPieceBytes - 1) / capture::kPieceBytes);
    capture::hashPieces(memory.base, memory.bytes, 0, hashes.size(), hashes.data());
    return hashes;
  }

  const uint64_t number_;
  const capture::ResultEvent *const recorded_; ///< null: it had not ended
  device::LaunchOptions options_;
  debug::LaunchFacts facts_;
  std::vector<Memory> memory_;
  std::vector<std::vector<uint64_t>> hashes_; ///< of memory_ before the launch
};

/// Ends a replay when the session is over.
struct SessionOver {
  bool isGood = true;
};

debug::Machine *running = nullptr;
extern "C" void onDebugInterrupt(int) {
  if (running)
    running->interrupt();
}

/// The session; false: a script had an error.
bool hold(debug::Program &program, const DebugArguments &given,
          std::function<std::string(uint64_t)> beforeThat) {
  if (given.served) {
    given.served->serve(program);
    return true;
  }
  ConsoleOptions options = given.console;
  options.beforeThat = std::move(beforeThat);
  Console console(program, std::move(options));
  running = &console.machine();
  std::signal(SIGINT, onDebugInterrupt);
  const bool isGood = console.run();
  std::signal(SIGINT, SIG_DFL);
  running = nullptr;
  return isGood;
}

const capture::RecordingIndex::Launch &chooseLaunch(const capture::RecordingIndex &index,
                                                    const std::string &file,
                                                    const std::optional<uint64_t> &wanted) {
  if (index.launches.empty())
    throw UsageError(file + " has no launches");
  for (const auto &launch : index.launches)
    if (wanted ? launch.number == *wanted : !launch.result || launch.result->code != 0)
      return launch;
  if (wanted)
    throw UsageError(file + " has no launch " + std::to_string(*wanted));
  return index.launches.front();
}

/// Which launches before this one changed the memory around an address.
std::string writersBefore(const capture::RecordingIndex &index, uint64_t launch, uint64_t address) {
  const capture::RecordingIndex::Launch *last = nullptr;
  for (const auto &one : index.launches)
    if (one.number < launch && one.result)
      for (const capture::Change &change : one.result->changes)
        if (address >= change.address && address - change.address < capture::kPieceBytes)
          last = &one;
  if (!last)
    return "No recorded launch before this one wrote near it.";
  return "Before this launch, launch " + std::to_string(last->number) + " ('" + last->kernel +
         "') wrote to these " + std::to_string(capture::kPieceBytes) +
         " bytes: ptxrun debug --launch " + std::to_string(last->number);
}

} // namespace

bool visitRecorded(const std::string &file, std::optional<uint64_t> launch,
                   const std::string &schedule, const ProgramVisit &visit) {
  const capture::RecordingIndex index = capture::readIndex(file);
  const capture::RecordingIndex::Launch &chosen = chooseLaunch(index, file, launch);
  const uint64_t number = chosen.number;
  capture::ReplayOptions options;
  options.file = file;
  options.from = options.to = number;
  capture::Replayer replayer(options);
  try {
    replayer.run([](const capture::LaunchReport &) {},
                 [&](const capture::LaunchEvent &event, device::Module &module,
                     const device::KernelInfo &kernel) {
                   RecordedProgram program(event, module, kernel, replayer.textOf(event.module),
                                           replayer.memory(), schedule,
                                           chosen.result ? &*chosen.result : nullptr);
                   throw SessionOver{visit(program, [&](uint64_t address) {
                     return writersBefore(index, number, address);
                   })};
                 });
  } catch (const SessionOver &over) {
    return over.isGood;
  } catch (const capture::BadRecording &) {
    if (capture::Replayer::wasAddressTaken)
      startAgain();
    throw;
  }
  return true;
}

namespace {

bool debugRecording(const RunArguments &plan, const DebugArguments &given) {
  const auto asked = plan.options.settings.find("schedule");
  const std::string schedule =
      asked == plan.options.settings.end() || asked->second == "fast" ? "" : asked->second;
  return visitRecorded(plan.file, given.launch, schedule,
                       [&](debug::Program &program, std::function<std::string(uint64_t)> before) {
                         return hold(program, given, std::move(before));
                       });
}

bool isRecording(const std::string &file) {
  std::ifstream stream(file, std::ios::binary);
  char magic[sizeof capture::kMagic] = {};
  return stream.read(magic, sizeof magic) && std::memcmp(magic, capture::kMagic, sizeof magic) == 0;
}

void debugFile(RunArguments &plan, const DebugArguments &given) {
  if (!plan.options.record.empty())
    throw UsageError("--record is for ptxrun run: a session executes launches more than once");
  bool isGood = true;
  if (isRecording(plan.file)) {
    try {
      isGood = debugRecording(plan, given);
    } catch (const capture::BadRecording &bad) {
      throw UsageError(plan.file + ": " + bad.what());
    }
  } else {
    rt::useDeviceArena(); // the same addresses every time
    rt::countClocks();
    plan.options.showsProgress = false;
    plan.options.debugLaunch = given.launch;
    plan.options.debug = [&](debug::Program &program) { isGood = hold(program, given, nullptr); };
    runAsAsked(plan);
  }
  if (!isGood)
    throw Failed("");
}

/// The client says what to debug, unless the command line did.
void serve(RunArguments &plan, DebugArguments &given) {
  std::shared_ptr<AdapterChannel> channel;
  if (given.adapter == "stdio") {
    channel = AdapterChannel::overStandardStreams();
  } else {
    if (given.adapter.find_first_not_of("0123456789") != std::string::npos ||
        given.adapter.size() > 5)
      throw UsageError("--dap takes a port, not '" + given.adapter + "'");
    channel = AdapterChannel::overPort(static_cast<unsigned>(std::stoul(given.adapter)));
  }
  DebugAdapter adapter(*channel);
  const nlohmann::json wanted = adapter.awaitLaunch();
  if (wanted.is_null())
    return;
  try {
    if (wanted.contains("program"))
      plan.file = wanted["program"];
    if (wanted.contains("launch"))
      given.launch = wanted["launch"].get<uint64_t>();
    std::string schedule;
    for (const auto &[name, to] : {std::pair{"kernel", &plan.kernel},
                                   {"grid", &plan.grid},
                                   {"block", &plan.block},
                                   {"shared", &plan.shared},
                                   {"schedule", &schedule}})
      if (wanted.contains(name))
        *to = wanted[name].is_string() ? wanted[name].get<std::string>() : wanted[name].dump();
    if (!schedule.empty())
      plan.options.settings["schedule"] = schedule;
    for (const nlohmann::json &argument : wanted.value("arguments", nlohmann::json::array()))
      plan.arguments.push_back(argument.is_string() ? argument.get<std::string>()
                                                    : argument.dump());
    if (plan.file.empty())
      throw UsageError(
          "`launch` needs \"program\": a recording, a launch description or a PTX file");
    given.served = &adapter;
    debugFile(plan, given);
  } catch (const std::exception &error) {
    adapter.refuse(error.what());
  }
}

} // namespace

void addDebug(CLI::App &app) {
  auto *command = app.add_subcommand(
      "debug", "Debug a kernel, launch description or recorded launch, forwards and backwards");
  auto plan = addRunOptions(*command);
  auto given = std::make_shared<DebugArguments>();
  command->add_option("--launch", given->launch,
                      "Only this one; of a recording the default is the first that failed, else "
                      "the first, of a description all");
  command
      ->add_option("-x,--command-file", given->console.scripts,
                   "Perform the commands of this file first")
      ->allow_extra_args(false)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--ex", given->console.commands, "Perform this command, after those of files")
      ->allow_extra_args(false)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->get_option("FILE")->required(false);
  command
      ->add_option("--dap", given->adapter,
                   "Serve an editor by the debug adapter protocol: on standard input and output, "
                   "or --dap=PORT on 127.0.0.1")
      ->type_name("[=PORT]");
  command->add_option("--checkpoint-every", given->console.spacing,
                      "Instructions between the checkpoints that steps back go on from (default: "
                      "as suits; closer ones take more memory)");
  command->add_flag("--batch", given->console.isBatch,
                    "End after these commands, with 1 where one failed");
  command->footer(kFooter);
  command->callback([plan, given] {
    if (!given->adapter.empty())
      return serve(*plan, *given);
    if (plan->file.empty())
      throw UsageError("debug needs a recording, a launch description or a PTX file");
    debugFile(*plan, *given);
  });
}

} // namespace ptxrun::command
