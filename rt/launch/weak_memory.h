// What the memory model allows beyond interleavings: stores that others see late, and loads that
// happened early. For kernels that lack a fence, or whose fences and atomics have too small a
// scope.
//
// Memory itself holds what everybody sees. The accesses that are drawn (or that a script lists) are
// out of order:
//
//   a store      is kept by its thread. After a release or fence of scope .cta the threads of its
//                block see it, after one of a larger scope, by any thread that sees it, all do
//   an atomic    of scope .cta: what it leaves is seen by its block only, until then
//   a load       takes the oldest value that coherence and the thread's last acquire (fence,
//                barrier) leave it. An atomic that all see counts as an acquire here: GPUs do not
//                make loads before one, and many programs rely on that
//
// A thread always sees its own stores, and what it has seen stays seen. Barriers and collectives of
// a block are taken to be fences of scope .cta (barriers count who has exited among those that
// arrived, so they are also such a fence at the end of each of these), operations of the runtime
// (copies, mbarriers, malloc) fences of scope .gpu, and .cluster to be .gpu: nothing that the model
// forbids is shown, and not all that it allows. What nobody ever orders is seen when nobody else
// can go on, after kMostDelay further points, or at the end of the launch.
//
// How: one thread runs at a time, and tells of each access just before it is made. So a load is
// given its value by putting it into memory until the thread's next point, and a store is taken
// back there.
#pragma once
#include <array>
#include <map>
#include <unordered_map>
#include <vector>

#include "rt/launch/records.h"
#include "rt/launch/schedule.h"

namespace ptxrun::rt {

class WeakMemory {
 public:
  static constexpr uint64_t kMostDelay = 1 << 16;

  /// Whether an access is to be out of order where it can be. Asked where that makes a difference
  /// for loads, and at each store that can be late.
  class Chooser {
   public:
    virtual ~Chooser() = default;
    virtual bool isOutOfOrder(const ScheduleAccess &) = 0;
  };

  /// `record` (or null) is told whom a difference was seen by.
  WeakMemory(Chooser &chooser, ScheduleRecord *record) : chooser_(chooser), record_(record) {}

  /// The gang, of one thread, makes the access next. `kind` as ptxrun_access has it.
  void access(const GangState &, const ScheduleAccess &, uint32_t kind);
  /// The access that was told of last has been made: another gang may run.
  void settle();
  /// The access that was told of last was not made: the launch has failed.
  void abandon() { write_.isThere = false; }
  /// The thread has ended: who waits at a barrier sees what it did, and so far nobody else.
  void exit(GangPlace);
  /// Nobody can go on: everybody sees everything.
  void publishAll();
  /// Shared memory of the group's blocks is no more.
  void close(const GroupState &);

 private:
  static constexpr uint32_t kCellBytes = 8, kMostBytes = 16;
  static constexpr size_t kMostCells = 1 << 18, kMostVersions = 4;

  /// A store, or an atomic's result, that not everybody sees.
  struct Late {
    uint64_t address = 0;
    uint32_t bytes = 0, alive = 0; ///< bit i: byte i was not overwritten by one that saw it
    std::array<char, kMostBytes> value{};
    bool isOfBlock = false; ///< its block sees it,
    uint64_t ofBlockSince = 0;
    uint64_t madeAt = 0;
    ScheduleAccess by;
  };
  /// What a cell held before a write that everybody sees.
  struct Version {
    uint64_t end = 0, endInBlock = 0; ///< when it was overwritten: for all, for the writer's block
    uint64_t contents = 0;
    ScheduleAccess by; ///< who overwrote it
  };
  /// Eight bytes of memory.
  struct Cell {
    std::vector<uint64_t> late;    ///< numbers, ascending
    std::vector<Version> versions; ///< the oldest first
    /// Since when what a thread read of the first, the second four bytes is there.
    std::map<std::pair<GangPlace, bool>, uint64_t> seenSince;
  };
  struct Thread {
    uint64_t acquired = 0, acquiredOfBlock = 0;     ///< it sees what all, its block, wrote before
    bool acquires = false, acquiresOfBlock = false; ///< from its next access on
    bool waitsForAll = false;                       ///< it is at a barrier until its next access
    std::vector<uint64_t> late;
  };
  struct Block {
    uint64_t acquired = 0; ///< what its threads saw when they released
    std::vector<uint64_t> late;
    std::vector<uint64_t> sharedCells;
    std::vector<GangPlace> exited; ///< and no barrier passed since
  };
  struct Write {
    bool isThere = false, isLate = false, isOfBlock = false;
    uint64_t address = 0;
    uint32_t bytes = 0;
    std::vector<uint64_t> cellsBefore;
    ScheduleAccess by;
  };

  static bool isSeenBy(const Late &late, GangPlace who) {
    return late.by.at == who || (late.isOfBlock && late.by.at.block == who.block);
  }
  Cell *cellAt(uint64_t address, bool isToBeMade);
  void load(const ScheduleAccess &, uint64_t address);
  void store(const ScheduleAccess &, uint64_t address);
  void atomic(const ScheduleAccess &, uint64_t address, uint32_t kind);
  void beginWrite(const ScheduleAccess &, uint64_t address, bool isLate, bool isOfBlock);
  void endWrite();
  void release(GangPlace, bool isBeyondCta);
  void releaseExited(const GangState &);
  void publish(std::vector<uint64_t> numbers);
  void publishSeen(const ScheduleAccess &, uint64_t address);
  enum class Audience : uint8_t { thread, block, all };
  void supersede(const ScheduleAccess &, uint64_t address, Audience);
  void noteVersion(uint64_t cellAddress, uint64_t before, uint64_t endInBlock,
                   const ScheduleAccess &by);
  void noteUnseen(const ScheduleAccess &write, const ScheduleAccess &reader, bool isReaderEarly);
  void forget(uint64_t number);
  void choose(Cell &, uint64_t at, uint64_t address, const ScheduleAccess &, bool hasOwn,
              uint64_t &contents);
  void patch(uint64_t cellAddress, uint64_t contents);
  /// A cell's bytes as the thread sees them.
  uint64_t seen(const Cell &, uint64_t cellAddress, const ScheduleAccess &reader, bool *hasOwn);

  Chooser &chooser_;
  ScheduleRecord *const record_;
  uint64_t now_ = 0, lastNumber_ = 0;
  std::map<uint64_t, Late> late_; ///< by number, in the order of stores
  std::unordered_map<uint64_t, Cell> cells_;
  std::map<GangPlace, Thread> threads_;
  std::unordered_map<uint64_t, Block> blocks_;
  std::vector<std::pair<uint64_t, uint64_t>> patched_; ///< cell, what memory holds
  Write write_;
};

} // namespace ptxrun::rt
