#include "rt/exec/launch_checkpoint.h"

#include <algorithm>
#include <cstring>

#include "rt/launch/fiber.h"
#include "rt/launch/worker.h"
#include "rt/tensor/tensor_state.h"

namespace ptxrun::rt {

namespace {

/// Takes an element off a singly linked list it is in.
template <class T> void unlink(T *&head, T *element, T *T::*next) {
  for (T **at = &head; *at; at = &((*at)->*next))
    if (*at == element) {
      *at = element->*next;
      return;
    }
}

} // namespace

#if defined(PTXRUN_ASAN) || defined(PTXRUN_TSAN) // they know stacks by their history
std::shared_ptr<const LaunchCheckpoint> LaunchCheckpoint::take(Worker &, const GangState &) {
  return nullptr;
}
#else
std::shared_ptr<const LaunchCheckpoint> LaunchCheckpoint::take(Worker &worker,
                                                               const GangState &standing) {
  const LaunchState &launch = *worker.launch;
  if (!worker.controller || !worker.controller->canBeKept() || launch.usesCoroutines ||
      launch.usesRanges)
    return nullptr;
  auto made = std::make_shared<LaunchCheckpoint>();
  for (GroupState *group : worker.inFlight)
    made->addGroup(*group);
  made->standing_ = const_cast<GangState *>(&standing);
  made->turn_ = worker.controller->turn();
  made->random_ = worker.random;
  made->next_ = launch.next.load(std::memory_order_relaxed);
  made->printed_ = launch.printed;
  made->workspace_.assign(launch.workspace, sizeof launch.workspace);
  return made;
}
#endif

void LaunchCheckpoint::addGroup(GroupState &group) {
  Group &kept = groups_.emplace_back();
  kept.group = &group;
  kept.state = group;
  kept.tensor.resize(group.ctaCount);
  for (uint32_t c = 0; c < group.ctaCount; ++c)
    if (const TensorState *tensor = group.ctas[c].tensor) {
      auto copy = std::make_shared<TensorState>();
      copyTensorState(*tensor, *copy);
      if (copy->memory)
        bytes_ += sizeof *copy->memory;
      kept.tensor[c] = std::move(copy);
    }
  kept.ctas.assign(group.ctas, group.ctas + group.ctaCount);
  kept.gangs.assign(group.gangs, group.gangs + group.gangCount);
  for (uint32_t i = 0; i < group.gangCount; ++i) {
    if (const AsyncGroups *async = group.gangs[i].async) {
      kept.async.resize(group.gangCount);
      kept.async[i] = *async;
    }
    addStack(group.gangs[i]);
  }
  addMeetings(group, kept);
  addShared(group, kept);
  bytes_ += kept.gangs.size() * sizeof(GangState) + kept.ctas.size() * sizeof(CtaState);
}

void LaunchCheckpoint::addMeetings(const GroupState &group, Group &kept) {
  for (uint32_t c = 0; c < group.ctaCount; ++c)
    for (WarpMeeting *first : group.ctas[c].meetings)
      for (WarpMeeting *meeting = first; meeting; meeting = meeting->next)
        kept.meetings.emplace_back(meeting, *meeting);
}

void LaunchCheckpoint::addShared(const GroupState &group, Group &kept) {
  const LaunchState &launch = *group.launch;
  for (uint32_t c = 0; c < group.ctaCount; ++c) {
    char *begin = group.ctas[c].window + abi::kSharedFirstOffset;
    uint64_t bytes = launch.sharedBytes;
    if (group.code->needs.usesReservedShared) {
      begin = group.ctas[c].window;
      bytes += abi::kSharedFirstOffset;
    }
    if (bytes == 0)
      continue;
    kept.shared.emplace_back(begin, std::string(begin, bytes));
    bytes_ += bytes;
  }
}

void LaunchCheckpoint::addStack(const GangState &gang) {
  Fiber *fiber = gang.fiber;
  if (!fiber || fiber->gang != &gang)
    return;
  const char *from = static_cast<const char *>(fiber->stackPointer);
  const char *to = fiber->stack + fiber->stackBytes;
  stacks_.push_back({fiber, fiber->stackPointer, fiber->gang, fiber->job,
                     std::string(from, static_cast<size_t>(to - from))});
  bytes_ += static_cast<size_t>(to - from);
}

/// What it has for tensor cores stays where it is.
void LaunchCheckpoint::restoreCta(const Group &kept, uint32_t rank) {
  CtaState &cta = kept.group->ctas[rank];
  TensorState *tensor = cta.tensor;
  cta = kept.ctas[rank];
  if (const TensorState *before = kept.tensor[rank].get()) {
    if (!tensor)
      tensor = new TensorState;
    copyTensorState(*before, *tensor);
  } else if (tensor) {
    copyTensorState(TensorState{}, *tensor);
  }
  cta.tensor = tensor;
}

void LaunchCheckpoint::restoreGroup(const Group &kept, Worker &worker, LaunchState &launch) {
  GroupState &group = *kept.group;
  unlink(worker.freeGroups, &group, &GroupState::nextFree);
  std::vector<GroupState::LargeFrame> frames = std::move(group.largeFrames);
  group = kept.state;
  group.largeFrames = std::move(frames);
  group.launch = &launch;
  for (uint32_t c = 0; c < group.ctaCount; ++c)
    restoreCta(kept, c);
  for (size_t i = 0; i < kept.gangs.size(); ++i) {
    GangState &gang = group.gangs[i];
    AsyncGroups *async = gang.async;
    gang = kept.gangs[i];
    gang.async = async;
    if (async)
      *async = i < kept.async.size() ? kept.async[i] : AsyncGroups{};
  }
  for (const auto &[meeting, state] : kept.meetings) {
    unlink(worker.freeMeetings, meeting, &WarpMeeting::next);
    *meeting = state;
  }
  for (const auto &[begin, contents] : kept.shared)
    std::memcpy(begin, contents.data(), contents.size());
}

GangState &LaunchCheckpoint::restore(Worker &worker, LaunchState &launch) const {
  abandonFibers(worker);
  for (const Group &kept : groups_) {
    restoreGroup(kept, worker, launch);
    worker.inFlight.push_back(kept.group);
  }
  for (const Stack &kept : stacks_) {
    unlink(worker.idle, kept.fiber, &Fiber::next);
    kept.fiber->stackPointer = kept.stackPointer;
    kept.fiber->gang = kept.gang;
    kept.fiber->job = kept.job;
    std::memcpy(kept.stackPointer, kept.contents.data(), kept.contents.size());
  }
  worker.controller->setTurn(turn_);
  worker.random = random_;
  launch.next.store(next_, std::memory_order_relaxed);
  launch.printed = printed_;
  std::memcpy(launch.workspace, workspace_.data(), workspace_.size());
  return *standing_;
}

} // namespace ptxrun::rt
