#include "translate/isa/operand_class.h"

namespace ptxrun::isa {

using Kind = Argument::Kind;

Family familyOf(Type type) {
  if (type == Type::pred)
    return Family::predicate;
  if (type == Type::u16x2 || type == Type::s16x2 || type == Type::u8x4 || type == Type::s8x4)
    return Family::pair;
  if (isBits(type))
    return Family::bits;
  if (isSigned(type) || isUnsigned(type))
    return Family::integer;
  if (type == Type::f16x2)
    return Family::pair;
  if (type == Type::f16)
    return Family::half;
  return type == Type::f32 || type == Type::f64 ? Family::floating : Family::other;
}

bool registerFits(Type want, Type have, bool mayBeWider, bool isGeneric) {
  const Family wanted = familyOf(want), had = familyOf(have);
  if (wanted == Family::predicate || had == Family::predicate)
    return wanted == had;
  const unsigned wantBits = bitWidth(want), haveBits = bitWidth(have);
  if (haveBits < wantBits || (haveBits > wantBits && !mayBeWider))
    return false;
  if (wanted == Family::bits || had == Family::bits)
    return true;
  if (wanted == Family::integer)
    return had == Family::integer || (had == Family::pair && isGeneric);
  if (wanted == Family::pair)
    return had == Family::pair;
  return wanted != Family::other && want == have;
}

Type doubled(Type type) {
  switch (type) {
  case Type::u16:
    return Type::u32;
  case Type::s16:
    return Type::s32;
  case Type::u32:
    return Type::u64;
  default:
    return Type::s64;
  }
}

bool isAddressRegister(Type type) {
  const unsigned bits = bitWidth(type);
  return (familyOf(type) == Family::bits || familyOf(type) == Family::integer) &&
         (bits == 32 || bits == 64);
}

std::string dotted(Type type) { return "." + std::string(spelling(type)); }

std::string describe(const Argument &a) {
  switch (a.kind) {
  case Kind::sink:
    return "'_'";
  case Kind::reg:
    return std::string("a ") + dotted(a.type) + " register" + (a.vector > 1 ? " vector" : "");
  case Kind::special:
    return a.vector > 1 ? "a whole special register" : "a special register";
  case Kind::integer:
    return "an integer constant";
  case Kind::floating:
    return "a floating point constant";
  case Kind::address:
    return "an address in brackets";
  case Kind::variable:
    return "the name of a variable";
  case Kind::function:
    return "the name of a function";
  case Kind::label:
  case Kind::labels:
  case Kind::prototype:
    return "a label";
  case Kind::vector:
    return "a vector of " + std::to_string(a.elements.size());
  case Kind::list:
    return "a list in parentheses";
  }
  return "something else";
}

} // namespace ptxrun::isa
