// Functions that kernels call and that NVIDIA's device runtime library (cudadevrt) would define:
// ours are PTX, put in the place of their declarations.
#pragma once
#include <string>

namespace ptxrun::driver {

/// The text with definitions for what it declares and we have; the lines keep their numbers.
std::string withDeviceRuntime(std::string ptx);

} // namespace ptxrun::driver
