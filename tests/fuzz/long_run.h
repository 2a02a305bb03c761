// What the fuzzers that draw their own inputs are told on the command line: NAME=VALUE.
#pragma once
#include <charconv>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace ptxrun::fuzz {

struct LongRun {
  explicit LongRun(uint64_t inputs) : count(inputs) {}
  uint64_t count, seed = std::random_device{}();
  double seconds = 0; ///< of the clock; 0: until `count` are done
  std::string keep;   ///< folder for findings; empty: none
};

/// count=N, seconds=S, seed=N or keep=FOLDER. False for anything else, and for what is no number.
inline bool readSetting(std::string_view text, LongRun &run) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos)
    return false;
  const std::string_view name = text.substr(0, equals), value = text.substr(equals + 1);
  const auto number = [&](auto &to) {
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), to);
    return error == std::errc() && end == value.data() + value.size();
  };
  if (name == "keep")
    return run.keep = value, true;
  if (name == "seconds") {
    run.count = UINT64_MAX;
    return number(run.seconds);
  }
  return name == "count" ? number(run.count) : name == "seed" && number(run.seed);
}

} // namespace ptxrun::fuzz
