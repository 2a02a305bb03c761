#include "loader/device/launch_settings.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "loader/device/setting_readers.h"
#include "translate/simt/pass_names.h"

namespace ptxrun::device {

namespace {

std::string problem(bool isRead, std::string_view takes) {
  return isRead ? "" : "takes " + listOf(takes);
}
std::string problem(std::string text, std::string_view) { return text; }

template <LaunchSetting::Effect effect, class Value>
std::string written(const Value &value, const Value &usual) {
  if constexpr (effect == LaunchSetting::results)
    return value == usual ? "" : textOf(value);
  return {};
}

constexpr const char *kAsyncForms = "eager|late|seed:N";

std::string asyncText(const LaunchOptions &options) {
  if (options.asyncCopies == rt::AsyncCopies::eager)
    return {};
  const bool isLate = options.asyncCopies == rt::AsyncCopies::late;
  return isLate ? "late" : "seed:" + std::to_string(options.asyncSeed);
}

constexpr LaunchSetting kSettings[] = {
#define CODE_OPTION(type, name, default_, meaning)
#define CODE_SETTING(type, name, default_, word, effect, read, takes, meaning)                     \
  {LaunchSetting::effect,                                                                          \
   word,                                                                                           \
   takes,                                                                                          \
   meaning,                                                                                        \
   [](std::string_view text, LaunchOptions &to) {                                                  \
     return problem(read(text, to.code.name), takes);                                              \
   },                                                                                              \
   [](const LaunchOptions &of) {                                                                   \
     return written<LaunchSetting::effect>(of.code.name, CodeOptions().name);                      \
   }},
#define RUN_SETTING(type, name, default_, word, effect, read, takes, meaning)                      \
  {LaunchSetting::effect,                                                                          \
   word,                                                                                           \
   takes,                                                                                          \
   meaning,                                                                                        \
   [](std::string_view text, LaunchOptions &to) { return problem(read(text, to.name), takes); },   \
   [](const LaunchOptions &of) {                                                                   \
     return written<LaunchSetting::effect>(of.name, rt::RunOptions().name);                        \
   }},
#include "rt/launch/run_settings.def"
#include "translate/support/code_options.def"
#undef RUN_SETTING
#undef CODE_SETTING
#undef CODE_OPTION
    {LaunchSetting::results, "schedule", kScheduleForms,
     "Who runs when: fast (any order, all cores; the default), or reproducibly, thread by thread: "
     "serial, reverse, oldest-first, lockstep, gangs:N, seed:N, script:FILE",
     readSchedule,
     [](const LaunchOptions &of) {
       return of.schedule == rt::Schedule::fast ? "" : scheduleText(of);
     }},
    {LaunchSetting::results, "async", kAsyncForms,
     "When asynchronous copies happen: eager (at once; the default), late (when somebody waits for "
     "them), or seed:N (either, reproducibly)",
     [](std::string_view text, LaunchOptions &to) {
       return problem(readAsyncCopies(text, to), kAsyncForms);
     },
     asyncText},
};

} // namespace

std::span<const LaunchSetting> launchSettings() { return kSettings; }

const LaunchSetting *findSetting(std::string_view word) {
  const auto found = std::ranges::find(kSettings, word, &LaunchSetting::word);
  return found == std::end(kSettings) ? nullptr : found;
}

std::string variableOf(const LaunchSetting &setting) {
  std::string name = "PTXRUN_";
  for (const char c : setting.word)
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::string listOf(std::string_view takes) {
  std::string list;
  for (size_t bar; (bar = takes.find('|')) != takes.npos; takes.remove_prefix(bar + 1))
    list.append(list.empty() ? "" : ", ").append(takes.substr(0, bar));
  return list.append(list.empty() ? "" : " or ").append(takes);
}

std::string readSetting(const LaunchSetting &setting, std::string_view name, std::string_view text,
                        LaunchOptions &options) {
  const std::string wrong = setting.read(text, options);
  if (wrong.empty())
    return {};
  if (wrong.starts_with("takes "))
    return std::string(name) + " " + wrong + ", not '" + std::string(text) + "'";
  return std::string(name) + ": " + wrong;
}

void readEnvironment(LaunchOptions &options, const std::function<void(const std::string &)> &tell) {
  for (const LaunchSetting &setting : kSettings) {
    const std::string variable = variableOf(setting);
    if (const char *text = std::getenv(variable.c_str()))
      if (const std::string wrong = readSetting(setting, variable, text, options); !wrong.empty())
        tell(wrong);
  }
}

bool readAsyncCopies(std::string_view text, LaunchOptions &options) {
  constexpr std::string_view kSeed = "seed:";
  if (text == "eager" || text == "late") {
    options.asyncCopies = text == "late" ? rt::AsyncCopies::late : rt::AsyncCopies::eager;
    return true;
  }
  if (!text.starts_with(kSeed) || !readNumber(text.substr(kSeed.size()), options.asyncSeed))
    return false;
  options.asyncCopies = rt::AsyncCopies::seeded;
  return true;
}

} // namespace ptxrun::device
