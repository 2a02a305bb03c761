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

bool isRegisterLike(const Operand &operand) {
  return operand.kind == Operand::Kind::reg || operand.kind == Operand::Kind::integer ||
         operand.kind == Operand::Kind::floating || operand.kind == Operand::Kind::sink;
}

}  // namespace

void Checker::call(const ast::Instruction &written, Instruction &made) {
  Parts parts = takeApart(made.operands);
  if (parts.callee && parts.callee->kind == Operand::Kind::function && parts.callee->function->isEntry) {
    error(parts.callee->span, "'" + std::string(parts.callee->function->name) + "' is a kernel; only a .func can be called", kNote);
    return;
  }
  std::vector<const Prototype *> prototypes = prototypesOf(parts);
  if (prototypes.empty())
    error(parts.callee ? parts.callee->span : written.span, "an indirect call needs a .callprototype or .calltargets as its last operand", kNote);
  using Operands = std::span<const Operand>;
  for (const Prototype *prototype : prototypes) {
    callArguments(parts.returns ? parts.returns->elements : Operands(), prototype->returns, parts.callee->span, true);
    callArguments(parts.arguments ? parts.arguments->elements : Operands(), prototype->parameters, parts.callee->span, false);
  }
}

void Checker::callArguments(std::span<const Operand> given, std::span<Variable *const> wanted, Span span, bool areReturns) {
  if (given.size() != wanted.size()) {
    error(span, "this call has " + std::to_string(given.size()) + (areReturns ? " results" : " arguments") +
                    ", its prototype has " + std::to_string(wanted.size()), kNote);
    return;
  }
  for (size_t i = 0; i < given.size(); ++i)
    callArgument(given[i], *wanted[i], areReturns);
}

// A .param variable of the same size and alignment, or a register or constant of the same width.
void Checker::callArgument(const Operand &given, const Variable &wanted, bool isReturn) {
  std::string name = "'" + std::string(wanted.name) + "'";
  const char *what = isReturn ? "result " : "parameter ";
  bool isScalar = wanted.dimensions.empty();
  if (given.kind == Operand::Kind::address && given.variable && !given.reg && given.integer == 0) {
    const Variable &variable = *given.variable;
    if (variable.space != StateSpace::param) {
      error(given.span, std::string("a .param variable or a register is needed for ") + what + name, kNote);
      return;
    }
    bool isSameSize = variable.bytes == wanted.bytes || wanted.bytes == 0;
    bool isSameKind = variable.dimensions.empty() == isScalar &&
                      (!isScalar || isa::isFloat(variable.type) == isa::isFloat(wanted.type) || isa::isBits(variable.type) || isa::isBits(wanted.type));
    if (!isSameSize || !isSameKind)
      error(given.span, "the type of this argument does not match " + std::string(what) + name, kNote);
    else if (variable.alignment < wanted.alignment)
      error(given.span, "the alignment of this argument is less than that of " + std::string(what) + name, kNote);
    return;
  }
  bool isConstant = given.kind == Operand::Kind::integer || given.kind == Operand::Kind::floating;
  if (!isRegisterLike(given) || (isConstant && isReturn) || (!isReturn && given.kind == Operand::Kind::sink) || !isScalar) {
    error(given.span, "this cannot be given for " + std::string(what) + name, kNote);
    return;
  }
  if (given.kind == Operand::Kind::reg && isa::bitWidth(given.reg->type) != isa::bitWidth(wanted.type)) {
    error(given.span, "the type of this argument does not match " + std::string(what) + name, kNote);
    return;
  }
  settle(const_cast<Operand &>(given), wanted.type);
}

}  // namespace ptxrun::check
