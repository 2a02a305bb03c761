// Readers of settings (launch_settings.h) by type. Each answers whether the text is one it takes,
// or what is wrong with it, empty: nothing; the value is as it was then.
// textOf is the way back.
#pragma once
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "intrinsics/matrix/policy.h"

namespace ptxrun::device {

template <class Number> bool readNumber(std::string_view text, Number &number) {
  Number read{};
  const char *end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, read);
  if (text.empty() || error != std::errc() || rest != end)
    return false;
  number = read;
  return true;
}

/// 0 or 1.
inline bool readFlag(std::string_view text, bool &flag) {
  if (text != "0" && text != "1")
    return false;
  flag = text == "1";
  return true;
}

/// A width of gangs; 0: chosen per kernel.
inline bool readLanes(std::string_view text, unsigned &lanes) {
  unsigned read = 0;
  if (!readNumber(text, read) || (read != 0 && read != 1 && read != 8 && read != 16 && read != 32))
    return false;
  lanes = read;
  return true;
}

inline bool readMatrix(std::string_view text, matrix::PolicyChoice &choice) {
  const auto read = matrix::readPolicy(text);
  choice = read.value_or(choice);
  return read.has_value();
}

inline bool readChecks(std::string_view text, Checks &checks) {
  if (text != "none" && text != "alignment")
    return false;
  checks.alignment = text == "alignment";
  return true;
}

inline std::string textOf(Checks checks) { return checks.alignment ? "alignment" : "none"; }
inline std::string textOf(bool flag) { return flag ? "1" : "0"; }
inline std::string textOf(unsigned number) { return std::to_string(number); }
inline std::string textOf(matrix::PolicyChoice choice) {
  return choice.isExact ? "exact" : matrix::policyName(choice.policy);
}

inline std::string readSeconds(std::string_view text, std::chrono::nanoseconds &time) {
  double seconds = 0;
  if (!readNumber(text, seconds) || !(seconds > 0) || !(seconds < 9e9))
    return "takes a number of seconds above 0";
  time = std::chrono::nanoseconds(static_cast<int64_t>(std::ceil(seconds * 1e9)));
  return {};
}

} // namespace ptxrun::device
