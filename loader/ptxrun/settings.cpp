#include "loader/ptxrun/settings.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>

#include "loader/capture/recorder.h"
#include "loader/device/host.h"
#include "loader/device/launch_settings.h"
#include "loader/machine/device_info.h"
#include "loader/ptxrun/hints.h"

namespace ptxrun::command {

namespace {

namespace fs = std::filesystem;

using Words = std::initializer_list<std::string_view>;

bool isOneOf(std::string_view value, Words words) {
  return std::ranges::find(words, value) != words.end();
}

bool isNumber(std::string_view text) {
  uint64_t number;
  const char *const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end;
}

std::string ofSwitch(std::string_view value) {
  return value.empty() || isOneOf(value, {"0", "1"}) ? "" : "takes 0 or 1";
}

std::string ofCpu(std::string_view value) {
  return value.empty() || isOneOf(value, {"sse4", "avx2", "avx512"}) ? ""
                                                                     : "takes sse4, avx2 or avx512";
}

std::string ofTune(std::string_view value) {
  const std::span<const std::string> names = device::tunings();
  if (value.empty() || std::ranges::find(names, value) != names.end())
    return {};
  std::string text = "takes " + names.front();
  for (const std::string &name : names.subspan(1))
    text += (&name == &names.back() ? " or " : ", ") + name;
  return text;
}

std::string ofTiers(std::string_view value) {
  device::Tiers ignored;
  return device::readTiers(value, ignored) ? "" : "takes optimised, baseline or tiered";
}

/// As loader/machine reads it: "9.0", "90", "sm_90", "sm_90a".
std::string ofSm(std::string_view value) {
  if (value.empty())
    return {};
  std::string digits(value.starts_with("sm_") ? value.substr(3) : value);
  if (!digits.empty() && (digits.back() == 'a' || digits.back() == 'f'))
    digits.pop_back();
  std::erase(digits, '.');
  const int number = isNumber(digits) ? std::stoi(digits.substr(0, 4)) : 0;
  return number >= 50 && number <= 129 ? "" : "takes a compute capability: 9.0, 90 or sm_90";
}

std::string ofMemory(std::string_view value) {
  std::string_view number = value;
  if (!number.empty() && std::string_view("KMGT").find(number.back()) != std::string_view::npos)
    number.remove_suffix(1);
  return isNumber(number) ? "" : "takes bytes, or a number with K, M, G or T behind it";
}

std::string ofDevices(std::string_view value) {
  return value.empty() || machine::readDeviceCount(std::string(value).c_str())
             ? ""
             : "takes a number from 1 to " + std::to_string(machine::kMostDevices);
}

std::string ofGuard(std::string_view value) {
  return value.empty() || value == "exact" ? "" : "takes exact";
}

std::string ofLaunches(std::string_view value) {
  capture::RecordOptions ignored;
  return value.empty() || capture::readLaunches(value, ignored) ? "" : "takes A-B, two launches";
}

std::string ofInputs(std::string_view value) {
  return value.empty() || isOneOf(value, {"embed", "digest"}) ? "" : "takes embed or digest";
}

std::string ofCount(std::string_view value) {
  return value.empty() || isNumber(value) ? "" : "takes a number";
}

std::string ofFolder(std::string_view value) {
  std::error_code ignored;
  return value.empty() || fs::is_directory(value, ignored) ? "" : "takes a folder that exists";
}

std::string ofFile(std::string_view value) {
  std::error_code ignored;
  return value.empty() || fs::is_regular_file(value, ignored) ? "" : "takes a file that exists";
}

/// A file that will be written.
std::string ofOutput(std::string_view value) {
  std::error_code ignored;
  const fs::path folder = fs::absolute(value, ignored).parent_path();
  return fs::is_directory(folder, ignored) ? "" : "is in a folder that does not exist";
}

struct Setting {
  const char *name;
  /// What is wrong with a value, as "takes ..."; empty: nothing. Null where any text will do.
  std::string (*problemOf)(std::string_view value);
};
constexpr Setting kSettings[] = {
#define ENVIRONMENT(group, name, check, values, text) {name, check},
#include "loader/ptxrun/environment.def"
#undef ENVIRONMENT
};

WrongSetting unknown(const std::string &name) {
  std::vector<std::string> names;
  for (const Setting &setting : kSettings)
    if (std::string_view(setting.name).starts_with("PTXRUN"))
      names.emplace_back(setting.name);
  for (const device::LaunchSetting &setting : device::launchSettings())
    names.push_back(device::variableOf(setting));
  // The prefix is common to all: what counts is the rest.
  const std::string near = nearestWord(
      name, names, std::max<size_t>(2, (name.size() - std::min<size_t>(name.size(), 7)) / 3));
  return {name + " is no variable of ptxrun" + (near.empty() ? "" : "; did you mean " + near + "?"),
          near.empty() ? "unset " + name : "unset " + name + ", or set " + near + " instead"};
}

} // namespace

std::vector<WrongSetting> wrongSettings(std::span<const std::string> environment) {
  std::vector<WrongSetting> wrong;
  for (const std::string &entry : environment) {
    const size_t equals = entry.find('=');
    if (!entry.starts_with("PTXRUN") || equals == std::string::npos)
      continue;
    const std::string name = entry.substr(0, equals), value = entry.substr(equals + 1);
    const auto launch = std::ranges::find(device::launchSettings(), name, &device::variableOf);
    if (launch != device::launchSettings().end()) {
      device::LaunchOptions ignored;
      if (std::string problem = device::readSetting(*launch, name, value, ignored);
          !problem.empty())
        wrong.push_back({problem, "correct it or unset " + name});
      continue;
    }
    const auto found = std::ranges::find(kSettings, name,
                                         [](const Setting &one) { return std::string(one.name); });
    if (found == std::end(kSettings))
      wrong.push_back(unknown(name));
    else if (const std::string problem = found->problemOf ? found->problemOf(value) : "";
             !problem.empty())
      wrong.push_back(
          {name + "=" + value + ": " + (problem.starts_with("takes") ? name + " " : "") + problem,
           "correct it or unset " + name});
  }
  return wrong;
}

} // namespace ptxrun::command
