// Operands as written (PTX ISA 6).
#include "translate/syntax/parser_state.h"

namespace ptxrun::syntax {
namespace {

/// Braces and brackets inside each other: `[map, {x, y}]` is two deep, nothing is more than three.
constexpr int kMaxOperandDepth = 8;

using OperandKind = ast::Operand::Kind;

bool canStandBeforePipe(OperandKind kind) {
  return kind == OperandKind::name || kind == OperandKind::vector || kind == OperandKind::sink;
}

} // namespace

// Leaves the operands up to `close` (consumed) on operands_. An empty list is the caller's to
// judge.
bool Parser::operandList(Kind close) {
  if (accept(close))
    return true;
  for (;;) {
    ast::Operand one;
    if (!operand(one, 0))
      return false;
    operands_.push_back(one);
    if (accept(close))
      return true;
    if (!is(Kind::comma))
      return failAtToken("',' or " + std::string(describe(close)) + " after this operand");
    advance();
  }
}

bool Parser::operand(ast::Operand &result, int depth) {
  uint32_t begin = token_.span.begin;
  if (!primaryOperand(result, depth))
    return false;
  if (!is(Kind::pipe) || !canStandBeforePipe(result.kind))
    return true;
  advance();
  auto both = module_.arena.makeArray<ast::Operand>(2);
  both[0] = result;
  if (!primaryOperand(both[1], depth))
    return false;
  result = ast::Operand{};
  result.kind = OperandKind::pair;
  result.setChildren(both);
  result.span = from(begin);
  return true;
}

bool Parser::primaryOperand(ast::Operand &result, int depth) {
  if (depth > kMaxOperandDepth)
    return fail(token_.span, "operands are nested too deeply here");
  switch (token_.kind) {
  case Kind::identifier:
    if (text(token_.span) != "WARP_SZ")
      return namedOperand(result);
    break;
  case Kind::openBracket:
    if (!bracketed(result, OperandKind::address, Kind::closeBracket, depth))
      return false;
    if (isDotWord(keyword_unified)) {
      result.isUnified = true;
      advance();
      result.span = from(result.span.begin);
    }
    return true;
  case Kind::openBrace:
    return bracketed(result, OperandKind::vector, Kind::closeBrace, depth);
  case Kind::openParen:
    if (isCall_ && depth == 0)
      return bracketed(result, OperandKind::list, Kind::closeParen, depth);
    break;
  case Kind::exclamation:
  case Kind::minus: {
    // `!p` and `-r`, or a constant expression that begins so.
    bool isNot = is(Kind::exclamation);
    uint32_t begin = token_.span.begin, position = lexer_.position();
    Token operatorToken = token_;
    advance();
    if (is(Kind::identifier) && text(token_.span) != "WARP_SZ") {
      if (!namedOperand(result))
        return false;
      (isNot ? result.isNegated : result.isMinus) = true;
      result.span.begin = begin;
      return true;
    }
    lexer_.setPosition(position);
    token_ = operatorToken;
    break;
  }
  case Kind::integer:
  case Kind::decimal:
  case Kind::hexFloat:
  case Kind::hexDouble:
  case Kind::plus:
  case Kind::tilde:
  case Kind::dotWord:
    break;
  default:
    return failAtToken("an operand", "PTX ISA 6: instruction operands");
  }
  uint32_t begin = token_.span.begin;
  ast::Expression value;
  result.kind = OperandKind::constant;
  if (!expression(value))
    return false;
  result.setExpression(value);
  result.span = from(begin);
  return true;
}

// %r1, %v.x, var, var+4, var[%r1], var[3]
bool Parser::namedOperand(ast::Operand &result) {
  uint32_t begin = token_.span.begin;
  result.kind = OperandKind::name;
  result.name = name(token_.span);
  if (result.name == keyword__)
    result.kind = OperandKind::sink;
  advance();
  if (result.kind == OperandKind::sink) {
    result.span = from(begin);
    return true;
  }
  if (is(Kind::dotWord)) {
    result.suffix = module_.names.intern(text(token_.span).substr(1));
    advance();
  }
  if (accept(Kind::plus)) {
    ast::Expression offset;
    result.kind = OperandKind::nameOffset;
    if (!expression(offset))
      return false;
    result.setExpression(offset);
  } else if (accept(Kind::openBracket)) {
    auto index = module_.arena.makeArray<ast::Operand>(1);
    result.kind = OperandKind::indexed;
    if (!arrayIndex(index[0]))
      return false;
    if (!expect(Kind::closeBracket, "after this index"))
      return false;
    result.setChildren(index);
  }
  result.span = from(begin);
  return true;
}

// 3, %r1, %r1+2
bool Parser::arrayIndex(ast::Operand &index) {
  uint32_t begin = token_.span.begin;
  ast::Expression value;
  index.kind = OperandKind::constant;
  if (is(Kind::identifier) && text(token_.span) != "WARP_SZ") {
    index.kind = OperandKind::name;
    index.name = name(token_.span);
    advance();
    if (!accept(Kind::plus)) {
      index.span = from(begin);
      return true;
    }
    index.kind = OperandKind::nameOffset;
  }
  if (!expression(value))
    return false;
  index.setExpression(value);
  index.span = from(begin);
  return true;
}

// A comma-separated list of operands in brackets, braces or parentheses.
bool Parser::bracketed(ast::Operand &result, ast::Operand::Kind kind, Kind close, int depth) {
  uint32_t begin = token_.span.begin;
  size_t first = operands_.size();
  advance();
  result.kind = kind;
  if (is(close) && kind != OperandKind::list)
    return failAtToken("an operand before " + std::string(describe(close)));
  bool isMore = !is(close);
  while (isMore) {
    ast::Operand one;
    if (!operand(one, depth + 1)) {
      operands_.resize(first);
      return false;
    }
    operands_.push_back(one);
    isMore = accept(Kind::comma);
  }
  if (!expect(close, "or ',' in this operand")) {
    operands_.resize(first);
    return false;
  }
  result.setChildren(module_.arena.copy(std::span(operands_).subspan(first)));
  operands_.resize(first);
  result.span = from(begin);
  return true;
}

} // namespace ptxrun::syntax
