#include "loader/libnvml/affinity.h"

#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

namespace ptxrun::nvml {

namespace {
constexpr unsigned kBits = CHAR_BIT * sizeof(unsigned long);
constexpr size_t kMostWords = 1 << 14; // 2^20 processors
} // namespace

ProcessorSet usableProcessors() {
  // EINVAL: the kernel has more processors than the set has bits.
  for (size_t words = 16; words <= kMostWords; words *= 2) {
    ProcessorSet set(words);
    auto *mask = reinterpret_cast<cpu_set_t *>(set.data());
    if (sched_getaffinity(getpid(), words * sizeof(unsigned long), mask) == 0)
      return set;
    if (errno != EINVAL)
      break;
  }
  return {};
}

bool contains(const ProcessorSet &set, unsigned processor) {
  const size_t word = processor / kBits;
  return word < set.size() && (set[word] >> (processor % kBits) & 1);
}

} // namespace ptxrun::nvml
