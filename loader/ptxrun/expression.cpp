#include "loader/ptxrun/expression.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "loader/ptxrun/errors.h"
#include "loader/ptxrun/expression_node.h"

namespace ptxrun::command {
namespace {

using Node = Expression::Node;
constexpr unsigned kBlock = Expression::kBlock;

/// Up to kBlock values, of the kind the node has.
union Values {
  int64_t integer[kBlock];
  double real[kBlock];
};
using Mask = std::array<uint8_t, kBlock>;

/// Computes nodes for `count` places at once. Places whose mask is 0 are computed too but may not
/// fail.
class Evaluator {
 public:
  Evaluator(unsigned variables, unsigned count) : variables_(variables), count_(count) {}

  std::vector<std::vector<int64_t>> &variables() { return variables_; }

  void evaluate(const Node &node, const Mask &mask, Values &out) {
    switch (node.operation) {
    case Operation::integer:
      std::fill_n(out.integer, count_, node.integer);
      return;
    case Operation::real:
      std::fill_n(out.real, count_, node.real);
      return;
    case Operation::variable:
      std::copy_n(variables_[node.slot].data(), count_, out.integer);
      return;
    case Operation::element:
      return element(node, *node.array, mask, out);
    case Operation::sorted:
      return element(node, sortedArray(node), mask, out);
    case Operation::choose:
    case Operation::logicalOr:
    case Operation::logicalAnd:
      return choose(node, mask, out);
    case Operation::sum:
    case Operation::minimum:
    case Operation::maximum:
      return loop(node, mask, out);
    case Operation::convert:
      return convert(node, mask, out);
    default:
      return arithmetic(node, mask, out);
    }
  }

 private:
  /// A child's values as doubles, whatever it is.
  void reals(const Node &node, const Mask &mask, Values &out) {
    evaluate(node, mask, out);
    if (!node.isFloating)
      for (unsigned k = 0; k < count_; ++k)
        out.real[k] = static_cast<double>(out.integer[k]);
  }
  /// A child's values as 0 or 1.
  void truths(const Node &node, const Mask &mask, Values &out) {
    evaluate(node, mask, out);
    for (unsigned k = 0; k < count_; ++k)
      out.integer[k] = node.isFloating ? out.real[k] != 0 : out.integer[k] != 0;
  }

  static const Array &sortedArray(const Node &node) {
    Node &cache = const_cast<Node &>(node);
    if (!cache.sorted) {
      cache.sorted = std::make_unique<Array>(node.array->copy());
      sortRuns(*cache.sorted, static_cast<uint64_t>(node.integer));
    }
    return *cache.sorted;
  }

  static void sortRuns(Array &array, uint64_t run) {
    size_t width = bytesOf(array.element());
    std::vector<std::pair<double, std::string>> elements;
    for (uint64_t first = 0; first < array.count(); first += run) {
      uint64_t end = std::min(array.count(), first + run);
      elements.clear();
      for (uint64_t k = first; k < end; ++k)
        elements.emplace_back(loadDouble(array.element(), array.at(k)),
                              std::string(static_cast<char *>(array.at(k)), width));
      std::sort(elements.begin(), elements.end(),
                [](auto &a, auto &b) { return a.first < b.first; });
      for (uint64_t k = first; k < end; ++k)
        std::memcpy(array.at(k), elements[k - first].second.data(), width);
    }
  }

  void element(const Node &node, const Array &array, const Mask &mask, Values &out) {
    Values index;
    evaluate(*node.children[0], mask, index);
    for (unsigned k = 0; k < count_; ++k) {
      uint64_t at = static_cast<uint64_t>(index.integer[k]);
      if (at >= array.count()) {
        if (mask[k])
          throw UsageError("the expression reads " + std::string(node.arrayName) + "[" +
                           std::to_string(index.integer[k]) + "], but " +
                           std::string(node.arrayName) + " is " + array.describe());
        at = 0;
        if (array.count() == 0) {
          out.integer[k] = 0;
          continue;
        }
      }
      if (node.isFloating)
        out.real[k] = loadDouble(array.element(), array.at(at));
      else
        out.integer[k] = loadInteger(array.element(), array.at(at));
    }
  }

  /// c ? a : b; a || b is a ? 1 : b and a && b is a ? b : 0. Each side is asked only where it
  /// counts.
  void choose(const Node &node, const Mask &mask, Values &out) {
    Values condition, other;
    truths(*node.children[0], mask, condition);
    Mask yes, no;
    for (unsigned k = 0; k < count_; ++k) {
      yes[k] = mask[k] && condition.integer[k];
      no[k] = mask[k] && !condition.integer[k];
    }
    if (node.operation == Operation::choose) {
      side(*node.children[1], node.isFloating, yes, out);
      side(*node.children[2], node.isFloating, no, other);
      for (unsigned k = 0; k < count_; ++k)
        if (!condition.integer[k])
          out.integer[k] = other.integer[k];
      return;
    }
    bool isAnd = node.operation == Operation::logicalAnd;
    truths(*node.children[1], isAnd ? yes : no, other);
    for (unsigned k = 0; k < count_; ++k)
      out.integer[k] =
          isAnd ? condition.integer[k] & other.integer[k] : condition.integer[k] | other.integer[k];
  }
  void side(const Node &node, bool isFloating, const Mask &mask, Values &out) {
    if (isFloating)
      reals(node, mask, out);
    else
      evaluate(node, mask, out);
  }

  void loop(const Node &node, const Mask &mask, Values &out) {
    Values from, to;
    evaluate(*node.children[0], mask, from);
    evaluate(*node.children[1], mask, to);
    for (unsigned k = 0; k < count_; ++k) {
      double real = node.operation == Operation::sum       ? 0
                    : node.operation == Operation::minimum ? INFINITY
                                                           : -INFINITY;
      int64_t integer = node.operation == Operation::sum ? 0
                        : node.operation == Operation::minimum
                            ? std::numeric_limits<int64_t>::max()
                            : std::numeric_limits<int64_t>::min();
      if (mask[k])
        accumulate(node, k, from.integer[k], to.integer[k], real, integer);
      if (node.isFloating)
        out.real[k] = real;
      else
        out.integer[k] = integer;
    }
  }

  /// One place's loop: the body is evaluated for kBlock values of the loop variable at once.
  void accumulate(const Node &node, unsigned place, int64_t from, int64_t to, double &real,
                  int64_t &integer) {
    for (int64_t first = from; first < to; first += kBlock) {
      unsigned count = static_cast<unsigned>(std::min<int64_t>(kBlock, to - first));
      Evaluator inner(static_cast<unsigned>(variables_.size()), count);
      for (size_t v = 0; v < variables_.size(); ++v)
        if (!variables_[v].empty())
          inner.variables_[v].assign(count, variables_[v][place]);
      inner.variables_[node.slot].resize(count);
      for (unsigned k = 0; k < count; ++k)
        inner.variables_[node.slot][k] = first + k;
      Mask all;
      all.fill(1);
      Values body;
      inner.evaluate(*node.children[2], all, body);
      for (unsigned k = 0; k < count; ++k) {
        if (node.operation == Operation::sum) {
          if (node.isFloating)
            real += body.real[k];
          else
            integer = static_cast<int64_t>(static_cast<uint64_t>(integer) +
                                           static_cast<uint64_t>(body.integer[k]));
        } else if (node.operation == Operation::minimum) {
          if (node.isFloating)
            real = std::fmin(real, body.real[k]);
          else
            integer = std::min(integer, body.integer[k]);
        } else {
          if (node.isFloating)
            real = std::fmax(real, body.real[k]);
          else
            integer = std::max(integer, body.integer[k]);
        }
      }
    }
  }

  /// Through memory of the element's type, so that the rounding and wrapping are the buffer's own.
  void convert(const Node &node, const Mask &mask, Values &out) {
    const Node &child = *node.children[0];
    evaluate(child, mask, out);
    for (unsigned k = 0; k < count_; ++k) {
      char bytes[16];
      if (child.isFloating)
        storeDouble(node.element, bytes, out.real[k]);
      else
        storeInteger(node.element, bytes, out.integer[k]);
      if (node.isFloating)
        out.real[k] = loadDouble(node.element, bytes);
      else
        out.integer[k] = loadInteger(node.element, bytes);
    }
  }

  void arithmetic(const Node &node, const Mask &mask, Values &out) {
    Values operands[3];
    bool takesReals = node.isFloating || node.operation == Operation::bits;
    for (auto &child : node.children)
      takesReals |= child->isFloating;
    for (size_t c = 0; c < node.children.size(); ++c)
      if (takesReals)
        reals(*node.children[c], mask, operands[c]);
      else
        evaluate(*node.children[c], mask, operands[c]);
    for (unsigned k = 0; k < count_; ++k) {
      if (!takesReals)
        out.integer[k] =
            onIntegers(node.operation, operands[0].integer[k], operands[1].integer[k], mask[k]);
      else if (node.isFloating)
        out.real[k] =
            onReals(node.operation, operands[0].real[k], operands[1].real[k], operands[2].real[k]);
      else
        out.integer[k] = testReals(node.operation, operands[0].real[k], operands[1].real[k]);
    }
  }

  static int64_t onIntegers(Operation operation, int64_t a, int64_t b, bool isActive) {
    auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
    switch (operation) {
    case Operation::bitOr:
      return a | b;
    case Operation::bitXor:
      return a ^ b;
    case Operation::bitAnd:
      return a & b;
    case Operation::equal:
      return a == b;
    case Operation::notEqual:
      return a != b;
    case Operation::less:
      return a < b;
    case Operation::lessEqual:
      return a <= b;
    case Operation::shiftLeft:
      return static_cast<int64_t>(ua << (ub & 63));
    case Operation::shiftRight:
      return a >> (ub & 63);
    case Operation::add:
      return static_cast<int64_t>(ua + ub);
    case Operation::subtract:
      return static_cast<int64_t>(ua - ub);
    case Operation::multiply:
      return static_cast<int64_t>(ua * ub);
    case Operation::divide:
    case Operation::modulo:
      if (b == 0 && isActive)
        throw UsageError("the expression divides by zero");
      if (b == 0)
        return 0;
      if (b == -1)
        return operation == Operation::modulo ? 0 : static_cast<int64_t>(0 - ua);
      return operation == Operation::modulo ? a % b : a / b;
    case Operation::negate:
      return static_cast<int64_t>(0 - ua);
    case Operation::logicalNot:
      return a == 0;
    case Operation::complement:
      return ~a;
    case Operation::abs:
      return a < 0 ? static_cast<int64_t>(0 - ua) : a;
    case Operation::min:
      return std::min(a, b);
    case Operation::max:
      return std::max(a, b);
    case Operation::popcount:
      return std::popcount(ua);
    default:
      return 0;
    }
  }

  static int64_t testReals(Operation operation, double a, double b) {
    switch (operation) {
    case Operation::equal:
      return a == b;
    case Operation::notEqual:
      return a != b;
    case Operation::less:
      return a < b;
    case Operation::lessEqual:
      return a <= b;
    case Operation::logicalNot:
      return a == 0;
    case Operation::bits:
      return std::bit_cast<uint32_t>(static_cast<float>(a));
    case Operation::popcount:
      return std::popcount(static_cast<uint64_t>(truncatedToInteger(a)));
    default:
      return 0;
    }
  }

  static double onReals(Operation operation, double a, double b, double c) {
    switch (operation) {
    case Operation::add:
      return a + b;
    case Operation::subtract:
      return a - b;
    case Operation::multiply:
      return a * b;
    case Operation::divide:
      return a / b;
    case Operation::negate:
      return -a;
    case Operation::abs:
      return std::fabs(a);
    case Operation::min:
      return std::fmin(a, b);
    case Operation::max:
      return std::fmax(a, b);
    case Operation::sqrt:
      return std::sqrt(a);
    case Operation::exp:
      return std::exp(a);
    case Operation::exp2:
      return std::exp2(a);
    case Operation::log:
      return std::log(a);
    case Operation::log2:
      return std::log2(a);
    case Operation::sin:
      return std::sin(a);
    case Operation::cos:
      return std::cos(a);
    case Operation::tan:
      return std::tan(a);
    case Operation::erf:
      return std::erf(a);
    case Operation::erfc:
      return std::erfc(a);
    case Operation::pow:
      return std::pow(a, b);
    case Operation::fma:
      return std::fma(a, b, c);
    case Operation::floor:
      return std::floor(a);
    case Operation::ceil:
      return std::ceil(a);
    case Operation::round:
      return std::nearbyint(a);
    case Operation::trunc:
      return std::trunc(a);
    default:
      return 0;
    }
  }

  std::vector<std::vector<int64_t>> variables_;
  unsigned count_;
};

} // namespace

Expression::Expression(std::string_view text, const std::vector<Symbol> &symbols)
    : root_(parseExpression(text, symbols, variables_)) {}
Expression::Expression(Expression &&) noexcept = default;
Expression::~Expression() = default;

bool Expression::isFloating() const { return root_->isFloating; }

void Expression::evaluate(const int64_t *indices, unsigned count, double *reals,
                          int64_t *integers) const {
  Evaluator evaluator(variables_, count);
  evaluator.variables()[0].assign(indices, indices + count);
  Mask all;
  all.fill(1);
  Values values;
  evaluator.evaluate(*root_, all, values);
  if (root_->isFloating)
    std::copy_n(values.real, count, reals);
  else
    std::copy_n(values.integer, count, integers);
}

int64_t Expression::asInteger() const {
  int64_t index = 0, integer = 0;
  double real = 0;
  evaluate(&index, 1, &real, &integer);
  return isFloating() ? truncatedToInteger(real) : integer;
}

double Expression::asDouble() const {
  int64_t index = 0, integer = 0;
  double real = 0;
  evaluate(&index, 1, &real, &integer);
  return isFloating() ? real : static_cast<double>(integer);
}

void Expression::fill(Array &array) const {
  int64_t indices[kBlock], integers[kBlock];
  double reals[kBlock];
  for (uint64_t first = 0; first < array.count(); first += kBlock) {
    unsigned count = static_cast<unsigned>(std::min<uint64_t>(kBlock, array.count() - first));
    for (unsigned k = 0; k < count; ++k)
      indices[k] = static_cast<int64_t>(first + k);
    evaluate(indices, count, reals, integers);
    for (unsigned k = 0; k < count; ++k)
      if (isFloating())
        storeDouble(array.element(), array.at(first + k), reals[k]);
      else
        storeInteger(array.element(), array.at(first + k), integers[k]);
  }
}

} // namespace ptxrun::command
