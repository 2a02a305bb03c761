// ptxrun inspect: what is in a PTX file, and how each kernel would run.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "loader/ptxrun/arguments.h"
#include "loader/ptxrun/commands.h"
#include "loader/ptxrun/errors.h"
#include "loader/ptxrun/module_file.h"
#include "translate/check/checked_module.h"

namespace ptxrun::command {
namespace {

struct InspectArguments {
  std::string file, kernel;
  std::vector<uint32_t> block;
  unsigned lanes = 0;
  bool isJson = false;
};

/// What is said of one kernel.
struct Findings {
  device::ScheduleDependence schedule;
  const device::KernelInfo *kernel = nullptr;
  abi::Dim3 block;
  bool isCompiled = false;
  abi::KernelNeeds needs;
  std::string reason;                             ///< why this W
  std::string problem;                            ///< why it does not compile
  std::map<std::string, uint32_t> notImplemented; ///< form -> first PTX line
};

void collectReachable(const check::Operand &operand,
                      std::vector<const check::Function *> &pending) {
  if (operand.function)
    pending.push_back(operand.function);
  for (const check::Operand &element : operand.elements)
    collectReachable(element, pending);
  for (const check::Function *function : operand.functions)
    pending.push_back(function);
}

/// Forms without an implementation in the kernel and in what it calls.
std::map<std::string, uint32_t> findNotImplemented(const check::Function &kernel) {
  std::map<std::string, uint32_t> found;
  std::set<const check::Function *> seen;
  std::vector<const check::Function *> pending{&kernel};
  while (!pending.empty()) {
    const check::Function *function = pending.back();
    pending.pop_back();
    if (!seen.insert(function).second)
      continue;
    for (const check::Instruction &instruction : function->body) {
      if (instruction.form && instruction.form->effect == isa::Effect::todo)
        found.emplace(std::string(instruction.form->notation), instruction.line);
      for (const check::Operand &operand : instruction.operands)
        collectReachable(operand, pending);
    }
  }
  return found;
}

abi::Dim3 blockFor(const device::KernelInfo &kernel, const InspectArguments &given) {
  if (!given.block.empty()) {
    auto extent = [&](size_t k) { return k < given.block.size() ? given.block[k] : 1u; };
    return {extent(0), extent(1), extent(2)};
  }
  auto fromDirective = [](const std::array<uint32_t, 3> &n) {
    return abi::Dim3{n[0], std::max(1u, n[1]), std::max(1u, n[2])};
  };
  if (kernel.reqntid[0])
    return fromDirective(kernel.reqntid);
  if (kernel.maxntid[0])
    return fromDirective(kernel.maxntid);
  return {256, 1, 1};
}

Findings examine(device::Module &module, const device::KernelInfo &kernel,
                 const InspectArguments &given) {
  Findings findings;
  findings.kernel = &kernel;
  findings.block = blockFor(kernel, given);
  if (const check::Function *function = module.checked().findFunction(kernel.name))
    findings.notImplemented = findNotImplemented(*function);
  device::Outcome outcome;
  device::LaunchOptions options;
  options.block = findings.block;
  options.lanes = given.lanes;
  auto variant = module.compile(kernel, options, outcome);
  findings.isCompiled = outcome.isOk() && variant.kernel;
  if (findings.isCompiled)
    findings.needs = variant.needs, findings.reason = variant.reason,
    findings.schedule = module.scheduleDependence(kernel);
  else
    findings.problem = outcome.message;
  return findings;
}

std::string shapeText(const std::array<uint32_t, 3> &shape) {
  return std::to_string(shape[0]) + "," + std::to_string(std::max(1u, shape[1])) + "," +
         std::to_string(std::max(1u, shape[2]));
}

/// Whether results can depend on who runs first.
std::string scheduleText(const device::ScheduleDependence &found) {
  if (!found.amongThreads.empty())
    return "results may depend on it: " + found.amongThreads;
  if (!found.amongBlocks.empty())
    return "results of several blocks may depend on it: " + found.amongBlocks;
  return "results do not depend on it where its pointers lead to different allocations";
}

void printText(const std::string &file, const Findings &findings) {
  const device::KernelInfo &kernel = *findings.kernel;
  std::printf("%s  (%s:%u)\n", kernel.name.c_str(), file.c_str(), kernel.line);
  std::printf("  parameters     %s\n", kernel.parameters.empty() ? "none" : "");
  for (const device::Parameter &parameter : kernel.parameters)
    std::printf("    %-22s %s%s\n", parameter.name.c_str(), typeOf(parameter).c_str(),
                parameter.isPointer ? " (pointer)" : "");
  if (kernel.reqntid[0])
    std::printf("  block          %s (required)\n", shapeText(kernel.reqntid).c_str());
  else if (kernel.maxntid[0])
    std::printf("  block          at most %s\n", shapeText(kernel.maxntid).c_str());
  if (kernel.isExplicitCluster)
    std::printf("  cluster        %s\n", shapeText(kernel.clusterShape).c_str());
  if (findings.isCompiled) {
    const abi::KernelNeeds &needs = findings.needs;
    std::printf("  shared memory  %u bytes, static\n", needs.staticSharedBytes);
    std::printf("  lanes          %u: %s\n", needs.lanes,
                findings.reason.empty() ? "the default" : findings.reason.c_str());
    std::printf("  schedule       %s\n", scheduleText(findings.schedule).c_str());
    std::printf("  waits          %s\n",
                needs.maySuspend    ? "gangs of a block wait for each other, one by one"
                : needs.hasBarriers ? "only at barriers; blocks run up to the next one together"
                                    : "none, blocks run straight through");
  } else {
    std::printf("  does not compile:\n");
    for (size_t at = 0; at < findings.problem.size();) {
      size_t end = std::min(findings.problem.find('\n', at), findings.problem.size());
      std::printf("    %.*s\n", static_cast<int>(end - at), findings.problem.c_str() + at);
      at = end + 1;
    }
  }
  if (findings.notImplemented.empty())
    return;
  std::printf("  not implemented yet:\n");
  for (auto &[form, line] : findings.notImplemented)
    std::printf("    line %u: %s\n", line, form.c_str());
}

nlohmann::json toJson(const Findings &findings) {
  const device::KernelInfo &kernel = *findings.kernel;
  nlohmann::json result = {
      {"kernel", kernel.name}, {"line", kernel.line}, {"compiles", findings.isCompiled}};
  result["parameters"] = nlohmann::json::array();
  for (const device::Parameter &parameter : kernel.parameters)
    result["parameters"].push_back({{"name", parameter.name},
                                    {"type", typeOf(parameter)},
                                    {"offset", parameter.offset},
                                    {"bytes", parameter.bytes}});
  result["block"] = {findings.block.x, findings.block.y, findings.block.z};
  if (findings.isCompiled) {
    result["lanes"] = findings.needs.lanes;
    result["reason"] = findings.reason;
    result["dependsOnSchedule"] = {{"amongThreads", findings.schedule.amongThreads},
                                   {"amongBlocks", findings.schedule.amongBlocks}};
    result["shared"] = findings.needs.staticSharedBytes;
    result["suspends"] = findings.needs.maySuspend;
    result["barriers"] = findings.needs.hasBarriers;
  } else {
    result["problem"] = findings.problem;
  }
  result["notImplemented"] = nlohmann::json::array();
  for (auto &[form, line] : findings.notImplemented)
    result["notImplemented"].push_back({{"form", form}, {"line", line}});
  return result;
}

void inspect(const InspectArguments &given) {
  auto module = loadModule(given.file, {});
  std::vector<Findings> all;
  for (const device::KernelInfo &kernel : module->kernels())
    if (given.kernel.empty() || kernel.name == given.kernel)
      all.push_back(examine(*module, kernel, given));
  if (all.empty())
    chooseKernel(*module, given.kernel); // says which kernels there are
  bool isComplete =
      std::all_of(all.begin(), all.end(), [](const Findings &f) { return f.isCompiled; });
  if (given.isJson) {
    nlohmann::json list = nlohmann::json::array();
    for (const Findings &findings : all)
      list.push_back(toJson(findings));
    std::printf("%s\n", list.dump(2).c_str());
  } else {
    for (size_t k = 0; k < all.size(); ++k) {
      if (k)
        std::printf("\n");
      printText(given.file, all[k]);
    }
    if (!module->variables().empty())
      std::printf("\nmodule variables\n");
    for (const device::VariableInfo &variable : module->variables())
      std::printf("  %-24s %s, %llu bytes\n", variable.name.c_str(),
                  variable.isConstant ? ".const" : ".global",
                  static_cast<unsigned long long>(variable.bytes));
  }
  if (!isComplete)
    throw Failed("");
}

} // namespace

void addInspect(CLI::App &app) {
  auto *command = app.add_subcommand(
      "inspect", "List the kernels of a PTX file: parameters, shared memory, lanes and why");
  auto given = std::make_shared<InspectArguments>();
  command->footer("Exit code 1 where a kernel does not compile. The number of lanes may depend on "
                  "the block: see --block.");
  command->add_option("FILE", given->file, "PTX file")->required();
  command->add_option("-k,--kernel", given->kernel, "Only this kernel");
  command
      ->add_option("-b,--block", given->block,
                   "Block to compile for: X, X,Y or X,Y,Z (default: .reqntid, .maxntid, else 256)")
      ->delimiter(',')
      ->expected(1, 3)
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--lanes", given->lanes,
                   "Threads per SIMD gang, instead of the automatic choice")
      ->check(CLI::IsMember({1, 8, 16, 32}));
  command->add_flag("--json", given->isJson, "For tools");
  command->callback([given] { inspect(*given); });
}

} // namespace ptxrun::command
