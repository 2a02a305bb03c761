// Debugging directives and pragmas (PTX ISA 11.4.8, 11.5).
#include "translate/syntax/parser_state.h"

namespace ptxrun::syntax {

// .file 1 "a.cu" {, timestamp {, size}}
bool Parser::fileDirective() {
  uint32_t begin = token_.span.begin;
  auto *made = module_.arena.make<ast::FileDirective>();
  advance();
  if (!readUnsigned32(made->index, "the file's number"))
    return false;
  if (!is(Kind::string))
    return failAtToken("the file's name in quotes", "PTX ISA 11.5.3: .file");
  std::string_view quoted = text(token_.span);
  made->path = quoted.substr(1, quoted.size() - 2);
  advance();
  if (accept(Kind::comma)) {
    made->hasTimestamp = true;
    if (!readUnsigned(made->timestamp, "the file's timestamp"))
      return false;
    if (accept(Kind::comma) && !readUnsigned(made->size, "the file's size"))
      return false;
  }
  made->span = from(begin);
  made->after = token_.span;
  ast::Item item;
  item.kind = ast::Item::Kind::file;
  item.file = made;
  module_.items.push_back(item);
  return true;
}

// .loc 1 9 3 {, function_name label {+ n}, inlined_at 1 21 3}
bool Parser::locDirective(const ast::LocDirective *&result) {
  uint32_t begin = token_.span.begin;
  auto *made = module_.arena.make<ast::LocDirective>();
  advance();
  if (!readUnsigned32(made->file, "a file's number") || !readUnsigned32(made->line, "a line") ||
      !readUnsigned32(made->column, "a column"))
    return false;
  if (accept(Kind::comma)) {
    constexpr const char *kNote =
        "PTX ISA 11.5.4: .loc file line column, function_name label, inlined_at file line column";
    if (!is(Kind::identifier) || name(token_.span) != keyword_function_name)
      return failAtToken("function_name", kNote);
    advance();
    made->hasFunctionName = true;
    if (!is(Kind::identifier) && !is(Kind::dotWord))
      return failAtToken("a label in .debug_str", kNote);
    made->functionName = name(token_.span);
    advance();
    if (accept(Kind::plus) && !readUnsigned(made->functionOffset, "an offset"))
      return false;
    if (!expect(Kind::comma, "between function_name and inlined_at"))
      return false;
    if (!is(Kind::identifier) || name(token_.span) != keyword_inlined_at)
      return failAtToken("inlined_at", kNote);
    advance();
    made->hasInlinedAt = true;
    if (!readUnsigned32(made->inlinedFile, "a file's number") ||
        !readUnsigned32(made->inlinedLine, "a line") ||
        !readUnsigned32(made->inlinedColumn, "a column"))
      return false;
  }
  made->span = from(begin);
  result = made;
  return true;
}

// .section .name { lines }
bool Parser::sectionDirective() {
  uint32_t begin = token_.span.begin;
  auto *made = module_.arena.make<ast::SectionDirective>();
  std::vector<ast::SectionLine> lines;
  std::vector<ast::SectionValue> values;
  advance();
  if (!is(Kind::dotWord))
    return failAtToken("the section's name", "PTX ISA 11.5.2: .section");
  made->name = module_.names.intern(text(token_.span).substr(1));
  advance();
  if (!expect(Kind::openBrace, "after the section's name"))
    return false;
  while (!accept(Kind::closeBrace)) {
    ast::SectionLine &line = lines.emplace_back();
    uint32_t lineBegin = token_.span.begin;
    if (is(Kind::identifier)) {
      if (!identifier(line.label, line.span, "a label") || !expect(Kind::colon, "after a label"))
        return false;
      continue;
    }
    NameId type = is(Kind::dotWord) ? dotWord() : 0;
    if (type != keyword_b8 && type != keyword_b16 && type != keyword_b32 && type != keyword_b64)
      return failAtToken("a label, .b8, .b16, .b32, .b64 or '}'", "PTX ISA 11.5.2: .section");
    line.type = type;
    advance();
    values.clear();
    do {
      if (!sectionValue(values.emplace_back()))
        return false;
      bool isList = values.size() > 1 || is(Kind::comma);
      if (values.back().symbol && isList)
        return fail(values.back().span, "a label or section stands alone behind its type",
                    "PTX ISA 11.5.2: .section");
    } while (accept(Kind::comma));
    line.values = module_.arena.copy(values);
    line.span = from(lineBegin);
  }
  made->lines = module_.arena.copy(lines);
  made->span = from(begin);
  ast::Item item;
  item.kind = ast::Item::Kind::section;
  item.section = made;
  module_.items.push_back(item);
  return true;
}

// 5, -1, label, .debug_str+4, end-begin
bool Parser::sectionValue(ast::SectionValue &value) {
  uint32_t begin = token_.span.begin;
  value.isNegative = accept(Kind::minus);
  bool isGood = true;
  if (value.isNegative || is(Kind::integer)) {
    isGood = readUnsigned(value.number, "a number");
  } else if (!is(Kind::identifier) && !is(Kind::dotWord)) {
    isGood = failAtToken("a number, a label or a section");
  } else {
    Span span;
    value.symbol = name(token_.span);
    advance();
    if (accept(Kind::plus))
      isGood = readUnsigned(value.number, "an offset");
    else if (accept(Kind::minus))
      isGood = identifier(value.minus, span, "a label");
  }
  value.span = from(begin);
  return isGood;
}

bool Parser::pragmaDirective(const ast::PragmaDirective *&result) {
  uint32_t begin = token_.span.begin;
  auto *made = module_.arena.make<ast::PragmaDirective>();
  std::vector<std::string_view> strings;
  advance();
  if (!pragmaStrings(strings) || !expect(Kind::semicolon, "after .pragma"))
    return false;
  made->strings = module_.arena.copy(strings);
  made->span = from(begin);
  result = made;
  return true;
}

bool Parser::pragmaStrings(std::vector<std::string_view> &strings) {
  do {
    if (!is(Kind::string))
      return failAtToken("a string in quotes", "PTX ISA 11.4: .pragma");
    strings.push_back(text(token_.span));
    advance();
  } while (accept(Kind::comma));
  return true;
}

} // namespace ptxrun::syntax
