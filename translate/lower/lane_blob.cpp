#include "translate/lower/lane_blob.h"

// PTXRUN_LANE_BITCODE is the path of the linked bitcode file, as a string.
asm(".pushsection .rodata.ptxrun_lane, \"a\", @progbits\n"
    ".balign 16\n"
    "ptxrun_lane_begin:\n"
    ".incbin \"" PTXRUN_LANE_BITCODE "\"\n"
    "ptxrun_lane_end:\n"
    ".popsection\n");

extern "C" {
extern const char ptxrun_lane_begin[] __attribute__((visibility("hidden")));
extern const char ptxrun_lane_end[] __attribute__((visibility("hidden")));
}

namespace ptxrun::lower {

std::span<const char> laneLibraryBitcode() {
  return {ptxrun_lane_begin, static_cast<size_t>(ptxrun_lane_end - ptxrun_lane_begin)};
}

}  // namespace ptxrun::lower
