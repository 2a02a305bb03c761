// Modules written from the instruction table: a form, a choice for each of its modifiers, operands
// of the kinds it asks for; some of them damaged afterwards. Nothing may crash, and the figures say
// how much of it was accepted.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "translate/check/check.h"
#include "translate/isa/pattern.h"

namespace isa = ptxrun::isa;

namespace {

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

 private:
  const uint8_t *data_;
  size_t size_, at_ = 0;
};

constexpr const char *kDeclarations =
    ".global .align 128 .b8 gv[4096];\n.shared .align 128 .b8 sv[4096];\n.const .align 128 .b8 "
    "cv[4096];\n.global .texref tx;\n"
    ".global .surfref su;\n.global .samplerref sm;\n.func (.param .b32 r) f(.param .b32 a) { ret; "
    "}\n";
constexpr const char *kRegisters =
    ".reg .pred %p<9>;\n.reg .b8 %b<300>;\n.reg .b16 %h<300>;\n.reg .b32 %r<300>;\n.reg .b64 "
    "%d<300>;\n.reg .b128 %q<9>;\n"
    ".reg .f32 %f<300>;\n.reg .f64 %e<300>;\nts: .branchtargets L;\npr: .callprototype _;\n";

std::string number(uint32_t n) { return std::to_string(n); }

/// A register that has the type's width.
std::string reg(isa::Type type, Choices &choices) {
  if (type == isa::Type::pred)
    return "%p" + number(choices.below(9));
  switch (isa::bitWidth(type)) {
  case 16:
    return "%h" + number(choices.below(300));
  case 64:
    return (isa::isFloat(type) && choices.flip() ? "%e" : "%d") + number(choices.below(300));
  case 128:
    return "%q" + number(choices.below(9));
  case 8:
    return "%b" + number(choices.below(300));
  default:
    return (isa::isFloat(type) && choices.flip() ? "%f" : "%r") + number(choices.below(300));
  }
}

std::string scalar(const isa::OperandPattern &o, isa::Type type, Choices &choices) {
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

std::string operand(const isa::OperandPattern &o, const isa::OperandContext &context,
                    Choices &choices);

std::string address(const isa::OperandPattern &o, const isa::OperandContext &context,
                    Choices &choices) {
  static const char *const kBases[] = {"%d1",    "%r1",   "gv",    "sv", "cv",
                                       "%d2+16", "gv+32", "sv+16", "tx", "su"};
  std::string out = std::string("[") + kBases[choices.below(std::size(kBases))];
  for (const isa::OperandPattern &nested : isa::nestedOf(o))
    if (!(nested.flags & isa::kOptional) || choices.flip())
      out += "," + operand(nested, context, choices);
  return out + ((o.flags & isa::kUnified) && choices.flip() ? "].unified" : "]");
}

std::string value(const isa::OperandPattern &o, const isa::OperandContext &context,
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

std::string operand(const isa::OperandPattern &o, const isa::OperandContext &context,
                    Choices &choices) {
  using Kind = isa::OperandKind;
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

std::string instruction(Choices &choices) {
  auto forms = isa::forms();
  const isa::Form &form = forms[choices.below(uint32_t(forms.size()))];
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
  return (choices.below(4) == 0 ? "@!%p1 " : "") + out + ";\n";
}

struct Figures {
  size_t written = 0, accepted = 0;
  ~Figures() { std::fprintf(stderr, "modules accepted: %zu of %zu\n", accepted, written); }
} figures;

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Choices choices(data, size);
  static const char *const kTargets[] = {"sm_103a", "sm_90a", "sm_80", "sm_75", "sm_120a"};
  std::string text = std::string(".version 9.2\n.target ") + kTargets[choices.below(5)] +
                     ", texmode_independent\n.address_size 64\n" + kDeclarations +
                     ".entry k(.param .b64 kp)\n{\n" + kRegisters;
  bool isDamaged = choices.below(4) == 3;
  do
    text += instruction(choices);
  while (!choices.isEmpty());
  text += "L: ret;\n}\n";
  if (isDamaged)
    for (int i = 0; i < 3; ++i)
      text[choices.below(uint32_t(text.size()))] = "{}[](),;.:|@!%_+-<>0\"/ "[choices.below(23)];
  ptxrun::support::SourceFile source("fuzz.ptx", std::move(text));
  ptxrun::support::Diagnostics diagnostics(source);
  auto module = ptxrun::check::parseAndCheck(source, diagnostics);
  if ((module != nullptr) == diagnostics.hasErrors())
    std::abort();
  diagnostics.text();
  figures.written += 1;
  figures.accepted += module != nullptr;
  return 0;
}
