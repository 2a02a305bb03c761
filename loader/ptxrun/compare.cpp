#include "loader/ptxrun/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

#include "loader/ptxrun/errors.h"

namespace ptxrun::command {
namespace {

/// Bit for bit, save that any NaN equals any other; with tolerances, within any one of them.
bool isRight(const Expectation &rule, Element element, const void *got, const void *expected) {
  if (std::memcmp(got, expected, bytesOf(element)) == 0)
    return true;
  double a = loadDouble(element, got), b = loadDouble(element, expected);
  if (!isFloating(element))
    return rule.absolute > 0 && std::fabs(a - b) <= rule.absolute;
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b);
  if (rule.ulp && ulpDistance(element, got, expected) <= *rule.ulp)
    return true;
  double difference = std::fabs(a - b);
  return (rule.absolute > 0 && difference <= rule.absolute) ||
         (rule.relative > 0 && difference <= rule.relative * std::fabs(b));
}

class Judge {
 public:
  Judge(const Array &got, const Expectation &rule) : got_(got), rule_(rule) {}

  void check(uint64_t index, const void *expected) {
    Element element = got_.element();
    const void *got = got_.at(index);
    ++result_.compared;
    if (isFloating(element)) {
      double a = loadDouble(element, got), b = loadDouble(element, expected);
      if (a != b && b != 0 && std::isfinite(a) && std::isfinite(b))
        result_.worstRelative = std::max(result_.worstRelative, std::fabs(a - b) / std::fabs(b));
    }
    if (isRight(rule_, element, got, expected))
      return;
    if (++result_.different > 5)
      return;
    result_.firstDifferences += "    [" + std::to_string(index) + "] is " + toText(element, got) +
                                ", expected " + toText(element, expected) + "\n";
  }
  Comparison take() { return std::move(result_); }

  /// Calls visit(index) for the elements to compare.
  template <class Visit> void forEachIndex(Visit visit) const {
    uint64_t first = std::min(rule_.first, got_.count()),
             count = std::min(rule_.count, got_.count() - first);
    uint64_t step = rule_.samples && count > rule_.samples ? count / rule_.samples : 1;
    for (uint64_t k = 0; k < count; k += step)
      visit(first + k);
    if (step > 1)
      visit(first + count - 1);
  }

 private:
  const Array &got_;
  const Expectation &rule_;
  Comparison result_;
};

std::vector<std::string> lines(const std::string &text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    result.push_back(line);
  return result;
}

} // namespace

Comparison compareWithExpression(const Array &got, const Expectation &rule,
                                 const Expression &expected) {
  Judge judge(got, rule);
  constexpr unsigned kBlock = Expression::kBlock;
  int64_t indices[kBlock], integers[kBlock];
  double reals[kBlock];
  unsigned filled = 0;
  auto flush = [&] {
    expected.evaluate(indices, filled, reals, integers);
    for (unsigned k = 0; k < filled; ++k) {
      char bytes[16] = {};
      if (expected.isFloating())
        storeDouble(got.element(), bytes, reals[k]);
      else
        storeInteger(got.element(), bytes, integers[k]);
      judge.check(static_cast<uint64_t>(indices[k]), bytes);
    }
    filled = 0;
  };
  judge.forEachIndex([&](uint64_t index) {
    indices[filled++] = static_cast<int64_t>(index);
    if (filled == kBlock)
      flush();
  });
  if (filled)
    flush();
  return judge.take();
}

Comparison compareWithArray(const Array &got, const Expectation &rule, const Array &expected) {
  if (got.count() != expected.count() || bytesOf(got.element()) != bytesOf(expected.element()))
    throw UsageError("the result is " + got.describe() + ", the expected file holds " +
                     expected.describe());
  Judge judge(got, rule);
  judge.forEachIndex([&](uint64_t index) { judge.check(index, expected.at(index)); });
  return judge.take();
}

std::string compareText(std::string got, std::string expected, bool isAnyOrder) {
  auto a = lines(got), b = lines(expected);
  if (isAnyOrder)
    std::sort(a.begin(), a.end()), std::sort(b.begin(), b.end());
  std::string message;
  unsigned shown = 0;
  for (size_t k = 0; k < std::max(a.size(), b.size()) && shown < 5; ++k) {
    const std::string *left = k < a.size() ? &a[k] : nullptr,
                      *right = k < b.size() ? &b[k] : nullptr;
    if (left && right && *left == *right)
      continue;
    message += "    line " + std::to_string(k + 1) + " is " +
               (left ? "'" + *left + "'" : "missing") + ", expected " +
               (right ? "'" + *right + "'" : "nothing") + "\n";
    ++shown;
  }
  return message;
}

} // namespace ptxrun::command
