// Calls: arguments against prototypes (PTX ISA 9.7.12.5).
#include "translate/check/checker.h"

namespace ptxrun::check {

using isa::StateSpace;
using isa::Type;

namespace {

constexpr const char *kNote = "PTX ISA 9.7.12.5: call";

struct Parts {
  const Operand *returns = nullptr, *callee = nullptr, *arguments = nullptr, *targets = nullptr;
};

Parts takeApart(std::span<const Operand> operands) {
  Parts parts;
  for (const Operand &one : operands) {
    if (one.kind == Operand::Kind::list)
      (parts.callee ? parts.arguments : parts.returns) = &one;
    else if (one.kind == Operand::Kind::prototype)
      parts.targets = &one;
    else if (one.kind != Operand::Kind::absent)
      parts.callee = &one;
  }
  return parts;
}

/// The prototypes a call must fit: its function's, the named one, or those of all its targets.
std::vector<const Prototype *> prototypesOf(const Parts &parts) {
  if (parts.callee && parts.callee->kind == Operand::Kind::function)
    return {&parts.callee->function->signature};
  std::vector<const Prototype *> all;
  if (parts.targets && parts.targets->prototype)
    all.push_back(parts.targets->prototype);
  else if (parts.targets)
    for (const Function *target : parts.targets->functions)
      all.push_back(&target->signature);
  return all;
}

/// Calls list plain names and constants; nothing else is an argument.
bool isPlain(const ast::Operand &one) {
  return (one.kind == ast::Operand::Kind::name && !one.suffix && !one.isNegated && !one.isMinus) ||
         one.kind == ast::Operand::Kind::constant || one.kind == ast::Operand::Kind::sink;
}

bool isRegisterLike(const Operand &operand) {
  return operand.kind == Operand::Kind::reg || operand.kind == Operand::Kind::integer ||
         operand.kind == Operand::Kind::floating || operand.kind == Operand::Kind::sink;
}

/// Types of one width that calls exchange: integers among each other, floats likewise, bits with
/// all.
bool areInterchangeable(Type a, Type b) {
  auto isNeutral = [](Type type) { return isa::isBits(type) || type == Type::f16x2; };
  return isNeutral(a) || isNeutral(b) || isa::isFloat(a) == isa::isFloat(b);
}

bool isSameType(const Variable &given, const Variable &wanted) {
  bool isSameShape = given.dimensions.size() == wanted.dimensions.size() &&
                     (given.bytes == wanted.bytes || wanted.bytes == 0);
  return isSameShape && areInterchangeable(given.type, wanted.type);
}

bool isTooNarrow(const Variable &variable) {
  Type type = variable.type;
  return variable.dimensions.empty() &&
         (type == Type::pred || type == Type::u8 || type == Type::s8 || type == Type::u16 ||
          type == Type::s16);
}

} // namespace

// The calling convention passes integers of 32 bits and more; narrower ones must say .b8 or .b16. A
// module with a function of several results does without the convention.
bool Checker::checkConvention(const Prototype &prototype, Span span) {
  if (!followsConvention_)
    return true;
  for (std::span<Variable *const> list : {prototype.parameters, prototype.returns})
    for (const Variable *one : list)
      if (isTooNarrow(*one))
        return error(
            span,
            "predicates and integers of 8 or 16 bits cannot be passed to functions or returned; '" +
                std::string(one->name) + "' must be .b8, .b16 or wider",
            kNote);
  return true;
}

void Checker::call(const ast::Instruction &written, Instruction &made) {
  Parts parts = takeApart(made.operands);
  if (parts.callee && parts.callee->kind == Operand::Kind::function &&
      parts.callee->function->isEntry) {
    error(parts.callee->span,
          "'" + std::string(parts.callee->function->name) +
              "' is a kernel; only a .func can be called",
          kNote);
    return;
  }
  std::vector<const Prototype *> prototypes = prototypesOf(parts);
  if (prototypes.empty())
    error(parts.callee ? parts.callee->span : written.span,
          "an indirect call needs a .callprototype or .calltargets as its last operand", kNote);
  bool isDirect = parts.callee->kind == Operand::Kind::function;
  if (isDirect && parts.targets) {
    error(parts.callee->span, "a call with a prototype or targets calls the address in a register",
          kNote);
    return;
  }
  using Operands = std::span<const Operand>;
  for (const Prototype *prototype : prototypes) {
    if (!checkConvention(*prototype, parts.callee->span))
      return;
    callArguments(parts.returns ? parts.returns->elements : Operands(), prototype->returns,
                  parts.callee->span, true);
    callArguments(parts.arguments ? parts.arguments->elements : Operands(), prototype->parameters,
                  parts.callee->span, false);
  }
}

// What a call's operands may look like, and an array of function addresses in the place of
// .calltargets.
bool Checker::callOperands(const ast::Instruction &written) {
  for (size_t i = 0; i < written.operands.size(); ++i) {
    const ast::Operand &one = written.operands[i];
    if (one.kind == ast::Operand::Kind::list)
      for (const ast::Operand &argument : one.children())
        if (!isPlain(argument))
          return error(argument.span,
                       "an argument of a call is a register, a .param variable or a constant",
                       kNote);
    Operand &operand = operands_[i];
    bool isTable =
        i > 0 && operand.kind == Operand::Kind::address && operand.variable && !operand.reg;
    if (!isTable)
      continue;
    std::vector<const Function *> functions;
    for (const Relocation &relocation : operand.variable->relocations)
      if (relocation.function)
        functions.push_back(relocation.function);
    if (functions.empty())
      return error(operand.span,
                   "the targets of a call are an array that starts with function addresses, "
                   ".calltargets or a .callprototype",
                   kNote);
    Span span = operand.span;
    operand = Operand{};
    operand.kind = Operand::Kind::prototype;
    operand.functions = arena_.copy(functions);
    operand.span = span;
    arguments_[i] = isa::Argument{};
    arguments_[i].kind = isa::Argument::Kind::prototype;
  }
  return true;
}

void Checker::callArguments(std::span<const Operand> given, std::span<Variable *const> wanted,
                            Span span, bool areReturns) {
  if (given.size() != wanted.size()) {
    error(span,
          "this call has " + std::to_string(given.size()) +
              (areReturns ? " results" : " arguments") + ", its prototype has " +
              std::to_string(wanted.size()),
          kNote);
    return;
  }
  for (size_t i = 0; i < given.size(); ++i)
    callArgument(given[i], *wanted[i], areReturns);
}

// A .param variable of the same size and alignment, or a register or constant of the same width and
// kind.
void Checker::callArgument(const Operand &given, const Variable &wanted, bool isReturn) {
  std::string name = (isReturn ? "result '" : "parameter '") + std::string(wanted.name) + "'";
  bool isScalar = wanted.dimensions.empty();
  if (given.kind == Operand::Kind::address && given.variable && !given.reg && given.integer == 0) {
    const Variable &variable = *given.variable;
    if (variable.space != StateSpace::param)
      error(given.span, "a .param variable or a register is needed for " + name, kNote);
    else if (isSignatureParameter(variable))
      error(given.span,
            "a parameter of this function cannot be handed on; copy it to a .param variable of the "
            "body",
            kNote);
    else if (!isSameType(variable, wanted))
      error(given.span, "the type of this argument does not match " + name, kNote);
    else if (variable.alignment != wanted.alignment)
      error(given.span,
            "the alignment of this argument (" + std::to_string(variable.alignment) +
                ") is not that of " + name + " (" + std::to_string(wanted.alignment) + ")",
            kNote);
    return;
  }
  bool isSink = given.kind == Operand::Kind::sink;
  if (!isRegisterLike(given) || (isSink && !isReturn) || (!isScalar && !isSink)) {
    error(given.span, "this cannot be given for " + name, kNote);
    return;
  }
  bool isGood = true;
  if (given.kind == Operand::Kind::reg)
    isGood = isa::bitWidth(given.reg->type) * given.reg->vector ==
                 isa::bitWidth(wanted.type) * wanted.vector &&
             (given.reg->vector > 1 || areInterchangeable(given.reg->type, wanted.type));
  else if (given.kind == Operand::Kind::integer)
    isGood = isReturn || (!isa::isFloat(wanted.type) && wanted.type != Type::pred);
  else if (given.kind == Operand::Kind::floating)
    isGood = isReturn || (isa::isFloat(wanted.type) && wanted.type != Type::f16x2) ||
             isa::isBits(wanted.type);
  if (!isGood)
    error(given.span, "the type of this argument does not match " + name, kNote);
  else
    settle(const_cast<Operand &>(given), wanted.type);
}

} // namespace ptxrun::check
