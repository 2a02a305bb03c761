#include "translate/check/constants.h"

#include <bit>
#include <cmath>
#include <vector>

namespace ptxrun::check {
namespace {

using Item = syntax::ast::ExprItem;
using Op = Item::Op;

constexpr uint64_t kWarpSize = 32;

Constant integer(uint64_t bits, bool isUnsigned = false) {
  return {Constant::Kind::integer, isUnsigned, bits};
}
Constant floating(double value) {
  return {Constant::Kind::float64, false, std::bit_cast<uint64_t>(value)};
}

std::optional<Constant> unary(Op op, Constant a, std::string &why) {
  if (a.kind == Constant::Kind::float64) {
    double value = std::bit_cast<double>(a.bits);
    if (op == Op::plus)
      return a;
    if (op == Op::minus)
      return floating(-value);
    why = "this operator takes an integer";
    return std::nullopt;
  }
  switch (op) {
  case Op::minus:
    return integer(-a.bits, a.isUnsigned);
  case Op::logicalNot:
    return integer(a.bits == 0);
  case Op::complement:
    return integer(~a.bits, true);
  default:
    return a;
  }
}

std::optional<Constant> binaryFloat(Op op, double a, double b, std::string &why) {
  switch (op) {
  case Op::add:
    return floating(a + b);
  case Op::subtract:
    return floating(a - b);
  case Op::multiply:
    return floating(a * b);
  case Op::divide:
    return floating(a / b);
  case Op::less:
    return integer(a < b);
  case Op::greater:
    return integer(a > b);
  case Op::lessEqual:
    return integer(a <= b);
  case Op::greaterEqual:
    return integer(a >= b);
  case Op::equal:
    return integer(a == b);
  case Op::notEqual:
    return integer(a != b);
  default:
    why = "this operator takes integers";
    return std::nullopt;
  }
}

/// Division as hardware does it: the one overflow wraps.
uint64_t divide(uint64_t a, uint64_t b, bool isUnsigned) {
  if (isUnsigned)
    return a / b;
  return int64_t(b) == -1 ? -a : uint64_t(int64_t(a) / int64_t(b));
}

uint64_t shiftRight(uint64_t a, uint64_t by, bool isUnsigned) {
  if (isUnsigned)
    return by > 63 ? 0 : a >> by;
  return uint64_t(int64_t(a) >> (by > 63 ? 63 : by));
}

std::optional<Constant> binaryInteger(Op op, Constant a, Constant b, std::string &why) {
  bool isUnsigned = a.isUnsigned || b.isUnsigned;
  int64_t sa = int64_t(a.bits), sb = int64_t(b.bits);
  bool isLess = isUnsigned ? a.bits < b.bits : sa < sb;
  switch (op) {
  case Op::add:
    return integer(a.bits + b.bits, isUnsigned);
  case Op::subtract:
    return integer(a.bits - b.bits, isUnsigned);
  case Op::multiply:
    return integer(a.bits * b.bits, isUnsigned);
  case Op::divide:
  case Op::remainder:
    if (b.bits == 0) {
      why = "this constant expression divides by zero";
      return std::nullopt;
    }
    return op == Op::divide ? integer(divide(a.bits, b.bits, isUnsigned), isUnsigned)
                            : integer(a.bits % b.bits);
  case Op::shiftLeft:
    return integer(b.bits > 63 ? 0 : a.bits << b.bits, a.isUnsigned);
  case Op::shiftRight:
    return integer(shiftRight(a.bits, b.bits, a.isUnsigned), a.isUnsigned);
  case Op::less:
    return integer(isLess);
  case Op::greater:
    return integer(!isLess && a.bits != b.bits);
  case Op::lessEqual:
    return integer(isLess || a.bits == b.bits);
  case Op::greaterEqual:
    return integer(!isLess);
  case Op::equal:
    return integer(a.bits == b.bits);
  case Op::notEqual:
    return integer(a.bits != b.bits);
  case Op::bitAnd:
    return integer(a.bits & b.bits, true);
  case Op::bitXor:
    return integer(a.bits ^ b.bits, true);
  case Op::bitOr:
    return integer(a.bits | b.bits, true);
  case Op::logicalAnd:
    return integer(a.bits && b.bits);
  case Op::logicalOr:
    return integer(a.bits || b.bits);
  default:
    why = "this is no operator of constant expressions";
    return std::nullopt;
  }
}

std::optional<Constant> binary(Op op, Constant a, Constant b, std::string &why) {
  bool isFloatA = a.kind == Constant::Kind::float64, isFloatB = b.kind == Constant::Kind::float64;
  if (isFloatA != isFloatB) {
    why = "a constant expression cannot mix integers and floating-point values";
    return std::nullopt;
  }
  if (isFloatA)
    return binaryFloat(op, std::bit_cast<double>(a.bits), std::bit_cast<double>(b.bits), why);
  return binaryInteger(op, a, b, why);
}

std::optional<Constant> ternary(Constant condition, Constant yes, Constant no, std::string &why) {
  bool areIntegers = condition.kind == Constant::Kind::integer &&
                     yes.kind == Constant::Kind::integer && no.kind == Constant::Kind::integer;
  if (!areIntegers) {
    why = "the parts of '? :' must be integers";
    return std::nullopt;
  }
  return integer((condition.bits ? yes : no).bits, yes.isUnsigned || no.isUnsigned);
}

std::optional<Constant> leaf(const Item &item, std::string &why) {
  switch (item.kind) {
  case Item::Kind::integer:
    return integer(item.bits, item.isUnsigned);
  case Item::Kind::float64:
    return Constant{Constant::Kind::float64, false, item.bits};
  case Item::Kind::float32:
    return Constant{Constant::Kind::float32, false, item.bits};
  case Item::Kind::warpSize:
    return integer(kWarpSize);
  default:
    why = "an address cannot stand in this constant expression";
    return std::nullopt;
  }
}

/// Rounds a double to a format with `mantissa` stored bits and `exponent` exponent bits, nearest
/// even.
uint64_t roundTo(double value, int mantissa, int exponent) {
  uint64_t sign = std::signbit(value) ? uint64_t(1) << (mantissa + exponent) : 0;
  uint64_t top = ((uint64_t(1) << exponent) - 1) << mantissa;
  if (std::isnan(value))
    return sign | top | (uint64_t(1) << (mantissa - 1));
  double magnitude = std::fabs(value);
  int bias = (1 << (exponent - 1)) - 1;
  int power = 0;
  std::frexp(magnitude, &power);
  // The unit in the last place of the result, for subnormals too; nearbyint rounds to even.
  int unit = std::max(power - 1, 1 - bias) - mantissa;
  double scaled = std::nearbyint(std::ldexp(magnitude, -unit));
  double limit = std::ldexp(2.0 - std::ldexp(1.0, -mantissa), bias);
  if (std::isinf(magnitude) || std::ldexp(scaled, unit) > limit)
    return sign | top;
  uint64_t digits = uint64_t(scaled);
  uint64_t exponentField = uint64_t(unit + mantissa + bias - 1) << mantissa;
  return sign + exponentField + digits; // the hidden bit of `digits` carries into the exponent
}

} // namespace

std::optional<Constant> evaluate(syntax::ast::Expression expression, std::string &why) {
  if (expression.size() == 1)
    return leaf(expression[0], why);
  std::vector<Constant> stack;
  for (const Item &item : expression) {
    std::optional<Constant> made;
    size_t taken = 0;
    size_t n = stack.size();
    switch (item.kind) {
    case Item::Kind::unary:
      made = unary(item.op, stack[n - 1], why), taken = 1;
      break;
    case Item::Kind::castSigned:
    case Item::Kind::castUnsigned:
      taken = 1;
      if (stack[n - 1].kind == Constant::Kind::integer)
        made = integer(stack[n - 1].bits, item.kind == Item::Kind::castUnsigned);
      else
        why = "a cast takes an integer";
      break;
    case Item::Kind::binary:
      made = binary(item.op, stack[n - 2], stack[n - 1], why), taken = 2;
      break;
    case Item::Kind::ternary:
      made = ternary(stack[n - 3], stack[n - 2], stack[n - 1], why), taken = 3;
      break;
    default:
      made = leaf(item, why);
      break;
    }
    if (!made)
      return std::nullopt;
    stack.resize(n - taken);
    stack.push_back(*made);
  }
  return stack.back();
}

int64_t toWidth(int64_t value, isa::Type type) {
  if (type == isa::Type::pred)
    return value != 0;
  unsigned width = isa::bitWidth(type);
  if (width == 0 || width >= 64)
    return value;
  uint64_t low = uint64_t(value) << (64 - width);
  return isa::isSigned(type) ? int64_t(low) >> (64 - width) : int64_t(low >> (64 - width));
}

uint64_t toFloatBits(const Constant &constant, isa::Type type) {
  bool isExact = constant.kind == Constant::Kind::float32;
  double value = isExact ? double(std::bit_cast<float>(uint32_t(constant.bits)))
                         : std::bit_cast<double>(constant.bits);
  if (type == isa::Type::bf16)
    return roundTo(value, 7, 8);
  switch (isa::bitWidth(type)) {
  case 16:
    return roundTo(value, 10, 5);
  case 32:
    return isExact ? constant.bits : std::bit_cast<uint32_t>(float(value));
  default:
    return std::bit_cast<uint64_t>(value);
  }
}

} // namespace ptxrun::check
