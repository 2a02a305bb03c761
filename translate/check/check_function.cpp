// Functions, kernels, prototypes and their directives (PTX ISA 11.2 to 11.4).
#include <algorithm>

#include "translate/check/checker.h"

namespace ptxrun::check {

using isa::StateSpace;
using isa::Type;

namespace {

constexpr const char *kPrototypeNote = "PTX ISA 11.2: kernel entry points and functions";
constexpr const char *kDirectiveNote =
    "PTX ISA 11.4 and 11.7: performance-tuning and cluster directives";
/// Since when directives exist.
struct DirectiveNeed {
  NameId directive;
  uint32_t version, sm;
};
constexpr DirectiveNeed kDirectiveNeeds[] = {
    {syntax::keyword_noreturn, 64, 30},
    {syntax::keyword_reqnctapercluster, 78, 90},
    {syntax::keyword_explicitcluster, 78, 90},
    {syntax::keyword_maxclusterrank, 78, 90},
    {syntax::keyword_blocksareclusters, 90, 90},
    {syntax::keyword_abi_preserve, 90, 80},
    {syntax::keyword_abi_preserve_control, 90, 80},
};
/// Alignments that parameters of functions can have.
constexpr uint32_t kMostParameterAlignment = 128;
/// Bytes of kernel parameters: since PTX 8.1 on sm_70, and before.
constexpr uint64_t kMostParameterBytes = 32764, kMostParameterBytesOld = 4352;

Linkage linkageOf(ast::Linkage linkage) {
  switch (linkage) {
  case ast::Linkage::external_:
    return Linkage::external_;
  case ast::Linkage::visible:
    return Linkage::visible;
  case ast::Linkage::weak:
    return Linkage::weak;
  default:
    return Linkage::internal;
  }
}

/// True for a shape of fewer than three numbers: only the token behind it shows that no comma
/// follows, and ptxas names that token's line.
bool isShapeOpen(const ast::PerformanceDirective &one) {
  bool isShape = one.name == syntax::keyword_maxntid || one.name == syntax::keyword_reqntid ||
                 one.name == syntax::keyword_reqnctapercluster;
  return isShape && one.arguments.size() < 3;
}

bool isSameParameter(const Variable &a, const Variable &b) {
  return a.space == b.space && a.type == b.type && a.vector == b.vector && a.bytes == b.bytes &&
         a.alignment == b.alignment && a.dimensions.size() == b.dimensions.size();
}

} // namespace

void Checker::function(const ast::Function &written) {
  Function *made = declareFunction(written);
  if (!made || !written.hasBody)
    return;
  if (!made->isEntry)
    checkConvention(made->signature, written.nameSpan);
  function_ = made;
  made->isDeclaration = false;
  made->span = written.nameSpan;
  made->line = lines_.line(written.nameSpan.begin);
  scopes_.open();
  bindParameters(written.prototype, made->signature, *made);
  body(written, *made);
  scopes_.close();
  function_ = nullptr;
}

// The Function that this declaration or definition is about, made at its first mention. Null if it
// must not be.
Function *Checker::declareFunction(const ast::Function &written) {
  const RegisterRange *range;
  Binding known = scopes_.find(written.name, range);
  Function fresh;
  fresh.name = text(written.name);
  fresh.isEntry = written.isEntry;
  fresh.isDeclaration = true;
  fresh.linkage = linkageOf(written.linkage);
  fresh.span = written.nameSpan;
  fresh.line = lines_.line(written.nameSpan.begin);
  fresh.signature = prototype(written.prototype, &fresh, written.isEntry, true);
  directives(written, fresh);
  for (const ast::Attribute &one : written.attributes)
    if (one.name != syntax::keyword_unified || one.arguments.size() != 2)
      error(one.span, "the attribute of a function is .unified(n, m)",
            "PTX ISA 5.4.8: variable and function attributes");
    else
      needs(one.span, ".unified", 80, 90);
  if (written.hasBody && fresh.linkage == Linkage::external_) {
    error(written.closingBrace, quote(written.name) + " is declared .extern and cannot have a body",
          kPrototypeNote);
    fresh.linkage = Linkage::visible;
  }
  if (known.kind == Binding::Kind::none) {
    Function &kept = result_->functions_.emplace_back(std::move(fresh));
    for (Variable *parameter : kept.signature.parameters)
      parameter->function = &kept;
    for (Variable *parameter : kept.signature.returns)
      parameter->function = &kept;
    Binding binding;
    binding.kind = Binding::Kind::function;
    binding.function = &kept;
    scopes_.declare(written.name, binding);
    return &kept;
  }
  // A function's prototype ends where the next token shows that no directive follows; ptxas names
  // that token's line.
  Span where = written.isEntry ? written.nameSpan : written.afterPrototype;
  bool isFunction =
      known.kind == Binding::Kind::function && known.function->isEntry == fresh.isEntry;
  if (!isFunction) {
    error(where, quote(written.name) + " is declared as something else before", kPrototypeNote);
    return nullptr;
  }
  Function &before = *known.function;
  std::string difference;
  if (!before.isDeclaration) {
    error(where, quote(written.name) + " is defined already", kPrototypeNote);
    return nullptr;
  }
  if (!isSamePrototype(before.signature, fresh.signature, difference)) {
    error(written.afterPrototype,
          quote(written.name) + " was declared with another prototype before: " + difference,
          kPrototypeNote);
    return nullptr;
  }
  bool isInherited = fresh.linkage == Linkage::internal && before.linkage != Linkage::external_;
  if (fresh.linkage != before.linkage && !isInherited) {
    error(written.afterPrototype,
          quote(written.name) + " was declared with another linking directive before",
          "PTX ISA 11.6: linking directives");
    return nullptr;
  }
  if (!written.hasBody)
    return &before;
  fresh.linkage = before.linkage;
  // The definition's names and directives are the ones that count; the object stays, for what
  // refers to it already.
  before = std::move(fresh);
  for (Variable *parameter : before.signature.parameters)
    parameter->function = &before;
  for (Variable *parameter : before.signature.returns)
    parameter->function = &before;
  return &before;
}

Prototype Checker::prototype(const ast::Prototype &written, Function *owner, bool isEntry,
                             bool isNamed) {
  Prototype made;
  made.returns = parameters(written.returns, owner, isEntry, true, isNamed);
  made.parameters = parameters(written.parameters, owner, isEntry, false, isNamed);
  functionDirectives(written.directives, made);
  return made;
}

std::span<Variable *const> Checker::parameters(std::span<const ast::Declaration> list,
                                               Function *owner, bool isEntry, bool areReturns,
                                               bool isNamed) {
  auto made = arena_.makeArray<Variable *>(list.size());
  Function *outer = function_;
  function_ = owner; // parameters are declared inside their function
  for (size_t i = 0; i < list.size(); ++i) {
    const ast::Declaration &written = list[i];
    const ast::Declarator &declarator = written.declarators[0];
    auto *one = made[i] = arena_.make<Variable>();
    one->name = text(declarator.name);
    one->span = declarator.span;
    one->function = owner;
    one->index = uint32_t(i);
    one->isPointer = written.isPointer;
    one->type = declaredType(written);
    one->space = written.space == syntax::keyword_reg ? StateSpace::reg : StateSpace::param;
    one->vector =
        one->type == Type::none ? 1 : std::max<uint8_t>(1, declaredVector(written, one->type));
    if (one->type == Type::none || !layOut(written, declarator, *one))
      continue;
    bool isBlank = declarator.name == syntax::keyword__;
    if (isNamed && isBlank && !isEntry)
      error(declarator.span, "a parameter needs a name", kPrototypeNote);
    checkParameter(written, *one, isEntry, areReturns, i + 1 == list.size(), list.size());
  }
  function_ = outer;
  return made;
}

bool Checker::checkParameter(const ast::Declaration &written, Variable &made, bool isEntry,
                             bool areReturns, bool isLast, size_t count) {
  bool isParam = written.space == syntax::keyword_param,
       isReg = written.space == syntax::keyword_reg;
  bool isOpaque =
      made.type == Type::texref || made.type == Type::samplerref || made.type == Type::surfref;
  bool isIncomplete = made.bytes == 0;
  if (isEntry && !isParam)
    return error(written.spaceSpan, "a kernel's parameters are .param variables", kPrototypeNote);
  if (!isParam && !isReg)
    return error(written.spaceSpan, "a function's parameters are .param or .reg variables",
                 kPrototypeNote);
  if (made.type == Type::pred && isParam)
    return error(written.typeSpan, "a predicate can only be a register");
  if (isParam && made.vector > 1)
    return error(written.typeSpan, ".param variables cannot be vectors; use an array",
                 kPrototypeNote);
  if (isParam && made.type == Type::f16x2)
    return error(written.typeSpan, ".param variables cannot have type .f16x2; use .b32",
                 kPrototypeNote);
  if (!isEntry && written.isPointer)
    return error(written.span, ".ptr belongs to parameters of kernels", "PTX ISA 11.2.2: .ptr");
  if (!isEntry && isParam && made.alignment > kMostParameterAlignment)
    return error(made.span, "a parameter's alignment is at most 128 bytes", kPrototypeNote);
  if (isIncomplete && !needs(made.span, "a parameter without size", 60, 30))
    return false;
  if (isReg && !made.dimensions.empty())
    return error(made.span, "registers cannot be arrays");
  if (made.type == Type::samplerref && !header_.isTexmodeIndependent)
    return error(written.typeSpan, "samplers need .target texmode_independent",
                 "PTX ISA 5.3: texture, sampler and surface types");
  if (isOpaque && !isEntry)
    return error(written.typeSpan,
                 "textures, samplers and surfaces can be parameters of kernels only");
  if (isIncomplete && (isEntry || areReturns))
    return error(made.span, "this parameter needs a size", kPrototypeNote);
  if (isIncomplete && !isLast)
    return error(made.span, "only the last parameter may be an array without size", kPrototypeNote);
  if (areReturns && isParam && count > 1)
    return error(made.span,
                 "a function returns one .param variable; several results must be registers",
                 kPrototypeNote);
  if (written.isPointer && written.hasPointerAlign &&
      (written.pointerAlign == 0 || (written.pointerAlign & (written.pointerAlign - 1)) != 0))
    return error(written.span, "an alignment must be a power of two", "PTX ISA 11.2.2: .ptr");
  return true;
}

// Parameters are names of the function's scope; `.reg` ones are registers of it as well.
void Checker::bindParameters(const ast::Prototype &written, const Prototype &signature,
                             Function &made) {
  auto bind = [&](std::span<const ast::Declaration> list, std::span<Variable *const> variables) {
    for (size_t i = 0; i < list.size() && i < variables.size(); ++i) {
      const ast::Declarator &declarator = list[i].declarators[0];
      Binding binding;
      if (variables[i]->type == Type::none) {
        binding.kind = Binding::Kind::unknown;
      } else if (variables[i]->space == StateSpace::reg) {
        binding.kind = Binding::Kind::reg;
        binding.reg = makeRegister(variables[i]->name, variables[i]->type, variables[i]->vector);
      } else {
        binding.kind = Binding::Kind::variable;
        binding.variable = variables[i];
      }
      if (declarator.name != syntax::keyword__ && !scopes_.declare(declarator.name, binding))
        error(declarator.span, quote(declarator.name) + " is declared already in this scope",
              kPrototypeNote);
    }
  };
  (void)made;
  bind(written.returns, signature.returns);
  bind(written.parameters, signature.parameters);
}

void Checker::functionDirectives(std::span<const ast::PerformanceDirective> list, Prototype &made) {
  for (const ast::PerformanceDirective &one : list)
    if (one.name == syntax::keyword_noreturn) {
      made.isNoReturn = true;
      if (!made.returns.empty())
        error(one.span, "a function that does not return has no result", "PTX ISA 11.4: .noreturn");
    }
}

// .maxntid and its like (11.4).
void Checker::directives(const ast::Function &written, Function &made) {
  const ast::PerformanceDirective *seen[syntax::keywordEnd] = {};
  for (const ast::PerformanceDirective &one : written.prototype.directives) {
    uint32_t numbers[3] = {1, 1, 1};
    for (size_t i = 0; i < one.arguments.size(); ++i)
      numbers[i] = uint32_t(std::min<uint64_t>(one.arguments[i].bits, UINT32_MAX));
    bool hasZero = std::any_of(one.arguments.begin(), one.arguments.end(),
                               [](const ast::ExprItem &n) { return n.bits == 0; });
    bool mayBeZero = one.name == syntax::keyword_reqnctapercluster ||
                     one.name == syntax::keyword_maxclusterrank ||
                     one.name == syntax::keyword_abi_preserve ||
                     one.name == syntax::keyword_abi_preserve_control;
    if (hasZero && !mayBeZero)
      error(isShapeOpen(one) ? written.afterPrototype : one.span,
            "." + std::string(text(one.name)) + " takes numbers above zero", kDirectiveNote);
    seen[one.name] = &one;
    switch (one.name) {
    case syntax::keyword_maxntid:
      std::copy_n(numbers, 3, made.maxntid.begin());
      break;
    case syntax::keyword_reqntid:
      std::copy_n(numbers, 3, made.reqntid.begin());
      break;
    case syntax::keyword_reqnctapercluster:
      if (!hasZero)
        std::copy_n(numbers, 3, made.reqnctapercluster.begin());
      break;
    case syntax::keyword_maxnreg:
      made.maxnreg = numbers[0];
      break;
    case syntax::keyword_minnctapersm:
      made.minnctapersm = numbers[0];
      break;
    case syntax::keyword_maxclusterrank:
      made.maxclusterrank = numbers[0];
      break;
    case syntax::keyword_explicitcluster:
      made.explicitcluster = true;
      break;
    case syntax::keyword_blocksareclusters:
      made.blocksareclusters = true;
      break;
    case syntax::keyword_maxnctapersm:
      if (header_.target.version >= 21)
        error(one.span, ".maxnctapersm is not supported since PTX 2.1; use .minnctapersm",
              kDirectiveNote);
      break;
    case syntax::keyword_pragma:
      pragma(one.strings, one.span, true);
      break;
    default:
      break;
    }
    for (const DirectiveNeed &need : kDirectiveNeeds)
      if (need.directive == one.name)
        needs(isShapeOpen(one) ? written.afterPrototype : one.span,
              "." + std::string(text(one.name)), need.version, need.sm);
    // Registers and control registers that a function can promise to keep.
    uint64_t most = one.name == syntax::keyword_abi_preserve           ? 253
                    : one.name == syntax::keyword_abi_preserve_control ? 15
                                                                       : UINT64_MAX;
    if (!one.arguments.empty() && one.arguments[0].bits > most)
      error(one.span, "." + std::string(text(one.name)) + " takes at most " + std::to_string(most),
            kDirectiveNote);
  }
  const ast::PerformanceDirective *shape = seen[syntax::keyword_reqnctapercluster],
                                  *rank = seen[syntax::keyword_maxclusterrank];
  if (shape && rank)
    error(rank > shape ? rank->span : written.afterPrototype,
          ".reqnctapercluster and .maxclusterrank cannot both be given", kDirectiveNote);
  // These hold for the kernel as a whole, and are said at its end as ptxas does.
  Span end = written.hasBody ? written.closingBrace : written.afterPrototype;
  if (seen[syntax::keyword_maxntid] && seen[syntax::keyword_reqntid])
    error(end, quote(written.name) + " has both .maxntid and .reqntid", kDirectiveNote);
  checkParameterBytes(made, end);
  bool isShapeMissing = !seen[syntax::keyword_reqntid] || !seen[syntax::keyword_reqnctapercluster];
  if (seen[syntax::keyword_blocksareclusters] && isShapeMissing)
    error(end,
          quote(written.name) +
              " has .blocksareclusters and needs .reqntid and .reqnctapercluster with it",
          kDirectiveNote);
}

void Checker::checkParameterBytes(const Function &made, Span end) {
  uint64_t bytes = 0;
  for (const Variable *one : made.signature.parameters) {
    uint64_t align = std::max(1u, one->alignment);
    bytes = (bytes + align - 1) / align * align + one->bytes;
  }
  bool isLarge = header_.target.version >= 81 && header_.target.sm >= 70;
  uint64_t most = isLarge ? kMostParameterBytes : kMostParameterBytesOld;
  if (made.isEntry && bytes > most)
    error(end,
          "kernel '" + std::string(made.name) + "' has " + std::to_string(bytes) +
              " bytes of parameters, at most " + std::to_string(most) + " are possible",
          kPrototypeNote);
}

bool Checker::isSamePrototype(const Prototype &a, const Prototype &b, std::string &difference) {
  if (a.parameters.size() != b.parameters.size())
    difference = "the number of parameters";
  else if (a.returns.size() != b.returns.size())
    difference = "the number of results";
  else if (a.isNoReturn != b.isNoReturn)
    difference = ".noreturn";
  for (size_t i = 0; difference.empty() && i < a.parameters.size(); ++i)
    if (!isSameParameter(*a.parameters[i], *b.parameters[i]))
      difference = "parameter '" + std::string(b.parameters[i]->name) + "'";
  for (size_t i = 0; difference.empty() && i < a.returns.size(); ++i)
    if (!isSameParameter(*a.returns[i], *b.returns[i]))
      difference = "result '" + std::string(b.returns[i]->name) + "'";
  return difference.empty();
}

} // namespace ptxrun::check
