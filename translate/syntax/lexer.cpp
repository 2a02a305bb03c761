#include "translate/syntax/lexer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>

namespace ptxrun::syntax {
namespace {

enum Class : uint8_t { blank = 1, follow = 2, digit = 4, hexDigit = 8, starter = 16 };

constexpr std::array<uint8_t, 256> makeClasses() {
  std::array<uint8_t, 256> classes{};
  for (char c : {' ', '\t', '\n', '\r', '\f'})
    classes[uint8_t(c)] = blank;
  for (int c = '0'; c <= '9'; ++c)
    classes[c] = follow | digit | hexDigit;
  for (int c = 'a'; c <= 'z'; ++c) {
    bool isHex = c <= 'f';
    classes[c] = uint8_t(follow | starter | (isHex ? hexDigit : 0));
    classes[c - 'a' + 'A'] = classes[c];
  }
  classes['_'] = classes['$'] = follow | starter;
  classes['%'] = starter;
  return classes;
}
constexpr std::array<uint8_t, 256> kClasses = makeClasses();

bool is(char c, uint8_t mask) { return (kClasses[uint8_t(c)] & mask) != 0; }

const char *skipFollow(const char *at) {
  while (is(*at, follow))
    ++at;
  return at;
}

/// `.word` and its `::word` parts from the dot on; `at` itself where no word follows the dot.
const char *endOfDotWord(const char *at) {
  if (*at != '.' || !is(at[1], follow))
    return at;
  at = skipFollow(at + 1);
  while (at[0] == ':' && at[1] == ':' && is(at[2], follow))
    at = skipFollow(at + 2);
  return at;
}

/// `.5e-3` from the dot on.
const char *endOfFraction(const char *at) {
  do
    ++at;
  while (is(*at, digit));
  if (*at != 'e' && *at != 'E')
    return at;
  const char *exponent = at + 1;
  if (*exponent == '+' || *exponent == '-')
    ++exponent;
  if (!is(*exponent, digit))
    return at;
  while (is(*exponent, digit))
    ++exponent;
  return exponent;
}

} // namespace

bool isFollowCharacter(char c) { return is(c, follow); }

// std::string ends in a zero byte, so reading at end_ is allowed and never matches a class.
Lexer::Lexer(const support::SourceFile &source, support::Diagnostics &diagnostics)
    : diagnostics_(diagnostics), begin_(source.text().data()), end_(begin_ + source.text().size()),
      at_(begin_) {}

uint32_t Lexer::endOfMnemonic(uint32_t offset) const {
  const char *at = begin_ + offset;
  for (const char *end; (end = endOfDotWord(at)) != at;)
    at = end;
  return uint32_t(at - begin_);
}

void Lexer::skipBlanks() {
  for (;;) {
    while (is(*at_, blank))
      ++at_;
    if (*at_ == '/' && at_[1] == '/')
      skipLineComment();
    else if (*at_ == '/' && at_[1] == '*') {
      if (!skipBlockComment())
        return;
    } else if (*at_ != '#' || !skipLineDirective())
      return;
  }
}

// PTX is ASCII text (4.1), in comments too: ptxas refuses other bytes there.
void Lexer::skipLineComment() {
  const char *begin = at_;
  const void *found = std::memchr(at_, '\n', size_t(end_ - at_));
  at_ = found ? static_cast<const char *>(found) : end_;
  for (const char *c = begin; c < at_; ++c)
    if (*c & 0x80) {
      bad(c, c + 1, "PTX is ASCII text; this comment holds another byte");
      return;
    }
}

bool Lexer::skipBlockComment() {
  const char *begin = at_;
  for (at_ += 2; at_ < end_; ++at_) {
    if (*at_ == '*' && at_[1] == '/') {
      at_ += 2;
      return true;
    }
    if (*at_ & 0x80) {
      bad(at_, at_ + 1, "PTX is ASCII text; this comment holds another byte");
      while (at_ < end_ && (*at_ & 0x80))
        ++at_;
    }
  }
  bad(begin, begin + 2, "this comment is not closed by '*/'");
  at_ = end_;
  return false;
}

// `#line 3 "foo.cu"` is what a preprocessor leaves behind; other lines that begin with # are
// errors.
bool Lexer::skipLineDirective() {
  bool isFirstOnLine = at_ == begin_ || at_[-1] == '\n';
  if (!isFirstOnLine || std::strncmp(at_, "#line", 5) != 0 || is(at_[5], follow))
    return false;
  const void *found = std::memchr(at_, '\n', size_t(end_ - at_));
  at_ = found ? static_cast<const char *>(found) : end_;
  return true;
}

Token Lexer::next() {
  skipBlanks();
  const char *begin = at_;
  char c = *at_;
  if (is(c, starter)) {
    // A % that no identifier follows is the remainder operator.
    if (c == '%' && !is(at_[1], follow)) {
      ++at_;
      return make(Token::Kind::percent, begin);
    }
    at_ = skipFollow(at_ + 1);
    if (c == '$' && at_ == begin + 1)
      return bad(begin, at_, "'$' alone is no name");
    return make(Token::Kind::identifier, begin);
  }
  if (is(c, digit))
    return number(begin);
  if (c == '.') {
    at_ = endOfDotWord(at_);
    if (is(begin[1], digit) &&
        endOfFraction(begin) > at_) { // .5e-3, where .5e alone would be a word
      at_ = endOfFraction(begin);
      return make(Token::Kind::decimal, begin);
    }
    if (at_ != begin)
      return make(Token::Kind::dotWord, begin);
    return bad(begin, begin + 1,
               "a '.' must be followed by the name of a directive, modifier or type");
  }
  if (c == '"')
    return string(begin);
  return punctuation(begin);
}

Token Lexer::number(const char *begin) {
  using Kind = Token::Kind;
  auto allOf = [&](const char *at, uint8_t mask) {
    while (is(*at, mask))
      ++at;
    return at;
  };
  char second = begin[1];
  Kind kind = Kind::integer;
  if (*begin == '0' && (second == 'f' || second == 'F' || second == 'd' || second == 'D')) {
    bool isFloat = second == 'f' || second == 'F';
    kind = isFloat ? Kind::hexFloat : Kind::hexDouble;
    at_ = allOf(begin + 2, hexDigit);
    if (at_ - begin != (isFloat ? 10 : 18))
      return bad(begin, skipFollow(at_),
                 isFloat ? "'0f' must be followed by exactly 8 hexadecimal digits"
                         : "'0d' must be followed by exactly 16 hexadecimal digits");
  } else if (*begin == '0' && (second == 'x' || second == 'X')) {
    at_ = allOf(begin + 2, hexDigit);
    if (at_ == begin + 2)
      return bad(begin, skipFollow(at_), "'0x' must be followed by hexadecimal digits");
  } else if (*begin == '0' && (second == 'b' || second == 'B')) {
    at_ = begin + 2;
    while (*at_ == '0' || *at_ == '1')
      ++at_;
    if (at_ == begin + 2)
      return bad(begin, skipFollow(at_), "'0b' must be followed by binary digits");
  } else {
    const char *afterDigits = at_ = allOf(begin, digit);
    if (*at_ == '.')
      at_ = endOfFraction(at_);
    else if (*at_ == 'e' || *at_ == 'E')
      at_ = endOfFraction(at_ - 1);
    if (at_ != afterDigits)
      kind = Kind::decimal;
    if (kind == Kind::integer && *begin == '0')
      for (const char *c = begin; c < at_; ++c)
        if (*c > '7')
          return bad(begin, skipFollow(at_),
                     "an integer that begins with 0 is octal and has digits 0 to 7 only");
  }
  if (kind == Kind::integer && *at_ == 'U')
    ++at_;
  if (is(*at_, follow))
    return bad(begin, skipFollow(at_), "malformed number");
  return make(kind, begin);
}

Token Lexer::string(const char *begin) {
  for (++at_; at_ < end_ && *at_ != '\n'; ++at_) {
    if (*at_ == '\\' && at_ + 1 < end_)
      ++at_;
    else if (*at_ == '"') {
      ++at_;
      return make(Token::Kind::string, begin);
    }
  }
  return bad(begin, at_, "this string is not closed on its line");
}

Token Lexer::punctuation(const char *begin) {
  using Kind = Token::Kind;
  if (at_ >= end_)
    return make(Kind::end, begin);
  auto either = [&](char second, Kind two, Kind one) {
    at_ += at_[1] == second ? 2 : 1;
    return make(at_ - begin == 2 ? two : one, begin);
  };
  auto single = [&](Kind kind) {
    ++at_;
    return make(kind, begin);
  };
  switch (*at_) {
  case ',':
    return single(Kind::comma);
  case ';':
    return single(Kind::semicolon);
  case ':':
    return single(Kind::colon);
  case '(':
    return single(Kind::openParen);
  case ')':
    return single(Kind::closeParen);
  case '[':
    return single(Kind::openBracket);
  case ']':
    return single(Kind::closeBracket);
  case '{':
    return single(Kind::openBrace);
  case '}':
    return single(Kind::closeBrace);
  case '@':
    return single(Kind::at);
  case '+':
    return single(Kind::plus);
  case '-':
    return single(Kind::minus);
  case '*':
    return single(Kind::star);
  case '/':
    return single(Kind::slash);
  case '~':
    return single(Kind::tilde);
  case '?':
    return single(Kind::question);
  case '^':
    return single(Kind::caret);
  case '!':
    return either('=', Kind::notEqual, Kind::exclamation);
  case '=':
    return either('=', Kind::equalEqual, Kind::equals);
  case '&':
    return either('&', Kind::andAnd, Kind::ampersand);
  case '|':
    return either('|', Kind::orOr, Kind::pipe);
  case '<':
    if (at_[1] == '<')
      return either('<', Kind::shiftLeft, Kind::less);
    return either('=', Kind::lessEqual, Kind::less);
  case '>':
    if (at_[1] == '>')
      return either('>', Kind::shiftRight, Kind::greater);
    return either('=', Kind::greaterEqual, Kind::greater);
  default:
    break;
  }
  const char *end = begin + 1;
  while (end < end_ && (*end & 0x80))
    ++end;
  return bad(begin, end, "this character means nothing in PTX");
}

Token Lexer::bad(const char *begin, const char *end, std::string message) {
  support::Span span{uint32_t(begin - begin_), uint32_t(end - begin_)};
  diagnostics_.error(span, std::move(message))
      .notes.push_back("PTX ISA 4.1 to 4.5: source format, identifiers, constants");
  at_ = std::max(at_, end);
  return {Token::Kind::bad, span};
}

bool readInteger(std::string_view text, uint64_t &value, bool &isUnsigned) {
  bool hasSuffix = text.back() == 'U';
  if (hasSuffix)
    text.remove_suffix(1);
  int base = 10;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
    base = 16, text.remove_prefix(2);
  else if (text.size() > 2 && text[0] == '0' && (text[1] == 'b' || text[1] == 'B'))
    base = 2, text.remove_prefix(2);
  else if (text.size() > 1 && text[0] == '0')
    base = 8;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  isUnsigned = hasSuffix || value > uint64_t(INT64_MAX);
  if (error == std::errc::result_out_of_range && base == 10) {
    value = UINT64_MAX; // ptxas takes too many decimal digits, though not hexadecimal or octal ones
    isUnsigned = true;
    return true;
  }
  return error == std::errc() && end == text.data() + text.size();
}

uint64_t readFloatBits(Token::Kind kind, std::string_view text) {
  if (kind == Token::Kind::decimal) {
    double value = 0;
    // Too large gives infinity and too small zero, as C's strtod does.
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range)
      value = std::strtod(std::string(text).c_str(), nullptr);
    return std::bit_cast<uint64_t>(value);
  }
  uint64_t bits = 0;
  std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
  return bits;
}

std::string_view describe(Token::Kind kind) {
  switch (kind) {
  case Token::Kind::end:
    return "the end of the file";
  case Token::Kind::identifier:
    return "an identifier";
  case Token::Kind::dotWord:
    return "a directive";
  case Token::Kind::integer:
    return "an integer";
  case Token::Kind::decimal:
  case Token::Kind::hexFloat:
  case Token::Kind::hexDouble:
    return "a floating-point constant";
  case Token::Kind::string:
    return "a string";
  case Token::Kind::comma:
    return "','";
  case Token::Kind::semicolon:
    return "';'";
  case Token::Kind::colon:
    return "':'";
  case Token::Kind::openParen:
    return "'('";
  case Token::Kind::closeParen:
    return "')'";
  case Token::Kind::openBracket:
    return "'['";
  case Token::Kind::closeBracket:
    return "']'";
  case Token::Kind::openBrace:
    return "'{'";
  case Token::Kind::closeBrace:
    return "'}'";
  case Token::Kind::less:
    return "'<'";
  case Token::Kind::greater:
    return "'>'";
  case Token::Kind::equals:
    return "'='";
  default:
    return "a token";
  }
}

} // namespace ptxrun::syntax
