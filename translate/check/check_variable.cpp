// Variables and registers (PTX ISA 5.1 to 5.4, 11.6).
#include <algorithm>
#include <bit>

#include "translate/check/checker.h"

namespace ptxrun::check {

using isa::StateSpace;
using isa::Type;

namespace {

/// Ranges of variables (not registers) exist in full; this bounds them.
constexpr uint64_t kMostVariablesOfRange = 1 << 20;
constexpr uint64_t kMostBytes = uint64_t(1) << 48;
constexpr unsigned kMostVectorBits = 128;
constexpr size_t kMostDimensions = 64;
constexpr uint64_t kMostConstantBytes = 65536;
constexpr const char *kTypesNote =
    "PTX ISA 5.2.1: .b8 to .b128, .u8 to .u64, .s8 to .s64, .f16, .f16x2, .f32, .f64, .pred";

bool isOpaque(Type type) {
  return type == Type::texref || type == Type::samplerref || type == Type::surfref;
}

/// Types that variables and registers can have; the others belong to instructions (5.2.3).
bool isVariableType(Type type) {
  switch (type) {
  case Type::pred:
  case Type::b8:
  case Type::b16:
  case Type::b32:
  case Type::b64:
  case Type::b128:
  case Type::u8:
  case Type::u16:
  case Type::u32:
  case Type::u64:
  case Type::s8:
  case Type::s16:
  case Type::s32:
  case Type::s64:
  case Type::f16:
  case Type::f16x2:
  case Type::f32:
  case Type::f64:
    return true;
  default:
    return isOpaque(type);
  }
}

StateSpace spaceOf(NameId word) {
  switch (word) {
  case syntax::keyword_reg:
    return StateSpace::reg;
  case syntax::keyword_sreg:
    return StateSpace::sreg;
  case syntax::keyword_const:
    return StateSpace::constant;
  case syntax::keyword_global:
    return StateSpace::global;
  case syntax::keyword_local:
    return StateSpace::local;
  case syntax::keyword_param:
    return StateSpace::param;
  case syntax::keyword_shared:
    return StateSpace::shared;
  default:
    return StateSpace::tex;
  }
}

Linkage linkageOf(ast::Linkage linkage) {
  switch (linkage) {
  case ast::Linkage::none:
    return Linkage::internal;
  case ast::Linkage::external_:
    return Linkage::external_;
  case ast::Linkage::visible:
    return Linkage::visible;
  case ast::Linkage::weak:
    return Linkage::weak;
  case ast::Linkage::common:
    return Linkage::common;
  }
  return Linkage::internal;
}

} // namespace

Type Checker::declaredType(const ast::Declaration &written) {
  Type type = isa::findType(text(written.type));
  if (isVariableType(type))
    return type;
  error(written.typeSpan,
        "'." + std::string(text(written.type)) + "' is not a type that a variable can have",
        kTypesNote);
  return Type::none;
}

uint8_t Checker::declaredVector(const ast::Declaration &written, Type type) {
  uint8_t vector = written.vector == syntax::keyword_v2   ? 2
                   : written.vector == syntax::keyword_v4 ? 4
                                                          : 1;
  if (written.vector && vector == 1)
    error(written.typeSpan, "vectors of variables have 2 or 4 elements", "PTX ISA 5.4.2: vectors");
  else if (vector > 1 && type == Type::pred)
    error(written.typeSpan, "predicates are scalars", "PTX ISA 5.4.2: vectors");
  else if (vector * isa::bitWidth(type) > kMostVectorBits)
    error(written.typeSpan, "a vector cannot be larger than 128 bits", "PTX ISA 5.4.2: vectors");
  else
    return vector;
  return 0;
}

void Checker::declaration(const ast::Declaration &written) {
  Type type = declaredType(written);
  uint8_t vector = type == Type::none ? 1 : declaredVector(written, type);
  StateSpace space = spaceOf(written.space);
  bool isGood = type != Type::none && vector != 0 && isAllowedHere(written, space);
  if (isGood && type == Type::b128)
    isGood = needs(written.typeSpan, "type .b128", 83, 70);
  if (isGood && type == Type::f16x2)
    isGood = needs(written.typeSpan, "type .f16x2", 50, 53);
  if (isGood && written.linkage == ast::Linkage::common)
    isGood = needs(written.span, ".common", 50, 20);
  if (isGood && type == Type::pred && space != StateSpace::reg)
    isGood = error(written.typeSpan, "a predicate can only be a register");
  if (isGood && isOpaque(type) && (function_ || space != StateSpace::global))
    isGood = error(
        written.typeSpan,
        "textures, samplers and surfaces are .global variables of the module or kernel parameters",
        "PTX ISA 5.3: texture, sampler and surface types");
  if (isGood && type == Type::samplerref && !header_.isTexmodeIndependent)
    isGood = error(written.typeSpan, "samplers need .target texmode_independent",
                   "PTX ISA 5.3: texture, sampler and surface types");
  if (!isGood) {
    // Names of a bad declaration are known from here on, so that their uses are not reported as
    // well.
    Binding unknown;
    unknown.kind = Binding::Kind::unknown;
    for (const ast::Declarator &one : written.declarators)
      if (!one.hasRange)
        scopes_.declare(one.name, unknown);
    return;
  }
  if (space == StateSpace::reg)
    registers(written, type, vector);
  else
    variables(written, type, vector);
}

// Which spaces may be declared where (5.1, and what ptxas says about module scope).
bool Checker::isAllowedHere(const ast::Declaration &written, StateSpace space) {
  Span span = written.spaceSpan;
  bool isLinked = written.linkage != ast::Linkage::none;
  switch (space) {
  case StateSpace::sreg:
    return error(span, ".sreg variables are predefined and cannot be declared");
  case StateSpace::tex:
    return error(span, ".tex is not supported since PTX 1.5; use .global .texref",
                 "PTX ISA 5.1.8: texture state space");
  case StateSpace::reg:
  case StateSpace::local:
    if (!function_)
      return error(span, "'" + std::string(text(written.space)) +
                             "' variables must be declared inside a function");
    break;
  case StateSpace::param:
    if (!function_)
      return error(span,
                   ".param variables must be declared inside a function or as its parameters");
    if (written.vector || text(written.type) == "f16x2")
      return error(written.typeSpan, ".param variables cannot be vectors; use an array or .b32");
    break;
  default:
    break;
  }
  if (written.linkage == ast::Linkage::common && space != StateSpace::global)
    return error(span, ".common variables must be .global", "PTX ISA 11.6.4: .common");
  if (isLinked && function_)
    return error(span, "linking directives stand at module scope only");
  return true;
}

Register *Checker::makeRegister(std::string_view name, Type type, uint8_t vector) {
  auto *made = arena_.make<Register>();
  made->name = name;
  made->type = type;
  made->vector = vector;
  made->index = uint32_t(function_->registers.size());
  function_->registers.push_back(made);
  return made;
}

bool Checker::hasGoodAlignment(const ast::Declaration &written) {
  if (!written.hasAlign || (std::has_single_bit(written.align) && written.align <= UINT32_MAX))
    return true;
  return error(written.span, "an alignment must be a power of two", "PTX ISA 5.4.5: alignment");
}

void Checker::registers(const ast::Declaration &written, Type type, uint8_t vector) {
  constexpr const char *kNote =
      "PTX ISA 5.4: variables; 5.4.6: parameterised names such as %r<100>";
  if (!hasGoodAlignment(written))
    return;
  for (const ast::Declarator &one : written.declarators) {
    if (one.initializer) {
      error(one.initializer->span, "a register cannot have an initial value");
    } else if (!one.dimensions.empty()) {
      error(one.span, "registers cannot be arrays", kNote);
    } else if (one.hasRange) {
      RegisterRange range{.prefix = one.name, .count = one.range, .type = type, .vector = vector};
      std::string clash;
      if (one.range > UINT32_MAX)
        error(one.span, "a range cannot have so many names", kNote);
      else if (!scopes_.declareRange(range, clash))
        error(one.span, "'" + clash + "' is declared already in this scope", kNote);
    } else {
      Binding binding;
      binding.kind = Binding::Kind::reg;
      binding.reg = makeRegister(text(one.name), type, vector);
      if (!scopes_.declare(one.name, binding))
        error(one.span, quote(one.name) + " is declared already in this scope", kNote);
    }
  }
}

void Checker::variables(const ast::Declaration &written, Type type, uint8_t vector) {
  for (const ast::Declarator &one : written.declarators) {
    Variable made;
    made.space = spaceOf(written.space);
    made.type = type;
    made.vector = vector;
    made.linkage = linkageOf(written.linkage);
    made.function = function_;
    made.span = one.span;
    if (!layOut(written, one, made) || !attributes(written, made))
      continue;
    if (!one.hasRange) {
      variable(one, one.name, made);
      continue;
    }
    if (one.range > kMostVariablesOfRange) {
      error(one.span, "a range cannot have so many variables");
      continue;
    }
    for (uint64_t i = 0; i < one.range; ++i) {
      std::string name = std::string(text(one.name)) + std::to_string(i);
      Variable member = made;
      member.name = arena_.copyText(name);
      variable(one, tree_.names.find(name), member);
    }
  }
}

// Sizes and alignment (5.4.3, 5.4.5). Element count 0 is `[]`.
bool Checker::layOut(const ast::Declaration &written, const ast::Declarator &declarator,
                     Variable &made) {
  uint64_t element =
      isOpaque(made.type) ? 8 : std::max(1u, isa::bitWidth(made.type) / 8) * made.vector;
  made.alignment = uint32_t(element);
  if (!hasGoodAlignment(written))
    return false;
  if (written.hasAlign)
    made.alignment = uint32_t(written.align);
  if (declarator.dimensions.size() > kMostDimensions)
    return error(declarator.span, "this array has too many dimensions");
  unsigned __int128 bytes = element;
  auto dimensions = arena_.makeArray<uint64_t>(declarator.dimensions.size());
  for (size_t i = 0; i < dimensions.size(); ++i) {
    dimensions[i] = declarator.dimensions[i].size;
    if (dimensions[i] == 0 && i > 0)
      return error(declarator.dimensions[i].span, "only the first array size may be left out");
    bytes *= std::max<uint64_t>(1, dimensions[i]);
    if (bytes > kMostBytes)
      return error(declarator.span, "this variable is too large");
  }
  made.dimensions = dimensions;
  made.bytes = !dimensions.empty() && dimensions[0] == 0 ? 0 : uint64_t(bytes);
  return true;
}

bool Checker::attributes(const ast::Declaration &written, Variable &made) {
  for (const ast::Attribute &one : written.attributes) {
    bool isManaged = one.name == syntax::keyword_managed,
         isUnified = one.name == syntax::keyword_unified;
    if ((!isManaged && !isUnified) || one.arguments.size() != (isUnified ? 2 : 0))
      return error(one.span, "the attributes of variables are .managed and .unified(n, m)",
                   "PTX ISA 5.4.8: variable and function attributes");
    if (made.space != StateSpace::global)
      return error(one.span, "only .global variables can have this attribute");
    if (!needs(one.span, isManaged ? ".managed" : ".unified", isManaged ? 40 : 80,
               isManaged ? 30 : 90))
      return false;
    made.isManaged |= isManaged;
  }
  return true;
}

// One variable: its initialiser, its place in the module or function, its name.
void Checker::variable(const ast::Declarator &declarator, NameId name, Variable made) {
  if (made.name.empty())
    made.name = text(name);
  auto *kept = arena_.make<Variable>(made);
  bool isExternal = made.linkage == Linkage::external_;
  if (const ast::Initializer *value = declarator.initializer) {
    if (made.space != StateSpace::global && made.space != StateSpace::constant)
      error(value->span,
            quote(declarator.name) + " cannot have an initial value in this state space",
            "PTX ISA 5.4.4: initialisers");
    else if (isExternal)
      error(value->span,
            quote(declarator.name) + " is external and cannot have an initial value here");
    else
      initialize(*kept, *value);
  }
  bool isIncomplete = kept->bytes == 0;
  if (isIncomplete && !isExternal)
    error(declarator.span,
          quote(declarator.name) + " has no size; only external variables may leave it out",
          "PTX ISA 5.4.3: array declarations");
  declareVariable(declarator, name, kept);
}

void Checker::declareVariable(const ast::Declarator &declarator, NameId name, Variable *made) {
  Binding binding;
  binding.kind = Binding::Kind::variable;
  binding.variable = made;
  bool isPredefined = !function_ && made->name[0] == '%' &&
                      isa::findSpecialRegister(made->name.substr(1)) != isa::SpecialRegister::none;
  if (isPredefined)
    error(declarator.span, quote(name) + " is a special register", "PTX ISA 10: special registers");
  if (function_) {
    made->index = uint32_t(function_->variables.size());
    function_->variables.push_back(made);
    bool isInModule = made->space == StateSpace::global || made->space == StateSpace::constant;
    if (isInModule) // two functions may have one of the same name
      made->name = arena_.copyText(std::string(function_->name) + "." + std::string(made->name) +
                                   "." + std::to_string(made->index));
  }
  if (made->space == StateSpace::constant && made->linkage != Linkage::external_) {
    constantBytes_ =
        (constantBytes_ + made->alignment - 1) / made->alignment * made->alignment + made->bytes;
    if (constantBytes_ > kMostConstantBytes) {
      error(declarator.span,
            "the .const variables of this module need " + std::to_string(constantBytes_) +
                " bytes, at most " + std::to_string(kMostConstantBytes) + " are possible",
            "PTX ISA 5.1.3: constant state space");
      constantBytes_ = 0;
    }
  }
  if (name == 0)
    return; // a member of a range that is never named
  if (!scopes_.declare(name, binding)) {
    const RegisterRange *range;
    Binding known = scopes_.find(name, range);
    bool isRepeated = !function_ && known.kind == Binding::Kind::variable;
    if (!isRepeated || !checkRedeclaration(declarator, *known.variable, *made)) {
      error(declarator.span, quote(name) + " is declared already in this scope",
            "PTX ISA 5.4: variables; 11.6: linking directives");
      return;
    }
    // The definition takes the declaration's place, for what refers to it already.
    if (made->linkage != Linkage::external_) {
      made->index = known.variable->index;
      *known.variable = *made;
    }
    return;
  }
  if (!function_) {
    made->index = uint32_t(module_.variables.size());
    module_.variables.push_back(made);
  }
}

// An external declaration may be repeated, or followed or preceded by the definition it names
// (11.6.1).
bool Checker::checkRedeclaration(const ast::Declarator &declarator, const Variable &before,
                                 const Variable &now) {
  bool isExternalBefore = before.linkage == Linkage::external_,
       isExternalNow = now.linkage == Linkage::external_;
  if (!isExternalBefore && !isExternalNow)
    return false;
  if (isExternalBefore && now.linkage == Linkage::internal)
    return error(declarator.span,
                 quote(declarator.name) +
                     " is external in one place and internal to the module in another",
                 "PTX ISA 11.6: linking directives"),
           true;
  bool isSameSize = before.bytes == now.bytes || before.bytes == 0 || now.bytes == 0;
  if (before.type != now.type || before.vector != now.vector || !isSameSize)
    error(declarator.span, quote(declarator.name) + " is declared differently before",
          "PTX ISA 11.6: linking directives");
  return true;
}

} // namespace ptxrun::check
