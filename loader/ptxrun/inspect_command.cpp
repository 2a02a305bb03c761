// ptxrun inspect: what is in a PTX file or a program, and how each kernel would run.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "loader/device/readable_name.h"
#include "loader/libcuda/device_runtime.h"
#include "loader/machine/device_info.h"
#include "loader/ptxrun/arguments.h"
#include "loader/ptxrun/commands.h"
#include "loader/ptxrun/errors.h"
#include "loader/ptxrun/inspect_kernel.h"
#include "loader/ptxrun/inspect_program.h"
#include "loader/ptxrun/module_file.h"

namespace ptxrun::command {
namespace {

/// Of programs with more kernels, only these are compiled and listed, unless --json or --kernel ask
/// for others.
constexpr size_t kKernelsListed = 24;

struct InspectArguments {
  std::string file, kernel;
  ExamineOptions examined;
  bool isJson = false;
};

/// What the driver would load of a file.
struct LoadedTexts {
  std::vector<std::unique_ptr<device::Module>> modules;
  std::vector<std::string> problems; ///< of those that cannot be loaded
};

LoadedTexts loadTexts(const std::string &file, const std::vector<std::string> &texts) {
  LoadedTexts loaded;
  for (const std::string &text : texts) {
    device::Outcome outcome;
    if (auto module = device::Module::load(file, driver::withDeviceRuntime(text), {}, outcome))
      loaded.modules.push_back(std::move(module));
    else
      loaded.problems.push_back(outcome.message);
  }
  return loaded;
}

/// Named as the PTX names it, or as C++ does, with or without parameters.
bool isNamed(const device::KernelInfo &kernel, const std::string &name) {
  const std::string readable = device::readableName(kernel.name);
  return kernel.name == name || readable == name || readable.substr(0, readable.find('(')) == name;
}

std::vector<Findings> examineNamed(const InspectArguments &given, device::Module &module,
                                   size_t most) {
  std::vector<Findings> all;
  for (const device::KernelInfo &kernel : module.kernels())
    if (all.size() < most && (given.kernel.empty() || isNamed(kernel, given.kernel)))
      all.push_back(examine(module, kernel, given.examined));
  return all;
}

bool areCompiled(const std::vector<Findings> &all) {
  return std::ranges::all_of(all, &Findings::isCompiled);
}

void printParagraphs(const std::string &file, const std::vector<Findings> &all) {
  for (size_t k = 0; k < all.size(); ++k) {
    if (k)
      std::printf("\n");
    printText(file, all[k]);
  }
}

void inspectText(const InspectArguments &given, std::string text) {
  device::Outcome outcome;
  const auto module = device::Module::load(given.file, std::move(text), {}, outcome);
  if (!module)
    throw Failed(outcome.message);
  const std::vector<Findings> all = examineNamed(given, *module, SIZE_MAX);
  if (all.empty())
    chooseKernel(*module, given.kernel); // says which kernels there are
  if (given.isJson) {
    nlohmann::json list = nlohmann::json::array();
    for (const Findings &findings : all)
      list.push_back(toJson(findings));
    std::printf("%s\n", list.dump(2).c_str());
  } else {
    printParagraphs(given.file, all);
    if (!module->variables().empty())
      std::printf("\nmodule variables\n");
    for (const device::VariableInfo &variable : module->variables())
      std::printf("  %-24s %s, %llu bytes\n", variable.name.c_str(),
                  variable.isConstant ? ".const" : ".global",
                  static_cast<unsigned long long>(variable.bytes));
  }
  if (!areCompiled(all))
    throw Failed("");
}

/// One line for each kernel.
void printKernels(const std::vector<Findings> &all, size_t count) {
  std::printf("  kernels of its PTX: %zu\n", count);
  for (const Findings &findings : all) {
    const std::string name = device::readableName(findings.kernel->name);
    if (findings.isCompiled)
      std::printf("    %s  W = %u\n", name.c_str(), findings.needs.lanes);
    else
      std::printf("    %s  does not compile: %s\n", name.c_str(),
                  findings.problem.substr(0, findings.problem.find('\n')).c_str());
  }
  if (count > all.size())
    std::printf("    and %zu more, which --json names; --kernel NAME says more of one\n",
                count - all.size());
}

void printProgram(const InspectArguments &given, size_t bytes, const image::Contents &contents,
                  const LoadedTexts &loaded, const std::vector<Findings> &all,
                  const HowToRun &how) {
  size_t count = 0;
  for (const auto &module : loaded.modules)
    count += module->kernels().size();
  printContents(given.file, bytes, contents);
  if (!contents.ptx.empty())
    printKernels(all, count);
  for (const std::string &problem : loaded.problems)
    std::printf("  PTX that is not accepted:\n%s", problem.c_str());
  printMachineCodeOnly(contents);
  std::printf("  to run         %s\n", how.sentence.c_str());
}

void printProgramJson(const InspectArguments &given, size_t bytes, const image::Contents &contents,
                      const LoadedTexts &loaded, const std::vector<Findings> &all,
                      const HowToRun &how) {
  nlohmann::ordered_json result = {{"file", given.file}, {"bytes", bytes}};
  result.update(toJson(contents));
  result["kernels"] = nlohmann::ordered_json::array();
  for (const Findings &findings : all)
    result["kernels"].push_back(nlohmann::ordered_json(toJson(findings)));
  result["notAccepted"] = loaded.problems;
  result["runs"] = how.isPossible;
  result["howToRun"] = how.sentence;
  std::printf("%s\n", result.dump(2).c_str());
}

/// That of the device which programs see.
image::Target targetOfDevice() {
  return {static_cast<unsigned>(machine::deviceInfo().architecture())};
}

void inspectProgram(const InspectArguments &given, size_t bytes, const image::Contents &contents,
                    image::Target target) {
  const LoadedTexts loaded = loadTexts(given.file, contents.ptx);
  std::vector<Findings> all;
  const size_t most = given.isJson || !given.kernel.empty() ? SIZE_MAX : kKernelsListed;
  for (const auto &module : loaded.modules)
    for (Findings &findings : examineNamed(given, *module, most - all.size()))
      all.push_back(std::move(findings));
  if (!given.kernel.empty() && all.empty())
    throw UsageError(given.file + " has no PTX of a kernel '" + given.kernel +
                     "'; without --kernel, inspect says which there are");
  const HowToRun how = howToRun(given.file, contents, target);
  if (given.isJson)
    printProgramJson(given, bytes, contents, loaded, all, how);
  else if (!given.kernel.empty())
    printParagraphs(given.file, all);
  else
    printProgram(given, bytes, contents, loaded, all, how);
  if (!how.isPossible || !loaded.problems.empty() || !areCompiled(all))
    throw Failed("");
}

void inspect(const InspectArguments &given) {
  std::string file = readBytes(given.file);
  const image::Target target = targetOfDevice();
  image::Contents contents;
  const auto bytes = std::as_bytes(std::span(file));
  if (const device::Outcome outcome = image::readContents(bytes, target, contents); !outcome.isOk())
    throw Failed(given.file + ": " + outcome.message);
  if (contents.kind == image::FileKind::text)
    inspectText(given, std::move(file));
  else
    inspectProgram(given, file.size(), contents, target);
}

} // namespace

void addInspect(CLI::App &app) {
  auto *command = app.add_subcommand(
      "inspect",
      "List what is in a PTX file or a program: kernels, lanes and why, and how to run it");
  auto given = std::make_shared<InspectArguments>();
  command->footer("Of executables, shared objects, objects, fat binaries and cubins: the code "
                  "inside (PTX, machine code, LTO-IR),\n"
                  "the runtime and the libraries they use, the kernels of the PTX that would be "
                  "taken (PTXRUN_SM, 9.0), and the\n"
                  "command that runs them, or why none can and what to add. --kernel tells all of "
                  "one kernel, --json of every one.\n\n"
                  "Exit code 1 where there is no PTX to run, or a kernel does not compile. The "
                  "number of lanes may depend on the\n"
                  "block: see --block.");
  command->add_option("FILE", given->file, "PTX file, program, object, fat binary or cubin")
      ->required();
  command->add_option("-k,--kernel", given->kernel,
                      "Only this kernel, by its name in PTX or in C++");
  command
      ->add_option("-b,--block", given->examined.block,
                   "Block to compile for: X, X,Y or X,Y,Z (default: .reqntid, .maxntid, else 256)")
      ->delimiter(',')
      ->expected(1, 3)
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--lanes", given->examined.lanes,
                   "Threads per SIMD gang, instead of the automatic choice")
      ->check(CLI::IsMember({1, 8, 16, 32}));
  command->add_flag("--json", given->isJson, "For tools");
  command->callback([given] { inspect(*given); });
}

} // namespace ptxrun::command
