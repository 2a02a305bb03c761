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
/// Memory at the same addresses in every process, for recordings: from now on blocks come from one range of addresses in the
/// order in which they are asked for, an address is not used again before the range is used up, and all contents begin as
/// zero. To be called before the first allocation. False where the range is not free.
bool useDeviceArena();
bool usesDeviceArena();
inline constexpr uint64_t kDeviceArena = uint64_t{0x20} << 40, kDeviceArenaBytes = uint64_t{0x18} << 40;
/// The part of the range where malloc of kernels allocates.
inline constexpr uint64_t kDeviceHeapArena = kDeviceArena + kDeviceArenaBytes;
/// Memory at a given address (as a recording names it), zero; its pages may hold other blocks placed so. Null where
/// something else lies there.
void *allocateDeviceAt(uint64_t base, uint64_t bytes, uint32_t tag = 0);
/// The thread's next allocateDevice returns this address (by allocateDeviceAt); 0: wherever there is room.
void placeNextDeviceBlock(uint64_t base);
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
