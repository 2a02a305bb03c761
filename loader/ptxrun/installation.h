// Where the parts of an installation lie, seen from the running command: in the build tree, under a
// prefix, as Debian packages have them, or in a Python package.
#pragma once
#include <filesystem>

namespace ptxrun::command {

/// The audit library's file; where it is, the other libraries are.
inline constexpr const char *kAudit = "libptxrun_audit.so";

/// The folder of libcuda.so.1 and the libraries beside it; empty where there is none.
std::filesystem::path findLibraryFolder();
/// The same; throws UsageError where there is none.
std::filesystem::path libraryFolder();
/// Where the stand-ins for NVIDIA's programs lie.
std::filesystem::path programFolder();

} // namespace ptxrun::command
