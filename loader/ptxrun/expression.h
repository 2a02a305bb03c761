// The small language of launch descriptions: what a buffer holds or must hold, element by element.
//
//   2 * x[i] + y[i]                            i is the element's index, x and y are buffers
//   sum(k, 0, 64, a[i / 64 * 64 + k] * b[k * 64 + i % 64])
//   i > 0 ? f32(x[i - 1]) : 0
//
// Values are 64-bit integers (wrapping) or doubles, as in C: integer / integer truncates, mixed
// arithmetic is double. Operators: ?: || && | ^ & == != < <= > >= << >> + - * / % - ! ~ and
// parentheses. Functions: abs min max sqrt exp exp2 log log2 sin cos tan erf erfc pow fma floor
// ceil round trunc popcount, conversions by element name (u32(x), f32(x)), bits(x) (of an f32),
// sum/minimum/maximum(k, from, to, body) over from <= k < to, sorted(x, n, index): the element at
// `index` after each run of n elements of x has been sorted.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "loader/ptxrun/array.h"

namespace ptxrun::command {

/// A name an expression may use: a buffer (its contents are read at evaluation) or a constant.
struct Symbol {
  std::string name;
  const Array *array = nullptr; ///< null: a constant
  int64_t constant = 0;
};

class Expression {
 public:
  struct Node;
  /// Throws UsageError with the place in `text`. The symbols' arrays must outlive the expression.
  Expression(std::string_view text, const std::vector<Symbol> &symbols);
  Expression(Expression &&) noexcept;
  ~Expression();

  static constexpr unsigned kBlock = 256;
  bool isFloating() const;
  /// Values at indices[0..count), count <= kBlock, into `reals` or `integers` as isFloating() says.
  /// Throws UsageError for an index outside a buffer and for a division by zero.
  void evaluate(const int64_t *indices, unsigned count, double *reals, int64_t *integers) const;
  /// The value where i = 0: for expressions of constants.
  int64_t asInteger() const;
  double asDouble() const;
  /// Fills the array: element i becomes the value at i, converted as C would.
  void fill(Array &) const;

 private:
  unsigned variables_ = 1; ///< set while root_ is made
  std::unique_ptr<Node> root_;
};

} // namespace ptxrun::command
