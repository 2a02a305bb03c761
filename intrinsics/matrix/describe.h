// How a sum is computed, in words.
#pragma once
#include <string>

#include "intrinsics/matrix/sum.h"

namespace ptxrun::matrix {

/// "fused steps of 16, 25 bits kept, toward zero to f32".
std::string describe(const Sum &);

} // namespace ptxrun::matrix
