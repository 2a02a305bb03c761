#include "translate/check/checker.h"

#include <algorithm>
#include <cstring>

#include "translate/check/check.h"
#include "translate/syntax/parser.h"

namespace ptxrun::check {

std::unique_ptr<CheckedModule> check(const ast::Module &tree, support::Diagnostics &diagnostics) {
  return Checker(tree, diagnostics).run();
}

std::unique_ptr<CheckedModule> parseAndCheck(const support::SourceFile &source,
                                             support::Diagnostics &diagnostics) {
  std::unique_ptr<ast::Module> tree = syntax::parse(source, diagnostics);
  return check(*tree, diagnostics);
}

Checker::Checker(const ast::Module &tree, support::Diagnostics &diagnostics)
    : tree_(tree), diagnostics_(diagnostics), header_(checkHeader(tree, diagnostics)),
      result_(std::make_unique<CheckedModule>(header_.target)), module_(result_->module_),
      arena_(result_->arena_), scopes_(tree.names), lines_(tree.source->text()),
      candidates_(tree.mnemonics.size()) {}

std::unique_ptr<CheckedModule> Checker::run() {
  module_.source = tree_.source;
  module_.version = header_.target.version;
  module_.target = header_.target.sm;
  module_.targetSuffix = header_.target.suffix;
  module_.addressBits = header_.addressBits;
  module_.locations.emplace_back();
  followsConvention_ =
      std::none_of(tree_.items.begin(), tree_.items.end(), [](const ast::Item &one) {
        return one.kind == ast::Item::Kind::function && one.function->prototype.returns.size() > 1;
      });
  for (const ast::Item &one : tree_.items) {
    if (diagnostics_.isFull())
      return nullptr;
    item(one);
  }
  finish();
  return diagnostics_.hasErrors() ? nullptr : std::move(result_);
}

bool Checker::error(Span span, std::string message, std::string note) {
  support::Diagnostic &diagnostic = diagnostics_.error(span, std::move(message));
  if (!note.empty())
    diagnostic.notes.push_back(std::move(note));
  return false;
}

bool Checker::needs(Span span, std::string_view feature, uint32_t version, uint32_t sm) {
  if (header_.target.version < version)
    return error(span, std::string(feature) + " needs .version " + std::to_string(version / 10) +
                           "." + std::to_string(version % 10) + " or higher");
  if (header_.target.sm < sm)
    return error(span,
                 std::string(feature) + " needs .target sm_" + std::to_string(sm) + " or higher");
  return true;
}

uint32_t LineCursor::line(uint32_t offset) {
  if (offset < offset_) {
    line_ -= uint32_t(std::count(text_.begin() + offset, text_.begin() + offset_, '\n'));
    offset_ = offset;
  }
  const char *at = text_.data() + offset_, *end = text_.data() + offset;
  while (const void *found = std::memchr(at, '\n', size_t(end - at))) {
    ++line_;
    at = static_cast<const char *>(found) + 1;
  }
  offset_ = offset;
  return line_;
}

const Function *Module::findFunction(std::string_view name) const {
  for (const Function *function : functions)
    if (function->name == name)
      return function;
  return nullptr;
}

bool Instruction::has(isa::Token token) const {
  return std::find(modifiers.begin(), modifiers.end(), token) != modifiers.end();
}

isa::Token Instruction::oneOf(std::initializer_list<isa::Token> set) const {
  for (isa::Token token : modifiers)
    if (std::find(set.begin(), set.end(), token) != set.end())
      return token;
  return isa::Token::none;
}

} // namespace ptxrun::check
