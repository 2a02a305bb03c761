// What the checked module says of its kernels.
#pragma once
#include "loader/device/device.h"
#include "translate/check/checked_module.h"

namespace ptxrun::device {

/// The module's kernels that have a body, in the order of the PTX.
/// `registerLimit`: as in LoadOptions.
std::vector<KernelInfo> describeKernels(const check::Module &, uint32_t registerLimit);
/// See Module::staticMemory.
StaticMemory measureStaticMemory(const check::Module &, std::string_view kernel);

} // namespace ptxrun::device
