#include "translate/simt/target.h"

#include <gtest/gtest.h>

#include <set>

#include "translate/simt/cost.h"

namespace ptxrun::simt {
namespace {

constexpr CpuLevel kLevels[] = {CpuLevel::sse4, CpuLevel::avx2, CpuLevel::avx512};

TEST(Target, AModelIsFoundByItsNamesAndTunedForByTheFirst) {
  EXPECT_EQ(findModel("znver4"), CpuModel::zen4);
  EXPECT_EQ(findModel("cascadelake"), CpuModel::skylakeX);
  EXPECT_EQ(tuningOf(CpuModel::skylakeX), "skylake-avx512");
  std::set<std::string_view> names;
  for (const ModelName &name : modelNames()) {
    EXPECT_TRUE(names.insert(name.llvm).second) << name.llvm;
    EXPECT_EQ(findModel(name.llvm), name.model);
    EXPECT_EQ(findModel(tuningOf(name.model)), name.model) << name.llvm;
  }
}

TEST(Target, UnknownCpusHaveCostsAndNoTuning) {
  EXPECT_EQ(findModel("x86-64"), CpuModel::other);
  EXPECT_EQ(tuningOf(CpuModel::other), "");
}

TEST(Target, RegistersAreTheLevels) {
  const Target sse4 = targetFor(CpuLevel::sse4, CpuModel::zen4),
               avx2 = targetFor(CpuLevel::avx2, CpuModel::zen4),
               avx512 = targetFor(CpuLevel::avx512, CpuModel::zen4);
  EXPECT_EQ(sse4.vectorBits, 128u);
  EXPECT_EQ(avx2.vectorBits, 256u);
  EXPECT_EQ(avx512.vectorBits, 512u);
  EXPECT_EQ(avx2.vectorRegisters, 16u);
  EXPECT_EQ(avx512.vectorRegisters, 32u);
  EXPECT_FALSE(avx2.hasMaskRegisters());
  EXPECT_TRUE(avx512.hasMaskRegisters());
  // Zen 4 does 512 bits in two turns.
  EXPECT_EQ(avx512.preferredBits, 256u);
  EXPECT_EQ(targetFor(CpuLevel::avx512, CpuModel::zen5).preferredBits, 512u);
  EXPECT_EQ(avx512.registersFor(513), 2u);
}

TEST(Target, EveryCostOfEveryModelIsThere) {
  for (CpuLevel level : kLevels)
    for (const ModelName &name : modelNames()) {
      const OperationCosts c = targetFor(level, name.model).costs;
      for (float cost : {c.gather, c.scatter, c.maskedLoad, c.maskedStore, c.compress,
                         c.compressStore, c.laneExtraction, c.extractionBetweenUpdates, c.shuffle,
                         c.floatDivision, c.doubleDivision, c.division32, c.division64,
                         c.conversion, c.lockedUpdate, c.gatherLatency, c.extractLatency})
        EXPECT_GT(cost, 0) << name.llvm;
      EXPECT_LE(c.gather, c.gatherLatency) << name.llvm;
    }
}

TEST(Target, TemporariesFindRoomBesideWhatLives) {
  for (CpuLevel level : kLevels) {
    const Target t = targetFor(level);
    EXPECT_LT(t.registersForLockstep(), t.registersForLoops());
    EXPECT_LT(t.registersForLoops(), t.vectorRegisters);
    EXPECT_EQ(t.longestWindow() % t.vectorBytes(), 0);
  }
}

} // namespace
} // namespace ptxrun::simt
