// Compile time must grow with the text: twice the text, about twice the time.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/growth/measure.h"
#include "tests/growth/shapes.h"

namespace ptxrun::growth {
namespace {

/// Times on a machine with other work differ from run to run; what is superlinear shows above this.
/// Twice the text in a square's time would be 4.
constexpr double kGrowth = 3.3;
/// Work on any module, however short, and what a clock adds, in milliseconds.
constexpr double kFixed = 20;

/// The most that baseline code may take of what optimised code takes. Where masks are vectors,
/// their selection is most of both (`early_exits`: 1.3 on a Zen 3).
double shareOfBaseline() {
  const bool hasMaskRegisters = __builtin_cpu_supports("avx512vl");
  return hasMaskRegisters ? 0.75 : 1.7;
}

class Growth : public ::testing::TestWithParam<Shape> {};

double fewest(const std::string &text, Tier tier) {
  double least = 1e30;
  for (unsigned round = 0; round < 4; ++round) {
    const Cost cost = measure(text, tier);
    EXPECT_GT(cost.instructions, 0u) << cost.error;
    least = std::min(least, cost.milliseconds);
  }
  return least;
}

TEST_P(Growth, IsThatOfTheText) {
  const Shape &shape = GetParam();
  const auto growing = [&](Tier tier) {
    const double once = fewest(shape.write(shape.size / 2), tier);
    const double twice = fewest(shape.write(shape.size), tier);
    EXPECT_LT(twice, kGrowth * std::max(once, kFixed))
        << shape.name << (tier == Tier::baseline ? ", baseline" : ", optimised");
    return twice;
  };
  const double soonest = growing(Tier::baseline), best = growing(Tier::optimised);
  EXPECT_LT(soonest, shareOfBaseline() * best + kFixed)
      << shape.name << ": baseline code takes longer";
}

std::string nameOf(const ::testing::TestParamInfo<Shape> &info) {
  return std::string(info.param.name);
}

/// The shapes that hold it; README.md names those that do not yet.
std::vector<Shape> held() {
  static const std::set<std::string_view> names = {
      "memory",         "shared_variables", "barriers",        "uniform_nest",
      "divergent_nest", "uniform_maze",     "loops",           "tile",
      "early_exits",    "returns",          "transcendentals", "digits"};
  std::vector<Shape> list;
  for (const Shape &shape : shapes())
    if (names.contains(shape.name))
      list.push_back(shape);
  return list;
}
INSTANTIATE_TEST_SUITE_P(Shapes, Growth, ::testing::ValuesIn(held()), nameOf);

} // namespace
} // namespace ptxrun::growth
