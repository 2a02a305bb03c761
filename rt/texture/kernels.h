// The sampler as it is compiled for each CPU level.
#pragma once
#include <cstdint>

#include "rt/texture/texture.h"

namespace ptxrun::rt {

/// tex or tld4 of all lanes of a gang, with one texture and one sampler. The geometry fits the
/// texture. Lanes that are not active are sampled as well; whatever their operands are, nothing
/// outside of the image is read.
struct SampleCall {
  const Texture *texture;
  const Sampler *sampler;
  abi::TextureOperation operation;
  uint32_t lanes;     ///< W
  const uint32_t *in; ///< kTextureRows rows of W
  uint32_t *out;      ///< kTextureResults rows of W
};

void sampleOnSse4(const SampleCall &);
void sampleOnAvx2(const SampleCall &);
void sampleOnAvx512(const SampleCall &);

} // namespace ptxrun::rt
