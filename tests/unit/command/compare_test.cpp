#include "loader/ptxrun/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ptxrun::command {
namespace {

Array floats(std::initializer_list<float> values) {
  Array array(Element::f32, {values.size()});
  uint64_t k = 0;
  for (float value : values)
    storeDouble(Element::f32, array.at(k++), value);
  return array;
}

uint64_t differing(std::initializer_list<float> got, std::initializer_list<float> expected,
                   Expectation rule = {}) {
  return compareWithArray(floats(got), rule, floats(expected)).different;
}

TEST(Compare, IsExactWithoutTolerances) {
  EXPECT_EQ(differing({1, 2, 3}, {1, 2, 3}), 0u);
  EXPECT_EQ(differing({1, std::nextafter(2.0f, 3.0f)}, {1, 2}), 1u);
  EXPECT_EQ(differing({0.0f}, {-0.0f}), 1u);
  float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(differing({nan}, {-nan}), 0u);
  EXPECT_EQ(differing({nan}, {1}), 1u);
}

TEST(Compare, AcceptsWhatAnyToleranceCovers) {
  Expectation ulp;
  ulp.ulp = 1;
  EXPECT_EQ(differing({std::nextafter(2.0f, 3.0f), 0.0f}, {2, -0.0f}, ulp), 0u);
  EXPECT_EQ(differing({2.000001f}, {2}, ulp), 1u);
  Expectation relative;
  relative.relative = 1e-3;
  EXPECT_EQ(differing({1000.5f, 1002}, {1000, 1000}, relative), 1u);
  relative.absolute = 3;
  EXPECT_EQ(differing({1000.5f, 1002}, {1000, 1000}, relative), 0u);
  EXPECT_EQ(differing({std::numeric_limits<float>::quiet_NaN()}, {1}, relative), 1u);
  EXPECT_EQ(differing({INFINITY}, {1}, relative), 1u);
}

TEST(Compare, LooksAtTheRangeAsked) {
  Expectation rule;
  rule.first = 1;
  rule.count = 2;
  EXPECT_EQ(differing({9, 2, 3, 9}, {1, 2, 3, 4}, rule), 0u);
  Array x(Element::i32, {1000});
  Expression("i + (i == 999)", {}).fill(x);
  Expectation sampled;
  sampled.samples = 10;
  Comparison result = compareWithExpression(x, sampled, Expression("i", {}));
  EXPECT_EQ(result.compared, 11u) << "the last element is always among them";
  EXPECT_EQ(result.different, 1u);
  EXPECT_EQ(result.firstDifferences, "    [999] is 1000, expected 999\n");
}

TEST(Compare, TextsInAnyOrderOfLines) {
  EXPECT_EQ(compareText("a\nb\n", "a\nb\n", false), "");
  EXPECT_EQ(compareText("b\na\n", "a\nb\n", true), "");
  EXPECT_EQ(compareText("b\na\n", "a\nc\n", true), "    line 2 is 'b', expected 'c'\n");
  EXPECT_EQ(compareText("a\n", "a\nb\n", false), "    line 2 is missing, expected 'b'\n");
}

} // namespace
} // namespace ptxrun::command
