// Which launch is the only one of the process, so that its atomics of `.gpu` scope may do without
// the host's (abi::Launch::isSole).
//
// A launch is sole from its start on, if no other runs then, until another wants to start: that one
// waits until the first has come to the end of its thread blocks in hand, or to a loop that waits
// for something, and goes on with the host's atomics. From then on no launch of the process is sole
// again: who launches from several threads at a time waits once, for a fraction of a millisecond or
// one thread block.
#pragma once

namespace ptxrun::rt {

/// The calling thread's part in this, from before its launch runs to behind it. Does nothing for a
/// launch that is started from within another on the same thread.
class SoleLaunch {
 public:
  /// Waits while another thread has a sole launch. `isWanted`: this one, which has one worker, is
  /// to be sole if it can.
  explicit SoleLaunch(bool isWanted);
  ~SoleLaunch() { end(); }
  SoleLaunch(const SoleLaunch &) = delete;
  SoleLaunch &operator=(const SoleLaunch &) = delete;

  bool isSole() const { return isSole_; }
  /// Between updates of memory: lets others in that wait. Gives isSole().
  bool letOthersIn();
  /// Others may run from here on: more workers of this launch, too.
  void share();
  /// The launch is over.
  void end();

 private:
  bool isCounted_ = false, isSole_ = false;
};

} // namespace ptxrun::rt
