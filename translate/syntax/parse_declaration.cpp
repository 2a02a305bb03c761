// Variables, registers, parameters, prototypes (PTX ISA 5.4, 11.2 to 11.4).
#include <algorithm>

#include "translate/syntax/parser_state.h"

namespace ptxrun::syntax {
namespace {

/// Braces of an initialiser inside each other; arrays have far fewer dimensions.
constexpr int kMaxInitializerDepth = 64;

bool isSpace(support::NameId word) { return word >= keyword_reg && word <= keyword_tex; }
bool isVector(support::NameId word) {
  return word == keyword_v2 || word == keyword_v4 || word == keyword_v8;
}

} // namespace

ast::Linkage Parser::linkage() {
  if (!is(Kind::dotWord))
    return ast::Linkage::none;
  ast::Linkage found = ast::Linkage::none;
  switch (dotWord()) {
  case keyword_extern:
    found = ast::Linkage::external_;
    break;
  case keyword_visible:
    found = ast::Linkage::visible;
    break;
  case keyword_weak:
    found = ast::Linkage::weak;
    break;
  case keyword_common:
    found = ast::Linkage::common;
    break;
  default:
    return found;
  }
  advance();
  return found;
}

// Space, alignment and attributes in any order, then vector and type.
bool Parser::declarationHead(ast::Declaration &made, std::vector<ast::Attribute> &attributeList) {
  while (is(Kind::dotWord)) {
    NameId word = dotWord();
    if (isSpace(word)) {
      if (made.space)
        return failAtToken("a type");
      made.space = word;
      made.spaceSpan = token_.span;
      advance();
    } else if (word == keyword_align) {
      advance();
      made.hasAlign = true;
      if (!readUnsigned(made.align, "an alignment in bytes"))
        return false;
    } else if (word == keyword_attribute) {
      if (!attributes(attributeList))
        return false;
    } else {
      break;
    }
  }
  if (!made.space)
    return failAtToken("a state space (.reg .param .local .shared .global .const)");
  if (is(Kind::dotWord) && isVector(dotWord())) {
    made.vector = dotWord();
    advance();
  }
  if (!is(Kind::dotWord))
    return failAtToken("a type such as .b32", "PTX ISA 5.2: types");
  made.type = module_.names.intern(text(token_.span).substr(1));
  made.typeSpan = token_.span;
  advance();
  return true;
}

bool Parser::declaration(ast::Linkage linkage, uint32_t begin, const ast::Declaration *&result) {
  auto *made = module_.arena.make<ast::Declaration>();
  std::vector<ast::Attribute> attributeList;
  std::vector<ast::Declarator> declarators;
  made->linkage = linkage;
  if (!declarationHead(*made, attributeList))
    return false;
  // A declaration without names is accepted and declares nothing.
  if (!is(Kind::semicolon)) {
    do {
      if (!declarator(declarators.emplace_back(), false))
        return false;
    } while (accept(Kind::comma));
  }
  if (!expect(Kind::semicolon, "after this declaration"))
    return false;
  made->attributes = module_.arena.copy(attributeList);
  made->declarators = module_.arena.copy(declarators);
  made->span = from(begin);
  result = made;
  return true;
}

bool Parser::declarator(ast::Declarator &made, bool isParameter) {
  if (!identifier(made.name, made.span, "a name"))
    return false;
  bool isReserved = text(made.span) == "WARP_SZ" || (made.name == keyword__ && !isParameter);
  if (isReserved)
    return fail(made.span, "'" + std::string(text(made.span)) +
                               "' cannot be declared, it has a meaning of its own");
  if (!isParameter && accept(Kind::less)) {
    made.hasRange = true;
    return readUnsigned(made.range, "the number of names") &&
           expect(Kind::greater, "after the number of names");
  }
  std::vector<ast::Dimension> sizes;
  if (!dimensions(sizes))
    return false;
  if (isParameter && sizes.size() > 1)
    return fail(sizes[1].span, "a parameter can be an array of one dimension only",
                "PTX ISA 11.2: kernel entry points and functions");
  made.dimensions = module_.arena.copy(sizes);
  if (isParameter || !accept(Kind::equals))
    return true;
  auto *value = module_.arena.make<ast::Initializer>();
  made.initializer = value;
  return initializer(*value, 0);
}

bool Parser::dimensions(std::vector<ast::Dimension> &sizes) {
  while (is(Kind::openBracket)) {
    uint32_t begin = token_.span.begin;
    ast::Dimension one;
    advance();
    one.isEmpty = is(Kind::closeBracket);
    if (one.isEmpty && !sizes.empty())
      return failAtToken("an array size (only the first one may be left out)",
                         "PTX ISA 5.4.3: array declarations");
    if (!one.isEmpty && !readUnsigned(one.size, "an array size"))
      return false;
    if (!expect(Kind::closeBracket, "after an array size"))
      return false;
    one.span = from(begin);
    sizes.push_back(one);
  }
  return true;
}

bool Parser::initializer(ast::Initializer &made, int depth) {
  uint32_t begin = token_.span.begin;
  if (depth > kMaxInitializerDepth)
    return fail(token_.span, "this initialiser is nested too deeply");
  if (!accept(Kind::openBrace))
    return initializerElement(made, depth);
  made.isList = true;
  std::vector<ast::Initializer> elements;
  if (!is(Kind::closeBrace)) {
    do {
      if (!initializer(elements.emplace_back(), depth + 1))
        return false;
    } while (accept(Kind::comma));
  }
  if (!expect(Kind::closeBrace, "or ',' in this initialiser"))
    return false;
  made.elements = module_.arena.copy(elements);
  made.span = from(begin);
  return true;
}

// An expression, symbol{+n}, generic(symbol){+n}, mask(symbol{+n}), or `field = value` of a texref.
bool Parser::initializerElement(ast::Initializer &made, int) {
  uint32_t begin = token_.span.begin;
  size_t first = items_.size();
  auto symbol = [&] {
    ast::ExprItem item{.kind = ast::ExprItem::Kind::symbol, .span = token_.span};
    Span span;
    bool isGeneric = text(token_.span) == "generic";
    if (!identifier(item.name, span, "the name of a variable or function"))
      return false;
    if (isGeneric && accept(Kind::openParen)) {
      item.kind = ast::ExprItem::Kind::generic;
      if (!identifier(item.name, span, "the name of a variable") ||
          !expect(Kind::closeParen, "after generic's name"))
        return false;
      item.span = from(item.span.begin);
    }
    items_.push_back(item);
    if (!accept(Kind::plus))
      return true;
    if (!expressionItems(0, 0))
      return false;
    items_.push_back(
        {.kind = ast::ExprItem::Kind::binary, .op = ast::ExprItem::Op::add, .span = from(begin)});
    return true;
  };
  bool isGood;
  if (is(Kind::identifier) && text(token_.span) != "WARP_SZ") {
    Span word = token_.span;
    uint32_t position = lexer_.position();
    advance();
    made.hasField = accept(Kind::equals);
    if (made.hasField) {
      made.field = name(word);
      if (is(Kind::identifier)) {
        items_.push_back(
            {.kind = ast::ExprItem::Kind::symbol, .name = name(token_.span), .span = token_.span});
        advance();
        isGood = true;
      } else {
        isGood = expressionItems(0, 0);
      }
    } else {
      lexer_.setPosition(position);
      token_ = {Kind::identifier, word};
      isGood = symbol();
    }
  } else {
    bool isNumber = is(Kind::integer);
    isGood = expressionItems(0, 0);
    bool isMask = isGood && isNumber && items_.size() == first + 1 &&
                  items_[first].kind == ast::ExprItem::Kind::integer && is(Kind::openParen);
    if (isMask) {
      ast::ExprItem mask = items_[first];
      items_.resize(first);
      mask.kind = ast::ExprItem::Kind::mask;
      advance();
      isGood = symbol() && expect(Kind::closeParen, "after the masked address");
      mask.span = from(begin);
      items_.push_back(mask);
    }
  }
  if (isGood)
    made.value = module_.arena.copy(std::span(items_).subspan(first));
  items_.resize(first);
  made.span = from(begin);
  return isGood;
}

// .param .u64 .ptr .global .align 16 p
bool Parser::parameter(ast::Declaration &made) {
  uint32_t begin = token_.span.begin;
  std::vector<ast::Attribute> attributeList;
  if (!declarationHead(made, attributeList))
    return false;
  if (isDotWord(keyword_ptr)) {
    advance();
    made.isPointer = true;
    if (is(Kind::dotWord) && dotWord() != keyword_align) {
      NameId space = dotWord();
      bool isPointerSpace = space == keyword_global || space == keyword_const ||
                            space == keyword_local || space == keyword_shared ||
                            space == keyword_param || space == keyword_texref ||
                            space == keyword_samplerref || space == keyword_surfref;
      if (!isPointerSpace)
        return failAtToken("a state space after .ptr (.const .global .local .shared)",
                           "PTX ISA 11.2.2: .ptr");
      made.pointerSpace = space;
      advance();
    }
  }
  if (isDotWord(keyword_align)) {
    advance();
    bool &has = made.isPointer ? made.hasPointerAlign : made.hasAlign;
    has = true;
    if (!readUnsigned(made.isPointer ? made.pointerAlign : made.align, "an alignment in bytes"))
      return false;
  }
  auto declarators = module_.arena.makeArray<ast::Declarator>(1);
  if (!declarator(declarators[0], true))
    return false;
  made.attributes = module_.arena.copy(attributeList);
  made.declarators = declarators;
  made.span = from(begin);
  return true;
}

bool Parser::parameterList(std::span<const ast::Declaration> &result) {
  std::vector<ast::Declaration> list;
  advance(); // (
  if (!is(Kind::closeParen)) {
    do {
      if (!parameter(list.emplace_back()))
        return false;
    } while (accept(Kind::comma));
  }
  if (!expect(Kind::closeParen, "or ',' after a parameter"))
    return false;
  result = module_.arena.copy(list);
  return true;
}

// The parameters and directives behind a function's name.
bool Parser::prototypeTail(ast::Prototype &prototype, bool isEntry) {
  prototype.hasParameters = is(Kind::openParen);
  if (prototype.hasParameters && !parameterList(prototype.parameters))
    return false;
  std::vector<ast::PerformanceDirective> directives;
  for (bool isOne = true; isOne;)
    if (!performanceDirective(directives, isEntry, isOne))
      return false;
  prototype.directives = module_.arena.copy(directives);
  return true;
}

bool Parser::performanceDirective(std::vector<ast::PerformanceDirective> &list, bool isEntry,
                                  bool &isOne) {
  isOne = false;
  if (!is(Kind::dotWord))
    return true;
  size_t least = 0, most = 0;
  NameId word = dotWord();
  switch (word) {
  case keyword_maxntid:
  case keyword_reqntid:
  case keyword_reqnctapercluster:
    least = 1, most = 3;
    break;
  case keyword_minnctapersm:
  case keyword_maxnctapersm:
  case keyword_maxnreg:
  case keyword_maxclusterrank:
  case keyword_abi_preserve:
  case keyword_abi_preserve_control:
    least = most = 1;
    break;
  case keyword_explicitcluster:
  case keyword_blocksareclusters:
  case keyword_noreturn:
  case keyword_pragma:
    break;
  default:
    return true;
  }
  bool isForFunctions = word == keyword_noreturn || word == keyword_abi_preserve ||
                        word == keyword_abi_preserve_control;
  if (word != keyword_pragma && isForFunctions == isEntry)
    return true; // the caller finds it where it cannot stand
  bool isRepeated = word == keyword_noreturn && !list.empty() &&
                    std::any_of(list.begin(), list.end(), [](const ast::PerformanceDirective &one) {
                      return one.name == keyword_noreturn;
                    });
  if (isRepeated)
    return failAtToken("one .noreturn only");
  isOne = true;
  ast::PerformanceDirective made;
  uint32_t begin = token_.span.begin;
  made.name = word;
  if (word == keyword_pragma) {
    const ast::PragmaDirective *pragma;
    if (!pragmaDirective(pragma))
      return false;
    made.strings = pragma->strings;
  } else {
    advance();
    std::vector<ast::ExprItem> arguments;
    for (size_t i = 0; i < most; ++i) {
      ast::ExprItem &item = arguments.emplace_back();
      item.span = token_.span;
      if (!readUnsigned(item.bits, "a number for this directive"))
        return false;
      if (i + 1 >= least && (i + 1 == most || !accept(Kind::comma)))
        break;
    }
    made.arguments = module_.arena.copy(arguments);
  }
  made.span = from(begin);
  list.push_back(made);
  return true;
}

} // namespace ptxrun::syntax
