#include "tests/unit/isa/written.h"

#include <cctype>
#include <cstdlib>

namespace ptxrun::isa::test {
namespace {

bool isNameCharacter(char c) {
  return std::isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

/// Reads from the front of a text.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  void blank() {
    while (!text_.empty() && std::isspace((unsigned char)text_.front()))
      text_.remove_prefix(1);
  }
  bool take(char c) {
    blank();
    if (text_.empty() || text_.front() != c)
      return false;
    text_.remove_prefix(1);
    return true;
  }
  char peek() {
    blank();
    return text_.empty() ? '\0' : text_.front();
  }
  bool isAtEnd() { return peek() == '\0'; }

  template <class Test> std::string_view run(Test test) {
    size_t n = 0;
    while (n < text_.size() && test(text_[n]))
      ++n;
    std::string_view word = text_.substr(0, n);
    text_.remove_prefix(n);
    return word;
  }
  std::string_view name() {
    blank();
    return run(isNameCharacter);
  }
  std::string_view dotted() {
    blank();
    return run([](char c) { return isNameCharacter(c) || c == '.' || c == ':'; });
  }
  std::string_view rest() const { return text_; }

 private:
  std::string_view text_;
};

StateSpace spaceOf(std::string_view word) {
  if (word == "const")
    return StateSpace::constant;
  for (StateSpace s : {StateSpace::global, StateSpace::local, StateSpace::param, StateSpace::shared,
                       StateSpace::tex})
    if (spelling(s) == word)
      return s;
  return StateSpace::generic;
}

class OperandReader {
 public:
  OperandReader(std::string_view text, const Environment &names, Written &out)
      : in_(text), names_(names), out_(out) {}

  void list() {
    while (!in_.isAtEnd() && out_.isUnderstood) {
      out_.arguments.push_back(operand());
      if (in_.take('|'))
        out_.arguments.back().isJoined = true;
      else if (!in_.take(',') && !in_.isAtEnd())
        out_.isUnderstood = false;
    }
  }

 private:
  Argument operand() {
    switch (in_.peek()) {
    case '{':
      return bracketed(Argument::Kind::vector, '{', '}');
    case '(':
      return bracketed(Argument::Kind::list, '(', ')');
    case '[':
      return address();
    default:
      return scalar();
    }
  }

  Argument bracketed(Argument::Kind kind, char open, char close) {
    Argument a;
    a.kind = kind;
    in_.take(open);
    std::vector<Argument> elements;
    while (!in_.take(close) && out_.isUnderstood && !in_.isAtEnd()) {
      elements.push_back(operand());
      in_.take(',');
    }
    out_.storage.push_back(std::move(elements));
    a.elements = out_.storage.back();
    return a;
  }

  Argument address() {
    in_.take('[');
    Argument base = scalar(), a;
    a.kind = Argument::Kind::address;
    a.type = base.type;
    a.space = base.space;
    a.isParameter = base.isParameter;
    a.base = base.kind == Argument::Kind::reg        ? Argument::Base::reg
             : base.kind == Argument::Kind::variable ? Argument::Base::variable
                                                     : Argument::Base::none;
    if (a.base == Argument::Base::none && base.kind != Argument::Kind::integer)
      out_.isUnderstood = false;
    std::vector<Argument> elements;
    while (!in_.take(']') && out_.isUnderstood && !in_.isAtEnd()) {
      in_.take(',');
      elements.push_back(operand());
    }
    if (in_.take('.')) {
      a.isUnified = in_.name() == "unified";
      out_.isUnderstood &= a.isUnified;
    }
    out_.storage.push_back(std::move(elements));
    a.elements = out_.storage.back();
    return a;
  }

  Argument scalar() {
    Argument a;
    const bool isMinus = in_.rest().starts_with("-%") && in_.take('-');
    const bool isNegated = in_.take('!') || isMinus;
    const char first = in_.peek();
    if (std::isdigit((unsigned char)first) || first == '-' || first == '+')
      return number();
    std::string_view name = in_.name();
    if (name == "_")
      return a;
    if (name == "WARP_SZ") {
      a.kind = Argument::Kind::integer;
      a.integer = 32;
      return a;
    }
    if (!names_.find(name, a)) {
      out_.isUnderstood = false;
      return a;
    }
    a.isNegated = isNegated;
    suffix(a);
    return a;
  }

  /// `.x`, `.b0`, `+4`, `[4]` behind a name.
  void suffix(Argument &a) {
    if (in_.peek() == '.') {
      in_.take('.');
      std::string_view part = in_.name();
      if (part.size() == 1)
        a.vector = 1;
      else
        a.selector = findSelector(part);
    }
    if (a.kind == Argument::Kind::variable && in_.take('[')) {
      number();
      in_.take(']');
    }
    if (in_.peek() == '+' || in_.peek() == '-') {
      in_.take('+');
      number();
    }
  }

  Argument number() {
    Argument a;
    in_.blank();
    std::string text(in_.run([](char c) { return c == '-' || c == '+'; }));
    text += in_.run([](char c) { return std::isalnum((unsigned char)c) || c == '.'; });
    if (text.back() == 'e' || text.back() == 'E')
      text +=
          in_.run([](char c) { return std::isdigit((unsigned char)c) || c == '-' || c == '+'; });
    const std::string_view digits =
        std::string_view(text).substr(std::min(text.size(), text.find_first_not_of("-+")));
    if (digits.empty()) {
      out_.isUnderstood = false;
      return a;
    }
    const bool isHex = digits.starts_with("0x") || digits.starts_with("0X");
    const bool isFloat = digits.starts_with("0f") || digits.starts_with("0F") ||
                         digits.starts_with("0d") || digits.starts_with("0D") ||
                         (!isHex && digits.find_first_of(".eE") != digits.npos);
    a.kind = isFloat ? Argument::Kind::floating : Argument::Kind::integer;
    a.type = isFloat
                 ? (digits.starts_with("0f") || digits.starts_with("0F") ? Type::f32 : Type::f64)
                 : Type::none;
    a.isBitPattern = isFloat && digits.substr(0, 2).find_first_of("fFdD") != digits.npos;
    a.floating = isFloat && digits.substr(0, 2).find_first_of("fFdD") == digits.npos
                     ? std::strtod(text.c_str(), nullptr)
                     : 1;
    a.integer = digits.starts_with("0b") ? std::strtoll(digits.data() + 2, nullptr, 2)
                                         : int64_t(std::strtoull(text.c_str(), nullptr, 0));
    return a;
  }

  Reader in_;
  const Environment &names_;
  Written &out_;
};

} // namespace

void Environment::declareLabel(std::string_view name, Argument::Kind kind) {
  Argument a;
  a.kind = kind;
  names_[std::string(name)] = a;
}

void Environment::declare(std::string_view statement, bool isParameter) {
  Reader in(statement);
  Argument a;
  a.isParameter = isParameter;
  bool isRegister = false, isFunction = false;
  while (in.peek() == '.') {
    in.take('.');
    std::string_view word = in.name();
    isRegister |= word == "reg";
    isFunction |= word == "func" || word == "entry";
    if (Type t = findType(word); t != Type::none)
      a.type = t;
    if (StateSpace s = spaceOf(word); s != StateSpace::generic)
      a.space = s;
    if (word == "v2" || word == "v4")
      a.vector = uint8_t(word[1] - '0');
    if (word == "align")
      in.name();
    if (word == "attribute")
      in = Reader(in.rest().substr(std::min(in.rest().size(), in.rest().find("))") + 2)));
    if (isFunction)
      break;
  }
  if (in.take('(')) { // return parameters
    const size_t close = in.rest().find(')');
    declare(in.rest().substr(0, close));
    in = Reader(in.rest().substr(std::min(in.rest().size(), close + 1)));
  }
  a.kind = isFunction   ? Argument::Kind::function
           : isRegister ? Argument::Kind::reg
                        : Argument::Kind::variable;
  do {
    std::string name(in.name());
    if (in.take('<')) {
      in.name();
      in.take('>');
      name += '<';
    }
    if (!name.empty())
      names_[name] = a;
  } while (in.take(','));
  if (isFunction && in.take('(')) {
    std::string_view parameters = in.rest().substr(0, in.rest().find(')'));
    for (size_t begin = 0; begin < parameters.size();) {
      const size_t end = std::min(parameters.find(',', begin), parameters.size());
      declare(parameters.substr(begin, end - begin), true);
      begin = end + 1;
    }
  }
}

bool Environment::find(std::string_view name, Argument &a) const {
  if (auto at = names_.find(name); at != names_.end()) {
    a = at->second;
    return true;
  }
  if (name.starts_with("%")) {
    if (SpecialRegister s = findSpecialRegister(name.substr(1)); s != SpecialRegister::none) {
      a.kind = Argument::Kind::special;
      a.special = s;
      a.type = typeOf(s);
      a.vector = uint8_t(componentsOf(s));
      return true;
    }
  }
  const size_t last = name.find_last_not_of("0123456789");
  std::string stem(name.substr(0, last == name.npos ? 0 : last + 1));
  auto at = names_.find(stem + "<");
  if (at == names_.end() || stem.size() == name.size())
    return false;
  a = at->second;
  return true;
}

Written readInstruction(std::string_view text, const Environment &names) {
  Written written;
  Reader in(text);
  if (in.take('@')) {
    in.take('!');
    in.name();
  }
  written.opcode = in.dotted();
  OperandReader(in.rest(), names, written).list();
  return written;
}

std::vector<std::string> statements(std::string_view text) {
  std::vector<std::string> found;
  std::string current;
  unsigned depth = 0;
  for (size_t i = 0; i != text.size(); ++i) {
    if (text.substr(i).starts_with("//"))
      while (i != text.size() && text[i] != '\n')
        ++i;
    if (i == text.size())
      break;
    const char c = text[i];
    const bool isBlank = current.find_first_not_of(" \n\t\r") == current.npos;
    const bool isBlock = (c == '{' || c == '}') && depth == 0 &&
                         (isBlank || current.find(".entry") != current.npos ||
                          current.find(".func") != current.npos);
    if (c == '{' && !isBlock)
      ++depth;
    if (c == '}' && !isBlock)
      --depth;
    if (c == ';' || isBlock) {
      if (!isBlank)
        found.push_back(current);
      current.clear();
    } else {
      current += c;
    }
    if (c == ':' && text.substr(i + 1, 1) != ":" && i > 0 && text[i - 1] != ':' && depth == 0) {
      found.push_back(current);
      current.clear();
    }
  }
  return found;
}

} // namespace ptxrun::isa::test
