// Shapes of grids and blocks on the command line.
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "intrinsics/abi.h"

namespace ptxrun::command {

/// "64", "64,8" or "64x8x2", as texts of digits. Throws UsageError that names the option.
std::array<std::string, 3> parseShape(const std::string &text, const char *option);
/// The same as numbers from 1 on.
abi::Dim3 shapeOf(const std::string &text, const char *option);

} // namespace ptxrun::command
