#include "loader/device/launch_settings.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "translate/simt/pass_names.h"

namespace ptxrun::device {
namespace {

/// What is wrong with the text, as the command line says it.
std::string problemOf(const char *word, const char *text, LaunchOptions &options) {
  const LaunchSetting *setting = findSetting(word);
  return setting ? readSetting(*setting, std::string("--") + word, text, options) : "none";
}
std::string problemOf(const char *word, const char *text) {
  LaunchOptions options;
  return problemOf(word, text, options);
}

TEST(LaunchSettings, AreReadIntoTheMembersOfTheirNames) {
  LaunchOptions options;
  EXPECT_EQ(problemOf("lanes", "8", options), "");
  EXPECT_EQ(options.code.lanes, 8u);
  EXPECT_EQ(problemOf("passes", "-jam", options), "");
  EXPECT_TRUE(options.code.passesLeftOut.has(simt::Pass::jam));
  EXPECT_FALSE(options.code.passesLeftOut.has(simt::Pass::rows));
  EXPECT_EQ(problemOf("timeout", "0.25", options), "");
  EXPECT_EQ(options.timeout, std::chrono::milliseconds(250));
  EXPECT_EQ(problemOf("async", "seed:7", options), "");
  EXPECT_EQ(options.asyncSeed, 7u);
  EXPECT_EQ(problemOf("schedule", "gangs:4", options), "");
  EXPECT_EQ(options.gangThreads, 4u);
  EXPECT_EQ(problemOf("matrix", "sm_90", options), "");
  EXPECT_NE(options.code.matrix, matrix::PolicyChoice());
}

TEST(LaunchSettings, SayWhatTheyTake) {
  EXPECT_EQ(problemOf("lanes", "7"), "--lanes takes 1, 8, 16 or 32, not '7'");
  EXPECT_EQ(problemOf("lanes", ""), "--lanes takes 1, 8, 16 or 32, not ''");
  EXPECT_EQ(problemOf("async", "never"), "--async takes eager, late or seed:N, not 'never'");
  EXPECT_EQ(problemOf("matrix", "sm_1"), "--matrix takes fast, exact or sm_NN, not 'sm_1'");
  EXPECT_EQ(problemOf("timeout", "-1"), "--timeout takes a number of seconds above 0, not '-1'");
  EXPECT_EQ(problemOf("passes", "-jem"), "--passes: there is no pass 'jem'");
  EXPECT_EQ(problemOf("passes", "-widen"), "--passes: pass 'widen' is needed for the result");
  EXPECT_NE(problemOf("schedule", "sometimes").find("lockstep, gangs:N, seed:N or script:FILE"),
            std::string::npos);
}

TEST(LaunchSettings, ThatChangeResultsAreWrittenAsTheyAreRead) {
  LaunchOptions usual;
  for (const LaunchSetting &setting : launchSettings())
    EXPECT_EQ(setting.write(usual), "") << setting.word;
  for (const auto &[word, text] : {std::pair{"async", "seed:7"},
                                   {"async", "late"},
                                   {"check", "alignment"},
                                   {"matrix", "exact"},
                                   {"matrix", "sm_90"},
                                   {"schedule", "gangs:4"},
                                   {"schedule", "oldest-first"}}) {
    LaunchOptions options;
    EXPECT_EQ(problemOf(word, text, options), "");
    EXPECT_EQ(findSetting(word)->write(options), text);
  }
}

TEST(LaunchSettings, OfTheEnvironmentAreIgnoredWhereTheyAreWrong) {
  setenv("PTXRUN_LANES", "16", 1);
  setenv("PTXRUN_ASYNC", "never", 1);
  LaunchOptions options;
  std::string told;
  readEnvironment(options, [&](const std::string &wrong) { told += wrong; });
  unsetenv("PTXRUN_LANES");
  unsetenv("PTXRUN_ASYNC");
  EXPECT_EQ(options.code.lanes, 16u);
  EXPECT_EQ(options.asyncCopies, rt::AsyncCopies::eager);
  EXPECT_EQ(told, "PTXRUN_ASYNC takes eager, late or seed:N, not 'never'");
}

} // namespace
} // namespace ptxrun::device
