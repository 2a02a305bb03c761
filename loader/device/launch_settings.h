// What users ask of launches by name. One list for the command line, launch descriptions and the
// environment: the settings of translate/support/code_options.def and rt/launch/run_settings.def,
// and those that set several members at once.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "loader/device/device.h"

namespace ptxrun::device {

struct LaunchSetting {
  /// What it may change. `results`: it belongs to what a launch description says, and the command
  /// line only says what the description does not; `speed`: the command line comes first.
  enum Effect { results, speed } effect;
  std::string_view word;    ///< --WORD, `WORD =`, PTXRUN_WORD
  std::string_view takes;   ///< "eager|late|seed:N"
  std::string_view meaning; ///< for the help
  /// Reads a text into the options. What is wrong with it; empty: nothing.
  std::string (*read)(std::string_view text, LaunchOptions &);
  /// The text again, of a setting that changes results; empty: it is as where nobody says.
  std::string (*write)(const LaunchOptions &);
};

std::span<const LaunchSetting> launchSettings();
const LaunchSetting *findSetting(std::string_view word); ///< null if there is none
/// PTXRUN_WORD.
std::string variableOf(const LaunchSetting &);
/// "eager|late|seed:N" as words: "eager, late or seed:N".
std::string listOf(std::string_view takes);

/// Reads a text into the options. `name` is how the message calls the setting. What is wrong;
/// empty: nothing.
std::string readSetting(const LaunchSetting &, std::string_view name, std::string_view text,
                        LaunchOptions &);
/// What the environment says. `tell` is told what is wrong with a variable, which then says
/// nothing.
void readEnvironment(LaunchOptions &, const std::function<void(const std::string &)> &tell);

/// "eager", "late" or "seed:N" into the options' asyncCopies and asyncSeed; false for anything
/// else.
bool readAsyncCopies(std::string_view text, LaunchOptions &);

} // namespace ptxrun::device
