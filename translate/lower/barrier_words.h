// What simt has to know of barriers beyond the word (vocabulary.h).
#pragma once
namespace ptxrun::lower::vocabulary {
/// Metadata: all threads of a warp come to the barrier together (9.7.13.1).
inline constexpr const char *kAligned = "ptx.aligned";
} // namespace ptxrun::lower::vocabulary
