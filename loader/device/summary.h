// What a process did on the device, counted for a page of text at its end: kernels by time,
// transfers, compilation, memory. Off (the default), each place costs one test of a constant.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ptxrun::device::summary {

/// Set by start(), before anything is loaded.
extern bool isCounting;
inline bool isOn() { return __builtin_expect(isCounting, false); }

/// Counts from now on, for the rest of the process.
void start();
/// The page, for people; its last line ends with a line feed. Any time, any thread.
std::string text();

/// Nanoseconds since it was made; 0 where nothing is counted.
class Stopwatch {
 public:
  Stopwatch() {
    if (isOn())
      begin_ = std::chrono::steady_clock::now();
  }
  uint64_t nanoseconds() const {
    if (!isOn())
      return 0;
    const std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - begin_;
    return static_cast<uint64_t>(taken.count());
  }

 private:
  std::chrono::steady_clock::time_point begin_;
};

// All below: from any thread; to be called only where isOn().

/// Which code a launch ran.
enum class Code { baseline, optimised };
/// A launch that ended, well or not.
void noteLaunch(std::string_view kernel, unsigned lanes, Code, uint64_t threads,
                uint64_t nanoseconds);
/// A kernel's code was compiled, or found in the cache on disk.
void noteCompilation(bool isFromCache, uint64_t nanoseconds);
/// A module's text was parsed and checked.
void noteLoad(uint64_t nanoseconds);

enum class Direction { hostToDevice, deviceToHost, deviceToDevice, hostToHost, fill };
inline constexpr size_t kDirections = 5;
void noteTransfer(Direction, uint64_t bytes, uint64_t nanoseconds);

/// Memory was allocated; `bytes` are now in use by what rt allocates.
void noteMemory(uint64_t bytes);
/// Memory that rt does not know (files that are mapped) became more, or less.
void noteMappedMemory(int64_t change);

} // namespace ptxrun::device::summary
