// The stages together, from PTX text to a kernel, as their observers see them.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "translate/jit/jit.h"
#include "translate/lower/internal_error.h"
#include "translate/translate.h"

namespace ptxrun::test {
namespace {

namespace fs = std::filesystem;
using translate::Module;
using translate::Options;
using translate::StageReport;

// c[i] = a[i] + 1 for i < 4096; the store stands at line 21 and comes from line 7 of add.cu.
const char *kAddPtx = R"(.version 8.0
.target sm_80
.address_size 64
.file 1 "add.cu"
.visible .entry add(.param .u64 c, .param .u64 a)
{
  .reg .b32 %r<6>;
  .reg .b64 %rd<8>;
  .loc 1 5 3
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  ld.param.u64 %rd1, [c];
  ld.param.u64 %rd2, [a];
  mul.wide.s32 %rd3, %r4, 4;
  add.s64 %rd4, %rd2, %rd3; add.s64 %rd5, %rd1, %rd3;
  ld.global.u32 %r5, [%rd4];
  add.s32 %r5, %r5, 1;
  .loc 1 7 3
  st.global.u32 [%rd5], %r5;
  ret;
}
)";

/// What code below AVX-512 calls where an index wraps between lanes, which none here does.
void neverCalled() { ADD_FAILURE() << "an index wraps"; }

class Pipeline : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "ptxrun-pipeline-test-XXXXXX").string();
    ASSERT_TRUE(::mkdtemp(pattern.data()));
    root_ = pattern;
    for (const char *name : {"ptxrun_load_wrapped", "ptxrun_store_wrapped"})
      jit::registerRuntimeSymbol(name, reinterpret_cast<const void *>(&neverCalled));
    options_.cacheDirectory = (root_ / "cache").string();
    options_.onStage = [this](const StageReport &report) { stages_ += std::string(report.stage) + " "; };
  }
  void TearDown() override { fs::remove_all(root_); }

  std::unique_ptr<Module> load() { return Module::load("add.ptx", kAddPtx, options_, errorText_); }

  static CodeOptions key(unsigned lanes = 0, uint32_t block = 256) {
    CodeOptions made;
    made.lanes = lanes;
    made.block = {block, 1, 1};
    return made;
  }

  static void runOneCta(const jit::Kernel &kernel, uint32_t block) {
    std::vector<uint32_t> from(block), to(block);
    for (uint32_t i = 0; i < block; ++i) from[i] = 3 * i;
    const void *params[] = {to.data(), from.data()};
    abi::Launch launch;
    launch.block = {block, 1, 1};
    launch.params = params;
    abi::Cta cta;
    cta.launch = &launch;
    abi::Gang gang;
    gang.cta = &cta;
    ASSERT_TRUE(kernel.code().ctaRange);
    kernel.code().ctaRange(&launch, &cta, &gang, 0, 1);
    for (uint32_t i = 0; i < block; ++i) ASSERT_EQ(to[i], 3 * i + 1) << "thread " << i;
  }

  fs::path root_;
  Options options_;
  std::string stages_, errorText_;
};

TEST_F(Pipeline, RunsTheStagesInOrder) {
  const auto module = load();
  ASSERT_TRUE(module) << errorText_;
  EXPECT_EQ(stages_, "parse check ");
  auto kernel = module->kernel("add", key(), {});
  ASSERT_TRUE(bool(kernel)) << llvm::toString(kernel.takeError());
  EXPECT_EQ(stages_, "parse check lower simt jit load ");
  EXPECT_FALSE((*kernel)->fromCache);
  runOneCta(**kernel, 256);
}

TEST_F(Pipeline, ComputesTheSameAtEveryWidth) {
  const auto module = load();
  ASSERT_TRUE(module) << errorText_;
  for (unsigned lanes : {1u, 8u, 16u, 32u})
    for (uint32_t block : {1u, 5u, 32u, 77u, 256u}) {
      auto kernel = module->kernel("add", key(lanes, block), {});
      ASSERT_TRUE(bool(kernel)) << llvm::toString(kernel.takeError());
      EXPECT_EQ((*kernel)->code().needs.lanes, lanes);
      runOneCta(**kernel, block);
    }
}

TEST_F(Pipeline, TakesTheSecondTimeFromTheCache) {
  ASSERT_TRUE(bool(load()->kernel("add", key(), {})));
  stages_.clear();
  const auto module = load();
  auto kernel = module->kernel("add", key(), {});
  ASSERT_TRUE(bool(kernel)) << llvm::toString(kernel.takeError());
  EXPECT_EQ(stages_, "parse check cache ");
  EXPECT_TRUE((*kernel)->fromCache);
  EXPECT_FALSE((*kernel)->reason().empty());
  runOneCta(**kernel, 256);
}

TEST_F(Pipeline, CompilesAnewForAnotherBlockShapeOrWidth) {
  ASSERT_TRUE(bool(load()->kernel("add", key(), {})));
  CodeOptions withoutJam = key();
  withoutJam.passesLeftOut.add(simt::Pass::jam);
  for (const CodeOptions &other : {key(0, 128), key(8), withoutJam}) {
    auto kernel = load()->kernel("add", other, {});
    ASSERT_TRUE(bool(kernel)) << llvm::toString(kernel.takeError());
    EXPECT_FALSE((*kernel)->fromCache);
  }
}

TEST_F(Pipeline, InternalErrorsLeaveWhatTheStagesMade) {
  options_.breaks = [](const CodeOptions &key) { return key.lanes == 8; };
  ::setenv("TMPDIR", root_.c_str(), 1);
  const auto module = load();
  ASSERT_TRUE(module) << errorText_;
  auto kernel = module->kernel("add", key(8), {});
  ::unsetenv("TMPDIR");
  ASSERT_FALSE(bool(kernel));
  llvm::Error error = kernel.takeError();
  EXPECT_TRUE(error.isA<lower::InternalError>());
  const fs::path dump = root_ / ("ptxrun-internal-error-" + std::to_string(getpid()));
  EXPECT_EQ(llvm::toString(std::move(error)),
            "internal error in stage simt: asked for (kernel add lanes 8 block 256x1x1, add.ptx:5); please report it with " +
                dump.string());
  for (const char *file : {"00-input.ptx", "01-lane.ll", "02-problem.txt", "manifest.tsv"})
    EXPECT_TRUE(fs::exists(dump / file)) << file;
  EXPECT_TRUE(bool(module->kernel("add", key(16), {})));
}

TEST_F(Pipeline, LeavesTheCacheAloneWhenToldTo) {
  options_.useCache = false;
  ASSERT_TRUE(bool(load()->kernel("add", key(), {})));
  EXPECT_FALSE(fs::exists(options_.cacheDirectory));
}

TEST_F(Pipeline, ReplacesADamagedCacheEntry) {
  ASSERT_TRUE(bool(load()->kernel("add", key(), {})));
  for (const auto &entry : fs::directory_iterator(options_.cacheDirectory)) fs::resize_file(entry.path(), 100);
  auto again = load()->kernel("add", key(), {});
  ASSERT_TRUE(bool(again));
  EXPECT_FALSE((*again)->fromCache);
  auto third = load()->kernel("add", key(), {});
  ASSERT_TRUE(bool(third));
  EXPECT_TRUE((*third)->fromCache);
}

TEST_F(Pipeline, CompilesAVariantOnceForAllThatAsk) {
  options_.useCache = false;
  std::mutex mutex;
  options_.onStage = [&](const StageReport &report) {
    std::lock_guard lock(mutex);
    stages_ += std::string(report.stage) + " ";
  };
  const auto module = load();
  stages_.clear();
  std::vector<std::thread> threads;
  std::vector<std::shared_ptr<jit::Kernel>> kernels(4);
  for (auto &kernel : kernels)
    threads.emplace_back([&] {
      auto made = module->kernel("add", key(), {});
      if (made) kernel = *made;
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(stages_, "lower simt jit load ");
  for (const auto &kernel : kernels) EXPECT_EQ(kernel, kernels[0]);
}

TEST_F(Pipeline, StopsAfterTheStageAskedFor) {
  for (const char *stage : {"lower", "simt", "jit"}) {
    options_.stopAfter = stage;
    const auto module = load();
    ASSERT_TRUE(module) << errorText_;
    auto kernel = module->kernel("add", key(), {});
    ASSERT_FALSE(bool(kernel));
    llvm::Error error = kernel.takeError();
    EXPECT_TRUE(error.isA<translate::Stopped>());
    EXPECT_EQ(llvm::toString(std::move(error)), std::string("stopped after ") + stage);
  }
  options_.stopAfter = "parse";
  stages_.clear();
  ASSERT_TRUE(load());
  EXPECT_EQ(stages_, "parse ");
}

TEST_F(Pipeline, DumpsEveryStage) {
  options_.dumpDirectory = (root_ / "dump").string();
  const auto module = load();
  ASSERT_TRUE(module) << errorText_;
  ASSERT_TRUE(bool(module->kernel("add", key(), {})));
  // Numbers, then names: the passes of simt are files of their own.
  std::vector<std::string> files;
  for (const auto &entry : fs::directory_iterator(root_ / "dump")) {
    EXPECT_GT(fs::file_size(entry.path()), 0u) << entry.path();
    files.push_back(entry.path().filename());
  }
  std::sort(files.begin(), files.end());
  std::string names;
  for (const std::string &file : files) names += file.substr(file.find('-') + 1) + " ";
  for (const char *inOrder : {"input.ptx ", "ast.ptx ", "checked.txt ", "lane.ll ", "prepare.ll ", "widen.ll ", "entry.ll ",
                              "optimised.ll ", "asm.s "}) {
    const size_t at = names.find(inOrder);
    ASSERT_NE(at, std::string::npos) << inOrder << "is not in its place: " << names;
    names = names.substr(at);
  }
}

TEST_F(Pipeline, KnowsTheSourceLineBehindAPtxLine) {
  for (const char *run : {"compiled", "from the cache"}) {
    const auto module = load();
    auto kernel = module->kernel("add", key(), {});
    ASSERT_TRUE(bool(kernel)) << llvm::toString(kernel.takeError());
    const auto *code = reinterpret_cast<const char *>((*kernel)->code().ctaRange);
    bool hasStore = false;
    for (int i = 0; i < 2000; ++i) {
      const auto place = (*kernel)->placeOf(code + i);
      if (!place) break;
      if (place->ptxLine != 21) continue;
      hasStore = true;
      EXPECT_EQ(place->sourceFile, "add.cu");
      EXPECT_EQ(place->sourceLine, 7u);
    }
    EXPECT_TRUE(hasStore) << run;
  }
}

TEST_F(Pipeline, KernelsOutliveTheirModule) {
  auto module = load();
  auto kernel = module->kernel("add", key(), {});
  ASSERT_TRUE(bool(kernel));
  module.reset();
  runOneCta(**kernel, 256);
  EXPECT_TRUE((*kernel)->placeOf(reinterpret_cast<const void *>((*kernel)->code().ctaRange)));
}

TEST_F(Pipeline, SaysWhatIsWrongAndWhere) {
  EXPECT_FALSE(Module::load("bad.ptx", ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { frob.u32 %r1; }\n",
                            options_, errorText_));
  EXPECT_NE(errorText_.find("bad.ptx:4:"), std::string::npos) << errorText_;
  const auto module = load();
  auto kernel = module->kernel("subtract", key(), {});
  ASSERT_FALSE(bool(kernel));
  EXPECT_NE(llvm::toString(kernel.takeError()).find("subtract"), std::string::npos);
}

}  // namespace
}  // namespace ptxrun::test
