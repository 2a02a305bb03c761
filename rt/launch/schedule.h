// Schedules: who runs next, where more than one may.
//
//   fast         any order, all workers
//   serial       blocks in order, gangs in order; each runs until it waits
//   reverse      blocks from the last to the first, and of the gangs that can run the last
//   oldestFirst  of the gangs that can run always the first, of the first block that has any
//   lockstep     all gangs of four blocks in turn, one access of memory each
//   gangs        blocks in order, so many threads of one at a time in turn, one access each: nearly
//   what a gang of so many lanes does seeded       drawn by a seed, see controller.h scripted
//   serial, but for the switches that a script lists
//
// All but fast run on one worker and repeat themselves exactly, given the same code. Where the code
// announces its accesses (ptxrun_access), a gang can be made to wait there for others; else only
// where it waits anyway.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "intrinsics/abi.h"

namespace ptxrun::rt {

enum class Schedule { fast, serial, reverse, oldestFirst, lockstep, gangs, seeded, scripted };

/// A gang, by its linear block and its first thread in the block.
struct GangPlace {
  uint64_t block = 0;
  uint32_t thread = 0;
  auto operator<=>(const GangPlace &) const = default;
};

/// Stands for a gang before the first: the switch at its point 0 says who begins.
inline constexpr GangPlace kScheduleStart{~uint64_t{0}, 0};

/// At its `point`-th point (accesses it announced and waits, from 1 on) gang `at` gives way to
/// `next`. Where it gives way there anyway, `next` is who comes then.
struct ScheduleSwitch {
  GangPlace at;
  uint64_t point = 0;
  GangPlace next;
  auto operator<=>(const ScheduleSwitch &) const = default;
};

/// The access at a gang's point that is out of order (weak_memory.h).
struct SchedulePoint {
  GangPlace at;
  uint64_t point = 0;
  auto operator<=>(const SchedulePoint &) const = default;
};

/// The switches of one launch, in any order, how many groups (blocks or clusters) are in flight
/// at a time, and the accesses that are out of order.
struct ScheduleScript {
  uint32_t resident = 1;
  std::vector<ScheduleSwitch> switches;
  std::vector<SchedulePoint> unordered;
};

/// An access as a gang announced it.
struct ScheduleAccess {
  GangPlace at;
  uint64_t point = 0;
  uint64_t address = 0; ///< host address, or offset in the `.shared` window
  uint32_t bytes = 0, line = 0;
  abi::AccessKind kind = abi::AccessKind::load;
  bool isShared = false;
};

/// A write that a later reader did not see, since nothing orders them.
struct UnorderedPair {
  ScheduleAccess write, reader;
  bool isReaderEarly = false; ///< the reader, not the write, was out of order
};

/// What a launch tells of its schedule as it runs. Owned by the caller.
struct ScheduleRecord {
  ScheduleScript script; ///< the same order again
  uint64_t points = 0;   ///< accesses and waits of all gangs
  bool keepsAccesses = false;
  uint64_t watchBegin = 0,
           watchEnd = ~uint64_t{0}; ///< host addresses: accesses elsewhere are not kept
  size_t mostAccesses = 1 << 22;
  std::vector<ScheduleAccess> accesses; ///< in the order in which they happened
  size_t mostSwitches = 1 << 20;
  std::vector<UnorderedPair> unordered; ///< in the order in which they happened
  size_t mostUnordered = 1 << 16;
  bool isCut = false; ///< there were more switches or accesses than are kept
};

} // namespace ptxrun::rt
