// Debuggers: who is told of every instruction of a launch, and what they can see while it stands
// still.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "intrinsics/abi.h"
#include "rt/exec/records.h"
#include "rt/exec/schedule.h"

namespace ptxrun::rt {

/// A thread of debugged code (W = 1) as a Stepper meets it. Cheap to make.
struct SteppedThread {
  explicit SteppedThread(GangState &gang) : gang(gang) {}
  GangPlace place() const;
  /// Host address of offset 0 of its CTA's `.shared` window.
  char *window() const { return gang.cta->window; }
  GangState &gang;
};

/// Told by the thread that runs the launch, in the order in which things happen. Whatever it does
/// happens while the launch stands still.
class Stepper {
 public:
  virtual ~Stepper() = default;
  /// The first CTA of a group is about to run; nobody else is in flight.
  virtual void groupStarts(uint64_t /*group*/) {}
  /// A call of function number `function` begins; `frame` is laid out as check::DebugFrame says.
  virtual void enter(SteppedThread, const uint64_t *frame, uint32_t function) = 0;
  /// The instruction of that number comes next. False: the launch is given up (Status::cancelled).
  virtual bool step(SteppedThread, uint32_t instruction) = 0;
  /// The thread gave way before an access of the instruction announced last, and goes on with it
  /// now. As step().
  virtual bool goOn(SteppedThread) = 0;
  /// The instruction announced last accesses memory now, as ptxrun_access says.
  virtual void access(SteppedThread, uint64_t address, uint32_t bytes, uint32_t kind) = 0;
  /// The call ends, with `isExit` the thread.
  virtual void leave(SteppedThread, bool isExit) = 0;
};

/// A thread of the groups in flight, as a stopped launch shows it.
struct ThreadSight {
  GangPlace place;
  WaitKind wait = WaitKind::unstarted;
  std::string waitsAt; ///< "barrier 0: 1 of 4 warps (32 of 128 threads) have arrived"; empty: it
                       ///< does not wait
  const char *window = nullptr;
};
/// All threads of the groups in flight on the worker of this gang, in the order of blocks.
std::vector<ThreadSight> threadsInFlight(const GangState &);
/// The barriers of the CTAs in flight at which somebody has arrived, and the clusters' ones: block
/// and text.
std::vector<std::pair<uint64_t, std::string>> barriersInFlight(const GangState &);

/// Tells the launch's Stepper.
void announceAccess(GangState &, uint64_t address, uint32_t bytes, uint32_t kind);
void announceGoingOn(GangState &);

} // namespace ptxrun::rt
