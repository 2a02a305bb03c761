// Instructions: bound to their forms, operands given their types (PTX ISA 6, 9).
#include <algorithm>

#include "translate/check/checker.h"

namespace ptxrun::check {

using isa::Type;

void Checker::instruction(const ast::Instruction &written) {
  Instruction made;
  const isa::Matcher::Candidates *&candidates = candidates_[written.mnemonic];
  if (!candidates)
    candidates = &result_->matcher_.resolve(tree_.mnemonics[written.mnemonic].text);
  bool isGood = guard(written, made);
  if (!operands(written) || !isGood)
    return;
  bool isCall = tree_.mnemonics[written.mnemonic].opcode == "call";
  if (isCall && !callOperands(written))
    return;
  isa::Match match;
  if (!result_->matcher_.match(*candidates, arguments_, match) &&
      !matchIndexed(*candidates, match)) {
    reportMismatch(written);
    return;
  }
  made.form = match.form;
  made.modifiers = match.modifiers;
  made.types = match.types;
  made.vector = match.vector;
  made.span = written.span;
  made.line = lines_.line(written.opcodeSpan.begin);
  made.location = location_;
  bindOperands(match, made);
  if (isCall)
    call(written, made);
  checkParameterUse(made);
  function_->body.push_back(made);
}

// `var[4]` was described as a value; where that fits nothing it stands for the address (ld, st).
bool Checker::matchIndexed(const isa::Matcher::Candidates &candidates, isa::Match &match) {
  bool hasIndexed = false;
  for (isa::Argument &argument : arguments_)
    if (argument.isIndexed) {
      argument.kind = isa::Argument::Kind::address;
      hasIndexed = true;
    }
  return hasIndexed && result_->matcher_.match(candidates, arguments_, match);
}

// Parameters of the function are read only; the address of a .param variable of its body cannot be
// taken (5.1.6).
void Checker::checkParameterUse(const Instruction &made) {
  bool isStore = made.form->opcode == "st", isMove = made.form->opcode == "mov";
  if (!isStore && !isMove)
    return;
  for (const Operand &one : made.operands) {
    if (one.kind != Operand::Kind::address || !one.variable ||
        one.variable->space != isa::StateSpace::param)
      continue;
    auto parameters = function_->signature.parameters;
    bool isInput =
        std::find(parameters.begin(), parameters.end(), one.variable) != parameters.end();
    std::string name = "'" + std::string(one.variable->name) + "'";
    if (isStore && isInput)
      error(one.span, name + " is a parameter of this function and cannot be written",
            "PTX ISA 5.1.6: parameter state space");
    else if (isMove && !isSignatureParameter(*one.variable))
      error(one.span, "the address of " + name + ", a .param variable of the body, cannot be taken",
            "PTX ISA 5.1.6: parameter state space");
  }
}

bool Checker::guard(const ast::Instruction &written, Instruction &made) {
  if (!written.guard)
    return true;
  Binding binding = lookUp(written.guard, written.guardSpan);
  if (binding.kind == Binding::Kind::unknown)
    return false;
  if (binding.kind != Binding::Kind::reg || binding.reg->type != Type::pred)
    return error(written.guardSpan, "a guard must be a .pred register",
                 "PTX ISA 9.3: predicated execution");
  made.guard = binding.reg;
  made.isGuardNegated = written.isGuardNegated;
  return true;
}

// One operand for each of the form's; what the form reads it as decides what a constant means.
void Checker::bindOperands(const isa::Match &match, Instruction &made) {
  auto bound = arena_.makeArray<Operand>(match.operandCount);
  for (size_t i = 0; i < bound.size(); ++i) {
    const isa::BoundOperand &one = match.operands[i];
    if (one.argument < 0)
      continue;
    bound[i] = operands_[size_t(one.argument)];
    settle(bound[i], one.type);
  }
  made.operands = bound;
}

void Checker::settle(Operand &operand, Type type) {
  switch (operand.kind) {
  case Operand::Kind::floating:
    // Where bits are wanted (mov.b32, st.b64), a floating constant gives its bits in their width.
    operand.bits =
        toFloatBits({operand.type == Type::f32 ? Constant::Kind::float32 : Constant::Kind::float64,
                     false, operand.bits},
                    type);
    if (type != Type::none && !isa::isFloat(type)) {
      operand.kind = Operand::Kind::integer;
      operand.integer = toWidth(int64_t(operand.bits), type);
    }
    break;
  case Operand::Kind::integer:
    operand.integer = toWidth(operand.integer, type);
    break;
  case Operand::Kind::vector:
    for (const Operand &element : operand.elements)
      settle(const_cast<Operand &>(element),
             type); // made by this instruction's operands(), in the arena
    break;
  case Operand::Kind::tensor: {
    for (size_t i = 1; i < operand.elements.size(); ++i)
      settleNested(const_cast<Operand &>(operand.elements[i]));
    break;
  }
  default:
    break;
  }
  operand.type = type;
}

// Coordinates and the like, which the form gives no type of their own: as registers say, numbers as
// .s32.
void Checker::settleNested(Operand &operand) {
  auto typeOf = [](const Operand &one) {
    if (one.kind == Operand::Kind::reg)
      return one.reg->type;
    return one.kind == Operand::Kind::floating  ? Type::f32
           : one.kind == Operand::Kind::integer ? Type::s32
                                                : Type::none;
  };
  if (operand.kind != Operand::Kind::vector) {
    if (operand.kind != Operand::Kind::address)
      settle(operand, typeOf(operand));
    return;
  }
  for (const Operand &element : operand.elements)
    settle(const_cast<Operand &>(element), typeOf(element));
}

// Says what is wrong in terms of the nearest legal form, at the part that is wrong.
void Checker::reportMismatch(const ast::Instruction &written) {
  const ast::Mnemonic &mnemonic = tree_.mnemonics[written.mnemonic];
  isa::Mismatch why = result_->matcher_.explain(mnemonic.text, arguments_);
  Span span = written.opcodeSpan;
  switch (why.part) {
  case isa::Mismatch::Part::opcode:
  case isa::Mismatch::Part::modifier:
    // Places inside the mnemonic hold for the source where no blanks stood between its parts.
    if (span.end - span.begin == mnemonic.text.size())
      span = {span.begin + why.offset, span.begin + why.offset + why.length};
    break;
  case isa::Mismatch::Part::argument:
    if (why.argument < operands_.size()) {
      const Operand &wrong = operands_[why.argument];
      bool isElement = why.element >= 0 && size_t(why.element) < wrong.elements.size();
      span = isElement ? wrong.elements[size_t(why.element)].span : wrong.span;
    }
    break;
  case isa::Mismatch::Part::arguments:
    break;
  }
  // What the mnemonic alone is guilty of is wrong wherever it stands.
  const bool isMnemonic =
      why.part == isa::Mismatch::Part::opcode || why.part == isa::Mismatch::Part::modifier;
  support::Diagnostic &diagnostic = isMnemonic
                                        ? diagnostics_.errorOfKind(mnemonic.text, span, why.message)
                                        : diagnostics_.error(span, why.message);
  if (why.nearest) {
    diagnostic.notes.push_back("nearest form: " + std::string(why.nearest->notation));
    diagnostic.notes.push_back("PTX ISA " + std::string(why.nearest->section) + ": " +
                               std::string(why.nearest->instruction));
  }
}

} // namespace ptxrun::check
