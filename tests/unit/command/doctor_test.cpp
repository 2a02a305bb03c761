// `ptxrun doctor`: every mistake that it knows is made and found, and nothing is found where none
// was made.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "loader/ptxrun/doctor.h"
#include "loader/ptxrun/settings.h"

namespace ptxrun::command {
namespace {

namespace fs = std::filesystem;

struct Answer {
  int exitCode = -1;
  std::string text;
  nlohmann::json json;

  bool has(const std::string &id) const {
    for (const auto &problem : json["problems"])
      if (problem["id"] == id)
        return true;
    return false;
  }
};

/// `doctor` in an environment of this test's: nothing of the outer one but what the loader needs.
class Doctor : public testing::Test {
 protected:
  fs::path folder_ = fs::temp_directory_path() / ("doctor_test_" + std::to_string(getpid()));
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override {
    fs::permissions(folder_, fs::perms::owner_all, fs::perm_options::add);
    fs::remove_all(folder_);
  }

  Answer ask(const std::string &variables, const std::string &arguments = "") {
    const std::string line = "env -i HOME=" + folder_.string() + " PATH=/usr/bin:/bin " +
                             variables + " " PTXRUN_COMMAND " doctor --json " + arguments +
                             " 2>/dev/null";
    Answer answer;
    std::FILE *pipe = popen(line.c_str(), "r");
    std::array<char, 4096> block;
    for (size_t got; (got = std::fread(block.data(), 1, block.size(), pipe)) > 0;)
      answer.text.append(block.data(), got);
    const int status = pclose(pipe);
    answer.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    answer.json = nlohmann::json::parse(answer.text, nullptr, false);
    return answer;
  }
  /// What this machine has wrong in itself.
  const Answer plain_ = ask("");

  void expectProblem(const std::string &variables, const std::string &id, const std::string &text) {
    const Answer answer = ask(variables);
    EXPECT_EQ(answer.exitCode, 1) << variables;
    EXPECT_TRUE(answer.has(id)) << variables << "\n" << answer.text;
    EXPECT_NE(answer.text.find(text), std::string::npos) << variables << "\n" << answer.text;
  }
};

TEST_F(Doctor, SaysWhatTheMachineOffers) {
  ASSERT_TRUE(plain_.json.is_object()) << plain_.text;
  EXPECT_EQ(plain_.exitCode, plain_.json["problems"].empty() ? 0 : 1);
  const auto &facts = plain_.json["facts"];
  for (const char *name : {"version", "processor", "threads", "memory", "code cache", "system",
                           "environment", "libraries"})
    EXPECT_TRUE(facts.contains(name)) << name;
  EXPECT_EQ(facts["threads"]["online"], sysconf(_SC_NPROCESSORS_ONLN));
  EXPECT_EQ(facts["memory"]["bytes"],
            uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(facts["code cache"]["folder"], (folder_ / ".cache/ptxrun").string());
  EXPECT_TRUE(facts["code cache"]["isWritable"]);
  EXPECT_FALSE(plain_.has("variable"));
  EXPECT_FALSE(plain_.has("installation")) << plain_.text;
  EXPECT_FALSE(fs::exists(folder_ / ".cache")) << "looking makes nothing";
}

TEST_F(Doctor, FindsVariablesWithTyposAndBadValues) {
  expectProblem("PTXRUN_CPUS=avx2", "variable", "did you mean PTXRUN_CPU?");
  expectProblem("PTXRUN_TEIRS=baseline", "variable", "did you mean PTXRUN_TIERS?");
  expectProblem("PTXRUN_SUMARY=1", "variable", "did you mean PTXRUN_SUMMARY?");
  expectProblem("PTXRUN_WHATEVER=1", "variable", "PTXRUN_WHATEVER is no variable of ptxrun");
  expectProblem("PTXRUN_CPU=avx", "variable", "takes sse4, avx2 or avx512");
  expectProblem("PTXRUN_TUNE=zen", "variable", "takes generic, znver3, znver4");
  expectProblem("PTXRUN_LANES=7", "variable", "takes 1, 8, 16 or 32");
  expectProblem("PTXRUN_SM=1.0", "variable", "takes a compute capability");
  expectProblem("PTXRUN_MEMORY=lots", "variable", "takes bytes");
  expectProblem("PTXRUN_TIERS=fast", "variable", "takes optimised, baseline or tiered");
  expectProblem("PTXRUN_ASYNC=never", "variable", "takes eager, late or seed:N");
  expectProblem("PTXRUN_MATRIX=sm_1", "variable", "takes fast, exact or sm_NN");
  expectProblem("PTXRUN_SCHEDULE=sometimes", "variable", "sometimes");
  expectProblem("PTXRUN_RECORD=/nowhere/a.rec", "variable", "folder that does not exist");
  EXPECT_FALSE(
      ask("PTXRUN_CPU=sse4 PTXRUN_TUNE=znver3 PTXRUN_LANES=8 PTXRUN_SM=sm_90a PTXRUN_MEMORY=96M "
          "PTXRUN_TIERS=baseline "
          "PTXRUN_ASYNC=seed:7 PTXRUN_MATRIX=exact PTXRUN_SCHEDULE=seed:3 PTXRUN_SUMMARY=1")
          .has("variable"));
}

TEST_F(Doctor, FindsThreadsThatAreTooFewOrNone) {
  expectProblem("OMP_NUM_THREADS=none", "threads", "no number of threads");
  expectProblem("OMP_NUM_THREADS=4096", "threads", "they wait for each other");
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  const auto &limit = plain_.json["facts"]["threads"]["controlGroup"];
  if (CPU_COUNT(&allowed) > 1 && (limit.is_null() || limit.get<double>() > 1))
    expectProblem("OMP_NUM_THREADS=1", "threads", "launches run on one thread");
}

TEST_F(Doctor, FindsAnotherDriverBeforeOurs) {
  // Any shared object will do: the linker goes by the name.
  const fs::path other = folder_ / "other";
  fs::create_directories(other);
  fs::copy_file("/lib/x86_64-linux-gnu/libm.so.6", other / "libcuda.so.1");
  const std::string ours = PTXRUN_LIBRARIES;
  expectProblem("LD_LIBRARY_PATH=" + other.string() + ":" + ours, "library-path",
                "is found before ours");
  const Answer right = ask("LD_LIBRARY_PATH=" + ours + ":" + other.string());
  EXPECT_FALSE(right.has("library-path")) << right.text;
  EXPECT_TRUE(right.json["facts"]["libraries"]["libcuda.so.1"]["isOurs"]);
  const Answer alone = ask("LD_LIBRARY_PATH=" + other.string());
  EXPECT_EQ(alone.json["facts"]["libraries"]["libcuda.so.1"]["program"],
            (other / "libcuda.so.1").string());
  EXPECT_FALSE(alone.json["facts"]["libraries"]["libcuda.so.1"]["isOurs"]);
  // What is no shared object is passed over, as the linker does.
  std::ofstream(other / "libcuda.so.1") << "text";
  EXPECT_TRUE(ask("LD_LIBRARY_PATH=" + other.string() + ":" + ours)
                  .json["facts"]["libraries"]["libcuda.so.1"]["isOurs"]);
}

TEST_F(Doctor, FindsCachesThatCannotBeUsed) {
  expectProblem("HOME=", "cache", "no place for the code cache");
  EXPECT_FALSE(ask("PTXRUN_CACHE=off").has("cache"));
  expectProblem("PTXRUN_CACHE=/proc/nothing", "cache", "cannot be written");
}

TEST_F(Doctor, FindsDevicesThatAreHidden) {
  expectProblem("CUDA_VISIBLE_DEVICES=", "visible-devices", "hides every device");
  expectProblem("CUDA_VISIBLE_DEVICES=-1", "visible-devices", "hides every device");
  EXPECT_FALSE(ask("CUDA_VISIBLE_DEVICES=0").has("visible-devices"));
}

TEST_F(Doctor, LooksIntoPrograms) {
  const Answer answer = ask("", PTXRUN_COMMAND);
  EXPECT_TRUE(answer.json["facts"].contains("program")) << answer.text;
  EXPECT_EQ(ask("", "/no/such/program").exitCode, 2);
}

// ld.so's own answer is the reference: a library that every machine has.
TEST(LinkerFinds, WhatTheLinkerLoads) {
  std::FILE *pipe = popen("env -u LD_LIBRARY_PATH /sbin/ldconfig -p", "r");
  std::string all;
  std::array<char, 4096> block;
  for (size_t got; (got = std::fread(block.data(), 1, block.size(), pipe)) > 0;)
    all.append(block.data(), got);
  pclose(pipe);
  std::smatch match;
  if (!std::regex_search(all, match,
                         std::regex("libstdc\\+\\+\\.so\\.6 \\(libc6,x86-64\\) => (\\S+)")))
    GTEST_SKIP() << "ldconfig says nothing here";
  unsetenv("LD_LIBRARY_PATH");
  EXPECT_EQ(linkerFinds("libstdc++.so.6"), match[1]);
  EXPECT_EQ(linkerFinds("libno-such-library.so.1"), "");
}

} // namespace
} // namespace ptxrun::command
