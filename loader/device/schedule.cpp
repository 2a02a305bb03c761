#include "loader/device/schedule.h"

#include <fstream>
#include <sstream>

#include "loader/device/launch_settings.h"
#include "loader/device/setting_readers.h"

namespace ptxrun::device {

namespace {

constexpr std::string_view kHeader = "ptxrun-schedule 1";

struct Name {
  std::string_view text;
  rt::Schedule schedule;
};
constexpr Name kNames[] = {{"fast", rt::Schedule::fast},
                           {"serial", rt::Schedule::serial},
                           {"reverse", rt::Schedule::reverse},
                           {"oldest-first", rt::Schedule::oldestFirst},
                           {"lockstep", rt::Schedule::lockstep}};

/// The words of a line, without its comment.
std::vector<std::string> wordsOf(std::string line) {
  line = line.substr(0, line.find('#'));
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;)
    words.push_back(word);
  return words;
}

/// "B T P" at the beginning of the words.
bool readPoint(const std::vector<std::string> &words, rt::GangPlace &place, uint64_t &point) {
  return words.size() >= 3 && readNumber(words[0], place.block) &&
         readNumber(words[1], place.thread) && readNumber(words[2], point) && point > 0;
}

/// "B T P -> B T" or "start -> B T"; false for anything else.
bool readSwitch(const std::vector<std::string> &words, rt::ScheduleSwitch &s) {
  const bool isStart = words.size() == 4 && words[0] == "start";
  if (isStart)
    s.at = rt::kScheduleStart;
  else if (words.size() != 6 || !readPoint(words, s.at, s.point))
    return false;
  const size_t arrow = words.size() - 3;
  return words[arrow] == "->" && readNumber(words[arrow + 1], s.next.block) &&
         readNumber(words[arrow + 2], s.next.thread);
}

/// One line of a script into the section that `launch` names.
bool readLine(const std::vector<std::string> &words, ScheduleFile &file,
              rt::ScheduleScript *&launch) {
  uint64_t number = 0;
  if (words.size() == 2 && words[0] == "launch") {
    if (!readNumber(words[1], number))
      return false;
    launch = &file.launches[number];
    return true;
  }
  if (!launch && words.size() == 2 && words[0] == "async") {
    LaunchOptions ignored;
    file.async = words[1];
    return readAsyncCopies(file.async, ignored);
  }
  if (!launch)
    return false;
  if (words.size() == 2 && words[0] == "resident")
    return readNumber(words[1], launch->resident) && launch->resident > 0;
  if (words.size() == 4 && words[3] == "unordered") {
    launch->unordered.push_back({});
    return readPoint(words, launch->unordered.back().at, launch->unordered.back().point);
  }
  rt::ScheduleSwitch s;
  if (!readSwitch(words, s))
    return false;
  launch->switches.push_back(s);
  return true;
}

} // namespace

std::string parseScheduleFile(const std::string &name, std::string_view text, ScheduleFile &file) {
  std::istringstream stream{std::string(text)};
  std::string line;
  rt::ScheduleScript *launch = nullptr;
  bool hasHeader = false;
  for (unsigned number = 1; std::getline(stream, line); ++number) {
    const std::vector<std::string> words = wordsOf(line);
    if (words.empty())
      continue;
    const bool isHeader = words.size() == 2 && words[0] + " " + words[1] == kHeader;
    const bool isGood = hasHeader ? readLine(words, file, launch) : isHeader;
    if (!isGood)
      return name + ":" + std::to_string(number) + ": " +
             (hasHeader ? "expected `launch N`, `resident N`, `BLOCK THREAD POINT -> BLOCK "
                          "THREAD` or `BLOCK THREAD POINT unordered`, not `"
                        : "a schedule begins with `ptxrun-schedule 1`, not `") +
             line + "`";
    hasHeader = true;
  }
  return hasHeader ? "" : name + ": the schedule is empty";
}

std::string writeScheduleFile(const ScheduleFile &file) {
  std::string text = std::string(kHeader) + "\n";
  const auto place = [](rt::GangPlace p) {
    return std::to_string(p.block) + " " + std::to_string(p.thread);
  };
  if (!file.async.empty())
    text += "async " + file.async + "\n";
  for (const auto &[number, script] : file.launches) {
    text += "launch " + std::to_string(number) + "\n";
    text += "resident " + std::to_string(script.resident) + "\n";
    for (const rt::ScheduleSwitch &s : script.switches)
      text += (s.at == rt::kScheduleStart ? std::string("start")
                                          : place(s.at) + " " + std::to_string(s.point)) +
              " -> " + place(s.next) + "\n";
    for (const rt::SchedulePoint &p : script.unordered)
      text += place(p.at) + " " + std::to_string(p.point) + " unordered\n";
  }
  return text;
}

void useScript(std::shared_ptr<const ScheduleFile> script, LaunchOptions &options) {
  options.schedule = rt::Schedule::scripted;
  if (!script->async.empty())
    readAsyncCopies(script->async, options);
  options.script = std::move(script);
}

std::string scheduleText(const LaunchOptions &options) {
  for (const Name &name : kNames)
    if (options.schedule == name.schedule)
      return std::string(name.text);
  if (options.schedule == rt::Schedule::gangs)
    return "gangs:" + std::to_string(options.gangThreads);
  return options.schedule == rt::Schedule::seeded ? "seed:" + std::to_string(options.seed)
                                                  : "script";
}

std::string readSchedule(std::string_view text, LaunchOptions &options) {
  constexpr std::string_view kSeed = "seed:", kScript = "script:";
  for (const Name &name : kNames)
    if (text == name.text) {
      options.schedule = name.schedule;
      return {};
    }
  if (text.starts_with(kSeed) && readNumber(text.substr(kSeed.size()), options.seed)) {
    options.schedule = rt::Schedule::seeded;
    return {};
  }
  constexpr std::string_view kGangs = "gangs:";
  if (text.starts_with(kGangs) && readNumber(text.substr(kGangs.size()), options.gangThreads) &&
      options.gangThreads > 0) {
    options.schedule = rt::Schedule::gangs;
    return {};
  }
  if (!text.starts_with(kScript))
    return "a schedule is " + listOf(kScheduleForms) + ", not '" + std::string(text) + "'";
  const std::string path(text.substr(kScript.size()));
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream contents;
  if (!stream || !(contents << stream.rdbuf()))
    return "cannot read the schedule '" + path + "'";
  auto file = std::make_shared<ScheduleFile>();
  if (std::string problem = parseScheduleFile(path, contents.str(), *file); !problem.empty())
    return problem;
  useScript(std::move(file), options);
  return {};
}

} // namespace ptxrun::device
