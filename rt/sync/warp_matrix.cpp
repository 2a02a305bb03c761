// Matrix instructions of a warp, where they are not inlined.
#include "intrinsics/abi.h"
#include "intrinsics/matrix/warp.h"

extern "C" void ptxrun_matrix_warp(const void *operation, const void *in, void *out) {
  ptxrun::matrix::multiplyWarp(*static_cast<const ptxrun::matrix::WarpOperation *>(operation), in,
                               out);
}
