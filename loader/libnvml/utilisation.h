// How busy the device is: the share of time in which its processors ran anything, by /proc/stat.
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>

namespace ptxrun::nvml {

/// Clock ticks that went by on the processors this process may use, summed up.
struct ProcessorTime {
  uint64_t busy = 0, all = 0;
};
/// All zero where the system does not say.
ProcessorTime readProcessorTime();

/// Answers for the time since it was asked last. Thread-safe.
class UtilisationMeter {
 public:
  /// The time before does not count.
  void start();
  /// 0 to 100. Within kShortest of the last question its answer again; nothing where the system
  /// does not count, or has not counted yet since start().
  std::optional<unsigned> percent();

 private:
  static constexpr uint64_t kShortest = 5; ///< ticks, a hundredth of a second each
  std::mutex mutex_;
  ProcessorTime before_;
  std::optional<unsigned> last_;
};

/// The one of this process.
UtilisationMeter &utilisationMeter();

} // namespace ptxrun::nvml
