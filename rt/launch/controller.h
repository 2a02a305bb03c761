// Who runs next under every schedule but fast and serial: one worker, one choice at a time.
//
// A seeded schedule draws, by the seed alone (Random, the same numbers on every host), how many
// groups are in flight (2, 4, 8 or 16; all of a cooperative grid), and then
//
// even seeds: priorities as in PCT (Burckhardt and others, ASPLOS 2010). Each gang has a random
// priority, and the highest of those that can run does. There are 0 to 3 change points; at the
// i-th, an announced access, the gang that runs falls below all others. Change point i lies at
// point 2^e + r of the launch, e uniform in 0..19, r in 0..2^e - 1. A bug of depth d (d - 1 change
// points at the right places, d up to 4) is found by such a seed with probability at least
// 1 / (4 n (20 k)^(d-1)), where n gangs are in flight and the launch has k < 2^20 points. That is
// the bound of PCT, 1 / (n k^(d-1)), with d drawn and k not known before.
//
// odd seeds: a random walk. At every point the gang gives way with probability 2^-s, s uniform in
// 1..6, to any that can run: each group as likely, and each gang of it. No bound; finds what many
// gangs do at once (lost updates) soonest.
//
// Of four seeds the last two also draw what the memory model allows besides (weak_memory.h): each
// store, and each load of what others have overwritten, is out of order with a probability drawn
// for the seed: 1/2, 1/4 or 1/8 for stores, 1/2, 1/4, 1/8 or 0 for loads.
//
// Gangs that spin count as such that can run at one choice of four, and where a gang gives way.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "rt/launch/records.h"
#include "rt/launch/schedule.h"
#include "rt/launch/spin_watch.h"
#include "rt/launch/weak_memory.h"
#include "rt/launch/worker.h"

namespace ptxrun::rt {

class Controller final : public WeakMemory::Chooser {
 public:
  /// What choices depend on besides the groups in flight, where accesses are in order.
  struct Turn {
    Random random;
    uint64_t points = 0, turn = 0, lastGroup = ~uint64_t{0};
    GangPlace lastPlace = kScheduleStart; ///< ran last
    uint64_t lastPoint = 0;
    bool mayTakeSpinning = false;
    bool hasYielded = false; ///< the last gang gave way though it need not have waited
    uint64_t seenProgress = 0, idleSince = 0; ///< of rounds in which nobody could go on
    uint32_t idleRounds = 0;
  };

  explicit Controller(const LaunchRequest &);

  /// Whether turn() is all that a launch needs to go on from here.
  bool canBeKept() const { return !weak_ && !record_; }
  Turn turn() const { return turn_; }
  void setTurn(const Turn &turn) { turn_ = turn; }
  Turn &turnNow() { return turn_; }

  uint32_t resident() const { return resident_; }
  /// The group is new: its gangs can run.
  void open(GroupState &);
  /// The running gang is at a point where it need not wait. True: it is to give way.
  bool isToYield(GangState &);
  /// The running gang waits, or is done.
  void noteWait(GangState &);
  /// Takes the gang to run next off its list; null if none can.
  GangState *choose(const std::vector<GroupState *> &inFlight);
  /// Whether it matters who runs between a store and a fence.
  bool countsFences() const { return weak_ != nullptr; }
  /// The running gang makes an access now (ptxrun_access).
  void noteAccess(GangState &, uint64_t address, uint32_t bytes, uint32_t kind, uint32_t line);
  /// The gang has returned, and its launch goes on.
  void noteExit(const GangState &);
  /// Every gang spins or waits.
  void noteIdle();
  /// After noteIdle(). `hasProgressed`: a gang has ended or come by a barrier since the last time.
  /// True: the launch hangs, and is to be ended.
  bool isHanging(bool hasProgressed);
  /// It is ended: who spun in which order does not matter.
  void forgetSpins();
  bool endsHangs() const { return endsHangs_; }
  /// The gangs of the group are done.
  void close(const GroupState &);
  /// The launch is over: memory is what all see.
  void finish(bool hasFailed);

 private:
  bool isOutOfOrder(const ScheduleAccess &) override;
  struct Key {
    GangPlace at;
    uint64_t point;
    auto operator<=>(const Key &) const = default;
  };

  void drawSeed(uint64_t seed);
  void drawMemory(uint64_t seed);
  void drawPriority(GangState &);
  /// Counts a point of the gang; true where a switch is asked for there.
  bool countPoint(GangState &);
  GangState *inOrder(const std::vector<GroupState *> &) const;
  GangState *preferred(const std::vector<GroupState *> &);
  GangState *anyOf(const std::vector<GroupState *> &);
  GangState *nextOfGang(const std::vector<GroupState *> &) const;
  GangState *nextOfScript(const std::vector<GroupState *> &) const;
  void recordChoice(const GangState &chosen, const GangState &usual);

  const Schedule schedule_;
  uint32_t resident_ = 1;
  const uint32_t gangThreads_;
  ScheduleRecord *const record_;
  std::map<Key, GangPlace> script_;
  const GangPlace *scripted_ = nullptr; ///< whom the script wants now
  Turn turn_;
  std::unique_ptr<WeakMemory> weak_; ///< null: all accesses are in order
  std::set<SchedulePoint> unordered_;
  Random memoryRandom_;
  uint32_t storeShift_ = 0, loadShift_ = 0;
  bool isWalk_ = false;
  uint32_t walkShift_ = 1;
  std::vector<uint64_t> changes_; ///< points of the launch, ascending
  const bool endsHangs_;
  SpinWatch spins_;
  size_t switchesBeforeSpins_ = 0; ///< of the record, when everybody began to spin
  bool wasCutBeforeSpins_ = false;
};

} // namespace ptxrun::rt
