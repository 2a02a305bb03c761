#include <unistd.h>

#include <charconv>
#include <cstdlib>

#include "loader/capture/recorder.h"

namespace ptxrun::capture {

namespace {

bool readNumber(std::string_view text, uint64_t &number) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return !text.empty() && error == std::errc() && rest == text.data() + text.size();
}

bool isTrigger(std::string_view text) {
  uint64_t ignored;
  return text.empty() || text == "SIGUSR1" || text.starts_with("kernel:") ||
         (text.starts_with("launch:") && readNumber(text.substr(7), ignored));
}

} // namespace

namespace {
/// What is wrong with a regular expression; empty: nothing.
std::string wrongRegex(const char *variable, const std::string &text) {
  try {
    std::regex ignored(text);
    return {};
  } catch (const std::regex_error &error) {
    return std::string(variable) + " has '" + text +
           "', which is no regular expression: " + error.what();
  }
}
} // namespace

bool readLaunches(std::string_view text, RecordOptions &options) {
  const size_t dash = text.find('-');
  if (dash == text.npos)
    return readNumber(text, options.first) && readNumber(text, options.last);
  const std::string_view first = text.substr(0, dash), last = text.substr(dash + 1);
  return (first.empty() || readNumber(first, options.first)) &&
         (last.empty() || readNumber(last, options.last)) && text.size() > 1 &&
         options.first <= options.last;
}

bool readRecordOptions(RecordOptions &options, std::string &problem) {
  const auto value = [](const char *name) {
    const char *text = std::getenv(name);
    return std::string(text ? text : "");
  };
  options.file = value("PTXRUN_RECORD");
  if (options.file.empty())
    return false;
  if (const size_t at = options.file.find("%p"); at != std::string::npos)
    options.file.replace(at, 2, std::to_string(getpid()));
  options.kernel = value("PTXRUN_RECORD_KERNEL");
  options.trigger = value("PTXRUN_RECORD_TRIGGER");
  const std::string launches = value("PTXRUN_RECORD_LAUNCHES"),
                    checkpoint = value("PTXRUN_RECORD_CHECKPOINT"),
                    inputs = value("PTXRUN_RECORD_INPUTS");
  options.keepsInputsApart = inputs == "digest";
  if (!launches.empty() && !readLaunches(launches, options))
    problem = "PTXRUN_RECORD_LAUNCHES takes A-B, not '" + launches + "'";
  else if (!isTrigger(options.trigger))
    problem = "PTXRUN_RECORD_TRIGGER takes SIGUSR1, launch:N or kernel:REGEX, not '" +
              options.trigger + "'";
  else if (!checkpoint.empty() && !readNumber(checkpoint, options.checkpointEvery))
    problem = "PTXRUN_RECORD_CHECKPOINT takes a number of launches, not '" + checkpoint + "'";
  else if (!inputs.empty() && inputs != "embed" && inputs != "digest")
    problem = "PTXRUN_RECORD_INPUTS takes embed or digest, not '" + inputs + "'";
  else if (options.trigger.starts_with("kernel:"))
    problem = wrongRegex("PTXRUN_RECORD_TRIGGER", options.trigger.substr(7));
  if (problem.empty())
    problem = wrongRegex("PTXRUN_RECORD_KERNEL", options.kernel);
  return true;
}

} // namespace ptxrun::capture
