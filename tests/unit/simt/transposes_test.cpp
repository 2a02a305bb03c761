#include "translate/simt/transposes.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <set>

namespace ptxrun::simt {
namespace {

constexpr unsigned kLanes = 32;

/// Place r4 r3 r2 r1 r0 has the element whose number's bits are those, in the order given.
std::vector<int> byBits(const std::vector<unsigned> &bits) {
  std::vector<int> order(kLanes);
  for (unsigned place = 0; place < kLanes; ++place)
    for (unsigned k = 0; k < bits.size(); ++k)
      order[place] |= int(place >> bits[k] & 1) << k;
  return order;
}

size_t mostSources(llvm::ArrayRef<int> order, unsigned perRegister) {
  size_t most = 0;
  for (unsigned to = 0; to < kLanes; to += perRegister) {
    std::set<unsigned> from;
    for (unsigned k = 0; k < perRegister; ++k)
      from.insert(unsigned(order[to + k]) / perRegister);
    most = std::max(most, from.size());
  }
  return most;
}

std::vector<int> resultOf(llvm::ArrayRef<llvm::SmallVector<int>> steps) {
  std::vector<int> elements(kLanes);
  std::iota(elements.begin(), elements.end(), 0);
  for (const auto &step : steps) {
    std::vector<int> next;
    for (int from : step)
      next.push_back(elements[size_t(from)]);
    elements = next;
  }
  return elements;
}

TEST(InSteps, TransposesOfFourByFourTakeTwoRegistersAtATime) {
  // thread r2 r1 x c2 c1 has what was in c2 c1 x r2 r1 (ldmatrix.trans), and the same with another
  // x
  for (const std::vector<unsigned> &bits :
       {std::vector<unsigned>{3, 4, 2, 0, 1}, std::vector<unsigned>{2, 3, 0, 1, 4}})
    for (unsigned perRegister : {4u, 8u}) {
      const std::vector<int> order = byBits(bits);
      if (mostSources(order, perRegister) <= 2)
        continue;
      const auto steps = inSteps(order, perRegister);
      EXPECT_GT(steps.size(), 1u) << perRegister;
      EXPECT_EQ(resultOf(steps), order);
      for (const auto &step : steps)
        EXPECT_LE(mostSources(step, perRegister), 2u);
    }
}

TEST(InSteps, OtherOrdersAreOneStep) {
  std::vector<int> reversed(kLanes), mixed(kLanes);
  for (unsigned l = 0; l < kLanes; ++l)
    reversed[l] = int(kLanes - 1 - l), mixed[l] = int(l);
  std::shuffle(mixed.begin(), mixed.end(), std::mt19937(1));
  for (const std::vector<int> &order : {reversed, mixed, std::vector<int>(kLanes, 5)}) {
    const auto steps = inSteps(order, 8);
    ASSERT_EQ(steps.size(), 1u);
    EXPECT_EQ(resultOf(steps), order);
  }
}

} // namespace
} // namespace ptxrun::simt
