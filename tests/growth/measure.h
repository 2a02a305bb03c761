// CPU time that translating a module takes, stage by stage.
#pragma once
#include <map>
#include <string>

#include "translate/simt/gang_module.h"

namespace ptxrun::growth {

struct Cost {
  std::string error;                    ///< diagnostics; empty if it compiled
  size_t instructions = 0;              ///< of PTX, in all functions
  double milliseconds = 0;              ///< CPU time of this thread, from text to code
  std::map<std::string, double> stages; ///< the same, by stage
};

/// Translates the kernel `k` of a module for blocks of 256 threads, without a cache.
Cost measure(const std::string &text, Tier, unsigned lanes = 0);

} // namespace ptxrun::growth
