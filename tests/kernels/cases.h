// Kernel cases for code that is no kernel itself: on_host.h without the words that only kernels
// use.
#pragma once
#include "tests/kernels/on_host.h"

#undef threadIdx
#undef blockIdx
#undef blockDim
#undef gridDim
#undef __noinline__
#undef __forceinline__
#undef __device__
#undef __global__
#undef __shared__
#undef __constant__
#undef __restrict__
