// Debuggers: who is told of every instruction of a launch, and what they can see while it stands
// still.
#pragma once
#include <cstdint>
#include <memory>

#include "intrinsics/abi.h"
#include "rt/launch/records.h"
#include "rt/launch/schedule.h"

namespace ptxrun::rt {

class LaunchCheckpoint;

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
  enum class Answer : uint8_t {
    goOn,
    giveUp, ///< the launch (Status::cancelled)
    keep    ///< as it stands, by keep(); then the same instruction is announced again
  };
  /// The instruction of that number comes next.
  virtual Answer step(SteppedThread, uint32_t instruction) = 0;
  /// What LaunchRequest::from takes, from just before that instruction; null where there is no such
  /// thing for the launch.
  virtual void keep(std::shared_ptr<const LaunchCheckpoint>) {}
  /// The thread gave way before an access of the instruction announced last, and goes on with it
  /// now. False: the launch is given up.
  virtual bool goOn(SteppedThread) = 0;
  /// The instruction announced last accesses memory now, as ptxrun_access says.
  virtual void access(SteppedThread, uint64_t address, uint32_t bytes, uint32_t kind) = 0;
  /// The call ends, with `isExit` the thread.
  virtual void leave(SteppedThread, bool isExit) = 0;
};

/// Tells the launch's Stepper.
void announceAccess(GangState &, uint64_t address, uint32_t bytes, uint32_t kind);
void announceGoingOn(GangState &);

} // namespace ptxrun::rt
