#include "translate/isa/types.h"

#include <array>

namespace ptxrun::isa {
namespace {

enum class Class : uint8_t {
  none,
  predicate,
  bits,
  unsignedInteger,
  signedInteger,
  floating,
  opaque
};

struct TypeInfo {
  std::string_view spelling;
  uint8_t width;
  Class kind;
};

using enum Class;
constexpr TypeInfo kTypes[] = {
    {"", 0, none},
    {"pred", 1, predicate},
    {"b1", 1, bits},
    {"b2", 2, bits},
    {"b4", 4, bits},
    {"b8", 8, bits},
    {"b16", 16, bits},
    {"b32", 32, bits},
    {"b64", 64, bits},
    {"b128", 128, bits},
    {"u2", 2, unsignedInteger},
    {"u4", 4, unsignedInteger},
    {"u8", 8, unsignedInteger},
    {"u16", 16, unsignedInteger},
    {"u32", 32, unsignedInteger},
    {"u64", 64, unsignedInteger},
    {"s2", 2, signedInteger},
    {"s4", 4, signedInteger},
    {"s8", 8, signedInteger},
    {"s16", 16, signedInteger},
    {"s32", 32, signedInteger},
    {"s64", 64, signedInteger},
    {"f16", 16, floating},
    {"f32", 32, floating},
    {"f64", 64, floating},
    {"f16x2", 32, floating},
    {"f32x2", 64, floating},
    {"bf16", 16, floating},
    {"bf16x2", 32, floating},
    {"tf32", 32, floating},
    {"e4m3", 8, floating},
    {"e5m2", 8, floating},
    {"e4m3x2", 16, floating},
    {"e5m2x2", 16, floating},
    {"e4m3x4", 32, floating},
    {"e5m2x4", 32, floating},
    {"e2m1", 4, floating},
    {"e2m3", 6, floating},
    {"e3m2", 6, floating},
    {"e2m1x2", 8, floating},
    {"e2m3x2", 16, floating},
    {"e3m2x2", 16, floating},
    {"e2m1x4", 16, floating},
    {"e2m3x4", 32, floating},
    {"e3m2x4", 32, floating},
    {"ue8m0", 8, floating},
    {"ue4m3", 8, floating},
    {"ue8m0x2", 16, floating},
    {"s2f6x2", 16, floating},
    {"u8x4", 32, unsignedInteger},
    {"s8x4", 32, signedInteger},
    {"u16x2", 32, unsignedInteger},
    {"s16x2", 32, signedInteger},
    {"b4x16", 64, bits},
    {"b4x16_p64", 128, bits},
    {"b6x16_p32", 128, bits},
    {"b6p2x16", 128, bits},
    {"b8x16", 128, bits},
    {"texref", 0, opaque},
    {"samplerref", 0, opaque},
    {"surfref", 0, opaque},
};
static_assert(std::size(kTypes) == size_t(Type::surfref) + 1, "one entry per Type, in its order");

const TypeInfo &info(Type type) { return kTypes[size_t(type)]; }

constexpr std::string_view kSpaces[] = {"generic", "reg",   "sreg",   "const",           "global",
                                        "local",   "param", "shared", "shared::cluster", "tex"};

} // namespace

unsigned bitWidth(Type type) { return info(type).width; }
bool isSigned(Type type) { return info(type).kind == signedInteger; }
bool isFloat(Type type) { return info(type).kind == floating; }
bool isUnsigned(Type type) { return info(type).kind == unsignedInteger; }
bool isBits(Type type) { return info(type).kind == bits; }
std::string_view spelling(Type type) { return info(type).spelling; }
std::string_view spelling(StateSpace space) { return kSpaces[size_t(space)]; }

} // namespace ptxrun::isa
