// Lines for the user, on stderr: this library lives in a namespace of its own, away from the
// program's streams.
#pragma once
#include <unistd.h>

#include <initializer_list>
#include <string>
#include <string_view>

namespace ptxrun::audit {

inline void report(std::initializer_list<std::string_view> parts) {
  std::string line = "ptxrun: ";
  for (const std::string_view part : parts)
    line += part;
  line += '\n';
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

} // namespace ptxrun::audit
