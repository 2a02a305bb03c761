// Tensor memory of a CTA (PTX ISA 9.7.16.1): 128 lanes of 512 columns of 32 bits.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "rt/launch/records.h"
#include "rt/launch/worker.h"

namespace ptxrun::rt {

struct TensorAddress {
  uint32_t lane, column;
};
inline TensorAddress tensorAddress(uint32_t word) { return {word >> 16, word & 0xffff}; }

struct TensorMemory {
  static constexpr unsigned kLanes = 128, kColumns = 512;
  /// Columns are given out by 32.
  static constexpr unsigned kUnit = 32, kUnits = kColumns / kUnit;

  alignas(64) uint32_t cells[kLanes][kColumns];
  uint32_t taken = 0;             ///< mask of units
  uint8_t unitsFrom[kUnits] = {}; ///< units of the allocation that begins at this one
  bool isGivenUp = false;         ///< relinquish_alloc_permit

  /// Mask of units that columns `first` to first + count - 1 (of a legal range) touch.
  static uint32_t unitsOf(uint32_t first, uint32_t count) {
    const uint32_t begin = first / kUnit, end = (first + count + kUnit - 1) / kUnit;
    return (end >= 32 ? ~0u : (1u << end) - 1) & ~((1u << begin) - 1);
  }
  bool isAllocated(uint32_t first, uint32_t count) const {
    return first + count <= kColumns && (unitsOf(first, count) & ~taken) == 0;
  }
};

/// Why an allocation waits, and what it wants.
struct AllocationRequest {
  GangState *gang = nullptr;
  bool isPair = false;
  bool isSuspended = false;
  uint32_t columns = 0;
  uint32_t *to = nullptr; ///< in shared memory: receives the address
};

/// The CTA's, made if need be.
TensorMemory &tensorMemoryOf(GangState &, CtaState &);
/// The other CTA of a CTA pair; fails the launch where there is none.
CtaState &peerOf(GangState &, const char *instruction);
/// Ends the launch: "tcgen05.mma: <what> in thread block ...". Takes the text, since the caller's
/// stack is abandoned.
[[noreturn]] void failTensor(GangState &, const char *instruction, std::string &&what);
/// Columns first to first + count - 1 of the CTA must be allocated; else fails the launch.
TensorMemory &requireColumns(GangState &, CtaState &, const char *instruction, const char *what,
                             uint32_t first, uint32_t count);
/// A CTA has ended: what it allocated must have been given back (9.7.16.1.2).
void checkTensorMemory(GangState &);
/// What a gang that waits in tcgen05.alloc waits for, for reports.
std::string describeAllocation(const GangState &);

} // namespace ptxrun::rt
