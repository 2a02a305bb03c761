#include "translate/observe/stage_dump.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ptxrun::test {
namespace {

namespace fs = std::filesystem;
using observe::StageDump;

class Dump : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "ptxrun-dump-test-XXXXXX").string();
    ASSERT_TRUE(::mkdtemp(pattern.data()));
    root_ = pattern;
  }
  void TearDown() override { fs::remove_all(root_); }

  static std::string read(const fs::path &path) {
    std::ostringstream out;
    out << std::ifstream(path).rdbuf();
    return out.str();
  }

  fs::path root_;
  std::string error_;
};

TEST_F(Dump, NumbersFilesInTheOrderOfTheStages) {
  const auto dump = StageDump::create((root_ / "a").string(), error_);
  ASSERT_TRUE(dump);
  dump->write("input", "input.ptx", "", 0, "text");
  dump->write("lower", "lane.ll", "k", 1.5, "lane");
  EXPECT_EQ(read(root_ / "a/00-input.ptx"), "text");
  EXPECT_EQ(read(root_ / "a/01-lane.ll"), "lane");
  EXPECT_EQ(read(root_ / "a/manifest.tsv"), "file\tstage\tsubject\tmilliseconds\tbytes\n"
                                            "00-input.ptx\tinput\t\t0.000\t4\n"
                                            "01-lane.ll\tlower\tk\t1.500\t4\n");
}

TEST_F(Dump, SaysUnchangedWhereAStageChangedNothing) {
  const auto dump = StageDump::create((root_ / "b").string(), error_);
  ASSERT_TRUE(dump);
  dump->write("simt", "gang.ll", "k", 0, "same");
  dump->write("jit", "optimised.ll", "k", 0, "same");
  dump->write("simt", "gang.ll", "another", 0, "same");
  EXPECT_FALSE(fs::exists(root_ / "b/01-optimised.ll"));
  EXPECT_TRUE(fs::exists(root_ / "b/02-gang.ll"));
  EXPECT_NE(read(root_ / "b/manifest.tsv").find("(unchanged)\tjit\tk"), std::string::npos);
}

TEST_F(Dump, GivesEachFurtherModuleADirectoryOfItsOwn) {
  const auto first = StageDump::create((root_ / "c").string(), error_);
  const auto second = StageDump::create((root_ / "c").string(), error_);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(fs::path(second->directory()), root_ / "c" / "2");
}

TEST_F(Dump, SaysWhereItCannotWrite) {
  EXPECT_FALSE(StageDump::create("/proc/ptxrun-no-such-place", error_));
  EXPECT_NE(error_.find("/proc/ptxrun-no-such-place"), std::string::npos);
}

}  // namespace
}  // namespace ptxrun::test
