/* One program, two headers: ours, or CUDA's own where a toolkit is installed. */
#ifdef PTXRUN_WITH_CUDA_HEADER
#include <cuda.h>
#else
#include "loader/libcuda/cuda_api.h"
#endif
