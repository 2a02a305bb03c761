// Launches that can be run again and again from the same contents, under one schedule after the
// other.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "loader/device/device.h"

namespace ptxrun::command {

/// How to run a workload once.
struct ScheduleTry {
  std::string schedule =
      "serial"; ///< as device::readSchedule takes it; with a script: its name for people
  std::shared_ptr<const device::ScheduleFile> script = nullptr; ///< instead, if set
  std::vector<rt::ScheduleRecord> *records = nullptr; ///< one per launch, made if they are missing
  bool keepsAccesses = false;
};

/// What came out. Equal results have equal contents, failure and text.
struct WorkloadResult {
  std::string failure; ///< the kind of it; empty: none
  std::string message;
  std::string printed;
  std::vector<std::string> contents; ///< of the buffers, as names() has them
  bool isSame(const WorkloadResult &other) const {
    return failure == other.failure && printed == other.printed &&
           (!failure.empty() || contents == other.contents);
  }
};

class Workload {
 public:
  virtual ~Workload() = default;
  virtual WorkloadResult run(const ScheduleTry &) = 0;
  virtual std::vector<std::string> names() const = 0;
  /// "x[12] of f32" for a byte of a buffer.
  virtual std::string describeByte(size_t buffer, uint64_t offset) const = 0;
  /// The module, its text and the shape of the n-th launch.
  struct LaunchInfo {
    const device::Module *module = nullptr;
    std::string text, kernel;
    abi::Dim3 grid, block;
  };
  virtual LaunchInfo launch(uint64_t number) const = 0;
};

struct ExploreOptions {
  unsigned seeds = 200;
  uint64_t firstSeed = 0;
  bool isThorough = false; ///< goes on after the first seed whose results differ
  double shrinkSeconds = 20;
  std::string output; ///< the script's file
};

/// Tries all named orders and the seeds; reports on standard output. True if all results are the
/// same.
bool explore(Workload &, const ExploreOptions &);

} // namespace ptxrun::command
