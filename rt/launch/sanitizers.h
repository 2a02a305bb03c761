// Which sanitizers this build has; fibers announce their stack switches to them.
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PTXRUN_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define PTXRUN_TSAN 1
#endif
#endif

/// For code that looks at stacks it does not own.
#define PTXRUN_NO_ASAN [[clang::no_sanitize("address")]]
/// For code that accesses memory as the kernel told it to, races, misaligned addresses and null
/// included.
#define PTXRUN_KERNELS_MEMORY                                                                      \
  [[clang::no_sanitize("address", "thread", "alignment", "nonnull-attribute")]]

#ifdef PTXRUN_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef PTXRUN_TSAN
#include <sanitizer/tsan_interface.h>
#endif
