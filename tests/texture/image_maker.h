// Images with contents of a generator, and operands whose coordinates the hardware's fixed point
// holds exactly: what is left to compare is the arithmetic.
#pragma once
#include <random>
#include <vector>

#include "tests/texture/model.h"

namespace ptxrun::texture_test {

/// An image with memory of its own.
struct OwnImage {
  std::vector<char> memory;
  rt::Image image;
};

/// width x height x depth texels (or layers) of each level; heights and depths of 0 as CUDA has
/// them. isCube: depth counts faces.
OwnImage makeImage(rt::ImageShape, bool isLayered, bool isCube, uint32_t width, uint32_t height,
                   uint32_t depth, uint32_t levels, rt::ChannelType, uint32_t channels,
                   uint32_t samples, uint32_t seed);

/// Fills memory with texels of a type: floats are multiples of 1/16 from -8 to 8.
void fillTexels(char *, size_t bytes, rt::ChannelType, std::mt19937 &);

/// Operands of one lane for a texture.
Operands makeOperands(const rt::Texture &, const abi::TextureOperation &, bool isNormalized,
                      std::mt19937 &);

} // namespace ptxrun::texture_test
