#include "translate/syntax/parser.h"

#include "translate/syntax/parser_state.h"

namespace ptxrun::syntax {

std::unique_ptr<ast::Module> parse(const support::SourceFile &source,
                                   support::Diagnostics &diagnostics) {
  auto module = std::make_unique<ast::Module>();
  module->source = &source;
  internKeywords(module->names);
  Parser(*module, source, diagnostics).parseModule();
  return module;
}

Parser::Parser(ast::Module &module, const support::SourceFile &source,
               support::Diagnostics &diagnostics)
    : module_(module), diagnostics_(diagnostics), lexer_(source, diagnostics),
      token_(lexer_.next()) {}

bool Parser::accept(Kind kind) {
  if (!is(kind))
    return false;
  advance();
  return true;
}

bool Parser::expect(Kind kind, std::string_view where) {
  if (accept(kind))
    return true;
  return failAtToken(std::string(describe(kind)) + " " + std::string(where));
}

support::NameId Parser::dotWord() const { return module_.names.find(text(token_.span).substr(1)); }

bool Parser::fail(Span span, std::string message, std::string note) {
  support::Diagnostic &diagnostic = diagnostics_.error(span, std::move(message));
  if (!note.empty())
    diagnostic.notes.push_back(std::move(note));
  return false;
}

std::string Parser::found() const {
  if (is(Kind::end))
    return "the end of the file";
  return "'" + std::string(text(token_.span).substr(0, 60)) + "'";
}

bool Parser::failAtToken(std::string expected, std::string note) {
  if (is(Kind::bad)) // the lexer has said what is wrong
    return false;
  return fail(token_.span, "expected " + expected + ", found " + found(), std::move(note));
}

bool Parser::readUnsigned(uint64_t &value, std::string_view what) {
  bool isUnsigned;
  if (!is(Kind::integer))
    return failAtToken(std::string(what) + " (an integer literal)");
  if (!readInteger(text(token_.span), value, isUnsigned))
    return fail(token_.span, "this integer does not fit 64 bits");
  advance();
  return true;
}

bool Parser::readUnsigned32(uint32_t &value, std::string_view what) {
  uint64_t wide;
  Span span = token_.span;
  if (!readUnsigned(wide, what))
    return false;
  if (wide > UINT32_MAX)
    return fail(span, std::string(what) + " must fit 32 bits");
  value = uint32_t(wide);
  return true;
}

bool Parser::identifier(NameId &id, Span &span, std::string_view what) {
  if (!is(Kind::identifier))
    return failAtToken(std::string(what));
  span = token_.span;
  id = name(span);
  advance();
  return true;
}

} // namespace ptxrun::syntax
