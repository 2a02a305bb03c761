// Module level: header, functions, variables, aliases (PTX ISA 11.1 to 11.6).
#include "translate/syntax/parser_state.h"

#include <charconv>

namespace ptxrun::syntax {

void Parser::parseModule() {
  header();
  while (!is(Kind::end) && !diagnostics_.isFull())
    if (!moduleItem())
      skipModuleItem();
}

// `.version` and `.target` come first and once; `.address_size` may follow.
bool Parser::header() {
  bool hasVersion = isDotWord(keyword_version);
  if (!hasVersion) {
    // What stands in its place is most likely a .target: the error then stands where .version is
    // missed for good.
    if (isDotWord(keyword_target) && !targetDirective())
      return false;
    failAtToken("the .version directive at the start of the module", "PTX ISA 11.1.1: .version");
  } else if (!versionDirective())
    while (!is(Kind::end) && !is(Kind::dotWord))
      advance();
  bool hasTarget = isDotWord(keyword_target);
  if (!hasVersion)
    return false;
  if (!hasTarget)
    failAtToken("the .target directive after .version", "PTX ISA 11.1.2: .target");
  else if (!targetDirective())
    while (!is(Kind::end) && !is(Kind::dotWord))
      advance();
  if (isDotWord(keyword_address_size) && !addressSizeDirective())
    while (!is(Kind::end) && !is(Kind::dotWord))
      advance();
  return true;
}

bool Parser::versionDirective() {
  uint32_t begin = token_.span.begin;
  advance();
  std::string_view number = text(token_.span);
  ast::Header &header = module_.header;
  size_t dot = number.find('.');
  const char *end = number.data() + number.size();
  bool isVersion =
      is(Kind::decimal) && dot != std::string_view::npos && dot > 0 && dot + 1 < number.size() &&
      std::from_chars(number.data(), number.data() + dot, header.versionMajor).ec == std::errc() &&
      std::from_chars(number.data() + dot + 1, end, header.versionMinor).ptr == end;
  if (!isVersion)
    return failAtToken("a version such as 9.0", "PTX ISA 11.1.1: .version major.minor");
  advance();
  header.version = from(begin);
  return true;
}

bool Parser::targetDirective() {
  uint32_t begin = token_.span.begin;
  std::vector<NameId> targets;
  std::vector<Span> spans;
  advance();
  do {
    if (!identifier(targets.emplace_back(), spans.emplace_back(), "a target such as sm_90"))
      return false;
  } while (accept(Kind::comma));
  module_.header.targets = module_.arena.copy(targets);
  module_.header.targetSpans = module_.arena.copy(spans);
  module_.header.target = from(begin);
  return true;
}

bool Parser::addressSizeDirective() {
  uint32_t begin = token_.span.begin;
  advance();
  if (!readUnsigned(module_.header.addressSize, "32 or 64"))
    return false;
  module_.header.hasAddressSize = true;
  module_.header.addressSizeSpan = from(begin);
  return true;
}

bool Parser::moduleItem() {
  uint32_t begin = token_.span.begin;
  if (!is(Kind::dotWord))
    return failAtToken("a directive (.entry, .func, .global, ...)", "PTX ISA 11: directives");
  ast::Item item;
  switch (dotWord()) {
  case keyword_file:
    return fileDirective();
  case keyword_section:
    return sectionDirective();
  case keyword_alias:
    return aliasDirective();
  case keyword_pragma:
    item.kind = ast::Item::Kind::pragma;
    if (!pragmaDirective(item.pragma))
      return false;
    module_.items.push_back(item);
    return true;
  default:
    break;
  }
  ast::Linkage linked = linkage();
  if (isDotWord(keyword_entry) || isDotWord(keyword_func)) {
    if (linked == ast::Linkage::common)
      return failAtToken("a variable after .common", "PTX ISA 11.6.4: .common");
    return function(linked, begin);
  }
  bool isDeclaration =
      is(Kind::dotWord) && dotWord() >= keyword_reg && dotWord() <= keyword_attribute;
  if (!isDeclaration)
    return failAtToken(linked == ast::Linkage::none
                           ? "a directive that may stand at module scope"
                           : "a variable, .entry or .func after its linking directive",
                       "PTX ISA 11: directives");
  item.kind = ast::Item::Kind::declaration;
  if (!declaration(linked, begin, item.declaration))
    return false;
  module_.items.push_back(item);
  return true;
}

// To what can begin the next item: a directive outside braces that stands first on its line.
void Parser::skipModuleItem() {
  size_t depth = 0;
  operands_.clear();
  items_.clear();
  for (; !is(Kind::end); advance()) {
    if (is(Kind::openBrace))
      ++depth;
    else if (is(Kind::closeBrace))
      depth -= depth > 0;
    if (depth > 0)
      continue;
    if (is(Kind::semicolon) || is(Kind::closeBrace)) {
      advance();
      return;
    }
    NameId word = is(Kind::dotWord) ? dotWord() : 0;
    bool isStart = (word >= keyword_entry && word <= keyword_common) && word != keyword_loc &&
                   word != keyword_pragma;
    if (isStart && previousEnd_ > 0)
      return;
  }
}

// .alias new, old;
bool Parser::aliasDirective() {
  uint32_t begin = token_.span.begin;
  auto *made = module_.arena.make<ast::AliasDirective>();
  advance();
  if (!identifier(made->alias, made->aliasSpan, "the name of a function") ||
      !expect(Kind::comma, "between alias and aliasee") ||
      !identifier(made->aliasee, made->aliaseeSpan, "the name of a function") ||
      !expect(Kind::semicolon, "after .alias"))
    return false;
  made->span = from(begin);
  ast::Item item;
  item.kind = ast::Item::Kind::alias;
  item.alias = made;
  module_.items.push_back(item);
  return true;
}

bool Parser::function(ast::Linkage linkage, uint32_t begin) {
  auto *made = module_.arena.make<ast::Function>();
  std::vector<ast::Attribute> attributeList;
  made->linkage = linkage;
  made->isEntry = isDotWord(keyword_entry);
  advance();
  while (isDotWord(keyword_attribute))
    if (!attributes(attributeList))
      return false;
  made->attributes = module_.arena.copy(attributeList);
  made->prototype.hasReturns = !made->isEntry && is(Kind::openParen);
  if (made->prototype.hasReturns && !parameterList(made->prototype.returns))
    return false;
  bool isReserved =
      is(Kind::identifier) && (text(token_.span) == "_" || text(token_.span) == "WARP_SZ");
  if (isReserved)
    return failAtToken("the name of a function");
  if (!identifier(made->name, made->nameSpan,
                  made->isEntry ? "the name of this entry" : "the name of this function") ||
      !prototypeTail(made->prototype, made->isEntry))
    return false;
  made->span = from(begin);
  made->afterPrototype = token_.span;
  bool isWhole = true;
  if (is(Kind::openBrace))
    isWhole = body(*made);
  else if ((made->isEntry && !made->prototype.directives.empty()) || !accept(Kind::semicolon))
    return failAtToken("'{', ';' or a directive of this function",
                       "PTX ISA 11.2 and 11.4: kernels, functions and their directives");
  ast::Item item;
  item.kind = ast::Item::Kind::function;
  item.function = made;
  module_.items.push_back(item);
  return isWhole || is(Kind::dotWord) || is(Kind::end);
}

// .attribute(.managed, .unified(1, 2))
bool Parser::attributes(std::vector<ast::Attribute> &list) {
  advance();
  if (!expect(Kind::openParen, "after .attribute"))
    return false;
  do {
    ast::Attribute one;
    uint32_t begin = token_.span.begin;
    if (!is(Kind::dotWord))
      return failAtToken(".managed or .unified", "PTX ISA 5.4.8: variable and function attributes");
    one.name = module_.names.intern(text(token_.span).substr(1));
    advance();
    std::vector<ast::ExprItem> arguments;
    if (accept(Kind::openParen)) {
      do {
        ast::ExprItem &item = arguments.emplace_back();
        item.span = token_.span;
        if (!readUnsigned(item.bits, "an argument of this attribute"))
          return false;
      } while (accept(Kind::comma));
      if (!expect(Kind::closeParen, "after the attribute's arguments"))
        return false;
    }
    one.arguments = module_.arena.copy(arguments);
    one.span = from(begin);
    list.push_back(one);
  } while (accept(Kind::comma));
  return expect(Kind::closeParen, "after the attributes");
}

} // namespace ptxrun::syntax
