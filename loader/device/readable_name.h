// Names of kernels as people write them.
#pragma once
#include <string>

namespace ptxrun::device {

/// `void scale<float>(float*, int)` for a name that a C++ compiler made; any other name as it is.
std::string readableName(const std::string &name);

} // namespace ptxrun::device
