// From the driver API's descriptions of textures to the records that instructions use.
#pragma once
#include "loader/libcuda/array.h"
#include "rt/texture/registry.h"

namespace ptxrun::driver {

class Context;

/// The image behind a resource: array, mipmapped array, linear or pitched memory.
/// CUDA_ERROR_INVALID_VALUE, INVALID_HANDLE, or what readFormat answers.
CUresult readResource(const CUDA_RESOURCE_DESC &, rt::Image &, bool &isFraction);

/// All of a texture. view: null for none.
CUresult readTexture(const CUDA_RESOURCE_DESC &, const CUDA_TEXTURE_DESC &,
                     const CUDA_RESOURCE_VIEW_DESC *view, rt::Texture &);

/// Sampler and read mode alone, for the image that `texture` has already.
CUresult readSampling(const CUDA_TEXTURE_DESC &, bool isFraction, rt::Texture &texture);

/// Destroys the texture and surface objects that the context owns.
void releaseImagesOf(const Context &);

/// Elements along a one-dimensional texture over linear memory, at most.
inline constexpr size_t kMostLinearTexels = size_t{1} << 28;

} // namespace ptxrun::driver
