// Processes tell one another that they use the devices: each has a page in a file without a name,
// which others of the same user find among its open files. Nothing is left when it ends.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace ptxrun::machine {

/// From now on other processes see this one. Does nothing where the system has no such files.
void announceProcess();
/// What this process holds of a device now; it uses it from the first call on. Nothing before
/// announceProcess().
void announceMemory(unsigned device, uint64_t bytes);

struct OtherProcess {
  pid_t process;
  uint64_t heldBytes;
};
/// Other processes that use the device, by their numbers.
std::vector<OtherProcess> otherProcesses(unsigned device);

} // namespace ptxrun::machine
