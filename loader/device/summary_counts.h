// What a summary is made of, apart from how it is counted and shown.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "loader/device/summary.h"
#include "translate/isa/accuracy.h"

namespace ptxrun::device::summary {

struct KernelCounts {
  std::string name; ///< as the PTX has it
  uint64_t launches = 0, nanoseconds = 0;
  uint64_t baselineLaunches = 0;
  std::vector<unsigned> lanes; ///< every W that ran, in order
};

struct TransferCounts {
  uint64_t count = 0, bytes = 0, nanoseconds = 0;
};

/// A form in the text of launched kernels.
struct FormCounts {
  std::string_view notation; ///< the manual's line
  isa::Accuracy accuracy;
  uint64_t instructions = 0; ///< as the text has them, whatever was executed, and how often
};

struct Counts {
  uint64_t wallNanoseconds = 0; ///< since start()
  std::vector<KernelCounts> kernels;
  std::vector<FormCounts> forms;
  std::array<TransferCounts, kDirections> transfers;
  uint64_t modules = 0, cacheHits = 0, cacheMisses = 0;
  uint64_t loadNanoseconds = 0, compileNanoseconds = 0;
  uint64_t peakBytes = 0;
  /// Launches that were over so soon that starting them is a good part of what they cost.
  uint64_t tinyLaunches = 0, tinyNanoseconds = 0, tinyThreads = 0;
};

/// A launch that took less is tiny.
inline constexpr uint64_t kTinyNanoseconds = 20'000;

/// The page of text().
std::string describe(const Counts &);

} // namespace ptxrun::device::summary
