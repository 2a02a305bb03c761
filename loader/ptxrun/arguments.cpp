#include "loader/ptxrun/arguments.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "loader/ptxrun/element.h"
#include "loader/ptxrun/errors.h"
#include "loader/ptxrun/tensor_argument.h"
#include "loader/ptxrun/trimmed.h"

namespace ptxrun::command {
namespace {

/// Why one argument does not fit; packArguments adds which one and the parameter list.
struct Mismatch {
  std::string what;
};

struct Integer {
  uint64_t bits;
  bool isNegative;
};

/// 12, -12, 0x1f; nullopt for anything else, a number too large included.
std::optional<Integer> parseInteger(std::string_view text) {
  bool isNegative = text.starts_with('-');
  if (isNegative || text.starts_with('+'))
    text.remove_prefix(1);
  bool isHex = text.starts_with("0x") || text.starts_with("0X");
  if (isHex)
    text.remove_prefix(2);
  uint64_t value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, isHex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  if (isNegative && value > uint64_t{1} << 63)
    return std::nullopt;
  return Integer{isNegative ? 0 - value : value, isNegative && value != 0};
}

std::optional<double> parseReal(std::string_view text) {
  bool isSingleBits = text.starts_with("0f"), isDoubleBits = text.starts_with("0d");
  if (isSingleBits || isDoubleBits) {
    uint64_t bits = 0;
    auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
    if (error != std::errc() || end != text.data() + text.size())
      return std::nullopt;
    return isSingleBits ? std::bit_cast<float>(static_cast<uint32_t>(bits))
                        : std::bit_cast<double>(bits);
  }
  if (text.starts_with('+'))
    text.remove_prefix(1);
  if (text.ends_with('f') && !text.ends_with("inf"))
    text.remove_suffix(1);
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

/// A number into `bytes` bytes at `out`: integers that fit as signed or unsigned.
void storeInteger(std::string_view text, unsigned bytes, std::byte *out) {
  auto value = parseInteger(text);
  if (!value) {
    if (parseReal(text))
      throw Mismatch{"'" + std::string(text) + "' is not an integer"};
    throw Mismatch{"'" + std::string(text) + "' is not a number"};
  }
  unsigned bits = bytes * 8;
  if (bits < 64) {
    auto asSigned = static_cast<int64_t>(value->bits);
    bool fits =
        value->isNegative ? asSigned >= -(int64_t{1} << (bits - 1)) : value->bits >> bits == 0;
    if (!fits)
      throw Mismatch{std::string(text) + " does not fit in " + std::to_string(bits) + " bits"};
  }
  std::memcpy(out, &value->bits, std::min(bytes, 8u));
}

void storeReal(std::string_view text, Element element, std::byte *out) {
  auto value = parseReal(text);
  if (!value)
    throw Mismatch{"'" + std::string(text) + "' is not a number"};
  storeDouble(element, out, *value);
}

Element elementOf(isa::Type type) {
  switch (type) {
  case isa::Type::f16:
    return Element::f16;
  case isa::Type::bf16:
    return Element::bf16;
  case isa::Type::f32:
    return Element::f32;
  case isa::Type::f64:
    return Element::f64;
  default:
    return Element::u8;
  }
}

void storePointer(std::string_view text, const BufferLookup &lookup, std::byte *out) {
  auto address = lookup(text);
  if (!address)
    throw Mismatch{"'" + std::string(text) +
                   "' is neither a number nor a buffer (x.npy, f32[1024]:iota, a name)"};
  std::memcpy(out, &*address, sizeof *address);
}

/// {TYPE value, TYPE value, ...}
void storeStruct(std::string_view text, uint64_t bytes, const BufferLookup &lookup,
                 std::byte *out) {
  text = text.substr(1, text.size() - 2);
  uint64_t offset = 0;
  while (!trimmed(text).empty()) {
    size_t comma = std::min(text.find(','), text.size());
    std::string_view field = trimmed(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    size_t blank = field.find(' ');
    if (blank == std::string_view::npos)
      throw Mismatch{"a struct is written {i32 5, f32 2.0, ptr x}; '" + std::string(field) +
                     "' has no type"};
    std::string_view type = field.substr(0, blank), value = trimmed(field.substr(blank));
    bool isPointer = type == "ptr";
    Element element = isPointer ? Element::u64 : elementNamed(type);
    uint64_t width = bytesOf(element);
    offset = (offset + width - 1) / width * width;
    if (offset + width > bytes)
      throw Mismatch{"the fields need more than the parameter's " + std::to_string(bytes) +
                     " bytes"};
    if (isPointer && !parseInteger(value))
      storePointer(value, lookup, out + offset);
    else if (isFloating(element))
      storeReal(value, element, out + offset);
    else
      storeInteger(value, static_cast<unsigned>(width), out + offset);
    offset += width;
  }
}

void storeArgument(const device::Parameter &parameter, std::string_view text,
                   const BufferLookup &lookup, std::byte *out) {
  text = trimmed(text);
  if (text.empty())
    throw Mismatch{"it is empty"};
  if (isTensorMap(text)) {
    auto map = lookup(text);
    if (parameter.bytes != sizeof(rt::TensorMap) && parameter.bytes != 8)
      throw Mismatch{"a tensor-map has 128 bytes, or is pointed to"};
    if (map && parameter.bytes == 8)
      std::memcpy(out, &*map, 8);
    else if (map)
      std::memcpy(out, *map, sizeof(rt::TensorMap));
    return;
  }
  if (text.front() == '{' && text.back() == '}')
    return storeStruct(text, parameter.bytes, lookup, out);
  if (parameter.isArray || parameter.vector > 1) {
    if (parameter.bytes > 8 || !parseInteger(text))
      throw Mismatch{"it is passed by value; write its fields: {i32 5, f32 2.0, ptr x}"};
    return storeInteger(text, static_cast<unsigned>(parameter.bytes), out);
  }
  Element element = elementOf(parameter.type);
  if (isFloating(element))
    return storeReal(text, element, out);
  if (parameter.bytes == 8 && !parseInteger(text))
    return storePointer(text, lookup, out);
  if (parameter.bytes > 8)
    throw Mismatch{"a parameter of this type is not understood; write its fields: {u64 1, u64 2}"};
  storeInteger(text, static_cast<unsigned>(parameter.bytes), out);
}

} // namespace

std::string typeOf(const device::Parameter &parameter) {
  std::string text;
  if (parameter.isArray)
    text = ".align " + std::to_string(parameter.alignment) + " ";
  if (parameter.vector > 1)
    text += ".v" + std::to_string(parameter.vector) + " ";
  text += "." + std::string(isa::spelling(parameter.type));
  if (parameter.isArray)
    text += "[" +
            std::to_string(parameter.bytes * 8 / std::max(1u, isa::bitWidth(parameter.type))) + "]";
  return text;
}

std::string signatureOf(const device::KernelInfo &kernel) {
  std::string text = kernel.name + "(";
  for (size_t k = 0; k < kernel.parameters.size(); ++k)
    text += (k ? ", " : "") + kernel.parameters[k].name + ": " + typeOf(kernel.parameters[k]);
  return text + ")";
}

std::vector<std::byte> packArguments(const device::KernelInfo &kernel,
                                     const std::vector<std::string> &texts,
                                     const BufferLookup &lookup) {
  if (texts.size() != kernel.parameters.size())
    throw UsageError(kernel.name + " takes " + std::to_string(kernel.parameters.size()) +
                     " arguments, " + std::to_string(texts.size()) + " are given:\n  " +
                     signatureOf(kernel));
  std::vector<std::byte> bytes(std::max<uint64_t>(kernel.parameterBytes, 1));
  for (size_t k = 0; k < texts.size(); ++k) {
    const device::Parameter &parameter = kernel.parameters[k];
    try {
      storeArgument(parameter, texts[k], lookup, bytes.data() + parameter.offset);
    } catch (const Mismatch &mismatch) {
      throw UsageError("argument " + std::to_string(k + 1) + " of " + kernel.name + " (" +
                       parameter.name + ", " + typeOf(parameter) + "): " + mismatch.what + "\n  " +
                       signatureOf(kernel));
    }
  }
  return bytes;
}

std::string notAddresses(const device::KernelInfo &kernel, const std::vector<std::string> &texts) {
  constexpr uint64_t kFirstAddress = 1 << 16; // nothing is mapped below
  std::string lines;
  for (size_t k = 0; k < std::min(texts.size(), kernel.parameters.size()); ++k) {
    const device::Parameter &parameter = kernel.parameters[k];
    const auto number = parseInteger(texts[k]);
    if (parameter.bytes != 8 || parameter.isArray || isa::isFloat(parameter.type) || !number ||
        number->bits >= kFirstAddress)
      continue;
    lines += "\n  argument " + std::to_string(k + 1) + " (" + parameter.name + ") is the number " +
             texts[k] + "; if it is a pointer, give it a buffer: f32[1024]:zero, a .npy file";
  }
  return lines;
}

} // namespace ptxrun::command
