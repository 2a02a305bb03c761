#include "translate/syntax/compare.h"

#include <algorithm>

namespace ptxrun::syntax {
namespace {

/// Compares node by node; the last span that was entered is where the difference is.
class Comparison {
 public:
  Comparison(const ast::Module &a, const ast::Module &b) : a_(a), b_(b) {}

  bool modules() {
    const ast::Header &h = a_.header, &g = b_.header;
    at_ = h.version;
    bool isSameHeader = h.versionMajor == g.versionMajor && h.versionMinor == g.versionMinor &&
                        h.hasAddressSize == g.hasAddressSize && h.addressSize == g.addressSize &&
                        all(h.targets, g.targets, [&](NameId x, NameId y) { return name(x, y); });
    return isSameHeader && all(a_.items, b_.items,
                               [&](const ast::Item &x, const ast::Item &y) { return item(x, y); });
  }
  support::Span place() const { return at_; }

 private:
  using NameId = support::NameId;

  template <typename X, typename Y, typename Same> bool all(const X &x, const Y &y, Same same) {
    return x.size() == y.size() && std::equal(x.begin(), x.end(), y.begin(), same);
  }
  bool name(NameId x, NameId y) { return a_.names.text(x) == b_.names.text(y); }
  bool strings(std::span<const std::string_view> x, std::span<const std::string_view> y) {
    return all(x, y, [](std::string_view s, std::string_view t) { return s == t; });
  }

  bool exprItem(const ast::ExprItem &x, const ast::ExprItem &y) {
    return x.kind == y.kind && x.isUnsigned == y.isUnsigned && x.base == y.base && x.op == y.op &&
           x.bits == y.bits && name(x.name, y.name);
  }
  bool expression(ast::Expression x, ast::Expression y) {
    return all(x, y,
               [&](const ast::ExprItem &s, const ast::ExprItem &t) { return exprItem(s, t); });
  }
  bool numbers(std::span<const ast::ExprItem> x, std::span<const ast::ExprItem> y) {
    return all(x, y,
               [](const ast::ExprItem &s, const ast::ExprItem &t) { return s.bits == t.bits; });
  }

  bool operands(std::span<const ast::Operand> x, std::span<const ast::Operand> y) {
    return all(x, y, [&](const ast::Operand &s, const ast::Operand &t) { return operand(s, t); });
  }
  bool operand(const ast::Operand &x, const ast::Operand &y) {
    using Kind = ast::Operand::Kind;
    if (x.kind != y.kind || x.isNegated != y.isNegated || x.isMinus != y.isMinus ||
        x.isUnified != y.isUnified || !name(x.name, y.name) || !name(x.suffix, y.suffix))
      return false;
    switch (x.kind) {
    case Kind::name:
    case Kind::sink:
      return true;
    case Kind::constant:
    case Kind::nameOffset:
      return expression(x.expression(), y.expression());
    default:
      return operands(x.children(), y.children());
    }
  }

  bool attributes(std::span<const ast::Attribute> x, std::span<const ast::Attribute> y) {
    return all(x, y, [&](const ast::Attribute &s, const ast::Attribute &t) {
      return name(s.name, t.name) && numbers(s.arguments, t.arguments);
    });
  }
  bool initializer(const ast::Initializer &x, const ast::Initializer &y) {
    return x.isList == y.isList && x.hasField == y.hasField && name(x.field, y.field) &&
           expression(x.value, y.value) &&
           all(x.elements, y.elements, [&](const ast::Initializer &s, const ast::Initializer &t) {
             return initializer(s, t);
           });
  }
  bool declarator(const ast::Declarator &x, const ast::Declarator &y) {
    bool isSame =
        name(x.name, y.name) && x.hasRange == y.hasRange && x.range == y.range &&
        all(x.dimensions, y.dimensions, [](const ast::Dimension &s, const ast::Dimension &t) {
          return s.size == t.size && s.isEmpty == t.isEmpty;
        });
    return isSame && !x.initializer == !y.initializer &&
           (!x.initializer || initializer(*x.initializer, *y.initializer));
  }
  bool declaration(const ast::Declaration &x, const ast::Declaration &y) {
    at_ = x.span;
    return x.linkage == y.linkage && name(x.space, y.space) && name(x.type, y.type) &&
           name(x.vector, y.vector) && x.hasAlign == y.hasAlign && x.align == y.align &&
           x.isPointer == y.isPointer && name(x.pointerSpace, y.pointerSpace) &&
           x.hasPointerAlign == y.hasPointerAlign && x.pointerAlign == y.pointerAlign &&
           attributes(x.attributes, y.attributes) &&
           all(x.declarators, y.declarators,
               [&](const ast::Declarator &s, const ast::Declarator &t) {
                 return declarator(s, t);
               });
  }
  bool declarations(std::span<const ast::Declaration> x, std::span<const ast::Declaration> y) {
    return all(x, y, [&](const ast::Declaration &s, const ast::Declaration &t) {
      return declaration(s, t);
    });
  }
  bool prototype(const ast::Prototype &x, const ast::Prototype &y) {
    return x.hasReturns == y.hasReturns && x.hasParameters == y.hasParameters &&
           declarations(x.returns, y.returns) && declarations(x.parameters, y.parameters) &&
           all(x.directives, y.directives,
               [&](const ast::PerformanceDirective &s, const ast::PerformanceDirective &t) {
                 return name(s.name, t.name) && numbers(s.arguments, t.arguments) &&
                        strings(s.strings, t.strings);
               });
  }

  bool instruction(const ast::Instruction &x, const ast::Instruction &y) {
    at_ = x.span;
    return a_.mnemonics[x.mnemonic].text == b_.mnemonics[y.mnemonic].text &&
           name(x.guard, y.guard) && x.isGuardNegated == y.isGuardNegated &&
           operands(x.operands, y.operands);
  }
  bool loc(const ast::LocDirective &x, const ast::LocDirective &y) {
    at_ = x.span;
    return x.file == y.file && x.line == y.line && x.column == y.column &&
           x.hasFunctionName == y.hasFunctionName && name(x.functionName, y.functionName) &&
           x.functionOffset == y.functionOffset && x.hasInlinedAt == y.hasInlinedAt &&
           x.inlinedFile == y.inlinedFile && x.inlinedLine == y.inlinedLine &&
           x.inlinedColumn == y.inlinedColumn;
  }
  bool targets(const ast::TargetsDirective &x, const ast::TargetsDirective &y) {
    at_ = x.span;
    return x.kind == y.kind && name(x.label, y.label) && operands(x.names, y.names) &&
           !x.prototype == !y.prototype && (!x.prototype || prototype(*x.prototype, *y.prototype));
  }
  bool statement(const ast::Statement &x, const ast::Statement &y) {
    using Kind = ast::Statement::Kind;
    if (x.kind != y.kind || !name(x.label, y.label))
      return false;
    switch (x.kind) {
    case Kind::instruction:
      return instruction(*x.instruction, *y.instruction);
    case Kind::declaration:
      return declaration(*x.declaration, *y.declaration);
    case Kind::loc:
      return loc(*x.loc, *y.loc);
    case Kind::pragma:
      return strings(x.pragma->strings, y.pragma->strings);
    case Kind::targets:
      return targets(*x.targets, *y.targets);
    case Kind::label:
    case Kind::openBlock:
    case Kind::closeBlock:
      return true;
    }
    return false;
  }
  bool function(const ast::Function &x, const ast::Function &y) {
    at_ = x.nameSpan;
    return x.linkage == y.linkage && x.isEntry == y.isEntry && x.hasBody == y.hasBody &&
           name(x.name, y.name) && attributes(x.attributes, y.attributes) &&
           prototype(x.prototype, y.prototype) &&
           all(x.body, y.body,
               [&](const ast::Statement &s, const ast::Statement &t) { return statement(s, t); });
  }
  bool section(const ast::SectionDirective &x, const ast::SectionDirective &y) {
    at_ = x.span;
    auto value = [&](const ast::SectionValue &s, const ast::SectionValue &t) {
      return name(s.symbol, t.symbol) && name(s.minus, t.minus) && s.isNegative == t.isNegative &&
             s.number == t.number;
    };
    return name(x.name, y.name) &&
           all(x.lines, y.lines, [&](const ast::SectionLine &s, const ast::SectionLine &t) {
             return name(s.label, t.label) && name(s.type, t.type) &&
                    all(s.values, t.values, value);
           });
  }
  bool item(const ast::Item &x, const ast::Item &y) {
    using Kind = ast::Item::Kind;
    if (x.kind != y.kind)
      return false;
    switch (x.kind) {
    case Kind::declaration:
      return declaration(*x.declaration, *y.declaration);
    case Kind::function:
      return function(*x.function, *y.function);
    case Kind::section:
      return section(*x.section, *y.section);
    case Kind::pragma:
      return strings(x.pragma->strings, y.pragma->strings);
    case Kind::loc:
      return loc(*x.loc, *y.loc);
    case Kind::alias:
      return name(x.alias->alias, y.alias->alias) && name(x.alias->aliasee, y.alias->aliasee);
    case Kind::file:
      return x.file->index == y.file->index && x.file->path == y.file->path &&
             x.file->hasTimestamp == y.file->hasTimestamp &&
             x.file->timestamp == y.file->timestamp && x.file->size == y.file->size;
    }
    return false;
  }

  const ast::Module &a_, &b_;
  support::Span at_;
};

} // namespace

bool isSameTree(const ast::Module &a, const ast::Module &b, support::Span &difference) {
  Comparison comparison(a, b);
  bool isSame = comparison.modules();
  difference = comparison.place();
  return isSame;
}

} // namespace ptxrun::syntax
