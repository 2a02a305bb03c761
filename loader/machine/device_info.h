// The one device: what the machine is, and what it shows programs. The driver API and NVML answer
// from here, so that they cannot disagree.
#pragma once
#include <array>
#include <cstddef>
#include <string>

namespace ptxrun::machine {

struct PciAddress {
  unsigned domain = 0, bus = 0, slot = 0;
  bool operator==(const PciAddress &) const = default;
};

struct DeviceInfo {
  std::string name;         ///< "ptxrun CPU (<model>)"
  int major = 9, minor = 0; ///< PTXRUN_SM: "9.0", "90", "8.6", "12.0"
  int workers = 1;          ///< hardware threads this process may use
  /// As programs see them: the workers, but from 9.0 on no fewer than the largest cluster has
  /// blocks. Persistent kernels divide them by the blocks of a cluster and launch that many
  /// clusters.
  int multiprocessors = 1;
  int clockKilohertz = 0;
  int lastLevelCacheBytes = 0;
  int sharedPerBlockOptin = 0; ///< as the compute capability has it
  int threadsPerMultiprocessor = 2048;
  std::array<char, 16> uuid{};
  PciAddress pci; ///< of no bus there is: programs ask for one
  size_t totalMemory = 0;
  std::string complaint; ///< what in the environment was not understood; empty when all was

  int architecture() const { return major * 10 + minor; }
};

/// Read once from the machine and the environment. Thread-safe.
const DeviceInfo &deviceInfo();

/// Domain, bus and slot in hexadecimal, "0000:00:00.0", or without a domain "00:00"; the function
/// (".0") may be missing. False where `text` is neither.
bool readPciAddress(const char *text, PciAddress &);

} // namespace ptxrun::machine
