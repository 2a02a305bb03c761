#include "translate/isa/coverage.h"

#include <algorithm>

#include "translate/isa/candidates.h"
#include "translate/isa/pattern.h"

namespace ptxrun::isa {
namespace {

/// An instruction that some test contains: mnemonic and one letter per operand (scan_tests.py).
struct Tested {
  std::string_view mnemonic, shapes;
};
constexpr Tested kTested[] = {
#include "isa_tested.inc"
    {"", ""},
};

bool mayHaveShape(const OperandPattern &o, const OperandContext &context, char shape) {
  unsigned low, high;
  operandArity(o, context, low, high);
  switch (shape) {
  case 'a':
    return o.kind == OperandKind::address;
  case 'l':
    return o.kind == OperandKind::list;
  case 'v':
    return high != 0 || o.kind == OperandKind::pack || o.kind == OperandKind::unpack;
  case 'p':
    return (o.typeSlot >= 0 || o.type == Type::pred || o.type == Type::none) &&
           mayHaveShape(o, context, 'o');
  case 'o':
    return o.kind != OperandKind::address && o.kind != OperandKind::list &&
           o.kind != OperandKind::pack && o.kind != OperandKind::unpack && high <= 1;
  default:
    return true;
  }
}

/// Can operands of these shapes, from the i-th on, be those of a pattern?
bool haveShapes(std::span<const OperandPattern> operands, const OperandContext &context,
                std::string_view shapes) {
  if (operands.empty())
    return shapes.empty();
  const OperandPattern &o = operands[0];
  const bool isAsked = o.conditionSlot < 0 || context.assignment->choice[o.conditionSlot];
  if (isAsked && !shapes.empty() && mayHaveShape(o, context, shapes[0]) &&
      haveShapes(operands.subspan(1), context, shapes.substr(1)))
    return true;
  return (o.flags & kOptional) && haveShapes(operands.subspan(1), context, shapes);
}

/// The first form that takes the instruction, whatever the target: as the matcher would choose it.
const Form *formOf(const Tested &tested) {
  const Spelling spelled = splitOpcode(tested.mnemonic);
  std::vector<Token> tokens;
  for (const Spelling::Modifier &m : spelled.modifiers)
    tokens.push_back(m.token);
  if (tokens.size() > Assignment::kMaxSlots ||
      std::count(tokens.begin(), tokens.end(), Token::none))
    return nullptr;
  for (uint16_t index : formsOf(spelled.opcode)) {
    const Form &form = forms()[index];
    const Pattern &pattern = patternOf(form);
    Assignment assignment;
    if (assign(pattern, tokens, assignment) &&
        haveShapes(operandsOf(pattern), {&pattern, &assignment, nullptr}, tested.shapes))
      return &form;
  }
  return nullptr;
}

} // namespace

std::vector<Coverage> coverage() {
  std::vector<Coverage> all(forms().size());
  for (const Form &form : forms())
    all[form.id].form = &form;
  for (const Tested &tested : kTested)
    if (const Form *form = formOf(tested))
      all[form->id].isTested = true;
  for (Coverage &c : all) {
    c.isTested = c.isTested && c.form->handler != Handler::none;
    c.isExecuted = c.isTested;
  }
  return all;
}

std::string_view familyOf(const Form &form) {
  static constexpr std::pair<std::string_view, std::string_view> kFamilies[] = {
      {"9.7.10", "9.7.10 Texture"},
      {"9.7.11", "9.7.11 Surface"},
      {"9.7.12", "9.7.12 Control flow"},
      {"9.7.13", "9.7.13 Parallel synchronization and communication"},
      {"9.7.14", "9.7.14 Warp-level matrix"},
      {"9.7.15", "9.7.15 Asynchronous warpgroup-level matrix"},
      {"9.7.16", "9.7.16 Tensor core, 5th generation"},
      {"9.7.17", "9.7.17 Stack manipulation"},
      {"9.7.18", "9.7.18 Video"},
      {"9.7.19", "9.7.19 Miscellaneous"},
      {"9.7.1", "9.7.1 Integer arithmetic"},
      {"9.7.2", "9.7.2 Extended-precision integer arithmetic"},
      {"9.7.3", "9.7.3 Floating point"},
      {"9.7.4", "9.7.4 Half precision floating point"},
      {"9.7.5", "9.7.5 Mixed precision floating point"},
      {"9.7.6", "9.7.6 Comparison and selection"},
      {"9.7.7", "9.7.7 Half precision comparison"},
      {"9.7.8", "9.7.8 Logic and shift"},
      {"9.7.9", "9.7.9 Data movement and conversion"},
  };
  for (auto &[prefix, name] : kFamilies)
    if (form.section == prefix ||
        (form.section.starts_with(prefix) && form.section[prefix.size()] == '.'))
      return name;
  return form.section;
}

} // namespace ptxrun::isa
