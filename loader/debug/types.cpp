#include <string_view>

#include "loader/debug/variables.h"

namespace ptxrun::debug {

namespace {

struct Scalar {
  const char *name;
  Type::Kind kind;
  uint64_t bytes;
  bool isSigned;
};

constexpr auto kInteger = Type::Kind::integer, kFloating = Type::Kind::floating,
               kCharacter = Type::Kind::character;

/// C's names, CUDA's and PTX's.
constexpr Scalar kScalars[] = {
    {"void", Type::Kind::void_, 0, false},
    {"bool", Type::Kind::boolean, 1, false},
    {"pred", Type::Kind::boolean, 1, false},
    {"char", kCharacter, 1, true},
    {"signed char", kCharacter, 1, true},
    {"unsigned char", kCharacter, 1, false},
    {"short", kInteger, 2, true},
    {"unsigned short", kInteger, 2, false},
    {"int", kInteger, 4, true},
    {"unsigned", kInteger, 4, false},
    {"unsigned int", kInteger, 4, false},
    {"long", kInteger, 8, true},
    {"unsigned long", kInteger, 8, false},
    {"long long", kInteger, 8, true},
    {"unsigned long long", kInteger, 8, false},
    {"size_t", kInteger, 8, false},
    {"int8_t", kInteger, 1, true},
    {"uint8_t", kInteger, 1, false},
    {"int16_t", kInteger, 2, true},
    {"uint16_t", kInteger, 2, false},
    {"int32_t", kInteger, 4, true},
    {"uint32_t", kInteger, 4, false},
    {"int64_t", kInteger, 8, true},
    {"uint64_t", kInteger, 8, false},
    {"half", kFloating, 2, true},
    {"__half", kFloating, 2, true},
    {"float", kFloating, 4, true},
    {"double", kFloating, 8, true},
    {"s8", kInteger, 1, true},
    {"u8", kInteger, 1, false},
    {"b8", kInteger, 1, false},
    {"s16", kInteger, 2, true},
    {"u16", kInteger, 2, false},
    {"b16", kInteger, 2, false},
    {"s32", kInteger, 4, true},
    {"u32", kInteger, 4, false},
    {"b32", kInteger, 4, false},
    {"s64", kInteger, 8, true},
    {"u64", kInteger, 8, false},
    {"b64", kInteger, 8, false},
    {"f16", kFloating, 2, true},
    {"f32", kFloating, 4, true},
    {"f64", kFloating, 8, true},
};

} // namespace

std::string Type::describe() const {
  if (kind == Kind::pointer)
    return (target ? target->describe() : "void") + " *";
  if (kind == Kind::array)
    return (target ? target->describe() : "void") + " [" + std::to_string(count) + "]";
  return name;
}

const Type *Types::named(const std::string &name) const {
  const auto [entry, isNew] = named_.try_emplace(name);
  if (!isNew)
    return entry->second;
  for (const Scalar &scalar : kScalars)
    if (name == scalar.name) {
      Type &type = made_.emplace_back();
      type.kind = scalar.kind;
      type.name = name;
      type.bytes = scalar.bytes;
      type.isSigned = scalar.isSigned;
      entry->second = &type;
    }
  return entry->second;
}

const Type *Types::pointerTo(const Type *target) {
  const Type *&known = pointers_[target];
  if (!known) {
    Type &type = made_.emplace_back();
    type.kind = Type::Kind::pointer;
    type.bytes = 8;
    type.target = target;
    known = &type;
  }
  return known;
}

const Type *Types::arrayOf(const Type *target, uint64_t count) {
  const Type *&known = arrays_[{target, count}];
  if (!known) {
    Type &type = made_.emplace_back();
    type.kind = Type::Kind::array;
    type.bytes = target->bytes * count;
    type.target = target;
    type.count = count;
    known = &type;
  }
  return known;
}

const Type *Types::ofPtx(isa::Type type) {
  const unsigned bits = isa::bitWidth(type);
  if (type == isa::Type::pred)
    return named("bool");
  if (type == isa::Type::f16 || type == isa::Type::f32 || type == isa::Type::f64)
    return named(bits == 16 ? "f16" : bits == 32 ? "float" : "double");
  if (bits == 128)
    return arrayOf(named("u64"), 2);
  const std::string width = bits <= 8 ? "8" : bits <= 16 ? "16" : bits <= 32 ? "32" : "64";
  return named((isa::isSigned(type) && !isa::isFloat(type) ? "s"
                : isa::isBits(type)                        ? "b"
                                                           : "u") +
               width);
}

} // namespace ptxrun::debug
