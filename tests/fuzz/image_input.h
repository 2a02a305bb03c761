// Any bytes as a code image, before the end of memory: behind a plain address, as a range, and for
// `ptxrun inspect`. Whatever is wrong with them is an Outcome.
#pragma once
#include <cstdio>
#include <cstdlib>

#include "loader/image/contents.h"
#include "loader/image/image.h"
#include "tests/driver/guarded_bytes.h"

namespace ptxrun::tests {

/// Behind a plain address only without AddressSanitizer: a length that leads into other memory of
/// the process is believed as far as that can be read, which the sanitizer cannot know. A wrapper's
/// pointers would be real ones: an input with its magic number is left out there.
inline void tryImage(std::span<const char> input, bool isBehindAddress) {
  constexpr size_t kMost = 1 << 20;
  constexpr uint32_t kWrapper = 0x466243B1;
  static GuardedBytes memory(kMost);
  const std::span<char> placed = memory.hold(input);
  const auto require = [](const device::Outcome &outcome, const image::Image &image) {
    if (outcome.isOk() != !image.ptx.empty() || outcome.isOk() != outcome.message.empty()) {
      std::fprintf(stderr, "an image without text, or a failure without a message\n");
      std::abort();
    }
  };
  uint32_t magic = 0;
  memcpy(&magic, placed.data(), std::min(sizeof magic, placed.size()));
  if (isBehindAddress && magic != kWrapper) {
    image::Image image;
    const device::Outcome outcome = image::readImage(placed.data(), {90}, image);
    require(outcome, image);
  }
  image::Image image;
  const device::Outcome outcome = image::readImage(std::as_bytes(placed), {90}, image);
  if (!outcome.isOk())
    image.ptx.clear(); // of a library, what came before the broken part
  require(outcome, image);
  image::Contents contents;
  if (image::readContents(std::as_bytes(placed), {90}, contents).isOk()) {
    image::whatToAdd(contents, {90});
    image::optionToAdd(contents, {90});
  }
}

} // namespace ptxrun::tests
