#include "tests/numerics/array_run.h"

#include <stdexcept>

#include "loader/device/device.h"
#include "tests/tiers.h"

namespace ptxrun::numerics {
namespace {

std::string registerType(const Field &field) {
  return field.isPredicate ? ".pred" : ".b" + std::to_string(field.bits);
}

/// `%a0_1` or `{%a0_0, %a0_1}`.
std::string operandText(const std::string &name, const Field &field) {
  if (field.count == 1)
    return name + "_0";
  std::string text = "{";
  for (unsigned e = 0; e < field.count; ++e)
    text += (e ? ", " : "") + name + "_" + std::to_string(e);
  return text + "}";
}

std::string declare(const std::string &name, const Field &field) {
  std::string text;
  for (unsigned e = 0; e < field.count; ++e)
    text += "  .reg " + registerType(field) + " " + name + "_" + std::to_string(e) + ";\n";
  return text;
}

/// %at = start of `parameter` + %i * bytes.
std::string place(const std::string &parameter, unsigned bytes) {
  return "  ld.param.u64 %at, [" + parameter + "];\n  mad.wide.u32 %at, %i, " +
         std::to_string(bytes) + ", %at;\n";
}

std::string load(const std::string &name, const Field &field, const std::string &parameter) {
  std::string text = declare(name, field) + place(parameter, field.bytes());
  for (unsigned e = 0; e < field.count; ++e) {
    const std::string reg = name + "_" + std::to_string(e);
    if (field.isPredicate)
      text += "  ld.global.u32 %word, [%at];\n  setp.ne.u32 " + reg + ", %word, 0;\n";
    else
      text += "  ld.global.b" + std::to_string(field.bits) + " " + reg + ", [%at+" +
              std::to_string(e * field.bits / 8) + "];\n";
  }
  return text;
}

std::string store(const std::string &name, const Field &field, const std::string &parameter) {
  std::string text = place(parameter, field.bytes());
  for (unsigned e = 0; e < field.count; ++e) {
    const std::string reg = name + "_" + std::to_string(e);
    if (field.isPredicate)
      text += "  selp.u32 %word, 1, 0, " + reg + ";\n  st.global.u32 [%at], %word;\n";
    else
      text += "  st.global.b" + std::to_string(field.bits) + " [%at+" +
              std::to_string(e * field.bits / 8) + "], " + reg + ";\n";
  }
  return text;
}

} // namespace

std::string writeKernel(const std::string &header, std::span<const Instruction> instructions) {
  const std::vector<Field> &sources = instructions[0].sources;
  std::string parameters, body;
  for (size_t j = 0; j < sources.size(); ++j) {
    parameters += ", .param .u64 in" + std::to_string(j);
    body += load("%a" + std::to_string(j), sources[j], "in" + std::to_string(j));
  }
  unsigned next = 0;
  for (size_t k = 0; k < instructions.size(); ++k) {
    const Instruction &one = instructions[k];
    std::string operands, stores;
    for (size_t r = 0; r < one.results.size(); ++r, ++next) {
      const std::string name = "%d" + std::to_string(next), out = "out" + std::to_string(next);
      parameters += ", .param .u64 " + out;
      body += declare(name, one.results[r]);
      operands += (r ? "|" : "") + operandText(name, one.results[r]);
      stores += store(name, one.results[r], out);
    }
    for (size_t j = 0; j < sources.size(); ++j)
      operands += ", " + operandText("%a" + std::to_string(j), sources[j]);
    body += "  " + one.mnemonic + " " + operands + ";\n" + stores;
  }
  return header + ".address_size 64\n.visible .entry apply(" + parameters.substr(2) +
         ")\n{\n  .reg .b32 %i, %t, %word;\n  .reg .b64 %at;\n  mov.u32 %i, %ctaid.x;\n"
         "  mov.u32 %t, %tid.x;\n  mad.lo.u32 %i, %i, " +
         std::to_string(ArrayRun::kBlock) + ", %t;\n" + body + "  ret;\n}\n";
}

ArrayRun::ArrayRun(std::string header, std::vector<Instruction> instructions)
    : instructions_(std::move(instructions)) {
  device::LoadOptions options;
  options.useCache = false;
  options.tiers = wantedTiers();
  device::Outcome outcome;
  module_ =
      device::Module::load("numerics.ptx", writeKernel(header, instructions_), options, outcome);
  if (!module_)
    throw std::runtime_error(outcome.message);
}

ArrayRun::~ArrayRun() = default;

void ArrayRun::run(std::span<const Bytes> sources, size_t n, unsigned lanes,
                   std::vector<Bytes> &results) const {
  std::vector<const void *> parameters;
  for (const Bytes &source : sources)
    parameters.push_back(source.data());
  size_t next = 0;
  for (const Instruction &one : instructions_)
    for (const Field &result : one.results) {
      if (results.size() <= next)
        results.emplace_back();
      results[next].resize(n * result.bytes());
      parameters.push_back(results[next++].data());
    }
  device::LaunchOptions options;
  options.grid = {static_cast<uint32_t>(n / kBlock), 1, 1};
  options.block = {kBlock, 1, 1};
  options.params = parameters.data();
  options.code.lanes = lanes;
  options.threads = 1;
  const device::Outcome outcome = module_->launch(*module_->findKernel("apply"), options);
  if (!outcome.message.empty())
    throw std::runtime_error(instructions_[0].mnemonic + ": " + outcome.message);
}

std::vector<Bytes> ArrayRun::run(std::span<const Bytes> sources, size_t n, unsigned lanes) const {
  std::vector<Bytes> results;
  run(sources, n, lanes, results);
  return results;
}

} // namespace ptxrun::numerics
