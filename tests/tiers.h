// The tier that tests run: PTXRUN_TIERS, else optimised.
#pragma once
#include <cstdlib>

#include "loader/device/device.h"

namespace ptxrun {

inline device::Tiers wantedTiers() {
  auto tiers = device::Tiers::optimised;
  const char *value = std::getenv("PTXRUN_TIERS");
  if (value && !device::readTiers(value, tiers))
    std::abort();
  return tiers;
}

} // namespace ptxrun
