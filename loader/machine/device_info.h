// The devices: what the machine is, and what it shows programs. All are the same processors, with
// names and memory of their own. The driver API and NVML answer from here, so that they cannot
// disagree.
#pragma once
#include <array>
#include <cstddef>
#include <optional>
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
  PciAddress pci;         ///< of no bus there is: programs ask for one
  size_t totalMemory = 0; ///< of this device
  std::string complaint;  ///< what in the environment was not understood; empty when all was

  int architecture() const { return major * 10 + minor; }
};

inline constexpr unsigned kMostDevices = 16;

/// PTXRUN_DEVICES, from 1 on; 1 where it is not set. Read once.
unsigned deviceCount();
/// Read once from the machine and the environment. Devices differ in `uuid` and `pci`. Thread-safe.
///   index   below deviceCount()
const DeviceInfo &deviceInfo(unsigned index = 0);
/// "GPU-" and the UUID in hexadecimal.
std::string uuidText(const DeviceInfo &);
/// What PTXRUN_DEVICES asks for; nothing where it is no number from 1 to kMostDevices.
std::optional<unsigned> readDeviceCount(const char *text);

/// Domain, bus and slot in hexadecimal, "0000:00:00.0", or without a domain "00:00"; the function
/// (".0") may be missing. False where `text` is neither.
bool readPciAddress(const char *text, PciAddress &);

} // namespace ptxrun::machine
