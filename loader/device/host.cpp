#include "loader/device/host.h"

#include "translate/jit/code_cache.h"
#include "translate/jit/jit.h"

namespace ptxrun::device {

Host host() {
  const CpuLevel used = jit::cpuLevel();
  Host found;
  found.level = jit::levelName(jit::bestCpuLevel());
  found.usedLevel = jit::levelName(used);
  found.vectorBytes = jit::hostTarget().vectorBytes();
  found.cacheFolder = jit::cacheDirectory("");
  return found;
}

std::span<const std::string> tunings() { return jit::tunings(); }

} // namespace ptxrun::device
