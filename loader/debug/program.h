// What is debugged: launches that can be run again and again from the same memory.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "loader/device/device.h"

namespace ptxrun::debug {

/// One launch of a Program. Everything it refers to lives as long as the Program.
struct LaunchFacts {
  device::Module *module = nullptr;
  const device::KernelInfo *kernel = nullptr;
  std::string text; ///< the module's PTX
  abi::Dim3 grid, block;
  const void *params = nullptr; ///< KernelInfo::parameterBytes bytes
  bool isRepeatable =
      true; ///< it can begin in the middle of the grid: one block at a time, in order
};

/// Whether a launch with such options can begin in the middle of the grid.
inline bool isRepeatable(const device::LaunchOptions &options) {
  const bool isBlockByBlock =
      options.schedule == rt::Schedule::serial || options.schedule == rt::Schedule::gangs;
  return isBlockByBlock && options.cluster.x == 0 && !options.isCooperative;
}

/// How a launch came out.
struct LaunchResult {
  device::Outcome outcome;
  std::string printed; ///< by the kernel
};

class Program {
 public:
  struct Memory {
    char *base = nullptr;
    uint64_t bytes = 0;
  };

  virtual ~Program() = default;
  virtual size_t launches() const = 0;
  virtual const LaunchFacts &launch(size_t) const = 0;
  /// What people call launch n: its number in the recording, or from 0 on.
  virtual uint64_t numberOf(size_t n) const { return n; }
  /// All memory that the kernels can write to, malloc's of kernels excepted. The same at every
  /// call.
  virtual std::vector<Memory> memory() const = 0;
  /// Runs launch n, debugged, on the calling thread: from its group `firstGroup` on, or from where
  /// `from` (or null) was taken.
  virtual LaunchResult run(size_t n, rt::Stepper &, uint64_t firstGroup,
                           const rt::LaunchCheckpoint *from) = 0;
  /// After the last launch: what is not as it should be, if that is known.
  virtual std::string check() { return {}; }
};

} // namespace ptxrun::debug
