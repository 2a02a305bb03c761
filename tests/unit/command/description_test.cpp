#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "loader/ptxrun/errors.h"
#include "loader/ptxrun/plan.h"

namespace ptxrun::command {
namespace {

std::string refusal(const std::string &text) {
  auto path = std::filesystem::temp_directory_path() /
              ("description_test_" + std::to_string(getpid()) + ".toml");
  std::ofstream(path) << text;
  std::string message = "accepted";
  try {
    readDescription(path.string());
  } catch (const UsageError &error) {
    message = std::string(error.what()).substr(path.string().size());
  }
  std::filesystem::remove(path);
  return message;
}

TEST(Description, EverySampleIsRead) {
  unsigned count = 0;
  for (auto &entry : std::filesystem::directory_iterator(PTXRUN_SAMPLES)) {
    if (entry.path().extension() != ".toml")
      continue;
    ++count;
    Plan plan = readDescription(entry.path().string());
    EXPECT_FALSE(plan.launches.empty()) << entry.path();
    EXPECT_FALSE(plan.expectations.empty()) << entry.path() << " checks nothing";
    EXPECT_TRUE(std::filesystem::exists(plan.module)) << plan.module;
  }
  EXPECT_GE(count, 16u);
}

TEST(Description, KeepsOrderOfConstantsAndBuffers) {
  Plan plan = readDescription(PTXRUN_SAMPLES "/scan.toml");
  ASSERT_EQ(plan.constants.size(), 2u);
  EXPECT_EQ(plan.constants[1].name, "blocks");
  EXPECT_EQ(plan.constants[1].constant, 977);
  ASSERT_EQ(plan.buffers.size(), 3u);
  EXPECT_EQ(plan.buffers[0].name, "in");
  ASSERT_EQ(plan.launches.size(), 3u);
  EXPECT_EQ(plan.launches[2].kernel, "addOffsets");
}

TEST(Description, BrokenTablesAreRefused) { // the parser takes for granted that a key follows
  for (const char *text : {"[{", "[}", "[.", "[=", "[\n", "[,", "[#", "[+", "[\\", "[\r"})
    EXPECT_EQ(refusal(text), ": this is no TOML") << text;
}

TEST(Description, MistakesAreNamedWithTheirPlace) {
  EXPECT_EQ(refusal("module = 'a.ptx'\n"), ": there is no [[launch]]");
  EXPECT_EQ(refusal("[[launch]]\n").substr(0, 2), ":1");
  EXPECT_EQ(refusal("module = 'a.ptx'\n[[launch]]\ngird = 3\n"),
            ":3:8: 'gird' is no key of [[launch]]; did you mean 'grid'?");
  EXPECT_EQ(refusal("module = 'a.ptx'\n[[launch]]\nasync = 'seed:x'\n"),
            ":3:9: 'async' takes eager, late or seed:N, not 'seed:x'");
  EXPECT_EQ(refusal("module = 'a.ptx'\n[[launch]]\narguments = [{map = 1}]\n"),
            ":3:14: an argument that is a table is {tensormap = {...}}");
  EXPECT_EQ(refusal("module = 'a.ptx'\n[launch]\n"), ":2:1: write [[launch]], with two brackets");
  EXPECT_NE(refusal("module = 'a.ptx'\n[[launch]]\n[[expect]]\nbuffer = 'x'\n")
                .find("takes one of 'value', 'file' and 'printed'"),
            std::string::npos);
  EXPECT_NE(refusal("module = \n").find(":1:"), std::string::npos);
}

} // namespace
} // namespace ptxrun::command
