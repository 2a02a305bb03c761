#include "tests/isa/ptx_writer.h"

#include <cstdio>

namespace ptxrun::isa_test {

namespace {

std::string hex(uint64_t value, unsigned digits = 0) {
  char text[32];
  std::snprintf(text, sizeof text, "%0*llX", static_cast<int>(digits),
                static_cast<unsigned long long>(value));
  return text;
}

/// The register of element e of operand or result `i` (`role` a or d) of the current group.
std::string registerName(char role, size_t i, unsigned element) {
  return std::string("%") + role + std::to_string(i) + "_" + std::to_string(element);
}

/// Registers are declared by width only, which fits every instruction type; but floats by name, as
/// programs do.
std::string registerType(const Slot &slot) {
  if (slot.isPredicate())
    return ".pred";
  if (slot.type == "f32" || slot.type == "f64")
    return "." + slot.type;
  return ".b" + std::to_string(slot.bits);
}

/// `{%a0_0, %a0_1}`, `!%a0_0` or `%a0_0`.
std::string operandText(char role, size_t i, const Slot &slot) {
  if (slot.count == 1)
    return (slot.isNegated ? "!" : "") + registerName(role, i, 0);
  std::string text = "{";
  for (unsigned e = 0; e < slot.count; ++e)
    text += (e ? ", " : "") + registerName(role, i, e);
  return text + "}";
}

std::string literal(const Slot &slot, uint64_t value) {
  if (slot.type == "f32")
    return "0f" + hex(value, 8);
  if (slot.type == "f64")
    return "0d" + hex(value, 16);
  if (slot.type[0] == 's') {
    const unsigned unused = 64 - slot.bits;
    const int64_t number = static_cast<int64_t>(value << unused) >> unused;
    return number == INT64_MIN ? "0x8000000000000000" : std::to_string(number);
  }
  return "0x" + hex(value);
}

std::string declare(const Group &group) {
  std::string text;
  const auto add = [&](char role, size_t i, const Slot &slot) {
    if (slot.isImmediate())
      return;
    for (unsigned e = 0; e < slot.count; ++e)
      text += "  .reg " + registerType(slot) + " " + registerName(role, i, e) + ";\n";
  };
  for (size_t i = 0; i < group.operands.size(); ++i)
    add('a', i, group.operands[i]);
  for (size_t i = 0; i < group.results.size(); ++i)
    add('d', i, group.results[i]);
  return text;
}

/// The instruction, or the group's code, with operands replaced.
std::string instruction(const Group &group, const std::vector<std::string> &operands,
                        const std::string &guard) {
  std::vector<std::string> results;
  for (size_t i = 0; i < group.results.size(); ++i)
    results.push_back(operandText('d', i, group.results[i]));
  if (group.code.empty()) {
    std::string text = "  " + guard + group.mnemonic + " ";
    for (size_t i = 0; i < results.size(); ++i)
      text += (i == 0 ? "" : group.results[i - 1].isJoined ? "|" : ", ") + results[i];
    for (const std::string &operand : operands)
      text += ", " + operand;
    return text + ";\n";
  }
  std::string text = "  " + guard;
  for (size_t at = 0; at < group.code.size(); ++at) {
    const char c = group.code[at];
    if (c == '$') {
      const size_t i = static_cast<size_t>(group.code[at + 2] - '0');
      text += group.code[at + 1] == 'd' ? results[i] : operands[i];
      at += 2;
    } else {
      text += c;
      if (c == ';' && at + 1 < group.code.size())
        text += "\n  " + guard;
    }
  }
  return text + "\n";
}

/// `ld` or `st` of one element; predicates and 8-bit values through other registers.
std::string load(const Slot &slot, const std::string &name, const std::string &address) {
  if (slot.isPredicate())
    return "  ld.global.u32 %word, [" + address + "];\n  setp.ne.u32 " + name + ", %word, 0;\n";
  return "  ld.global.b" + std::to_string(slot.bits) + " " + name + ", [" + address + "];\n";
}

std::string store(const Slot &slot, const std::string &name, const std::string &address) {
  if (slot.isPredicate())
    return "  selp.u32 %word, 1, 0, " + name + ";\n  st.global.u32 [" + address + "], %word;\n";
  return "  st.global.b" + std::to_string(slot.bits) + " [" + address + "], " + name + ";\n";
}

std::string place(const std::string &base, uint64_t offset) {
  return base + "+" + std::to_string(offset);
}

std::string loadOperands(const Group &group, unsigned g, unsigned threads) {
  std::string text;
  for (size_t i = 0; i < group.operands.size(); ++i) {
    const Slot &slot = group.operands[i];
    const uint64_t offset = (uint64_t{g} * kMaxOperands + i) * threads * kSlotBytes;
    for (unsigned e = 0; e < slot.count && !slot.isImmediate(); ++e)
      text += load(slot, registerName('a', i, e), place("%in", offset + 8 * e));
  }
  return text;
}

std::string storeResults(const Group &group, uint64_t first, uint64_t stride) {
  std::string text;
  for (size_t r = 0; r < group.results.size(); ++r)
    for (unsigned e = 0; e < group.results[r].count; ++e)
      text += store(group.results[r], registerName('d', r, e),
                    place("%out", first + r * stride + 8 * e));
  return text;
}

/// Fills result registers before a guarded instruction.
std::string fillResults(const Group &group) {
  std::string text;
  for (size_t r = 0; r < group.results.size(); ++r)
    for (unsigned e = 0; e < group.results[r].count; ++e) {
      const Slot &slot = group.results[r];
      const std::string name = registerName('d', r, e);
      if (slot.isPredicate())
        text += "  setp.eq.u32 " + name + ", 0, 0;\n";
      else
        text += load(slot, name, "%fill");
    }
  return text;
}

std::vector<std::string> registerOperands(const Group &group) {
  std::vector<std::string> operands;
  for (size_t i = 0; i < group.operands.size(); ++i)
    operands.push_back(group.operands[i].isImmediate()
                           ? literal(group.operands[i], group.cases[0].operands[i].element[0])
                           : operandText('a', i, group.operands[i]));
  return operands;
}

constexpr const char *kPrologue = R"(
(.param .u64 p_in, .param .u64 p_out, .param .u64 p_mask) {
  .reg .u64 %fill, %in, %out, %mask, %slot, %wide;
  .reg .u32 %i, %n, %word;
  .reg .pred %active;
  ld.param.u64 %fill, [p_in];
  add.u64 %in, %fill, 32;
  ld.param.u64 %out, [p_out];
  ld.param.u64 %mask, [p_mask];
)";

/// %in and %out move to the thread's slot.
constexpr const char *kThread = R"(
  mov.u32 %n, %ntid.x;
  mov.u32 %i, %ctaid.x;
  mul.lo.u32 %i, %i, %n;
  mov.u32 %word, %tid.x;
  add.u32 %i, %i, %word;
  mul.wide.u32 %wide, %i, 4;
  add.u64 %mask, %mask, %wide;
  ld.global.u32 %word, [%mask];
  setp.ne.u32 %active, %word, 0;
  mul.wide.u32 %slot, %i, 32;
  add.u64 %in, %in, %slot;
  add.u64 %out, %out, %slot;
)";

} // namespace

bool hasPass(unsigned group, unsigned pass) { return pass == 0 || group % 3 == pass; }

std::string writeHeader(const CaseFile &file) {
  return ".version " + file.version + "\n.target " + file.target + "\n.address_size 64\n";
}

std::string writeRegisterKernel(std::span<const Group> groups, unsigned index, unsigned threads) {
  std::string text = ".visible .entry registers_" + std::to_string(index) + kPrologue + kThread;
  const uint64_t stride = uint64_t{threads} * kSlotBytes;
  const auto resultPlace = [&](unsigned pass, unsigned g) {
    return (uint64_t{pass} * groups.size() + g) * kMaxResults * stride;
  };
  for (unsigned g = 0; g < groups.size(); ++g) {
    const Group &group = groups[g];
    const auto operands = registerOperands(group);
    const std::string label = "SKIP_" + std::to_string(index) + "_" + std::to_string(g);
    text += "  {\n" + declare(group) + loadOperands(group, g, threads);
    text += instruction(group, operands, "") + storeResults(group, resultPlace(0, g), stride);
    if (hasPass(g, 1)) {
      text += "  @!%active bra " + label + ";\n" + instruction(group, operands, "");
      text += storeResults(group, resultPlace(1, g), stride) + label + ":\n";
    }
    if (hasPass(g, 2))
      text += fillResults(group) + instruction(group, operands, "@%active ") +
              storeResults(group, resultPlace(2, g), stride);
    text += "  }\n";
  }
  return text + "  ret;\n}\n";
}

std::string writeLiteralKernel(std::span<const Group> groups, unsigned index) {
  std::string text = ".visible .entry literals_" + std::to_string(index) + kPrologue;
  uint64_t place = 0;
  for (const Group &group : groups)
    for (const Case &tested : group.cases) {
      if (group.hasLiteralForm()) {
        text += "  {\n" + declare(group);
        std::vector<std::string> operands;
        for (size_t i = 0; i < group.operands.size(); ++i) {
          const Slot &slot = group.operands[i];
          if (slot.isPredicate()) // there is no predicate literal
            text += "  setp.ne.u32 " + registerName('a', i, 0) + ", " +
                    std::to_string(tested.operands[i].element[0]) + ", 0;\n";
          operands.push_back(slot.isPredicate() ? operandText('a', i, slot)
                                                : literal(slot, tested.operands[i].element[0]));
        }
        text += instruction(group, operands, "") + storeResults(group, place, kSlotBytes) + "  }\n";
      }
      place += kMaxResults * kSlotBytes;
    }
  return text + "  ret;\n}\n";
}

} // namespace ptxrun::isa_test
