// Baseline and optimised code of one kernel: when each of them runs.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include "loader/device/code.h"
#include "loader/device/device.h"
#include "loader/device/memory.h"

namespace ptxrun {
namespace {

/// out[i] = i after `rounds` rounds of arithmetic that cancels out.
constexpr const char *kText = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry count(.param .u64 out, .param .u32 rounds, .param .u32 zero)
{
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r5, [rounds];
  ld.param.u32 %r6, [zero];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
again:
  mad.lo.u32 %r1, %r1, %r6, %r1;
  sub.u32 %r5, %r5, 1;
  setp.ne.u32 %p, %r5, 0;
  @%p bra again;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

/// Nothing is compiled any more when static destructors run.
struct Environment : testing::Environment {
  void TearDown() override { device::endBackground(); }
};
[[maybe_unused]] const auto *const environment = testing::AddGlobalTestEnvironment(new Environment);

class Tiers : public testing::Test {
 protected:
  static constexpr uint32_t kBlock = 128;

  std::unique_ptr<device::Module> load(device::Tiers tiers, const std::string &cache = "") {
    device::LoadOptions options;
    options.tiers = tiers;
    options.useCache = !cache.empty();
    options.cacheDirectory = cache;
    device::Outcome outcome;
    auto module = device::Module::load("count.ptx", kText, options, outcome);
    EXPECT_TRUE(module) << outcome.message;
    return module;
  }

  static device::LaunchOptions shape(uint32_t grid) {
    device::LaunchOptions options;
    options.grid = {grid, 1, 1};
    options.block = {kBlock, 1, 1};
    return options;
  }

  device::Variant compile(device::Module &module, uint32_t grid = 1) {
    device::Outcome outcome;
    auto variant = module.compile(module.kernels()[0], shape(grid), outcome);
    EXPECT_TRUE(outcome.isOk()) << outcome.message;
    return variant;
  }

  /// What compile() gives once it is not `baseline` any more: a compilation that takes long is not
  /// waited for, and on a loaded machine, or under sanitizers, any may.
  device::Variant compileAfter(device::Module &module, const device::Variant &baseline) {
    device::Variant next = compile(module);
    for (int k = 0; k < 6'000 && next.kernel == baseline.kernel; ++k) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      next = compile(module);
    }
    return next;
  }

  void launch(device::Module &module, const device::Variant &variant, uint32_t grid,
              uint32_t rounds) {
    auto *out = static_cast<uint32_t *>(device::allocateMemory(uint64_t{grid} * kBlock * 4));
    struct {
      uint32_t *out;
      uint32_t rounds, zero;
    } params{out, rounds, 0};
    device::LaunchOptions options = shape(grid);
    options.params = &params;
    const device::Outcome outcome = module.launch(module.kernels()[0], variant, options);
    EXPECT_TRUE(outcome.isOk()) << outcome.message;
    for (uint32_t i = 0; i < grid * kBlock; ++i)
      ASSERT_EQ(out[i], i);
    device::freeMemory(out);
  }
};

TEST_F(Tiers, WhatComesAfterALaunchThatTookAWhileRunsOptimisedCode) {
  auto module = load(device::Tiers::tiered);
  const device::Variant first = compile(*module);
  ASSERT_TRUE(first.upgrade);
  EXPECT_EQ(compile(*module).kernel, first.kernel); // nothing was launched yet
  launch(*module, first, 1, 1'000'000);
  const device::Variant second = compileAfter(*module, first);
  EXPECT_FALSE(second.upgrade);
  EXPECT_NE(second.kernel, first.kernel);
  EXPECT_EQ(second.needs.lanes, first.needs.lanes);
  launch(*module, second, 1, 1);
  EXPECT_EQ(compile(*module).kernel, second.kernel);
}

TEST_F(Tiers, ALongLaunchGetsOptimisedCodeOnTheWay) {
  auto module = load(device::Tiers::tiered);
  const device::Variant variant = compile(*module, 4096);
  ASSERT_TRUE(variant.upgrade);
  launch(*module, variant, 4096, 20'000);
  EXPECT_TRUE(variant.upgrade->code());
  EXPECT_EQ(compile(*module, 4096).kernel, variant.upgrade->kernel());
}

TEST_F(Tiers, ShortLaunchesAskForNothingUntilThereAreMany) {
  auto module = load(device::Tiers::tiered);
  const device::Variant variant = compile(*module);
  variant.upgrade->noteLaunch(1'000);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_FALSE(variant.upgrade->code());
  EXPECT_EQ(compile(*module).kernel, variant.kernel);
  for (uint64_t taken = 0; taken < variant.upgrade->waitNs(); taken += 1'000)
    variant.upgrade->noteLaunch(1'000);
  EXPECT_NE(compileAfter(*module, variant).kernel, variant.kernel);
}

// Who waited for the compiler long once does not wait longer still for a few short launches.
TEST_F(Tiers, LaunchesWaitLaterWhereBaselineCodeTookLong) {
  const device::Upgrade quick(nullptr, "", {}, 2'000'000), usual(nullptr, "", {}, 20'000'000),
      slow(nullptr, "", {}, 800'000'000);
  EXPECT_EQ(quick.waitNs(), 300'000u);
  EXPECT_EQ(usual.waitNs(), 5'000'000u);
  EXPECT_EQ(slow.waitNs(), 800'000'000u);
}

// Launches of a tenth of a second do not stand still for ten until better code of a long kernel is
// there.
TEST_F(Tiers, ShortLaunchesDoNotWaitForLongCompilations) {
  constexpr uint64_t kMs = 1'000'000;
  const auto waits = device::Upgrade::isWorthWaiting;
  EXPECT_TRUE(waits(1 * kMs, 5 * kMs, 0)); // 20 ms are left
  EXPECT_FALSE(waits(20 * kMs, 300 * kMs, 0));
  EXPECT_TRUE(waits(400 * kMs, 300 * kMs, 0));
  EXPECT_TRUE(waits(200 * kMs, 300 * kMs, 700 * kMs));
  EXPECT_FALSE(waits(200 * kMs, 300 * kMs, 4'000 * kMs)); // it takes longer than usual
}

TEST_F(Tiers, CodeThatIsNotWaitedForComesFromTheBackground) {
  auto module = load(device::Tiers::tiered);
  const device::Variant variant = compile(*module);
  variant.upgrade->tellRuntime(1'000'000'000);
  for (int k = 0; k < 1'000 && !variant.upgrade->code(); ++k)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(variant.upgrade->isDue());
  EXPECT_EQ(compile(*module).kernel, variant.upgrade->kernel());
}

TEST_F(Tiers, AModuleMayGoWhileItsKernelIsCompiled) {
  for (int k = 0; k < 5; ++k) {
    auto module = load(device::Tiers::tiered);
    const device::Variant variant = compile(*module);
    variant.upgrade->tellRuntime(1'000'000'000);
    std::this_thread::sleep_for(std::chrono::milliseconds(2 * k));
  }
}

TEST_F(Tiers, OptimisedCodeOfAnEarlierProcessIsUsedAtOnce) {
  const auto folder =
      std::filesystem::path(testing::TempDir()) / ("ptxrun-tiers-" + std::to_string(getpid()));
  for (int k = 0; k < 2; ++k) {
    auto module = load(device::Tiers::tiered, folder.string());
    device::Variant variant = compile(*module);
    EXPECT_EQ(variant.upgrade == nullptr, k == 1);
    EXPECT_EQ(variant.isFromCache, k == 1);
    launch(*module, variant, 1, 1'000'000);
    if (variant.upgrade)
      compileAfter(*module, variant); // the optimised code goes to disk
  }
  std::filesystem::remove_all(folder);
}

TEST_F(Tiers, FixedTiersNeverChange) {
  for (const device::Tiers tiers : {device::Tiers::optimised, device::Tiers::baseline}) {
    auto module = load(tiers);
    const device::Variant variant = compile(*module);
    EXPECT_FALSE(variant.upgrade);
    launch(*module, variant, 1, 1);
    EXPECT_EQ(compile(*module).kernel, variant.kernel);
  }
}

TEST_F(Tiers, ASeededScheduleRunsTheSameCodeEveryTime) {
  auto module = load(device::Tiers::tiered);
  device::LaunchOptions options = shape(1);
  options.schedule = rt::Schedule::seeded;
  device::Outcome outcome;
  EXPECT_FALSE(module->compile(module->kernels()[0], options, outcome).upgrade);
}

/// A mistake of ours in one form of the code is the next form's launch, and a line on stderr.
class Fallback : public Tiers {
 protected:
  std::string folder_ =
      (std::filesystem::path(testing::TempDir()) / ("ptxrun-fallback-" + std::to_string(getpid())))
          .string();
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    ::setenv("TMPDIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("TMPDIR");
    std::filesystem::remove_all(folder_);
  }

  device::Variant compileWithout(std::function<bool(unsigned lanes, bool isBaseline)> breaks,
                                 device::Outcome &outcome) {
    device::LoadOptions options;
    options.tiers = device::Tiers::tiered;
    options.useCache = false;
    options.breaks = std::move(breaks);
    module_ = device::Module::load("count.ptx", kText, options, outcome);
    EXPECT_TRUE(module_) << outcome.message;
    testing::internal::CaptureStderr();
    device::Variant variant = module_->compile(module_->kernels()[0], shape(2), outcome);
    said_ = testing::internal::GetCapturedStderr();
    return variant;
  }

  std::unique_ptr<device::Module> module_;
  std::string said_;
};

TEST_F(Fallback, BrokenBaselineCodeIsReplacedByOptimisedCode) {
  device::Outcome outcome;
  const device::Variant variant =
      compileWithout([](unsigned, bool isBaseline) { return isBaseline; }, outcome);
  ASSERT_TRUE(outcome.isOk()) << outcome.message;
  EXPECT_EQ(variant.needs.lanes, 32u);
  EXPECT_FALSE(variant.upgrade);
  EXPECT_TRUE(said_.starts_with("ptxrun: internal error in stage simt: asked for (kernel count"))
      << said_;
  EXPECT_TRUE(said_.ends_with("; running optimised code instead\n")) << said_;
  EXPECT_EQ(std::count(said_.begin(), said_.end(), '\n'), 1);
  launch(*module_, variant, 2, 10);
}

TEST_F(Fallback, BrokenGangsAreReplacedByThreads) {
  device::Outcome outcome;
  const device::Variant variant =
      compileWithout([](unsigned lanes, bool) { return lanes != 1; }, outcome);
  ASSERT_TRUE(outcome.isOk()) << outcome.message;
  EXPECT_EQ(variant.needs.lanes, 1u);
  EXPECT_EQ(std::count(said_.begin(), said_.end(), '\n'), 2);
  launch(*module_, variant, 2, 10);
}

TEST_F(Fallback, AMistakeInEveryFormIsTheLaunchsError) {
  device::Outcome outcome;
  EXPECT_FALSE(compileWithout([](unsigned, bool) { return true; }, outcome).kernel);
  EXPECT_EQ(outcome.code, device::Code::internalError);
}

TEST_F(Fallback, BaselineCodeStaysWhereOptimisedCodeIsBroken) {
  device::Outcome outcome;
  const device::Variant variant =
      compileWithout([](unsigned, bool isBaseline) { return !isBaseline; }, outcome);
  ASSERT_TRUE(outcome.isOk()) << outcome.message;
  EXPECT_EQ(said_, "");
  testing::internal::CaptureStderr(); // the background or the next launch says it, once
  launch(*module_, variant, 2, 1'000'000);
  EXPECT_EQ(compile(*module_, 2).kernel, variant.kernel);
  EXPECT_TRUE(testing::internal::GetCapturedStderr().ends_with("; baseline code goes on\n"));
  launch(*module_, variant, 2, 10);
}

TEST(ReadTiers, KnowsThreeNames) {
  auto tiers = device::Tiers::optimised;
  EXPECT_TRUE(device::readTiers("tiered", tiers));
  EXPECT_EQ(tiers, device::Tiers::tiered);
  EXPECT_FALSE(device::readTiers("fast", tiers));
  EXPECT_EQ(tiers, device::Tiers::tiered);
}

} // namespace
} // namespace ptxrun
