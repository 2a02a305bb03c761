// A launch of debugged code as it stands between two instructions of one of its threads: stacks,
// shared memory, who waits for what and who comes next. What it leaves out is device memory.
//
// It can be gone on from as long as no launch of another shape has run on the worker since: groups,
// fibers and shared memory stay at their addresses, and their contents are put back. For launches
// under a Controller that orders accesses as the program does.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "rt/launch/controller.h"
#include "rt/launch/records.h"
#include "rt/sync/async_group.h"

namespace ptxrun::rt {

class LaunchCheckpoint {
 public:
  /// On the worker's native stack, while `standing` is between two instructions. Null where the
  /// launch cannot be kept.
  static std::shared_ptr<const LaunchCheckpoint> take(Worker &, const GangState &standing);
  /// On the native stack of the same worker, before the launch (of the same code and shape) has
  /// opened any group: the groups are in flight again. The gang to be gone on with.
  GangState &restore(Worker &, LaunchState &) const;
  /// Of what is kept.
  size_t bytes() const { return bytes_; }

 private:
  struct Stack {
    Fiber *fiber = nullptr;
    void *stackPointer = nullptr;
    GangState *gang = nullptr;
    void (*job)(Fiber &) = nullptr;
    std::string contents;
  };
  struct Group {
    GroupState *group = nullptr;
    GroupState state;
    std::vector<CtaState> ctas;
    std::vector<std::shared_ptr<const TensorState>> tensor; ///< by CTA; null: it has none
    std::vector<GangState> gangs;
    std::vector<AsyncGroups> async; ///< by gang; empty: nobody has any
    std::vector<std::pair<WarpMeeting *, WarpMeeting>> meetings;
    std::vector<std::pair<char *, std::string>> shared;
  };

  void addGroup(GroupState &);
  void addMeetings(const GroupState &, Group &);
  void addShared(const GroupState &, Group &);
  void addStack(const GangState &);
  static void restoreCta(const Group &, uint32_t rank);
  static void restoreGroup(const Group &, Worker &, LaunchState &);

  std::vector<Group> groups_; ///< in flight, in their order
  std::vector<Stack> stacks_;
  GangState *standing_ = nullptr;
  Controller::Turn turn_;
  Random random_;
  uint64_t next_ = 0;
  std::string printed_, workspace_;
  size_t bytes_ = 0;
};

} // namespace ptxrun::rt
