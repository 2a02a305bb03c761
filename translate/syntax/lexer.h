// From bytes to tokens (PTX ISA 4.1 to 4.5). Tokens are places in the source; values are read when
// asked for.
#pragma once
#include <cstdint>
#include <string_view>

#include "translate/support/diagnostics.h"

namespace ptxrun::syntax {

struct Token {
  enum class Kind : uint8_t {
    end,
    identifier, ///< abc, %r1, $L__1, _x, and `_` alone
    dotWord,    ///< .global, .shared::cta, .2d
    integer,    ///< 12, 0x1F, 017, 0b101, each with U
    decimal,    ///< 1.5, 1e-5
    hexFloat,   ///< 0f3F800000
    hexDouble,  ///< 0d3FF0000000000000
    string,     ///< "text", quotes included
    comma,
    semicolon,
    colon,
    openParen,
    closeParen,
    openBracket,
    closeBracket,
    openBrace,
    closeBrace,
    at,
    exclamation,
    equals,
    plus,
    minus,
    star,
    slash,
    percent,
    tilde,
    question,
    less,
    greater,
    lessEqual,
    greaterEqual,
    equalEqual,
    notEqual,
    shiftLeft,
    shiftRight,
    ampersand,
    pipe,
    caret,
    andAnd,
    orOr,
    bad, ///< reported already
  };
  Kind kind = Kind::end;
  support::Span span;
};

/// How a diagnostic names a kind ("an identifier", "';'").
std::string_view describe(Token::Kind);

/// True for a-z A-Z 0-9 _ $: what may follow in an identifier.
bool isFollowCharacter(char);

class Lexer {
 public:
  Lexer(const support::SourceFile &, support::Diagnostics &);
  /// The next token. At the end of the text, and after a byte that ends the text for good, `end`
  /// again and again.
  Token next();
  uint32_t position() const { return uint32_t(at_ - begin_); }
  void setPosition(uint32_t offset) { at_ = begin_ + offset; }
  std::string_view text(support::Span span) const {
    return {begin_ + span.begin, span.end - span.begin};
  }
  /// Extends from `offset`, where an identifier ends, over `.word` parts that follow without
  /// blanks; their end.
  uint32_t endOfMnemonic(uint32_t offset) const;

 private:
  void skipBlanks();
  void skipLineComment();
  bool skipBlockComment();
  bool skipLineDirective();
  Token number(const char *begin);
  Token string(const char *begin);
  Token punctuation(const char *begin);
  Token bad(const char *begin, const char *end, std::string message);
  Token make(Token::Kind kind, const char *begin) const {
    return {kind, {uint32_t(begin - begin_), uint32_t(at_ - begin_)}};
  }

  support::Diagnostics &diagnostics_;
  const char *begin_;
  const char *end_;
  const char *at_;
};

/// Value of an `integer` token's text; false when it does not fit 64 bits.
bool readInteger(std::string_view text, uint64_t &value, bool &isUnsigned);
/// Bits of a `decimal`, `hexFloat` (low half) or `hexDouble` token's text.
uint64_t readFloatBits(Token::Kind, std::string_view text);

} // namespace ptxrun::syntax
