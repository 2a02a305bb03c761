// Types and state spaces of PTX, as the table, the checker and lowering name them (PTX
// ISA 5.1, 5.2).
#pragma once
#include <cstdint>
#include <string_view>

namespace ptxrun::isa {

/// A fundamental, packed or alternate type suffix. Order within a family is by width.
enum class Type : uint8_t {
  none,
  pred,
  b1,
  b2,
  b4,
  b8,
  b16,
  b32,
  b64,
  b128,
  u2,
  u4,
  u8,
  u16,
  u32,
  u64,
  s2,
  s4,
  s8,
  s16,
  s32,
  s64,
  f16,
  f32,
  f64,
  f16x2,
  f32x2,
  bf16,
  bf16x2,
  tf32,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
  e4m3x4,
  e5m2x4,
  e2m1,
  e2m3,
  e3m2,
  e2m1x2,
  e2m3x2,
  e3m2x2,
  e2m1x4,
  e2m3x4,
  e3m2x4,
  ue8m0,
  ue4m3,
  ue8m0x2,
  s2f6x2,
  u8x4,
  s8x4,
  u16x2,
  s16x2,
  b4x16,
  b4x16_p64,
  b6x16_p32,
  b6p2x16,
  b8x16,
  texref,
  samplerref,
  surfref,
};

/// Width in bits as the manual states it; 0 for none and the opaque types, 1 for pred.
unsigned bitWidth(Type);
bool isSigned(Type);
/// True for types whose values are floating point (packed ones too).
bool isFloat(Type);
bool isUnsigned(Type);
bool isBits(Type);
/// The suffix without its dot ("f16x2").
std::string_view spelling(Type);

enum class StateSpace : uint8_t {
  generic,
  reg,
  sreg,
  constant,
  global,
  local,
  param,
  shared,
  sharedCluster,
  tex
};
std::string_view spelling(StateSpace);

} // namespace ptxrun::isa
