#include "loader/toolkit/architecture.h"

#include <gtest/gtest.h>

using ptxrun::toolkit::wantPtx;
using Words = std::vector<std::string>;

TEST(Architecture, MachineCodeBecomesPtxInEverySpelling) {
  const auto options = wantPtx({"-arch=sm_90a", "--gpu-architecture=sm_80", "-arch", "sm_75",
                                "--gpu-architecture", "sm_100f", "-gpu-architecture=sm_120"});
  EXPECT_EQ(options.words,
            (Words{"-arch=compute_90a", "--gpu-architecture=compute_80", "-arch", "compute_75",
                   "--gpu-architecture", "compute_100f", "-gpu-architecture=compute_120"}));
  EXPECT_TRUE(options.wantsMachineCode);
}

TEST(Architecture, EverythingElseStays) {
  const Words words{"-arch=compute_90", "-DX=sm_90", "--std=c++17", "-I", "sm_90",
                    "-archive=sm_90"};
  const auto options = wantPtx({words.begin(), words.end()});
  EXPECT_EQ(options.words, words);
  EXPECT_FALSE(options.wantsMachineCode);
  EXPECT_TRUE(wantPtx({}).words.empty());
}
