// Approximate instructions over a sample: within the manual's bounds, and no further from the
// functions than loader/ptxrun/measured.tsv says of all inputs.
#include <gtest/gtest.h>

#include "tests/numerics/measure.h"

namespace ptxrun::numerics {
namespace {

TEST(ApproximateInstructions, StayWithinTheirBoundsAndWithinWhatWasMeasured) {
  if (!canMeasure())
    GTEST_SKIP() << "the reference needs AVX2";
  const std::vector<Row> measured = readRows(PTXRUN_MEASURED);
  size_t next = 0;
  for (const std::span<const Approximation> twins : allTwins())
    for (const Row &row : measureTwins(twins, {.step = 4099, .samples = 200'000})) {
      ASSERT_LT(next, measured.size());
      const Row &known = measured[next++];
      ASSERT_EQ(row.mnemonic + row.range, known.mnemonic + known.range);
      EXPECT_LE(row.worst, row.bound) << row.mnemonic << " at " << row.at << ", " << row.range;
      // Seven digits were written.
      EXPECT_LE(row.worst, known.worst * (1 + 1e-5)) << row.mnemonic << " at " << row.at;
      EXPECT_LE(known.worst, row.bound) << row.mnemonic << ", as measured";
    }
  EXPECT_EQ(next, measured.size()) << "rows of measured.tsv";
}

} // namespace
} // namespace ptxrun::numerics
