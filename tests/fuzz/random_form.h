// Instructions written from the instruction table: a form, a choice for each of its modifiers,
// operands of the kinds it asks for.
#pragma once
#include <cstdint>
#include <string>

#include "translate/isa/pattern.h"

namespace ptxrun::fuzz {

/// Choices read from the fuzzer's bytes; zero when they have run out.
class Choices {
 public:
  Choices(const uint8_t *data, size_t size) : data_(data), size_(size) {}
  uint32_t byte() { return at_ < size_ ? data_[at_++] : 0; }
  uint32_t below(uint32_t limit) {
    return limit < 2 ? 0 : (byte() | (limit > 256 ? byte() << 8 : 0)) % limit;
  }
  bool flip() { return (byte() & 1) != 0; }
  bool isEmpty() const { return at_ >= size_; }

  /// For instructions that are executed: few registers, addresses of the thread's own memory.
  bool isExecuted = false;
  /// What was drawn cannot be executed so that the result is known to be one.
  bool isUnusable = false;
  uint32_t registers() const { return isExecuted ? kExecutedRegisters : 300; }
  uint32_t fewRegisters() const { return isExecuted ? kExecutedRegisters : 9; }
  static constexpr uint32_t kExecutedRegisters = 4; ///< of each type

 private:
  const uint8_t *data_;
  size_t size_, at_ = 0;
};

inline std::string number(uint32_t n) { return std::to_string(n); }

/// A register that has the type's width.
inline std::string reg(isa::Type type, Choices &choices) {
  if (type == isa::Type::pred)
    return "%p" + number(choices.below(choices.fewRegisters()));
  switch (isa::bitWidth(type)) {
  case 16:
    return "%h" + number(choices.below(choices.registers()));
  case 64:
    return (isa::isFloat(type) && choices.flip() ? "%e" : "%d") +
           number(choices.below(choices.registers()));
  case 128:
    return "%q" + number(choices.below(choices.fewRegisters()));
  case 8:
    return "%b" + number(choices.below(choices.registers()));
  default:
    return (isa::isFloat(type) && choices.flip() ? "%f" : "%r") +
           number(choices.below(choices.registers()));
  }
}

inline std::string scalar(const isa::OperandPattern &o, isa::Type type, Choices &choices) {
  bool isSource = !(o.flags & (isa::kDestination | isa::kRegisterOnly));
  switch (choices.below(6)) {
  case 0:
    if (isSource)
      return isa::isFloat(type) ? "0f3F800000" : number(choices.below(64));
    break;
  case 1:
    if (o.flags & isa::kSink)
      return "_";
    break;
  case 2:
    if (o.flags & isa::kNegatable)
      return "!" + reg(type, choices);
    break;
  default:
    break;
  }
  return reg(type, choices);
}

inline std::string operand(const isa::OperandPattern &o, const isa::OperandContext &context,
                           Choices &choices);

/// Memory of the thread alone: 64 bytes in each space.
inline std::string ownAddress(const isa::OperandPattern &o, const isa::OperandContext &context,
                              Choices &choices) {
  std::string_view space;
  if (o.spaceSlot >= 0 && context.assignment->choice[o.spaceSlot] != 0) {
    const isa::Slot &slot = isa::slotsOf(*context.pattern)[o.spaceSlot];
    space = isa::spelling(isa::choicesOf(slot)[context.assignment->choice[o.spaceSlot] - 1].token);
  }
  const std::string offset = choices.flip() ? "+32]" : "]";
  if (space.empty() || space == "global")
    return "[%ag" + offset;
  if (space == "shared" || space == "shared::cta")
    return "[%as" + offset;
  if (space == "local")
    return "[%al" + offset;
  if (space == "const")
    return "[cv" + offset;
  choices.isUnusable = true;
  return "[%ag]";
}

inline std::string address(const isa::OperandPattern &o, const isa::OperandContext &context,
                           Choices &choices) {
  if (choices.isExecuted)
    return ownAddress(o, context, choices);
  static const char *const kBases[] = {"%d1",    "%r1",   "gv",    "sv", "cv",
                                       "%d2+16", "gv+32", "sv+16", "tx", "su"};
  std::string out = std::string("[") + kBases[choices.below(std::size(kBases))];
  for (const isa::OperandPattern &nested : isa::nestedOf(o))
    if (!(nested.flags & isa::kOptional) || choices.flip())
      out += "," + operand(nested, context, choices);
  return out + ((o.flags & isa::kUnified) && choices.flip() ? "].unified" : "]");
}

inline std::string value(const isa::OperandPattern &o, const isa::OperandContext &context,
                         Choices &choices) {
  unsigned low = 0, high = 0;
  isa::operandArity(o, context, low, high);
  isa::Type type = isa::operandType(o, context);
  if (high == 0)
    return scalar(o, type, choices);
  unsigned count = low + choices.below(std::min(high - low + 1, 200u));
  std::string out = "{";
  for (unsigned i = 0; i < std::min(count, 256u); ++i)
    out += (i ? "," : "") + scalar(o, type, choices);
  return out + "}";
}

inline std::string operand(const isa::OperandPattern &o, const isa::OperandContext &context,
                           Choices &choices) {
  using Kind = isa::OperandKind;
  if (choices.isExecuted) {
    if (o.name == "membermask")
      return "0xffffffff";
    if (o.kind != Kind::address && o.kind != Kind::imm && o.kind != Kind::value &&
        o.kind != Kind::sink && o.kind != Kind::any && o.kind != Kind::pack &&
        o.kind != Kind::unpack)
      choices.isUnusable = true;
    if (o.kind == Kind::address && o.nestedCount != 0)
      choices.isUnusable = true;
    if (o.kind == Kind::any)
      return choices.byte() % 4 == 0 ? "%tid.x" : value(o, context, choices);
  }
  switch (o.kind) {
  case Kind::address:
    return address(o, context, choices);
  case Kind::imm: {
    auto ranges = isa::rangesOf(o);
    return ranges.empty() ? number(choices.below(256))
                          : std::to_string(ranges[choices.below(uint32_t(ranges.size()))].low);
  }
  case Kind::label:
    return "L";
  case Kind::labels:
    return "ts";
  case Kind::callee:
    return choices.flip() ? "f" : "%d1";
  case Kind::prototype:
    return "pr";
  case Kind::list:
    return choices.flip() ? "(%r1)" : "()";
  case Kind::any:
  case Kind::addr:
  case Kind::ptr: {
    static const char *const kValues[] = {"gv", "sv+4", "%tid.x", "%clock64", "f", "gv[2]", "5"};
    return choices.flip() ? kValues[choices.below(std::size(kValues))] : value(o, context, choices);
  }
  case Kind::opaque:
    return choices.flip() ? "tx" : "%d1";
  default:
    return value(o, context, choices);
  }
}

/// One of a form, with its line end.
inline std::string instructionOf(const isa::Form &form, Choices &choices) {
  const isa::Pattern &pattern = isa::patternOf(form);
  isa::Assignment assignment{};
  std::string out(form.opcode);
  auto slots = isa::slotsOf(pattern);
  for (size_t i = 0; i < slots.size(); ++i) {
    auto options = isa::choicesOf(slots[i]);
    if (options.empty() || (slots[i].isOptional && choices.flip()))
      continue;
    uint32_t chosen = choices.below(uint32_t(options.size()));
    assignment.choice[i] = uint8_t(chosen + 1);
    (out += '.') += isa::spelling(options[chosen].token);
  }
  static constexpr isa::Target kTarget{92, 103, 'a'};
  isa::OperandContext context{&pattern, &assignment, &kTarget};
  const char *separator = " ";
  for (const isa::OperandPattern &o : isa::operandsOf(pattern)) {
    bool isLeftOut = o.conditionSlot >= 0 ? assignment.choice[o.conditionSlot] == 0
                                          : (o.flags & isa::kOptional) && choices.flip();
    if (isLeftOut)
      continue;
    out += separator + operand(o, context, choices);
    separator = (o.flags & isa::kJoined) ? "|" : ",";
  }
  const bool mayBeGuarded = !choices.isExecuted || form.effect != isa::Effect::warp;
  return (mayBeGuarded && choices.below(4) == 0 ? "@!%p1 " : "") + out + ";\n";
}

/// One of any form.
inline std::string instruction(Choices &choices) {
  auto forms = isa::forms();
  return instructionOf(forms[choices.below(uint32_t(forms.size()))], choices);
}

} // namespace ptxrun::fuzz
