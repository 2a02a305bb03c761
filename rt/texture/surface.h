// What is behind instructions on textures and surfaces, but for the sampler.
#pragma once
#include "rt/texture/registry.h"

namespace ptxrun::rt {

/// Rows of operands and results of W lanes (abi::TextureRow), and which lane this is about.
struct LaneRows {
  uint32_t lanes, lane;
  const uint32_t *in;
  uint32_t *out;
  uint32_t word(uint32_t row) const { return in[row * lanes + lane]; }
  uint32_t &result(uint32_t row) const { return out[row * lanes + lane]; }
};

/// True if an instruction of this geometry can access such an image.
bool fits(abi::TextureGeometry, const Image &);

/// suld, sust and sured of one lane (PTX ISA 9.7.11). False if it is out of bounds and .trap says
/// that this ends the launch; nothing has happened then.
bool accessSurface(const Texture &, const abi::TextureOperation &, const LaneRows &);

/// txq and suq of one lane (9.7.10.5, 9.7.11.4).
uint32_t queryImage(const ImageRecord &, const abi::TextureOperation &, uint32_t level);

} // namespace ptxrun::rt
