// What launches of a kernel took, so that tiny ones need not wake other threads.
#pragma once
#include <cstdint>

#include "intrinsics/abi.h"

namespace ptxrun::rt {

/// Time a launch of `ctas` CTAs would take on one thread by past experience; very large where there
/// is none.
uint64_t expectedNs(const abi::KernelCode &, uint32_t threadsPerCta, uint64_t ctas);
void rememberNs(const abi::KernelCode &, uint32_t threadsPerCta, uint64_t ctas,
                uint64_t nanoseconds);

} // namespace ptxrun::rt
