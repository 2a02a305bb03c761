// Memory for coroutine frames: one slot per gang of the group, all of one size, side by side. The
// last gang of a CTA may run other code than the rest; a frame of its that does not fit gets memory
// of its own.
#include <cstdlib>

#include "rt/launch/worker.h"
#include "rt/launch/failure.h"

namespace ptxrun::rt {

namespace {
constexpr uint64_t kLine = 256; ///< the alignment generated code may want for what lies in a frame

/// Slots so far apart that the frames of a CTA do not share cache sets.
uint64_t slotBytes(uint64_t bytes) {
  bytes = (bytes + kLine - 1) / kLine * kLine;
  return bytes % 1024 == 0 ? bytes + kLine : bytes;
}

[[noreturn]] void failFrames(GangState &g) {
  recordFailure(g, Status::outOfMemory,
                "not enough memory for the suspended threads of a thread block");
  leaveKernel(g);
}

char *largeFrame(GangState &g, GroupState &group, uint64_t bytes) {
  if (group.largeFrames.size() <= g.index)
    group.largeFrames.resize(g.index + 1);
  GroupState::LargeFrame &large = group.largeFrames[g.index];
  if (large.bytes < bytes) {
    std::free(large.memory);
    large.memory = static_cast<char *>(std::aligned_alloc(kLine, bytes));
    large.bytes = large.memory ? bytes : 0;
  }
  if (!large.memory)
    failFrames(g);
  return large.memory;
}

void *allocateFrame(GangState &g, uint64_t bytes) {
  GroupState &group = groupOf(g);
  uint64_t slot = slotBytes(bytes);
  const bool hasSlots = group.framesFor == group.launch->id && group.framesCode == group.code;
  if (hasSlots && slot > group.frameBytes)
    return largeFrame(g, group, slot);
  if (!hasSlots) {
    // The first gang of the launch in this group, or of better code: no frame exists.
    uint64_t all = slot * group.gangCount;
    if (all > group.framesCapacity) {
      std::free(group.frames);
      group.frames = static_cast<char *>(std::aligned_alloc(kLine, all));
      group.framesCapacity = group.frames ? all : 0;
    }
    if (!group.frames)
      failFrames(g);
    group.frameBytes = slot;
    group.framesFor = group.launch->id;
    group.framesCode = group.code;
  }
  return group.frames + g.index * group.frameBytes;
}

bool isSlot(const GroupState &group, const void *frame) {
  return frame >= group.frames && frame < group.frames + group.framesCapacity;
}
} // namespace
} // namespace ptxrun::rt

using namespace ptxrun::rt;

extern "C" {

void *ptxrun_frame_alloc(ptxrun::abi::Gang *gang, uint64_t bytes) {
  GangState &g = stateOf(gang);
  void *frame = allocateFrame(g, bytes);
  if (groupOf(g).launch->usesCoroutines)
    g.frame = frame; // before the gang's first suspension tells it: its local memory may be asked for
  return frame;
}

ptxrun::abi::AddressRange ptxrun_local_stack(ptxrun::abi::Gang *) {
  const Fiber &fiber = *currentWorker()->current;
  return {reinterpret_cast<uint64_t>(fiber.stack), fiber.stackBytes};
}

ptxrun::abi::AddressRange ptxrun_local_frame(ptxrun::abi::Gang *gang) {
  GangState &g = stateOf(gang);
  const GroupState &group = groupOf(g);
  if (!group.launch->usesCoroutines || !g.frame)
    return {0, 0};
  return {reinterpret_cast<uint64_t>(g.frame),
          isSlot(group, g.frame) ? group.frameBytes : group.largeFrames[g.index].bytes};
}

} // extern "C"
