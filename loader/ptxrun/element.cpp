#include "loader/ptxrun/element.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "loader/ptxrun/errors.h"

namespace ptxrun::command {
namespace {

struct Description {
  std::string_view name, alias, bitsAlias;
  size_t bytes;
};

constexpr std::array<Description, 15> kElements{{{"bool", "", "", 1},
                                                 {"u8", "uint8", "b8", 1},
                                                 {"i8", "int8", "s8", 1},
                                                 {"u16", "uint16", "b16", 2},
                                                 {"i16", "int16", "s16", 2},
                                                 {"u32", "uint32", "b32", 4},
                                                 {"i32", "int32", "s32", 4},
                                                 {"u64", "uint64", "b64", 8},
                                                 {"i64", "int64", "s64", 8},
                                                 {"f16", "float16", "", 2},
                                                 {"bf16", "bfloat16", "", 2},
                                                 {"f32", "float32", "", 4},
                                                 {"f64", "float64", "", 8},
                                                 {"c64", "complex64", "", 8},
                                                 {"c128", "complex128", "", 16}}};

const Description &describe(Element element) { return kElements[static_cast<size_t>(element)]; }

int find(std::string_view name) {
  for (size_t i = 0; i < kElements.size(); ++i) {
    const Description &d = kElements[i];
    if (!name.empty() && (name == d.name || name == d.alias || name == d.bitsAlias))
      return static_cast<int>(i);
  }
  return -1;
}

template <class T> T read(const void *address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

template <class T, class V> void write(void *address, V value) {
  T converted = static_cast<T>(value);
  std::memcpy(address, &converted, sizeof converted);
}

float fromBfloat(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t toBfloat(double value) {
  uint32_t bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  if (std::isnan(value))
    return 0x7fff;
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/// Bits of a floating point element as an integer that grows with the value.
int64_t ordered(int64_t bits, unsigned width) {
  int64_t sign = int64_t{1} << (width - 1);
  if (width == 64)
    return bits >= 0 ? bits : std::numeric_limits<int64_t>::min() - bits;
  return bits & sign ? -(bits & (sign - 1)) : bits;
}

} // namespace

int64_t truncatedToInteger(double value) {
  if (std::isnan(value))
    return 0;
  if (value >= 0x1p63)
    return std::numeric_limits<int64_t>::max();
  if (value < -0x1p63)
    return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

bool isElementName(std::string_view name) { return find(name) >= 0; }

Element elementNamed(std::string_view name) {
  int index = find(name);
  if (index >= 0)
    return static_cast<Element>(index);
  std::string known;
  for (const Description &d : kElements)
    known += (known.empty() ? "" : ", ") + std::string(d.name);
  throw UsageError("'" + std::string(name) + "' is no element type; there are " + known);
}

std::string_view nameOf(Element element) { return describe(element).name; }
size_t bytesOf(Element element) { return describe(element).bytes; }
bool isFloating(Element element) { return element >= Element::f16; }
bool isSignedInteger(Element element) {
  return element == Element::i8 || element == Element::i16 || element == Element::i32 ||
         element == Element::i64;
}

double loadDouble(Element element, const void *address) {
  switch (element) {
  case Element::f16:
    return read<_Float16>(address);
  case Element::bf16:
    return fromBfloat(read<uint16_t>(address));
  case Element::f32:
  case Element::c64:
    return read<float>(address);
  case Element::f64:
  case Element::c128:
    return read<double>(address);
  case Element::u64:
    return static_cast<double>(read<uint64_t>(address));
  default:
    return static_cast<double>(loadInteger(element, address));
  }
}

int64_t loadInteger(Element element, const void *address) {
  switch (element) {
  case Element::bool8:
  case Element::u8:
    return read<uint8_t>(address);
  case Element::i8:
    return read<int8_t>(address);
  case Element::u16:
    return read<uint16_t>(address);
  case Element::i16:
    return read<int16_t>(address);
  case Element::u32:
    return read<uint32_t>(address);
  case Element::i32:
    return read<int32_t>(address);
  case Element::u64:
  case Element::i64:
    return read<int64_t>(address);
  default:
    return truncatedToInteger(loadDouble(element, address));
  }
}

void storeDouble(Element element, void *address, double value) {
  switch (element) {
  case Element::f16:
    return write<_Float16>(address, value);
  case Element::bf16:
    return write<uint16_t>(address, toBfloat(value));
  case Element::f32:
    return write<float>(address, value);
  case Element::f64:
    return write<double>(address, value);
  case Element::c64:
    return write<float>(address, value), write<float>(static_cast<char *>(address) + 4, 0);
  case Element::c128:
    return write<double>(address, value), write<double>(static_cast<char *>(address) + 8, 0);
  case Element::u64:
    return write<uint64_t>(address, value >= 0x1p63 && value < 0x1p64 ? static_cast<uint64_t>(value)
                                                                      : truncatedToInteger(value));
  default:
    return storeInteger(element, address, truncatedToInteger(value));
  }
}

void storeInteger(Element element, void *address, int64_t value) {
  switch (element) {
  case Element::bool8:
    return write<uint8_t>(address, value != 0);
  case Element::u8:
  case Element::i8:
    return write<uint8_t>(address, value);
  case Element::u16:
  case Element::i16:
    return write<uint16_t>(address, value);
  case Element::u32:
  case Element::i32:
    return write<uint32_t>(address, value);
  case Element::u64:
  case Element::i64:
    return write<uint64_t>(address, value);
  default:
    return storeDouble(element, address, static_cast<double>(value));
  }
}

std::string toText(Element element, const void *address) {
  char text[80];
  switch (element) {
  case Element::f16:
    std::snprintf(text, sizeof text, "%.5g", loadDouble(element, address));
    break;
  case Element::bf16:
    std::snprintf(text, sizeof text, "%.4g", loadDouble(element, address));
    break;
  case Element::f32:
    std::snprintf(text, sizeof text, "%.9g", loadDouble(element, address));
    break;
  case Element::f64:
    std::snprintf(text, sizeof text, "%.17g", loadDouble(element, address));
    break;
  case Element::c64:
    std::snprintf(text, sizeof text, "%.9g%+.9gj", read<float>(address),
                  read<float>(static_cast<const char *>(address) + 4));
    break;
  case Element::c128:
    std::snprintf(text, sizeof text, "%.17g%+.17gj", read<double>(address),
                  read<double>(static_cast<const char *>(address) + 8));
    break;
  case Element::u64:
    return std::to_string(read<uint64_t>(address));
  default:
    return std::to_string(loadInteger(element, address));
  }
  return text;
}

uint64_t ulpDistance(Element element, const void *a, const void *b) {
  double x = loadDouble(element, a), y = loadDouble(element, b);
  if (std::isnan(x) || std::isnan(y))
    return std::isnan(x) && std::isnan(y) ? 0 : UINT64_MAX;
  int64_t i, j;
  switch (element) {
  case Element::f16:
  case Element::bf16:
    i = ordered(read<uint16_t>(a), 16), j = ordered(read<uint16_t>(b), 16);
    break;
  case Element::f32:
    i = ordered(read<uint32_t>(a), 32), j = ordered(read<uint32_t>(b), 32);
    break;
  case Element::f64:
    i = ordered(read<int64_t>(a), 64), j = ordered(read<int64_t>(b), 64);
    break;
  default:
    return x == y ? 0 : UINT64_MAX;
  }
  return i > j ? static_cast<uint64_t>(i) - static_cast<uint64_t>(j)
               : static_cast<uint64_t>(j) - static_cast<uint64_t>(i);
}

} // namespace ptxrun::command
