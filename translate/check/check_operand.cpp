// Operands: names resolved, constants evaluated, described to the matcher (PTX ISA 6).
#include <algorithm>
#include <bit>

#include "translate/check/checker.h"

namespace ptxrun::check {

using isa::Argument;
using AstKind = ast::Operand::Kind;

namespace {

/// How many arguments lie below an operand, itself not counted. Operands nest at most a few deep.
size_t countBelow(const ast::Operand &one) {
  bool hasChildren = one.kind == AstKind::address || one.kind == AstKind::vector ||
                     one.kind == AstKind::list || one.kind == AstKind::pair;
  if (!hasChildren)
    return 0;
  size_t count = one.children().size();
  for (const ast::Operand &child : one.children())
    count += countBelow(child);
  return count;
}

/// True for a literal written 0d...: the bits of a double.
bool isDoublePattern(const support::SourceFile &source, Span span) {
  const std::string_view start = source.text().substr(span.begin, 2);
  return start == "0d" || start == "0D";
}

/// 1 to 4 for x y z w or r g b a, 0 for anything else.
uint8_t componentNumber(NameId suffix) {
  switch (suffix) {
  case syntax::keyword_x:
  case syntax::keyword_r:
    return 1;
  case syntax::keyword_y:
  case syntax::keyword_g:
    return 2;
  case syntax::keyword_z:
  case syntax::keyword_b:
    return 3;
  case syntax::keyword_w:
  case syntax::keyword_a:
    return 4;
  default:
    return 0;
  }
}

} // namespace

// Describes the operands of an instruction in arguments_ and operands_, pairs taken apart. False if
// one has no meaning.
bool Checker::operands(const ast::Instruction &written) {
  size_t below = 0;
  for (const ast::Operand &one : written.operands)
    below += countBelow(one);
  current_ = &written;
  nestedArguments_.clear();
  nestedArguments_.reserve(below); // spans into it must stay good
  arguments_.clear();
  operands_.clear();
  bool isGood = true;
  auto add = [&](const ast::Operand &one) {
    isGood &= operand(one, arguments_.emplace_back(), operands_.emplace_back());
  };
  for (const ast::Operand &one : written.operands) {
    if (one.kind != AstKind::pair) {
      add(one);
      continue;
    }
    add(one.children()[0]);
    arguments_.back().isJoined = true;
    add(one.children()[1]);
  }
  current_ = nullptr;
  return isGood;
}

bool Checker::operand(const ast::Operand &written, Argument &argument, Operand &made) {
  made.span = written.span;
  switch (written.kind) {
  case AstKind::sink:
    argument.kind = Argument::Kind::sink;
    made.kind = Operand::Kind::sink;
    return true;
  case AstKind::name:
    return namedOperand(written, argument, made);
  case AstKind::constant:
    return constantOperand(written, argument, made);
  case AstKind::nameOffset:
  case AstKind::indexed:
    argument.hasOffset = written.kind == AstKind::nameOffset;
    argument.kind = Argument::Kind::variable;
    made.kind = Operand::Kind::address;
    return baseOperand(written, argument, made);
  case AstKind::address:
    return addressOperand(written, argument, made);
  case AstKind::vector:
  case AstKind::list:
    return compoundOperand(written, argument, made);
  case AstKind::pair:
    return error(written.span, "'|' cannot stand here");
  }
  return false;
}

// What a name means; a register of a range comes to be here. Unknown names are reported once in
// their scope.
Binding Checker::lookUp(NameId id, Span span) {
  const RegisterRange *range;
  const Binding &known = scopes_.find(id, range);
  if (range) {
    RegisterRange found = *range;
    const Register *made = makeRegister(text(id), found.type, found.vector);
    scopes_.bindMember(id, found, made);
    Binding binding;
    binding.kind = Binding::Kind::reg;
    binding.reg = made;
    return binding;
  }
  if (known.kind != Binding::Kind::none)
    return known;
  Binding unknown;
  unknown.kind = Binding::Kind::unknown;
  constexpr const char *kNote =
      "names must be declared before they are used; labels, in the block or around it";
  // `exit` and `ret;` on the next line: what is missing is the semicolon.
  bool isFirst =
      current_ && !current_->operands.empty() && current_->operands[0].span.begin == span.begin;
  if (isFirst && lines_.line(span.begin) != lines_.line(current_->opcodeSpan.begin))
    error(
        current_->opcodeSpan,
        quote(id) +
            ", taken for the first operand of this instruction, is not declared; is a ';' missing?",
        kNote);
  else
    error(span, quote(id) + " is not declared", kNote);
  scopes_.declare(id, unknown);
  return unknown;
}

bool Checker::namedOperand(const ast::Operand &written, Argument &argument, Operand &made) {
  const RegisterRange *range;
  const Binding *known = &scopes_.find(written.name, range);
  if (known->kind == Binding::Kind::none && !range && text(written.name)[0] == '%') {
    isa::SpecialRegister special = isa::findSpecialRegister(text(written.name).substr(1));
    if (special != isa::SpecialRegister::none)
      return specialOperand(written, special, argument, made);
  }
  Binding binding = known->kind == Binding::Kind::reg ? *known : lookUp(written.name, written.span);
  if (binding.kind == Binding::Kind::reg)
    return registerOperand(written, *binding.reg, argument, made);
  if (binding.kind == Binding::Kind::unknown)
    return false;
  if (written.suffix)
    return error(written.span,
                 quote(written.name) + " has no part '." + std::string(text(written.suffix)) + "'");
  if (written.isNegated || written.isMinus)
    return error(written.span, "only a register can be negated");
  switch (binding.kind) {
  case Binding::Kind::variable:
    argument.kind = Argument::Kind::variable;
    argument.base = Argument::Base::variable;
    argument.space = binding.variable->space;
    argument.type = binding.variable->type;
    argument.isParameter = isSignatureParameter(*binding.variable);
    made.kind = Operand::Kind::address;
    made.variable = binding.variable;
    return true;
  case Binding::Kind::function:
    argument.kind = Argument::Kind::function;
    made.kind = Operand::Kind::function;
    made.function = binding.function;
    return true;
  case Binding::Kind::label:
    argument.kind = Argument::Kind::label;
    made.kind = Operand::Kind::label;
    made.label = binding.label;
    return true;
  case Binding::Kind::branchTargets:
    argument.kind = Argument::Kind::labels;
    made.kind = Operand::Kind::labels;
    made.labels = binding.targets->labels;
    return true;
  case Binding::Kind::callTargets:
    argument.kind = Argument::Kind::prototype;
    made.kind = Operand::Kind::prototype;
    made.functions = binding.targets->functions;
    return true;
  default:
    argument.kind = Argument::Kind::prototype;
    made.kind = Operand::Kind::prototype;
    made.prototype = binding.prototype;
    return true;
  }
}

bool Checker::isSignatureParameter(const Variable &variable) const {
  if (!function_ || variable.space != isa::StateSpace::param)
    return false;
  auto holds = [&](std::span<Variable *const> list) {
    return std::find(list.begin(), list.end(), &variable) != list.end();
  };
  return holds(function_->signature.parameters) || holds(function_->signature.returns);
}

bool Checker::registerOperand(const ast::Operand &written, const Register &reg, Argument &argument,
                              Operand &made) {
  argument.kind = Argument::Kind::reg;
  argument.type = reg.type;
  argument.vector = reg.vector;
  argument.isNegated = written.isNegated || written.isMinus;
  made.kind = Operand::Kind::reg;
  made.reg = &reg;
  made.isNegated = argument.isNegated;
  if (written.isMinus && reg.type == isa::Type::pred)
    return error(written.span, "a predicate is negated by '!'");
  if (written.isNegated && reg.type != isa::Type::pred)
    return error(written.span, "only a predicate register can be negated by '!'");
  if (!written.suffix)
    return true;
  uint8_t component = reg.vector > 1 ? componentNumber(written.suffix) : 0;
  if (component != 0) {
    if (component > reg.vector)
      return error(written.span,
                   quote(written.name) + " has only " + std::to_string(reg.vector) + " elements",
                   "PTX ISA 5.4.2: vectors");
    argument.vector = 1;
    made.component = component;
    return true;
  }
  argument.selector = made.selector = isa::findSelector(text(written.suffix));
  if (reg.vector != 1 || argument.selector == isa::Token::none)
    return error(written.span,
                 quote(written.name) + " has no part '." + std::string(text(written.suffix)) + "'",
                 "PTX ISA 5.4.2: elements of vectors are .x .y .z .w or .r .g .b .a");
  return true;
}

bool Checker::specialOperand(const ast::Operand &written, isa::SpecialRegister special,
                             Argument &argument, Operand &made) {
  std::string why;
  if (!isa::isAvailable(special, header_.target, &why))
    return error(written.span, why, "PTX ISA 10: special registers");
  unsigned components = isa::componentsOf(special);
  argument.kind = Argument::Kind::special;
  argument.special = made.special = special;
  argument.type = isa::typeOf(special);
  argument.vector = uint8_t(components);
  argument.isNegated = made.isNegated = written.isNegated;
  made.kind = Operand::Kind::special;
  if (!written.suffix)
    return true;
  made.component = componentNumber(written.suffix);
  argument.vector = 1;
  if (components == 1 || made.component == 0)
    return error(written.span,
                 quote(written.name) + " has no part '." + std::string(text(written.suffix)) + "'",
                 "PTX ISA 10: special registers");
  return true;
}

bool Checker::constantOperand(const ast::Operand &written, Argument &argument, Operand &made) {
  std::string why;
  std::optional<Constant> constant = evaluate(written.expression(), why);
  if (!constant)
    return error(written.span, why, "PTX ISA 4.5: constants");
  if (constant->kind == Constant::Kind::integer) {
    argument.kind = Argument::Kind::integer;
    made.kind = Operand::Kind::integer;
    argument.integer = made.integer = int64_t(constant->bits);
    return true;
  }
  argument.kind = Argument::Kind::floating;
  argument.type = made.type =
      constant->kind == Constant::Kind::float32 ? isa::Type::f32 : isa::Type::f64;
  argument.isBitPattern = constant->kind == Constant::Kind::float32 ||
                          isDoublePattern(diagnostics_.source(), written.span);
  argument.floating = constant->kind == Constant::Kind::float32
                          ? double(std::bit_cast<float>(uint32_t(constant->bits)))
                          : std::bit_cast<double>(constant->bits);
  made.kind = Operand::Kind::floating;
  made.bits = constant->bits;
  return true;
}

std::optional<int64_t> Checker::offset(ast::Expression expression, Span span) {
  std::string why;
  std::optional<Constant> constant = evaluate(expression, why);
  if (!constant)
    error(span, why, "PTX ISA 4.5: constants");
  else if (constant->kind != Constant::Kind::integer)
    error(span, "an address offset must be an integer constant",
          "PTX ISA 6.4.1: addresses as operands");
  else
    return int64_t(constant->bits);
  return std::nullopt;
}

// [a], [a, {x, y}], [texture, sampler, {x, y}]
bool Checker::addressOperand(const ast::Operand &written, Argument &argument, Operand &made) {
  std::span<const ast::Operand> children = written.children();
  argument.kind = Argument::Kind::address;
  made.kind = Operand::Kind::address;
  made.isUnified = argument.isUnified = written.isUnified;
  if (children[0].kind == AstKind::indexed)
    return error(children[0].span, "an array element stands without brackets around it: `var[3]`",
                 "PTX ISA 6.4.2: arrays as operands");
  if (!baseOperand(children[0], argument, made))
    return false;
  if (children.size() == 1)
    return true;
  size_t first = nestedArguments_.size();
  nestedArguments_.resize(first + children.size() - 1);
  auto elements = arena_.makeArray<Operand>(children.size());
  elements[0] = made;
  elements[0].span = children[0].span;
  bool isGood = true;
  for (size_t i = 1; i < children.size(); ++i)
    isGood &= operand(children[i], nestedArguments_[first + i - 1], elements[i]);
  argument.elements = {&nestedArguments_[first], children.size() - 1};
  made = Operand{};
  made.kind = Operand::Kind::tensor;
  made.span = written.span;
  made.elements = elements;
  return isGood;
}

// The base of an address, inside brackets or as a value: register, variable or number, and an
// offset.
bool Checker::baseOperand(const ast::Operand &written, Argument &argument, Operand &made) {
  if (written.kind == AstKind::constant) {
    std::optional<int64_t> place = offset(written.expression(), written.span);
    argument.integer = made.integer = place.value_or(0);
    return place.has_value();
  }
  bool isNamed = written.kind == AstKind::name || written.kind == AstKind::nameOffset ||
                 written.kind == AstKind::indexed;
  if (!isNamed || written.isNegated || written.isMinus)
    return error(written.span, "an address is a register, a variable or a number, with an offset",
                 "PTX ISA 6.4.1: [reg], [reg+imm], [var], [var+imm], [imm]");
  Binding base = lookUp(written.name, written.span);
  if (base.kind == Binding::Kind::unknown)
    return false;
  if (base.kind == Binding::Kind::reg) {
    Argument inner;
    Operand of;
    if (!registerOperand(written, *base.reg, inner, of))
      return false;
    argument.base = Argument::Base::reg;
    argument.type = inner.type;
    argument.vector = inner.vector;
    made.reg = base.reg;
    made.component = of.component;
  } else if (base.kind == Binding::Kind::variable) {
    argument.base = Argument::Base::variable;
    argument.space = base.variable->space;
    argument.type = base.variable->type;
    argument.isParameter = isSignatureParameter(*base.variable);
    made.variable = base.variable;
  } else {
    return error(written.span,
                 quote(written.name) + " is not an address; a register or a variable is needed",
                 "PTX ISA 6.4.1: addresses as operands");
  }
  if (written.kind == AstKind::indexed)
    return indexedOperand(written, argument, made);
  if (written.kind == AstKind::nameOffset) {
    std::optional<int64_t> by = offset(written.expression(), written.span);
    argument.integer = made.integer = by.value_or(0);
    return by.has_value();
  }
  return true;
}

// var[3], var[%r1], var[%r1+2]: an element of an array (6.4.2); the index counts scalars, also in
// arrays of arrays or of vectors.
bool Checker::indexedOperand(const ast::Operand &written, Argument &argument, Operand &made) {
  const ast::Operand &index = written.children()[0];
  if (!made.variable)
    return error(written.span, quote(written.name) + " is not an array",
                 "PTX ISA 6.4.2: arrays as operands");
  argument.isIndexed = true;
  made.scale = std::max(1u, isa::bitWidth(made.variable->type) / 8);
  if (index.kind != AstKind::name) {
    std::optional<int64_t> number = offset(index.expression(), index.span);
    argument.integer = made.integer = int64_t(uint64_t(number.value_or(0)) * made.scale);
    if (index.kind == AstKind::constant || !number)
      return number.has_value();
  }
  Binding binding = lookUp(index.name, index.span);
  if (binding.kind == Binding::Kind::unknown)
    return false;
  if (binding.kind != Binding::Kind::reg || isa::isFloat(binding.reg->type) ||
      binding.reg->type == isa::Type::pred)
    return error(index.span, "an index is an integer register or constant",
                 "PTX ISA 6.4.2: arrays as operands");
  made.reg = binding.reg;
  return true;
}

// {a, b} and the (a, b) of calls.
bool Checker::compoundOperand(const ast::Operand &written, Argument &argument, Operand &made) {
  bool isVector = written.kind == AstKind::vector;
  std::span<const ast::Operand> children = written.children();
  argument.kind = isVector ? Argument::Kind::vector : Argument::Kind::list;
  made.kind = isVector ? Operand::Kind::vector : Operand::Kind::list;
  size_t first = nestedArguments_.size();
  nestedArguments_.resize(first + children.size());
  auto elements = arena_.makeArray<Operand>(children.size());
  bool isGood = true;
  for (size_t i = 0; i < children.size(); ++i)
    isGood &= operand(children[i], nestedArguments_[first + i], elements[i]);
  if (!children.empty())
    argument.elements = {&nestedArguments_[first], children.size()};
  made.elements = elements;
  return isGood;
}

} // namespace ptxrun::check
