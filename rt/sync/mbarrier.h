// mbarrier objects (PTX ISA 9.7.13.15) and the gangs that wait at them. An object is only ever
// touched by its cluster, which stays on one thread, so plain accesses do.
#pragma once
#include <string>

#include "rt/launch/records.h"
#include "rt/launch/worker.h"

namespace ptxrun::rt {

/// The 8 bytes of an object; intrinsics/abi.h has the layout.
class MbarrierWord {
 public:
  static constexpr uint32_t kMaxCount = (1u << 20) - 1;

  explicit MbarrierWord(uint64_t bits) : bits_(bits) {}
  static MbarrierWord make(uint32_t pending, uint32_t expected, int32_t tx, uint32_t phase) {
    return MbarrierWord{pending | uint64_t{expected} << 20 | (uint64_t(tx) & 0x1fffff) << 40 |
                        uint64_t{phase & 7} << 61};
  }
  uint32_t pending() const { return bits_ & kMaxCount; }
  uint32_t expected() const { return bits_ >> 20 & kMaxCount; }
  int32_t tx() const { return static_cast<int32_t>(static_cast<int64_t>(bits_ << 3) >> 43); }
  uint32_t phase() const { return static_cast<uint32_t>(bits_ >> 61); }
  uint64_t bits() const { return bits_; }
  /// Whether the phase that a wait names by its state, or by its parity, is over.
  bool isPast(uint64_t state, bool isParity) const {
    return isParity ? (phase() & 1) != (state & 1) : phase() != MbarrierWord(state).phase();
  }
  /// Nothing is pending and nothing ever will be: invalidated, not initialised, or all arrivals
  /// were dropped.
  bool isVoid() const { return bits_ << 3 == 0; }

 private:
  uint64_t bits_;
};

/// Which objects an operation may name (9.7.13.15.8): those of the own CTA, or of the cluster.
enum class Reach { ownCta, cluster };
/// The same where it does not lie in the own CTA's window, or is misaligned.
uint64_t *mbarrierElsewhere(GangState &g, void *address, Reach);
/// The object at `address`; fails the launch where there can be none that the gang may name.
inline uint64_t *mbarrierAt(GangState &g, void *address, Reach reach) {
  constexpr uint64_t kPlaces = (uint64_t{1} << abi::kSharedWindowShift) - sizeof(uint64_t);
  const uint64_t offset =
      reinterpret_cast<uint64_t>(address) - reinterpret_cast<uint64_t>(g.cta->window);
  if (offset & ~kPlaces) [[unlikely]]
    return mbarrierElsewhere(g, address, reach);
  return static_cast<uint64_t *>(address);
}

/// mbarrier operations on behalf of gang `g` (for messages); fail the launch where a count leaves
/// its range. The objects lie in the cluster's shared memory.
void expectTransactions(GangState &g, uint64_t *object, uint32_t count);
void completeTransactions(GangState &g, void *address, uint32_t count);
uint64_t arriveOn(GangState &g, uint64_t *object, uint32_t count, bool isDrop);
/// One more arrival is pending in this phase (cp.async.mbarrier.arrive without .noinc).
void addPendingArrival(GangState &g, uint64_t *object);

/// Reads an object for the kernel.
inline MbarrierWord readMbarrier(GangState &g, const uint64_t *object) {
  GuestAccess access(*groupOf(g).worker);
  return MbarrierWord(*static_cast<const volatile uint64_t *>(object));
}
/// "the mbarrier at .shared address 0x400".
std::string mbarrierName(const GangState &g, const void *object);
/// What the gang waits for at an mbarrier, for reports.
std::string describeMbarrierWait(const GangState &);
/// The offset in its CTA's window of the object that the gang waits for.
int64_t sharedAddressOfWait(const GangState &);
/// No gang of the group can run, but some wait with a time limit, or spin on a test of an mbarrier:
/// lets them see that the limit has passed. False when that has gone on for so long without any
/// progress that nothing else will ever happen.
bool releaseTimedWaits(GroupState &);
/// Makes the gangs in try_wait ready, their waits failed, save those without time limit.
void endTimedWaits(GroupState &);
/// Whether all gangs that spin do so on a test of an mbarrier.
bool onlyPollMbarriers(const GroupState &);

} // namespace ptxrun::rt
