// ptxrun run: a kernel with arguments from the command line, or a launch description.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>

#include "loader/device/launch_settings.h"
#include "loader/device/summary.h"
#include "loader/ptxrun/commands.h"
#include "loader/ptxrun/errors.h"
#include "loader/ptxrun/plot.h"
#include "loader/ptxrun/run_arguments.h"
#include "loader/ptxrun/shape_text.h"
#include "loader/ptxrun/suggest.h"
#include "rt/observe/trace.h"

namespace ptxrun::command {
namespace {

constexpr const char *kRunFooter =
    R"(An argument (--arg, once per kernel parameter, in order) is, by the parameter's type,
  a number          12  -3  0x1f  2.5  1e-3  inf  nan  0f3F800000 (bits)
  a buffer          [ROLE:]SOURCE, for 64-bit parameters; see below
  a struct          {i32 5, f32 2.0, ptr NAME}, fields at their natural alignment
  a tensor-map      tensormap{buffer=NAME; type=f16; dims=64,128; box=64,8; swizzle=128B}, what cuTensorMapEncodeTiled takes,
                    by value or pointed to; also strides, element_strides, interleave, fill, mode, lower, upper, channels, pixels
ROLE: in (default), out and inout (written back to their file), print (shown afterwards).
SOURCE:
  x.npy             a NumPy array
  data.bin:f32      any other file, as bytes or as elements of a type
  f32[1024,16]      zeros;  f32[N]:iota  :fill:V  :rand:SEED  :rand:SEED:LOW:HIGH  :expr:2*i+1  :1,2,3
  out:y.npy=f32[N]  starts as what follows '='
  NAME, NAME+BYTES  a buffer declared with --buffer NAME=SOURCE, at an offset
Types: bool u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64 c64 c128.

  ptxrun run saxpy.ptx --kernel saxpy --grid 4096 --block 256 \
    --arg 1048576 --arg 2.0 --arg x.npy --arg inout:y.npy
  ptxrun run launch.toml

A launch description (FILE.toml) holds several launches, buffers with names, and what must come out; its format
is in loader/ptxrun/README.md.)";

Plan planOf(const RunArguments &given) {
  Plan plan;
  plan.name = plan.module = given.file;
  Launch launch;
  launch.kernel = given.kernel;
  launch.grid = parseShape(given.grid, "--grid");
  launch.block = parseShape(given.block, "--block");
  if (!given.cluster.empty()) {
    const abi::Dim3 shape = shapeOf(given.cluster, "--cluster");
    launch.cluster = {shape.x, shape.y, shape.z};
  }
  launch.sharedBytes = given.shared;
  launch.isCooperative = given.isCooperative;
  launch.arguments = given.arguments;
  plan.launches.push_back(std::move(launch));
  for (const std::string &buffer : given.buffers) {
    size_t equals = buffer.find('=');
    if (equals == std::string::npos || equals == 0)
      throw UsageError("--buffer takes NAME=SOURCE, not '" + buffer + "'");
    plan.buffers.push_back(
        {buffer.substr(0, equals), parseBufferSpec(std::string_view(buffer).substr(equals + 1))});
  }
  return plan;
}

void checkStage(const std::string &stage) {
  static const std::vector<std::string> stages = {"parse", "check", "lower", "simt", "jit"};
  if (stage.empty() || std::find(stages.begin(), stages.end(), stage) != stages.end())
    return;
  throw UsageError("--stop-after takes parse, check, lower, simt or jit, not '" + stage + "'");
}

/// Reads all settings once, so that what is wrong is told before anything else happens.
void checkSettings(RunOptions &options) {
  device::LaunchOptions ignored;
  for (const device::LaunchSetting &setting : device::launchSettings()) {
    const std::string word(setting.word), variable = variableOf(setting);
    std::string wrong;
    if (const auto given = options.settings.find(word); given != options.settings.end())
      wrong = device::readSetting(setting, "--" + word, given->second, ignored);
    else if (const char *text = std::getenv(variable.c_str()))
      wrong = device::readSetting(setting, variable, options.environment[word] = text, ignored);
    if (!wrong.empty())
      throw UsageError(wrong);
  }
}

/// An option for each setting of launches.
void addSettings(CLI::App &command, const std::shared_ptr<RunArguments> &given) {
  for (const device::LaunchSetting &setting : device::launchSettings()) {
    const std::string word(setting.word), takes(setting.takes);
    const auto keep = [given, word](const std::string &text) {
      given->options.settings[word] = text;
    };
    // In braces where these are all there are: completions offer them.
    const bool isClosed =
        takes.find('|') != takes.npos &&
        std::ranges::none_of(takes, [](unsigned char c) { return std::isupper(c); });
    std::string commaSeparated = takes;
    std::ranges::replace(commaSeparated, '|', ',');
    command.add_option_function<std::string>("--" + word, keep, std::string(setting.meaning))
        ->type_name(isClosed ? "{" + commaSeparated + "}" : takes);
  }
}

} // namespace

void startTrace(const std::string &file) {
  if (!file.empty() && !rt::trace::start(file))
    throw UsageError("--trace: " + file + " cannot be written");
}

void runAsAsked(RunArguments &given) {
  bool isDescription = given.file.ends_with(".toml");
  if (isDescription &&
      (!given.kernel.empty() || !given.arguments.empty() || !given.buffers.empty()))
    throw UsageError(given.file + " is a launch description: kernel, arguments and buffers stand "
                                  "in it, not on the command line");
  checkStage(given.options.stopAfter);
  checkSettings(given.options);
  if (!device::readTiers(given.tiers, given.options.tiers))
    throw UsageError("--tiers takes optimised, baseline or tiered, not '" + given.tiers + "'");
  given.options.useCache = !given.isWithoutCache;
  if (!given.options.plot.empty())
    given.options.debug = [file = given.options.plot](debug::Program &program) {
      plotLaunches(program, file);
    };
  startTrace(given.options.trace);
  if (given.options.isSummarised)
    device::summary::start();
  execute(isDescription ? readDescription(given.file) : planOf(given), given.options);
}

std::shared_ptr<RunArguments> addRunOptions(CLI::App &of) {
  CLI::App *command = &of;
  auto given = std::make_shared<RunArguments>();
  command->footer(kRunFooter);
  command->add_option("FILE", given->file, "PTX file, or launch description (.toml)")->required();
  command->add_option("-k,--kernel", given->kernel,
                      "Kernel to launch; may be left out where there is one");
  command->add_option("-g,--grid", given->grid, "Blocks: X, X,Y or X,Y,Z")->capture_default_str();
  command->add_option("-b,--block", given->block, "Threads per block: X, X,Y or X,Y,Z")
      ->capture_default_str();
  command->add_option("--cluster", given->cluster, "Blocks per cluster: X, X,Y or X,Y,Z");
  command->add_option("-s,--shared", given->shared, "Bytes of dynamic shared memory")
      ->capture_default_str();
  command->add_flag("--cooperative", given->isCooperative,
                    "All blocks run at once (grid-wide barriers)");
  command->add_option("-a,--arg", given->arguments, "Kernel argument, see below")
      ->allow_extra_args(false)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("ARG");
  command
      ->add_option("--buffer", given->buffers,
                   "A buffer that several arguments can name: NAME=SOURCE")
      ->allow_extra_args(false)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("NAME=SOURCE");
  command->add_flag("--time", given->options.isTimed,
                    "Print the time to compile, as a whole and by stages, and to run");
  command
      ->add_option("--repeat", given->options.repeat,
                   "Run so often, from the same contents; --time prints the median")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("--threads", given->options.threads,
                   "CPU threads (default: OMP_NUM_THREADS, else all)")
      ->check(CLI::PositiveNumber);
  addSettings(*command, given);
  command
      ->add_option("--tiers", given->tiers,
                   "Which code runs: optimised, baseline (compiled soonest), or tiered (baseline "
                   "until optimised code is there)")
      ->capture_default_str();
  command->add_flag("--summary", given->options.isSummarised,
                    "Say at the end, on standard error, what took how long");
  command->add_option("--record", given->options.record,
                      "Record the launches to this file, for ptxrun replay");
  command
      ->add_option("--inputs", given->options.inputs,
                   "With --record: embed buffers, or keep large ones by their digest in "
                   "FILE.inputs")
      ->check(CLI::IsMember({"embed", "digest"}))
      ->capture_default_str();
  command->add_option("--trace", given->options.trace,
                      "Write what happens when to this file, for Perfetto or chrome://tracing");
  command->add_option(
      "--plot", given->options.plot,
      "Write a page (HTML) that shows, for each line, how many lanes are active, the "
      "sectors of memory that accesses touch, and bank conflicts");
  command->add_option("--dump", given->options.dumpDirectory,
                      "Write every stage of the translation to numbered files in this directory");
  command->add_option("--stop-after", given->options.stopAfter,
                      "Stop after a stage: parse, check, lower, simt or jit");
  command->add_option("--print-limit", given->options.printLimit, "Elements that print: shows")
      ->capture_default_str();
  command->add_flag("--no-cache", given->isWithoutCache,
                    "Compile anew; leave the code cache alone");
  command->add_flag("-q,--quiet", given->options.isQuiet, "Say only what went wrong");
  return given;
}

void addRun(CLI::App &app) {
  auto *command = app.add_subcommand("run", "Run a kernel of a PTX file, or a launch description");
  auto given = addRunOptions(*command);
  command->callback([given] { runAsAsked(*given); });
}

} // namespace ptxrun::command
