#include <cctype>
#include <charconv>
#include <optional>

#include "loader/ptxrun/errors.h"
#include "loader/ptxrun/expression_node.h"

namespace ptxrun::command {
namespace {

using Node = Expression::Node;
using NodePtr = std::unique_ptr<Node>;

struct Function {
  std::string_view name;
  Operation operation;
  unsigned arity;
  enum Result { real, integer, asOperands } result;
};
constexpr Function kFunctions[] = {
    {"abs", Operation::abs, 1, Function::asOperands},
    {"min", Operation::min, 2, Function::asOperands},
    {"max", Operation::max, 2, Function::asOperands},
    {"sqrt", Operation::sqrt, 1, Function::real},
    {"exp", Operation::exp, 1, Function::real},
    {"exp2", Operation::exp2, 1, Function::real},
    {"log", Operation::log, 1, Function::real},
    {"log2", Operation::log2, 1, Function::real},
    {"sin", Operation::sin, 1, Function::real},
    {"cos", Operation::cos, 1, Function::real},
    {"tan", Operation::tan, 1, Function::real},
    {"erf", Operation::erf, 1, Function::real},
    {"erfc", Operation::erfc, 1, Function::real},
    {"pow", Operation::pow, 2, Function::real},
    {"fma", Operation::fma, 3, Function::real},
    {"floor", Operation::floor, 1, Function::real},
    {"ceil", Operation::ceil, 1, Function::real},
    {"round", Operation::round, 1, Function::real},
    {"trunc", Operation::trunc, 1, Function::real},
    {"popcount", Operation::popcount, 1, Function::integer},
    {"bits", Operation::bits, 1, Function::integer},
};

struct BinaryOperator {
  std::string_view spelling;
  Operation operation;
  int precedence;
  bool isSwapped = false, isComparison = false;
};
// Longer spellings stand before their prefixes.
constexpr BinaryOperator kOperators[] = {
    {"||", Operation::logicalOr, 1, false, true},
    {"&&", Operation::logicalAnd, 2, false, true},
    {"==", Operation::equal, 6, false, true},
    {"!=", Operation::notEqual, 6, false, true},
    {"<<", Operation::shiftLeft, 8},
    {">>", Operation::shiftRight, 8},
    {"<=", Operation::lessEqual, 7, false, true},
    {">=", Operation::lessEqual, 7, true, true},
    {"<", Operation::less, 7, false, true},
    {">", Operation::less, 7, true, true},
    {"|", Operation::bitOr, 3},
    {"^", Operation::bitXor, 4},
    {"&", Operation::bitAnd, 5},
    {"+", Operation::add, 9},
    {"-", Operation::subtract, 9},
    {"*", Operation::multiply, 10},
    {"/", Operation::divide, 10},
    {"%", Operation::modulo, 10},
};

bool needsIntegers(Operation operation) {
  return operation == Operation::bitOr || operation == Operation::bitXor ||
         operation == Operation::bitAnd || operation == Operation::shiftLeft ||
         operation == Operation::shiftRight || operation == Operation::modulo;
}

class Parser {
 public:
  Parser(std::string_view text, const std::vector<Symbol> &symbols)
      : text_(text), symbols_(symbols) {
    variables_ = {{"i", 0}};
  }

  NodePtr parse() {
    NodePtr node = conditional();
    skipBlanks();
    if (at_ != text_.size())
      fail("unexpected '" + std::string(text_.substr(at_, 12)) + "'");
    return node;
  }
  unsigned slotCount() const { return slots_; }

 private:
  [[noreturn]] void fail(const std::string &what) const {
    throw UsageError("in the expression '" + std::string(text_) + "', column " +
                     std::to_string(at_ + 1) + ": " + what);
  }

  void skipBlanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])))
      ++at_;
  }
  bool accept(std::string_view token) {
    skipBlanks();
    if (!text_.substr(at_).starts_with(token))
      return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token))
      fail("'" + std::string(token) + "' expected");
  }

  static NodePtr make(Operation operation, bool isFloating) {
    auto node = std::make_unique<Node>();
    node->operation = operation;
    node->isFloating = isFloating;
    return node;
  }

  NodePtr conditional() {
    if (++depth_ > 200)
      fail("nested too deeply");
    NodePtr condition = binary(0);
    if (accept("?")) {
      NodePtr yes = conditional();
      expect(":");
      NodePtr no = conditional();
      NodePtr node = make(Operation::choose, yes->isFloating || no->isFloating);
      node->children.push_back(std::move(condition));
      node->children.push_back(std::move(yes));
      node->children.push_back(std::move(no));
      condition = std::move(node);
    }
    --depth_;
    return condition;
  }

  const BinaryOperator *peekOperator() {
    skipBlanks();
    for (const BinaryOperator &candidate : kOperators)
      if (text_.substr(at_).starts_with(candidate.spelling))
        return &candidate;
    return nullptr;
  }

  NodePtr binary(int precedence) {
    NodePtr left = unary();
    for (const BinaryOperator *op = peekOperator(); op && op->precedence > precedence;
         op = peekOperator()) {
      size_t place = at_;
      at_ += op->spelling.size();
      NodePtr right = binary(op->precedence);
      if (needsIntegers(op->operation) && (left->isFloating || right->isFloating)) {
        at_ = place;
        fail("'" + std::string(op->spelling) + "' takes integers; convert with i64(...)");
      }
      bool isFloating = !op->isComparison && (left->isFloating || right->isFloating);
      NodePtr node = make(op->operation, isFloating);
      if (op->isSwapped)
        std::swap(left, right);
      node->children.push_back(std::move(left));
      node->children.push_back(std::move(right));
      left = std::move(node);
    }
    return left;
  }

  NodePtr unary() {
    if (++depth_ > 200)
      fail("nested too deeply");
    NodePtr node;
    if (accept("-"))
      node = unaryNode(Operation::negate);
    else if (accept("!"))
      node = unaryNode(Operation::logicalNot);
    else if (accept("~"))
      node = unaryNode(Operation::complement);
    else
      node = primary();
    --depth_;
    return node;
  }
  NodePtr unaryNode(Operation operation) {
    NodePtr operand = unary();
    if (operation == Operation::complement && operand->isFloating)
      fail("'~' takes an integer");
    NodePtr node = make(operation, operation == Operation::negate && operand->isFloating);
    node->children.push_back(std::move(operand));
    return node;
  }

  NodePtr primary() {
    skipBlanks();
    if (at_ == text_.size())
      fail("a value expected");
    if (accept("(")) {
      NodePtr node = conditional();
      expect(")");
      return node;
    }
    char c = text_[at_];
    if (std::isdigit(static_cast<unsigned char>(c)) || c == '.')
      return number();
    if (std::isalpha(static_cast<unsigned char>(c)) || c == '_')
      return named();
    fail("unexpected '" + std::string(1, c) + "'");
  }

  NodePtr number() {
    const char *begin = text_.data() + at_, *end = text_.data() + text_.size();
    int64_t integer = 0;
    bool isHex = text_.substr(at_).starts_with("0x");
    uint64_t hex = 0;
    auto whole =
        isHex ? std::from_chars(begin + 2, end, hex, 16) : std::from_chars(begin, end, integer);
    if (isHex)
      integer = static_cast<int64_t>(hex);
    double real = 0;
    auto fraction = isHex ? whole : std::from_chars(begin, end, real);
    bool isReal = !isHex && (whole.ec != std::errc() || fraction.ptr > whole.ptr);
    auto result = isReal ? fraction : whole;
    if (result.ec != std::errc())
      fail("a number that cannot be read");
    at_ += static_cast<size_t>(result.ptr - begin);
    NodePtr node = make(isReal ? Operation::real : Operation::integer, isReal);
    node->integer = integer;
    node->real = real;
    return node;
  }

  std::string_view identifier() {
    skipBlanks();
    size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    if (begin == at_)
      fail("a name expected");
    return text_.substr(begin, at_ - begin);
  }

  NodePtr named() {
    size_t place = at_;
    std::string_view name = identifier();
    for (auto variable = variables_.rbegin(); variable != variables_.rend(); ++variable)
      if (variable->name == name) {
        NodePtr node = make(Operation::variable, false);
        node->slot = variable->slot;
        return node;
      }
    skipBlanks();
    if (at_ < text_.size() && text_[at_] == '(')
      return call(name, place); // a buffer may have a function's name
    for (const Symbol &symbol : symbols_)
      if (symbol.name == name)
        return symbolNode(symbol);
    at_ = place;
    std::string known;
    for (const Symbol &symbol : symbols_)
      known += (known.empty() ? "" : ", ") + symbol.name;
    fail("'" + std::string(name) + "' is unknown; there are i" +
         (known.empty() ? "" : ", " + known));
  }

  NodePtr symbolNode(const Symbol &symbol) {
    if (!symbol.array) {
      NodePtr node = make(Operation::integer, false);
      node->integer = symbol.constant;
      return node;
    }
    expect("[");
    NodePtr node = make(Operation::element, ptxrun::command::isFloating(symbol.array->element()));
    node->array = symbol.array;
    node->arrayName = symbol.name;
    node->children.push_back(integerNode());
    expect("]");
    return node;
  }

  NodePtr integerNode() {
    NodePtr node = conditional();
    if (node->isFloating)
      fail("an integer expected");
    return node;
  }

  NodePtr call(std::string_view name, size_t place) {
    expect("(");
    if (name == "sum")
      return loop(Operation::sum);
    if (name == "minimum")
      return loop(Operation::minimum);
    if (name == "maximum")
      return loop(Operation::maximum);
    if (name == "sorted")
      return sorted();
    NodePtr node;
    unsigned arity = 1;
    const Function *function = nullptr;
    for (const Function &candidate : kFunctions)
      if (candidate.name == name)
        function = &candidate;
    if (function) {
      node = make(function->operation, function->result == Function::real);
      arity = function->arity;
    } else if (isElementName(name)) {
      node = make(Operation::convert, false);
      node->element = elementNamed(name);
      node->isFloating = ptxrun::command::isFloating(node->element);
    } else {
      at_ = place;
      fail("there is no function '" + std::string(name) + "'");
    }
    for (unsigned k = 0; k < arity; ++k) {
      if (k)
        expect(",");
      node->children.push_back(conditional());
      if (function && function->result == Function::asOperands)
        node->isFloating |= node->children.back()->isFloating;
    }
    expect(")");
    return node;
  }

  /// sum(k, from, to, body)
  NodePtr loop(Operation operation) {
    NodePtr node = make(operation, false);
    std::string_view name = identifier();
    expect(",");
    node->children.push_back(integerNode());
    expect(",");
    node->children.push_back(integerNode());
    expect(",");
    node->slot = slots_++;
    variables_.push_back({name, node->slot});
    node->children.push_back(conditional());
    variables_.pop_back();
    node->isFloating = node->children.back()->isFloating;
    expect(")");
    return node;
  }

  /// sorted(x, n, index)
  NodePtr sorted() {
    std::string_view name = identifier();
    NodePtr node = make(Operation::sorted, false);
    for (const Symbol &symbol : symbols_)
      if (symbol.name == name && symbol.array) {
        node->array = symbol.array;
        node->arrayName = symbol.name;
      }
    if (!node->array)
      fail("sorted() takes a buffer's name first");
    node->isFloating = ptxrun::command::isFloating(node->array->element());
    expect(",");
    NodePtr run = integerNode();
    if (run->operation != Operation::integer || run->integer <= 0)
      fail("sorted() takes the length of a run, a positive number");
    node->integer = run->integer;
    expect(",");
    node->children.push_back(integerNode());
    expect(")");
    return node;
  }

  struct Variable {
    std::string_view name;
    unsigned slot;
  };
  std::string_view text_;
  const std::vector<Symbol> &symbols_;
  std::vector<Variable> variables_;
  unsigned slots_ = 1;
  size_t at_ = 0;
  int depth_ = 0;
};

} // namespace

std::unique_ptr<Expression::Node>
parseExpression(std::string_view text, const std::vector<Symbol> &symbols, unsigned &variables) {
  Parser parser(text, symbols);
  auto root = parser.parse();
  variables = parser.slotCount();
  return root;
}

} // namespace ptxrun::command
