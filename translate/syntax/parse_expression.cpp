// Constant expressions (PTX ISA 4.5.4), by precedence climbing into postfix order.
#include "translate/syntax/parser_state.h"

#include <bit>
#include <cmath>

namespace ptxrun::syntax {
namespace {

using Op = ast::ExprItem::Op;
using ItemKind = ast::ExprItem::Kind;

/// Parentheses, unary operators and conditionals inside each other; far beyond what programs write.
constexpr int kMaxExpressionDepth = 256;
constexpr int kTernary = 0;

struct BinaryOperator {
  Op op;
  int precedence; ///< higher binds tighter; 0: not a binary operator
};

BinaryOperator binaryOperator(Token::Kind kind) {
  switch (kind) {
  case Token::Kind::star:
    return {Op::multiply, 10};
  case Token::Kind::slash:
    return {Op::divide, 10};
  case Token::Kind::percent:
    return {Op::remainder, 10};
  case Token::Kind::plus:
    return {Op::add, 9};
  case Token::Kind::minus:
    return {Op::subtract, 9};
  case Token::Kind::shiftRight:
    return {Op::shiftRight, 8};
  case Token::Kind::shiftLeft:
    return {Op::shiftLeft, 8};
  case Token::Kind::less:
    return {Op::less, 7};
  case Token::Kind::greater:
    return {Op::greater, 7};
  case Token::Kind::lessEqual:
    return {Op::lessEqual, 7};
  case Token::Kind::greaterEqual:
    return {Op::greaterEqual, 7};
  case Token::Kind::equalEqual:
    return {Op::equal, 6};
  case Token::Kind::notEqual:
    return {Op::notEqual, 6};
  case Token::Kind::ampersand:
    return {Op::bitAnd, 5};
  case Token::Kind::caret:
    return {Op::bitXor, 4};
  case Token::Kind::pipe:
    return {Op::bitOr, 3};
  case Token::Kind::andAnd:
    return {Op::logicalAnd, 2};
  case Token::Kind::orOr:
    return {Op::logicalOr, 1};
  default:
    return {Op::none, 0};
  }
}

Op unaryOperator(Token::Kind kind) {
  switch (kind) {
  case Token::Kind::plus:
    return Op::plus;
  case Token::Kind::minus:
    return Op::minus;
  case Token::Kind::exclamation:
    return Op::logicalNot;
  case Token::Kind::tilde:
    return Op::complement;
  default:
    return Op::none;
  }
}

ast::ExprItem::Base baseOf(std::string_view text) {
  if (text.size() < 2 || text[0] != '0')
    return ast::ExprItem::Base::decimal;
  if (text[1] == 'x' || text[1] == 'X')
    return ast::ExprItem::Base::hexadecimal;
  if (text[1] == 'b' || text[1] == 'B')
    return ast::ExprItem::Base::binary;
  return text[1] == 'U' ? ast::ExprItem::Base::decimal : ast::ExprItem::Base::octal;
}

} // namespace

bool Parser::expression(ast::Expression &result) {
  size_t first = items_.size();
  bool isGood = expressionItems(kTernary, 0);
  if (isGood)
    result = module_.arena.copy(std::span(items_).subspan(first));
  items_.resize(first);
  return isGood;
}

// Leaves the postfix items of one expression on items_.
bool Parser::expressionItems(int minimumPrecedence, int depth) {
  uint32_t begin = token_.span.begin;
  if (depth > kMaxExpressionDepth)
    return fail(token_.span, "this constant expression is nested too deeply");
  size_t first = items_.size();
  if (!unaryItem(depth))
    return false;
  // A 0f constant keeps its exact bits and may not be used in constant expressions (4.5.2).
  if (items_.back().kind == ItemKind::float32 && items_.size() == first + 1)
    return true;
  for (;;) {
    BinaryOperator next = binaryOperator(token_.kind);
    if (next.precedence == 0 || next.precedence < minimumPrecedence)
      break;
    advance();
    if (!expressionItems(next.precedence + 1, depth + 1))
      return false;
    items_.push_back({.kind = ItemKind::binary, .op = next.op, .span = from(begin)});
  }
  if (minimumPrecedence > kTernary || !accept(Kind::question))
    return true;
  if (!expressionItems(kTernary, depth + 1) ||
      !expect(Kind::colon, "of a conditional expression") || !expressionItems(kTernary, depth + 1))
    return false;
  items_.push_back({.kind = ItemKind::ternary, .span = from(begin)});
  return true;
}

bool Parser::unaryItem(int depth) {
  Op op = unaryOperator(token_.kind);
  if (op == Op::none)
    return primaryItem(depth);
  uint32_t begin = token_.span.begin;
  if (depth > kMaxExpressionDepth)
    return fail(token_.span, "this constant expression is nested too deeply");
  advance();
  if (is(Kind::hexFloat))
    return failAtToken(
        "an operand that may be negated (a 0f constant stands alone; PTX ISA 4.5.2)");
  if (!unaryItem(depth + 1))
    return false;
  items_.push_back({.kind = ItemKind::unary, .op = op, .span = from(begin)});
  return true;
}

bool Parser::primaryItem(int depth) {
  uint32_t begin = token_.span.begin;
  if (accept(Kind::openParen)) {
    if (isDotWord(keyword_s64) || isDotWord(keyword_u64)) {
      ItemKind cast = isDotWord(keyword_s64) ? ItemKind::castSigned : ItemKind::castUnsigned;
      advance();
      if (!expect(Kind::closeParen, "after the type of a cast") || !unaryItem(depth + 1))
        return false;
      items_.push_back({.kind = cast, .span = from(begin)});
      return true;
    }
    return expressionItems(kTernary, depth + 1) && expect(Kind::closeParen, "of this expression");
  }
  return literalItem();
}

bool Parser::literalItem() {
  std::string_view word = text(token_.span);
  ast::ExprItem item{.span = token_.span};
  bool isFraction =
      is(Kind::dotWord) && word.find_first_not_of("0123456789", 1) == std::string_view::npos;
  if (is(Kind::integer)) {
    item.base = baseOf(word);
    if (!readInteger(word, item.bits, item.isUnsigned))
      return fail(token_.span, "this integer does not fit 64 bits",
                  "PTX ISA 4.5.1: integer constants");
  } else if (is(Kind::decimal) || isFraction) {
    item.kind = ItemKind::float64;
    item.bits = readFloatBits(Kind::decimal, word);
    if (!std::isfinite(std::bit_cast<double>(item.bits)))
      return fail(token_.span, "this floating-point constant is too large for 64 bits",
                  "PTX ISA 4.5.2: floating-point constants");
  } else if (is(Kind::hexDouble) || is(Kind::hexFloat)) {
    item.kind = is(Kind::hexDouble) ? ItemKind::float64 : ItemKind::float32;
    item.base = ast::ExprItem::Base::hexadecimal;
    item.bits = readFloatBits(token_.kind, word);
  } else if (is(Kind::identifier) && word == "WARP_SZ") {
    item.kind = ItemKind::warpSize;
  } else {
    return failAtToken("a constant");
  }
  advance();
  items_.push_back(item);
  return true;
}

} // namespace ptxrun::syntax
