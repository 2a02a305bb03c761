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

/// The least time of each text in some rounds; in more where a bar does not hold, as what else the
/// machine does may have taken long in all of the first.
TEST_P(Growth, IsThatOfTheText) {
  constexpr unsigned kRounds = 4, kMostRounds = 16;
  const Shape &shape = GetParam();
  const auto take = [](const std::string &text, Tier tier, double &least) {
    const Cost cost = measure(text, tier);
    EXPECT_GT(cost.instructions, 0u) << cost.error;
    least = std::min(least, cost.milliseconds);
  };
  const std::string once = shape.write(shape.size / 2), twice = shape.write(shape.size);
  struct Times {
    double once = 1e30, twice = 1e30;
    double bar() const { return kGrowth * std::max(once, kFixed); }
  } soonest, best;
  const auto barOfBaseline = [&] { return shareOfBaseline() * best.twice + kFixed; };
  const auto holds = [&] {
    return soonest.twice < soonest.bar() && best.twice < best.bar() &&
           soonest.twice < barOfBaseline();
  };
  for (unsigned round = 0; round < kRounds || (round < kMostRounds && !holds()); ++round) {
    take(once, Tier::baseline, soonest.once);
    take(twice, Tier::baseline, soonest.twice);
    take(once, Tier::optimised, best.once);
    take(twice, Tier::optimised, best.twice);
  }
  EXPECT_LT(soonest.twice, soonest.bar()) << shape.name << ", baseline";
  EXPECT_LT(best.twice, best.bar()) << shape.name << ", optimised";
  EXPECT_LT(soonest.twice, barOfBaseline()) << shape.name << ": baseline code takes longer";
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
