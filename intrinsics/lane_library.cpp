#include "intrinsics/lane_library.h"

// The file's bytes, between two symbols of this object.
__asm__(".section .rodata\n"
        ".balign 16\n"
        "ptxrun_lane_bitcode_begin:\n"
        ".incbin \"" PTXRUN_LANE_BITCODE "\"\n"
        "ptxrun_lane_bitcode_end:\n"
        ".previous\n");

extern "C" {
extern const char ptxrun_lane_bitcode_begin[] __attribute__((visibility("hidden")));
extern const char ptxrun_lane_bitcode_end[] __attribute__((visibility("hidden")));
}

namespace ptxrun::intrinsics {

std::string_view laneLibraryBitcode() {
  return {ptxrun_lane_bitcode_begin,
          static_cast<size_t>(ptxrun_lane_bitcode_end - ptxrun_lane_bitcode_begin)};
}

} // namespace ptxrun::intrinsics
