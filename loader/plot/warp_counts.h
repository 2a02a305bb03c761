// What the warps of a launch do at each instruction, as a GPU would count it: how many threads are
// active, how many sectors of memory an access touches, how often a shared-memory access is
// repeated because threads want different words of one bank.
//
// The launch runs debugged, one thread at a time (rt/observe/stepper.h). What each thread did is
// kept until its block has ended; then the threads of a warp are run again together, on paper: of
// those that are in the innermost call, all at the first instruction of the program go first. So
// threads that took different ways wait for each other where the ways meet.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rt/observe/stepper.h"

namespace ptxrun::plot {

inline constexpr unsigned kSectorBytes = 32, kBanks = 32, kBankBytes = 4;

/// Of one instruction, in all warps.
struct Counts {
  uint64_t issues = 0;  ///< how often a warp executed it
  uint64_t threads = 0; ///< active in all of them together: 32 * issues where nothing diverges
  /// Accesses of memory but `.shared`: how many warps' requests, the sectors of 32 bytes that they
  /// touched, and those that the bytes would have filled side by side.
  uint64_t requests = 0, sectors = 0, fullSectors = 0;
  /// Accesses of `.shared` memory: requests, passes over the banks that they took, and those that
  /// the bytes need without conflicts.
  uint64_t sharedRequests = 0, passes = 0, freePasses = 0;

  Counts &operator+=(const Counts &);
};

/// One thread's access, as ptxrun_access announces it.
struct Access {
  uint64_t address = 0;
  uint32_t bytes = 0;
};

/// How many sectors of 32 bytes the accesses touch.
uint64_t sectorsOf(const std::vector<Access> &);
/// How often the banks (32, of 4 bytes) are gone over. Words that several threads want count once;
/// threads with 8 bytes go by half warps, with 16 bytes by quarters.
///   lanes   the lane of each access
uint64_t passesOf(const std::vector<Access> &, const std::vector<unsigned> &lanes);

class WarpCounter final : public rt::Stepper {
 public:
  /// Gives up, and the launch with it, where threads that wait for each other do more than `limit`
  /// steps.
  explicit WarpCounter(uint64_t limit = uint64_t{1} << 28) : limit_(limit) {}

  void groupStarts(uint64_t) override { finish(); }
  void enter(rt::SteppedThread, const uint64_t *frame, uint32_t function) override;
  Answer step(rt::SteppedThread, uint32_t instruction) override;
  bool goOn(rt::SteppedThread) override { return true; }
  void access(rt::SteppedThread, uint64_t address, uint32_t bytes, uint32_t kind) override;
  void leave(rt::SteppedThread, bool isExit) override;

  /// To be called when the launch has ended.
  void finish();
  const std::map<uint32_t, Counts> &counts() const { return counts_; } ///< by instruction
  uint64_t warps() const { return warps_; }
  bool isGivenUp() const { return isGivenUp_; }

 private:
  struct Step {
    uint32_t instruction = 0, depth = 0;
    uint64_t firstAccess = 0; ///< in Thread::accesses; up to that of the next step
  };
  struct Thread {
    std::vector<Step> steps;
    std::vector<Access> accesses;
    std::vector<bool> areShared;
    uint32_t depth = 0;
  };
  Thread &threadOf(rt::SteppedThread);
  void countWarp(std::vector<Thread *> &);
  void countAccesses(const std::vector<Thread *> &, const std::vector<size_t> &at,
                     const std::vector<unsigned> &lanes, Counts &);

  const uint64_t limit_;
  uint64_t steps_ = 0;
  std::map<uint64_t, std::map<uint32_t, Thread>> blocks_; ///< threads of blocks in flight
  uint64_t lastBlock_ = ~uint64_t{0};
  uint32_t lastThread_ = 0;
  Thread *last_ = nullptr;
  std::map<uint32_t, Counts> counts_;
  uint64_t warps_ = 0;
  bool isGivenUp_ = false;
};

} // namespace ptxrun::plot
