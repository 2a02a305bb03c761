// What a texture fetch gives, by the formulas of the CUDA C++ Programming Guide (texture fetching)
// and the PTX ISA, in double precision. Written against those texts, not against the sampler.
#pragma once
#include <array>
#include <cstdint>

#include "rt/texture/texture.h"

namespace ptxrun::texture_test {

/// The four results: numbers, or bits where the texture has integer elements.
struct Fetched {
  std::array<double, 4> value{};
  std::array<uint32_t, 4> bits{};
  bool isInteger = false;
};

/// Operands in the rows of abi::TextureRow.
using Operands = std::array<uint32_t, abi::kTextureRows>;

Fetched model(const rt::Texture &, const rt::Sampler &, const abi::TextureOperation &,
              const Operands &);

inline uint32_t bitsOf(float x) { return __builtin_bit_cast(uint32_t, x); }
inline float floatOf(uint32_t x) { return __builtin_bit_cast(float, x); }

} // namespace ptxrun::texture_test
