// Device memory: host memory that kernels address directly. Blocks lie apart from each other, so
// that most accesses outside one hit an inaccessible page.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace ptxrun::rt {

struct Allocation {
  uint64_t base = 0;
  uint64_t bytes = 0;
  uint32_t tag = 0; ///< the caller's (kind of memory, context)
};

/// Memory of at least one byte; null when there is none. 256-byte aligned, blocks of 2 MiB and more
/// 2 MiB-aligned on huge pages where the system has them. The first pages of a block fresh from the
/// system read as zero, others are undefined. At least 256 bytes behind the block can be read and
/// written and belong to nobody, unless the environment has PTXRUN_GUARD=exact.
void *allocateDevice(uint64_t bytes, uint32_t tag = 0);
/// False where `base` is not the start of a live allocation.
bool freeDevice(void *base);
/// The live allocation that contains `address`.
std::optional<Allocation> findDevice(uint64_t address);
/// Sum of live allocations.
uint64_t deviceBytesInUse();
/// What the address is to the allocations: "0x... is 8 bytes past the end of an allocation of 1024
/// bytes at 0x...", or before, or inside a freed one; "" where none is near.
std::string describeDeviceAddress(uint64_t address);

} // namespace ptxrun::rt
