// What `ptxrun inspect` says of one kernel of PTX.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "loader/device/device.h"

namespace ptxrun::command {

struct ExamineOptions {
  std::vector<uint32_t> block; ///< to compile for; empty: .reqntid, .maxntid, else 256
  unsigned lanes = 0;          ///< W; 0: chosen
};

/// Where a form is used.
struct Uses {
  uint32_t firstLine = 0;
  unsigned count = 0;
};

/// What is said of one kernel.
struct Findings {
  device::ScheduleDependence schedule;
  const device::KernelInfo *kernel = nullptr;
  abi::Dim3 block;
  bool isCompiled = false;
  abi::KernelNeeds needs;
  std::string reason;                         ///< why this W
  std::string problem;                        ///< why it does not compile
  std::map<std::string, Uses> notImplemented; ///< by form
};

/// Compiles the kernel to see how it would run.
Findings examine(device::Module &, const device::KernelInfo &, const ExamineOptions &);
/// A paragraph on standard output; `file` is what the PTX's lines are counted in.
void printText(const std::string &file, const Findings &);
nlohmann::json toJson(const Findings &);

} // namespace ptxrun::command
