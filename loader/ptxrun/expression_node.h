// The tree of an expression: made by expression_parse.cpp, computed by expression.cpp.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "loader/ptxrun/expression.h"

namespace ptxrun::command {

enum class Operation {
  integer,
  real,
  variable,
  element,
  choose,
  logicalOr,
  logicalAnd,
  bitOr,
  bitXor,
  bitAnd,
  equal,
  notEqual,
  less,
  lessEqual,
  shiftLeft,
  shiftRight,
  add,
  subtract,
  multiply,
  divide,
  modulo,
  negate,
  logicalNot,
  complement,
  abs,
  min,
  max,
  sqrt,
  exp,
  exp2,
  log,
  log2,
  sin,
  cos,
  tan,
  erf,
  erfc,
  pow,
  fma,
  floor,
  ceil,
  round,
  trunc,
  popcount,
  bits,
  convert,
  sum,
  minimum,
  maximum,
  sorted,
};

struct Expression::Node {
  Operation operation;
  bool isFloating = false;
  int64_t integer = 0;
  double real = 0;
  unsigned slot = 0;             ///< of a variable; of the variable that sum and its like bind
  const Array *array = nullptr;  ///< element, sorted
  std::string_view arrayName;    ///< for messages; the text it points into belongs to the symbols
  Element element = Element::u8; ///< convert
  std::vector<std::unique_ptr<Node>> children;
  std::unique_ptr<Array> sorted; ///< made at the first use
};

/// Parses `text`; `variables` receives the number of variable slots (0 is `i`). Throws UsageError.
std::unique_ptr<Expression::Node> parseExpression(std::string_view text,
                                                  const std::vector<Symbol> &, unsigned &variables);

} // namespace ptxrun::command
