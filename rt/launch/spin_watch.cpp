#include "rt/launch/spin_watch.h"

#include <algorithm>
#include <cstring>

namespace ptxrun::rt {

void SpinWatch::written(uint64_t address, uint32_t bytes) {
  if (places_.size() < kMostPlaces)
    places_[address].bytes = std::min<uint32_t>(bytes, sizeof(Contents));
}

/// Contents are looked at when the access has been made: before, nobody knows whether it can be.
bool SpinWatch::hasChanged() {
  bool isChanged = places_.size() >= kMostPlaces;
  for (auto &[address, place] : places_) {
    Contents now{};
    std::memcpy(now.data(), reinterpret_cast<const void *>(address), place.bytes);
    isChanged |= place.isKnown && now != place.contents;
    place.contents = now;
    place.isKnown = true;
  }
  return isChanged;
}

bool SpinWatch::roundIsOver(uint64_t points) {
  if (hasChanged())
    progress();
  if (rounds_++ == 0)
    firstPoint_ = points;
  return rounds_ >= kMostRounds || (rounds_ >= kLeastRounds && points - firstPoint_ >= kMostPoints);
}

void SpinWatch::progress() {
  rounds_ = 0;
  if (places_.size() >= kMostPlaces)
    places_.clear();
}

} // namespace ptxrun::rt
