// What generated code runs on, for people who ask.
#pragma once
#include <span>
#include <string>

namespace ptxrun::device {

struct Host {
  std::string level;       ///< the processor's: "sse4", "avx2" or "avx512"
  std::string usedLevel;   ///< that code is generated for: the same, unless PTXRUN_CPU says less
  int vectorBytes = 0;     ///< of the level that is used
  std::string cacheFolder; ///< of the code cache; empty: there is none
};

/// Read from the processor and the environment.
Host host();

/// What PTXRUN_TUNE takes.
std::span<const std::string> tunings();

} // namespace ptxrun::device
