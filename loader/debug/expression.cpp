// The expressions of Evaluator::evaluate: precedence climbing over C's operators.
#include <cctype>
#include <cmath>
#include <cstring>

#include "loader/debug/evaluate.h"

namespace ptxrun::debug {

namespace {

double asDouble(const DebugValue &value) {
  if (value.type->kind == Type::Kind::floating)
    return Evaluator::asReal(value);
  const int64_t number = Evaluator::asInteger(value);
  return value.type->isSigned ? static_cast<double>(number)
                              : static_cast<double>(static_cast<uint64_t>(number));
}

bool isFloating(const DebugValue &v) { return v.type->kind == Type::Kind::floating; }
bool isPointer(const DebugValue &v) {
  return v.type->kind == Type::Kind::pointer || v.type->kind == Type::Kind::array;
}

struct Operator {
  const char *text;
  int precedence;
};
/// Longer ones first.
constexpr Operator kOperators[] = {{"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<=", 7},
                                   {">=", 7}, {"<<", 8}, {">>", 8}, {"|", 3},  {"^", 4},
                                   {"&", 5},  {"<", 7},  {">", 7},  {"@", 9},  {"+", 10},
                                   {"-", 10}, {"*", 11}, {"/", 11}, {"%", 11}};

} // namespace

class ExpressionParser {
 public:
  ExpressionParser(const std::string &text, const View &view, Evaluator &owner)
      : text_(text), view_(view), owner_(owner) {}

  DebugValue whole() {
    DebugValue value = conditional();
    skipSpace();
    if (at_ < text_.size())
      throw DebugError(text_[at_] == '='
                           ? "nothing can be assigned to: the execution repeats itself"
                           : "syntax error in expression, near '" + text_.substr(at_) + "'");
    return value;
  }

 private:
  void skipSpace() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])))
      ++at_;
  }
  bool accept(const char *token) {
    skipSpace();
    if (text_.compare(at_, std::strlen(token), token) != 0)
      return false;
    at_ += std::strlen(token);
    return true;
  }
  void expect(const char *token) {
    if (!accept(token))
      throw DebugError("syntax error in expression: '" + std::string(token) +
                       "' is missing near '" + text_.substr(at_) + "'");
  }
  char next() {
    skipSpace();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  DebugValue conditional() {
    DebugValue condition = binary(1);
    if (!accept("?"))
      return condition;
    DebugValue yes = conditional();
    expect(":");
    DebugValue no = conditional();
    return Evaluator::isTrue(condition) ? yes : no;
  }

  const Operator *peekOperator() {
    skipSpace();
    for (const Operator &one : kOperators)
      if (text_.compare(at_, std::strlen(one.text), one.text) == 0)
        return &one;
    return nullptr;
  }

  DebugValue binary(int least) {
    DebugValue left = unary();
    for (const Operator *op; (op = peekOperator()) && op->precedence >= least;) {
      at_ += std::strlen(op->text);
      const DebugValue right = binary(op->precedence + 1);
      left = apply(op->text, left, right);
    }
    return left;
  }

  DebugValue unary() {
    const char letter = next();
    if (letter == '*' && accept("*"))
      return dereference(unary());
    if (letter == '&' && accept("&")) {
      const DebugValue value = unary();
      if (!value.address)
        throw DebugError("it lies in no memory: its address cannot be had");
      return pointer(value.type, *value.address);
    }
    if (accept("-")) {
      const DebugValue value = unary();
      if (isFloating(value))
        return floating(value.type, -asDouble(value));
      return integer(promoted(value), 0 - static_cast<uint64_t>(Evaluator::asInteger(value)));
    }
    if (accept("!"))
      return integer(owner_.types_.named("int"), !Evaluator::isTrue(unary()));
    if (accept("~")) {
      const DebugValue value = unary();
      return integer(promoted(value), ~static_cast<uint64_t>(Evaluator::asInteger(value)));
    }
    if (accept("+"))
      return unary();
    if (letter == '(')
      if (const auto cast = tryCast())
        return *cast;
    return postfix(primary());
  }

  DebugValue postfix(DebugValue value) {
    for (;;) {
      if (accept("[")) {
        const DebugValue index = conditional();
        expect("]");
        value = dereference(apply("+", value, index));
      } else if (accept("->")) {
        value = field(dereference(value));
      } else if (next() == '.' && accept(".")) {
        value = field(value);
      } else {
        return value;
      }
    }
  }

  DebugValue field(const DebugValue &value) {
    const std::string name = identifier();
    for (size_t i = 0; i < value.type->members.size(); ++i)
      if (value.type->members[i].name == name)
        return owner_.member(value, i);
    throw DebugError("'" + value.type->describe() + "' has no member '" + name + "'");
  }

  std::string identifier() {
    skipSpace();
    std::string name;
    for (;;) {
      while (at_ < text_.size() &&
             (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
        name.push_back(text_[at_++]);
      if (name.empty() || text_.compare(at_, 2, "::") != 0)
        return name;
      name += "::";
      at_ += 2;
    }
  }

  /// Letters of a PTX name: "%rd5", "%tid.x", "$L__x".
  std::string ptxName() {
    std::string name(1, text_[at_++]);
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                  text_[at_] == '_' || text_[at_] == '$'))
      name.push_back(text_[at_++]);
    const bool isSpecial =
        name == "%tid" || name == "%ntid" || name == "%ctaid" || name == "%nctaid";
    if (isSpecial && at_ + 1 < text_.size() && text_[at_] == '.') {
      name += text_.substr(at_, 2);
      at_ += 2;
    }
    return name;
  }

  DebugValue primary() {
    const char letter = next();
    if (accept("(")) {
      DebugValue value = conditional();
      expect(")");
      return value;
    }
    if (std::isdigit(static_cast<unsigned char>(letter)) || letter == '.')
      return literal();
    if (letter == '\'' && at_ + 2 < text_.size() && text_[at_ + 2] == '\'') {
      at_ += 3;
      return integer(owner_.types_.named("char"), static_cast<uint64_t>(text_[at_ - 2]));
    }
    if (letter == '%')
      return owner_.named(ptxName(), view_);
    if (letter == '$')
      return convenience(ptxName());
    if (std::isalpha(static_cast<unsigned char>(letter)) || letter == '_') {
      const std::string name = identifier();
      if (name == "sizeof")
        return sizeOf();
      if (name == "true" || name == "false")
        return integer(owner_.types_.named("bool"), name == "true");
      return owner_.named(name, view_);
    }
    throw DebugError(text_.empty()
                         ? "an expression is missing"
                         : "syntax error in expression, near '" + text_.substr(at_) + "'");
  }

  DebugValue sizeOf() {
    expect("(");
    const size_t start = at_;
    const Type *type = typeName();
    if (!type) {
      at_ = start;
      type = conditional().type;
    }
    expect(")");
    return integer(owner_.types_.named("unsigned long"), type->bytes);
  }

  /// $1: what print showed; $: the last of it; $pc; $r5: %r5.
  DebugValue convenience(const std::string &name) {
    if (name == "$" && !owner_.history.empty())
      return owner_.history.back();
    if (name.size() > 1 && std::isdigit(static_cast<unsigned char>(name[1]))) {
      const size_t number = std::stoul(name.substr(1));
      if (number == 0 || number > owner_.history.size())
        throw DebugError("there is no value " + name);
      return owner_.history[number - 1];
    }
    if (name == "$pc") {
      if (!view_.thread)
        throw DebugError("the thread is not running");
      return integer(owner_.types_.named("u32"), owner_.map_.ptxLine(owner_.instructionOf(view_)));
    }
    return owner_.named("%" + name.substr(1), view_);
  }

  DebugValue literal() {
    const char *begin = text_.c_str() + at_;
    char *end = nullptr;
    const bool isHex = text_.compare(at_, 2, "0x") == 0 || text_.compare(at_, 2, "0X") == 0;
    const size_t digits = std::strspn(begin, "0123456789");
    if (!isHex && (begin[digits] == '.' || begin[digits] == 'e' || begin[digits] == 'E')) {
      const double value = std::strtod(begin, &end);
      at_ += static_cast<size_t>(end - begin);
      if (accept("f"))
        return floating(owner_.types_.named("float"), value);
      return floating(owner_.types_.named("double"), value);
    }
    const uint64_t value = std::strtoull(begin, &end, 0);
    at_ += static_cast<size_t>(end - begin);
    bool isUnsigned = false, isLong = value > 0x7fffffff;
    while (at_ < text_.size() && std::strchr("uUlL", text_[at_])) {
      (std::strchr("uU", text_[at_]) ? isUnsigned : isLong) = true;
      ++at_;
    }
    const char *type = isLong ? (isUnsigned || value > INT64_MAX ? "unsigned long" : "long")
                              : (isUnsigned ? "unsigned int" : "int");
    return integer(owner_.types_.named(type), value);
  }

  // --- Casts -----------------------------------------------------------------------------------

  /// A type's name at the next place, with stars; null, and nothing is read, where there is none.
  const Type *typeName() {
    const size_t start = at_;
    const Type *type = nullptr;
    std::string name;
    for (;;) {
      const size_t before = at_;
      const std::string word = identifier();
      if (word == "const" || word == "volatile" || word == "struct" || word == "class" ||
          word == "enum")
        continue;
      const std::string longer = name.empty() ? word : name + " " + word;
      const Type *found = word.empty() ? nullptr : owner_.types_.named(longer);
      if (!found && !word.empty())
        found = owner_.info_.findType(longer);
      const bool mayGoOn = longer == "long" || longer == "unsigned" || longer == "signed" ||
                           longer == "unsigned long";
      if (!found && !mayGoOn) {
        at_ = before;
        break;
      }
      type = found ? found : type;
      name = longer;
    }
    if (!type) {
      at_ = start;
      return nullptr;
    }
    while (accept("*"))
      type = owner_.types_.pointerTo(type);
    return type;
  }

  /// (float *) x, (@shared float *) 16
  std::optional<DebugValue> tryCast() {
    const size_t start = at_;
    expect("(");
    std::string space;
    if (accept("@"))
      space = identifier();
    const Type *type = typeName();
    if (!type || next() != ')') {
      at_ = start;
      if (!space.empty())
        throw DebugError("'@" + space + "' begins the type of a pointer: (@shared float *) 16");
      return std::nullopt;
    }
    expect(")");
    const DebugValue value = unary();
    if (type->kind == Type::Kind::floating)
      return floating(type, asDouble(value));
    auto bits = static_cast<uint64_t>(isFloating(value) && type->isSigned
                                          ? static_cast<int64_t>(asDouble(value))
                                          : Evaluator::asInteger(value));
    if (space == "shared") {
      if (!view_.thread)
        throw DebugError("the thread is not running: it has no shared memory");
      if (bits < (uint64_t{1} << abi::kSharedWindowShift))
        bits += reinterpret_cast<uint64_t>(view_.thread->window);
    } else if (!space.empty() && space != "global" && space != "generic" && space != "const" &&
               space != "local") {
      throw DebugError("there is no state space '" + space + "'");
    }
    return integer(type, bits);
  }

  // --- Values ----------------------------------------------------------------------------------

  DebugValue integer(const Type *type, uint64_t value) {
    DebugValue made{type, std::string(type->bytes, '\0'), std::nullopt};
    std::memcpy(made.bytes.data(), &value, std::min<uint64_t>(8, type->bytes));
    if (type->kind == Type::Kind::boolean)
      made.bytes[0] = value != 0;
    return made;
  }
  DebugValue floating(const Type *type, double value) {
    DebugValue made{type, std::string(type->bytes, '\0'), std::nullopt};
    if (type->bytes == 8) {
      std::memcpy(made.bytes.data(), &value, 8);
    } else {
      const auto narrow = static_cast<float>(value);
      std::memcpy(made.bytes.data(), &narrow, std::min<uint64_t>(4, type->bytes));
    }
    return made;
  }
  DebugValue pointer(const Type *target, uint64_t address) {
    return integer(owner_.types_.pointerTo(target), address);
  }
  const Type *promoted(const DebugValue &value) {
    const char *name = value.type->bytes > 4 ? (value.type->isSigned ? "long" : "unsigned long")
                       : value.type->bytes == 4 && !value.type->isSigned ? "unsigned int"
                                                                         : "int";
    return owner_.types_.named(name);
  }

  DebugValue dereference(const DebugValue &value) {
    const bool isNumber = value.type->kind == Type::Kind::integer;
    if (!isPointer(value) && !isNumber)
      throw DebugError("a value of type '" + value.type->describe() + "' points to nothing");
    if (value.type->kind == Type::Kind::array)
      return owner_.member(value, 0);
    const Type *target = isNumber ? owner_.types_.named("int") : value.type->target;
    if (!target || target->bytes == 0)
      throw DebugError("it points to 'void': cast it, as in *(float *) p");
    return owner_.load(target, static_cast<uint64_t>(Evaluator::asInteger(value)));
  }

  DebugValue apply(const std::string &op, const DebugValue &a, const DebugValue &b) {
    if (op == "@")
      return repeat(a, Evaluator::asInteger(b));
    if ((op == "+" || op == "-") && isPointer(a) && !isPointer(b))
      return moved(a, op == "+" ? Evaluator::asInteger(b) : -Evaluator::asInteger(b));
    if (op == "+" && isPointer(b))
      return moved(b, Evaluator::asInteger(a));
    if (op == "&&" || op == "||") {
      const bool x = Evaluator::isTrue(a), y = Evaluator::isTrue(b);
      return integer(owner_.types_.named("int"), op == "&&" ? x && y : x || y);
    }
    if (isFloating(a) || isFloating(b))
      return applyFloating(op, a, b);
    if (op == "-" && isPointer(a) && isPointer(b) && a.type->target && a.type->target->bytes)
      return integer(owner_.types_.named("long"),
                     static_cast<uint64_t>((Evaluator::asInteger(a) - Evaluator::asInteger(b)) /
                                           static_cast<int64_t>(a.type->target->bytes)));
    return applyInteger(op, a, b);
  }

  /// Elements that lie behind each other.
  DebugValue repeat(const DebugValue &first, int64_t count) {
    constexpr int64_t kMost = 1 << 20;
    if (!first.address)
      throw DebugError("only what lies in memory can stand before '@'");
    if (count < 1 || count > kMost)
      throw DebugError("'@' takes a number from 1 to " + std::to_string(kMost));
    return owner_.load(owner_.types_.arrayOf(first.type, static_cast<uint64_t>(count)),
                       *first.address);
  }

  DebugValue moved(const DebugValue &from, int64_t by) {
    const Type *target = from.type->target;
    if (from.type->kind == Type::Kind::array && !from.address) {
      if (by < 0 || static_cast<uint64_t>(by) >= from.type->count)
        throw DebugError("there is no such element");
      DebugValue rest{owner_.types_.arrayOf(target, from.type->count - static_cast<uint64_t>(by)),
                      from.bytes.substr(static_cast<uint64_t>(by) * target->bytes), std::nullopt};
      return rest;
    }
    const uint64_t size = target && target->bytes ? target->bytes : 1;
    return pointer(target, static_cast<uint64_t>(Evaluator::asInteger(from)) +
                               static_cast<uint64_t>(by) * size);
  }

  DebugValue applyFloating(const std::string &op, const DebugValue &a, const DebugValue &b) {
    const double x = asDouble(a), y = asDouble(b);
    const bool isDouble =
        (isFloating(a) && a.type->bytes == 8) || (isFloating(b) && b.type->bytes == 8);
    const Type *type = owner_.types_.named(isDouble ? "double" : "float");
    if (op == "+" || op == "-" || op == "*" || op == "/")
      return floating(type, op == "+" ? x + y : op == "-" ? x - y : op == "*" ? x * y : x / y);
    const Type *truth = owner_.types_.named("int");
    if (op == "==" || op == "!=")
      return integer(truth, (x == y) == (op == "=="));
    if (op == "<" || op == ">")
      return integer(truth, op == "<" ? x < y : x > y);
    if (op == "<=" || op == ">=")
      return integer(truth, op == "<=" ? x <= y : x >= y);
    throw DebugError("'" + op + "' takes no floating point numbers");
  }

  DebugValue applyInteger(const std::string &op, const DebugValue &a, const DebugValue &b) {
    const Type *type = promoted(a), *other = promoted(b);
    if (op != "<<" && op != ">>" &&
        (other->bytes > type->bytes || (other->bytes == type->bytes && !other->isSigned)))
      type = other;
    const auto x = static_cast<uint64_t>(Evaluator::asInteger(a)),
               y = static_cast<uint64_t>(Evaluator::asInteger(b));
    const auto sx = static_cast<int64_t>(x), sy = static_cast<int64_t>(y);
    const Type *truth = owner_.types_.named("int");
    if ((op == "/" || op == "%") && y == 0)
      throw DebugError("division by zero");
    const bool isLess = type->isSigned ? sx < sy : x < y, isMore = type->isSigned ? sx > sy : x > y;
    if (op == "+")
      return integer(type, x + y);
    if (op == "-")
      return integer(type, x - y);
    if (op == "*")
      return integer(type, x * y);
    if (op == "/")
      return integer(type, !type->isSigned ? x / y
                           : sy == -1      ? 0 - x
                                           : static_cast<uint64_t>(sx / sy));
    if (op == "%")
      return integer(type, !type->isSigned ? x % y : sy == -1 ? 0 : static_cast<uint64_t>(sx % sy));
    if (op == "<<")
      return integer(type, y < 64 ? x << y : 0);
    if (op == ">>")
      return integer(type, type->isSigned ? static_cast<uint64_t>(sx >> std::min<uint64_t>(y, 63))
                           : y < 64       ? x >> y
                                          : 0);
    if (op == "&")
      return integer(type, x & y);
    if (op == "|")
      return integer(type, x | y);
    if (op == "^")
      return integer(type, x ^ y);
    if (op == "==" || op == "!=")
      return integer(truth, (x == y) == (op == "=="));
    if (op == "<" || op == ">=")
      return integer(truth, isLess == (op == "<"));
    return integer(truth, isMore == (op == ">"));
  }

  const std::string text_;
  const View &view_;
  Evaluator &owner_;
  size_t at_ = 0;
};

DebugValue Evaluator::evaluate(const std::string &expression, const View &view) {
  return ExpressionParser(expression, view, *this).whole();
}

} // namespace ptxrun::debug
