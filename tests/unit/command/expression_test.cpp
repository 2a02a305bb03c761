#include "loader/ptxrun/expression.h"

#include <gtest/gtest.h>

#include <cmath>

#include "loader/ptxrun/errors.h"

namespace ptxrun::command {
namespace {

int64_t integer(std::string_view text) {
  Expression expression(text, {});
  EXPECT_FALSE(expression.isFloating()) << text;
  return expression.asInteger();
}
double real(std::string_view text) { return Expression(text, {}).asDouble(); }

TEST(Expression, FollowsTheOperatorsPrecedenceOfC) {
  EXPECT_EQ(integer("2 + 3 * 4"), 14);
  EXPECT_EQ(integer("(2 + 3) * 4"), 20);
  EXPECT_EQ(integer("1 << 2 + 1"), 8);
  EXPECT_EQ(integer("7 - 2 - 1"), 4);
  EXPECT_EQ(integer("6 & 3 == 3"), 0);
  EXPECT_EQ(integer("1 | 6 ^ 3 & 2"), 5);
  EXPECT_EQ(integer("-7 / 2"), -3);
  EXPECT_EQ(integer("-7 % 3"), -1);
  EXPECT_EQ(integer("1 ? 2 : 0 ? 3 : 4"), 2);
  EXPECT_EQ(integer("!0 + ~0"), 0);
  EXPECT_EQ(integer("3 >= 3 && 2 < 1 || 5 != 5"), 0);
}

TEST(Expression, MixesIntegersAndReals) {
  EXPECT_DOUBLE_EQ(real("1 / 2.0"), 0.5);
  EXPECT_DOUBLE_EQ(real("sqrt(2) * sqrt(2)"), std::sqrt(2.0) * std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(real("1e-3 + .5"), 0.501);
  EXPECT_DOUBLE_EQ(real("f32(0.1)"), static_cast<double>(0.1f));
  EXPECT_EQ(integer("u8(300)"), 44);
  EXPECT_EQ(integer("i8(200)"), -56);
  EXPECT_EQ(integer("i32(-2.9)"), -2);
  EXPECT_EQ(integer("bits(1.0)"), 0x3f800000);
  EXPECT_EQ(integer("0xff + max(2, 3) + popcount(7)"), 261);
}

TEST(Expression, SumsOverRanges) {
  EXPECT_EQ(integer("sum(k, 0, 1000, k)"), 499500);
  EXPECT_EQ(integer("sum(k, 5, 5, 1)"), 0);
  EXPECT_EQ(integer("sum(a, 0, 3, sum(b, 0, a, a * 10 + b))"), 10 + 20 + 21);
  EXPECT_DOUBLE_EQ(real("sum(k, 1, 4, 1.0 / k)"), 1.0 + 0.5 + 1.0 / 3);
  EXPECT_EQ(integer("maximum(k, 0, 10, k * (9 - k))"), 20);
  EXPECT_EQ(integer("minimum(k, -3, 4, k * k - 4)"), -4);
}

TEST(Expression, ReadsBuffersAndConstants) {
  Array x(Element::i32, {600});
  for (int k = 0; k < 600; ++k)
    storeInteger(Element::i32, x.at(static_cast<uint64_t>(k)), 1000 - k);
  std::vector<Symbol> symbols = {{"x", &x, 0}, {"n", nullptr, 600}};
  Array out(Element::i64, {600});
  Expression("i > 0 ? x[i - 1] + n : -1", symbols).fill(out);
  EXPECT_EQ(loadInteger(Element::i64, out.at(0)), -1);
  EXPECT_EQ(loadInteger(Element::i64, out.at(599)), 1000 - 598 + 600);
  Expression("sorted(x, 200, i)", symbols).fill(out);
  EXPECT_EQ(loadInteger(Element::i64, out.at(0)), 801);
  EXPECT_EQ(loadInteger(Element::i64, out.at(200)), 601);
}

TEST(Expression, ReadsOutsideABufferOnlyWhereTheValueCounts) {
  Array x(Element::u8, {4});
  std::vector<Symbol> symbols = {{"x", &x, 0}};
  Array out(Element::u8, {8});
  EXPECT_NO_THROW(Expression("i < 4 ? x[i] : 0", symbols).fill(out));
  EXPECT_NO_THROW(Expression("i < 4 && x[i] == 1", symbols).fill(out));
  EXPECT_THROW(Expression("x[i]", symbols).fill(out), UsageError);
}

TEST(Expression, SaysWhatIsWrongAndWhere) {
  auto message = [](std::string_view text) {
    try {
      Expression(text, {{"count", nullptr, 1}});
    } catch (const UsageError &error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_NE(message("1 +").find("column 4: a value expected"), std::string::npos);
  EXPECT_NE(message("2 * cuont").find("'cuont' is unknown; there are i, count"), std::string::npos);
  EXPECT_NE(message("1.5 % 2").find("'%' takes integers"), std::string::npos);
  EXPECT_NE(message("sin(1").find("')' expected"), std::string::npos);
  EXPECT_NE(message("1 2").find("unexpected '2'"), std::string::npos);
  EXPECT_NE(message("sine(1)").find("no function 'sine'"), std::string::npos);
  EXPECT_NE(message(std::string(5000, '(')).find("nested too deeply"), std::string::npos);
}

TEST(Expression, DividesByZeroOnlyWithAnError) {
  EXPECT_THROW(integer("1 / 0"), UsageError);
  EXPECT_EQ(integer("0 != 0 ? 1 / 0 : 5"), 5);
}

} // namespace
} // namespace ptxrun::command
