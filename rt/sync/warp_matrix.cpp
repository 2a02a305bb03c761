// Matrix instructions of a warp, where they are not inlined.
#include "intrinsics/abi.h"
#include "intrinsics/matrix/group.h"
#include "intrinsics/matrix/warp.h"
#include "intrinsics/tensor_abi.h"

extern "C" void ptxrun_matrix_warp(const void *operation, const void *in, void *out) {
  ptxrun::matrix::multiplyWarp(*static_cast<const ptxrun::matrix::WarpOperation *>(operation), in,
                               out);
}

extern "C" void ptxrun_matrix_group(const void *group, void *in, void *const *accumulators) {
  ptxrun::matrix::multiplyGroup(*static_cast<const ptxrun::matrix::WarpGroup *>(group),
                                static_cast<uint32_t *>(in),
                                reinterpret_cast<float *const *>(accumulators));
}
