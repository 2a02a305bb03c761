#include "translate/support/arena.h"

#include <algorithm>

namespace ptxrun::support {

void Arena::grow(size_t atLeast) {
  // Small modules stay small; chunks grow with what is already there, up to 1 MiB.
  size_t size = std::max(atLeast, std::clamp<size_t>(bytes_, 4096, 1 << 20));
  chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(size));
  next_ = chunks_.back().get();
  end_ = next_ + size;
  bytes_ += size;
}

} // namespace ptxrun::support
