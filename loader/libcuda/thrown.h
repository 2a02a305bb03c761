// What was thrown, as the driver API's result.
#pragma once
#include "loader/boundary/guarded.h"
#include "loader/libcuda/cuda_abi.h"

namespace ptxrun::driver {

CUresult resultOf(boundary::Thrown);

} // namespace ptxrun::driver
