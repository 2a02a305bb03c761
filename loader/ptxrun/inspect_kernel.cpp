#include "loader/ptxrun/inspect_kernel.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "loader/ptxrun/arguments.h"
#include "translate/check/checked_module.h"

namespace ptxrun::command {
namespace {

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
std::map<std::string, Uses> findNotImplemented(const check::Function &kernel) {
  std::map<std::string, Uses> found;
  std::set<const check::Function *> seen;
  std::vector<const check::Function *> pending{&kernel};
  while (!pending.empty()) {
    const check::Function *function = pending.back();
    pending.pop_back();
    if (!seen.insert(function).second)
      continue;
    for (const check::Instruction &instruction : function->body) {
      if (instruction.form && instruction.form->effect == isa::Effect::todo)
        ++found.try_emplace(std::string(instruction.form->notation), Uses{instruction.line})
              .first->second.count;
      for (const check::Operand &operand : instruction.operands)
        collectReachable(operand, pending);
    }
  }
  return found;
}

abi::Dim3 blockFor(const device::KernelInfo &kernel, const std::vector<uint32_t> &given) {
  if (!given.empty()) {
    auto extent = [&](size_t k) { return k < given.size() ? given[k] : 1u; };
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

} // namespace

Findings examine(device::Module &module, const device::KernelInfo &kernel,
                 const ExamineOptions &given) {
  Findings findings;
  findings.kernel = &kernel;
  findings.block = blockFor(kernel, given.block);
  if (const check::Function *function = module.checked().findFunction(kernel.name))
    findings.notImplemented = findNotImplemented(*function);
  device::Outcome outcome;
  device::LaunchOptions options;
  options.block = findings.block;
  options.code.lanes = given.lanes;
  auto variant = module.compile(kernel, options, outcome);
  findings.isCompiled = outcome.isOk() && variant.kernel;
  if (findings.isCompiled)
    findings.needs = variant.needs, findings.reason = variant.reason,
    findings.schedule = module.scheduleDependence(kernel);
  else
    findings.problem = outcome.message;
  return findings;
}

namespace {

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
  return "results do not depend on it where its pointers lead to different allocations and its "
         "barriers keep what threads do to shared memory apart";
}

} // namespace

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
  for (auto &[form, uses] : findings.notImplemented)
    std::printf("    line %u: %s%s\n", uses.firstLine, form.c_str(),
                uses.count > 1 ? (" (and " + std::to_string(uses.count - 1) + " more)").c_str()
                               : "");
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
  for (auto &[form, uses] : findings.notImplemented)
    result["notImplemented"].push_back(
        {{"form", form}, {"line", uses.firstLine}, {"count", uses.count}});
  return result;
}

} // namespace ptxrun::command
