// Opening PTX files and finding kernels in them, with errors that name what to do.
#pragma once
#include <memory>
#include <string>

#include "loader/device/device.h"

namespace ptxrun::command {

/// The whole file ("-": standard input). Throws UsageError, also where there is no end to it: after
/// 4 GiB of a file, after 256 MiB or a NUL of anything else.
std::string readText(const std::string &path);
/// The same of what need not be text.
std::string readBytes(const std::string &path);
/// Throws Failed with the diagnostics when the module is rejected; null only where
/// LoadOptions::stopAfter ended it early.
std::unique_ptr<device::Module> loadModule(const std::string &path, const device::LoadOptions &);
/// The kernel of that name; with an empty name the module's only one. Throws UsageError that lists
/// the kernels.
const device::KernelInfo &chooseKernel(const device::Module &, const std::string &name);
/// "illegalAddress"
const char *nameOf(device::Code);

} // namespace ptxrun::command
