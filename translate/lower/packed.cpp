#include "translate/lower/packed.h"

namespace ptxrun::lower {

isa::Type elementOf(isa::Type type) {
  using isa::Type;
  switch (type) {
  case Type::f16x2:
    return Type::f16;
  case Type::bf16x2:
    return Type::bf16;
  case Type::f32x2:
    return Type::f32;
  case Type::u16x2:
    return Type::u16;
  case Type::s16x2:
    return Type::s16;
  case Type::u8x4:
    return Type::u8;
  case Type::s8x4:
    return Type::s8;
  default:
    return type;
  }
}

} // namespace ptxrun::lower
