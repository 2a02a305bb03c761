// Initialisers: bytes and addresses (PTX ISA 5.4.4).
#include <algorithm>
#include <bit>
#include <cstring>

#include "translate/check/checker.h"

namespace ptxrun::check {

using isa::Type;
using ItemKind = ast::ExprItem::Kind;

namespace {

constexpr const char *kNote = "PTX ISA 5.4.4: initialisers";
/// What an initialiser reaches is kept byte by byte; more than this in one variable is refused.
constexpr uint64_t kMostBytes = uint64_t(1) << 28;

bool isOpaque(Type type) {
  return type == Type::texref || type == Type::samplerref || type == Type::surfref;
}

bool hasSymbol(ast::Expression value) {
  return std::any_of(value.begin(), value.end(), [](const ast::ExprItem &item) {
    return item.kind == ItemKind::symbol || item.kind == ItemKind::generic;
  });
}

/// Bytes of one element below dimension `dimension`.
uint64_t bytesBelow(const Variable &variable, size_t dimension) {
  uint64_t bytes = std::max(1u, isa::bitWidth(variable.type) / 8) * variable.vector;
  for (size_t i = dimension + 1; i < variable.dimensions.size(); ++i)
    bytes *= variable.dimensions[i];
  return bytes;
}

} // namespace

void Checker::initialize(Variable &variable, const ast::Initializer &value) {
  if (isOpaque(variable.type))
    return initializeOpaque(variable, value);
  if (variable.type == Type::f16 || variable.type == Type::f16x2) {
    error(value.span,
          "a ." + std::string(isa::spelling(variable.type)) +
              " variable cannot have an initial value; use .b16 or .b32",
          kNote);
    return;
  }
  size_t depth = variable.dimensions.size();
  if (depth > 0 && variable.dimensions[0] == 0 && value.isList) {
    // `[]`: as long as its initialiser.
    auto dimensions = arena_.copy(variable.dimensions);
    dimensions[0] = value.elements.size();
    variable.dimensions = dimensions;
    variable.bytes = bytesBelow(variable, 0) * dimensions[0];
  }
  bytes_.clear();
  relocations_.clear();
  if (depth > 0 || variable.vector > 1)
    initializeList(variable, value, 0, 0, variable.bytes);
  else
    initializeScalar(variable, value, 0);
  // An address is stored over zeros, so that a variable with relocations has all its bytes up to
  // the last one.
  variable.initializer = arena_.copy(bytes_);
  variable.relocations = arena_.copy(relocations_);
}

// One level of braces: an array dimension, or the elements of a vector below the last one.
void Checker::initializeList(Variable &variable, const ast::Initializer &value, size_t dimension,
                             uint64_t offset, uint64_t bytes) {
  if (!value.isList) {
    error(value.span, "an array's initial value is a list in braces", kNote);
    return;
  }
  bool isVector = dimension >= variable.dimensions.size();
  uint64_t step =
      isVector ? std::max(1u, isa::bitWidth(variable.type) / 8) : bytesBelow(variable, dimension);
  if (value.elements.size() > bytes / step) {
    error(value.elements[bytes / step].span,
          "this list has more elements than the array (" + std::to_string(bytes / step) + ")",
          kNote);
    return;
  }
  if (isVector && value.elements.size() != variable.vector) {
    error(value.span,
          "a vector's initial value has " + std::to_string(variable.vector) + " elements", kNote);
    return;
  }
  bool hasMore = !isVector && (dimension + 1 < variable.dimensions.size() || variable.vector > 1);
  for (const ast::Initializer &element : value.elements) {
    if (hasMore)
      initializeList(variable, element, dimension + 1, offset, step);
    else
      initializeScalar(variable, element, offset);
    offset += step;
  }
}

void Checker::initializeScalar(Variable &variable, const ast::Initializer &value, uint64_t offset) {
  if (value.isList || value.hasField) {
    error(value.span, "a scalar's initial value is a constant or an address", kNote);
    return;
  }
  if (hasSymbol(value.value))
    return initializeAddress(variable, value, offset);
  std::string why;
  std::optional<Constant> constant = evaluate(value.value, why);
  if (!constant) {
    error(value.span, why, "PTX ISA 4.5: constants");
    return;
  }
  bool isFloating = constant->kind != Constant::Kind::integer;
  bool isMismatch = isFloating ? !isa::isFloat(variable.type) && !isa::isBits(variable.type)
                               : isa::isFloat(variable.type);
  if (isMismatch) {
    error(value.span,
          isFloating ? "an integer variable cannot start as a floating-point constant"
                     : "a floating-point variable needs a floating-point constant such as 1.0",
          kNote);
    return;
  }
  uint64_t bits = isFloating ? toFloatBits(*constant, variable.type) : constant->bits;
  unsigned width = std::max(1u, isa::bitWidth(variable.type) / 8);
  if (!reserveBytes(value, offset, width))
    return;
  std::memcpy(&bytes_[offset], &bits, std::min(width, 8u));
  if (width > 8 && !isFloating && !constant->isUnsigned && int64_t(bits) < 0)
    std::memset(&bytes_[offset + 8], 0xFF, width - 8);
}

bool Checker::reserveBytes(const ast::Initializer &value, uint64_t offset, unsigned width) {
  if (offset + width > kMostBytes)
    return error(value.span, "this initialised variable is too large");
  bytes_.resize(std::max<size_t>(bytes_.size(), offset + width));
  return true;
}

// symbol{+n}, generic(symbol){+n}, and the same under a mask that picks one of its bytes.
void Checker::initializeAddress(Variable &variable, const ast::Initializer &value,
                                uint64_t offset) {
  ast::Expression items = value.value;
  Relocation made;
  made.offset = uint32_t(offset);
  made.width = uint8_t(std::max(1u, isa::bitWidth(variable.type) / 8));
  bool isMasked = items.back().kind == ItemKind::mask;
  if (isMasked) {
    uint64_t mask = items.back().bits;
    if (!needs(value.span, "a masked address", 71, 20))
      return;
    int shift = std::countr_zero(mask);
    if (mask == 0 || shift % 8 != 0 || mask >> shift != 0xFF) {
      error(value.span, "a mask picks one byte of an address: 0xFF, 0xFF00, 0xFF0000, ...", kNote);
      return;
    }
    made.shift = uint8_t(shift);
    items = items.first(items.size() - 1);
  }
  bool isAddressType = variable.type == Type::u32 || variable.type == Type::u64 ||
                       (isMasked && variable.type == Type::u8);
  if (!isAddressType) {
    error(value.span,
          "an address can start a .u32 or .u64 variable, under a mask a .u8 one as well", kNote);
    return;
  }
  unsigned width = made.width;
  if (isMasked)
    made.width = 1;
  if (items.size() > 1) {
    std::string why;
    std::optional<Constant> addend = evaluate(items.subspan(1, items.size() - 2), why);
    if (!addend || addend->kind != Constant::Kind::integer) {
      error(value.span, "what is added to an address must be an integer constant", kNote);
      return;
    }
    made.addend = int64_t(addend->bits);
  }
  made.isGeneric = items[0].kind == ItemKind::generic;
  Binding symbol = lookUp(items[0].name, items[0].span);
  if (symbol.kind == Binding::Kind::variable)
    made.variable = symbol.variable;
  else if (symbol.kind == Binding::Kind::function)
    made.function = symbol.function;
  else if (symbol.kind == Binding::Kind::unknown)
    return;
  bool isInMemory = made.variable && (made.variable->space == isa::StateSpace::global ||
                                      made.variable->space == isa::StateSpace::constant);
  if (!isInMemory && !made.function) {
    error(items[0].span,
          "only addresses of .global and .const variables and of functions can be initial values",
          kNote);
    return;
  }
  if (made.function && items.size() > 1) {
    error(value.span, "nothing can be added to a function's address", kNote);
    return;
  }
  if (made.function && made.isGeneric) {
    error(items[0].span, "generic() takes a variable; a function's address is generic already",
          kNote);
    return;
  }
  if (reserveBytes(value, offset, width))
    relocations_.push_back(made);
}

OpaqueField Checker::opaqueField(const ast::Initializer &one, bool isWord) {
  if (isWord)
    return {arena_.copyText(text(one.field)), arena_.copyText(text(one.value[0].name))};
  std::string why;
  const std::optional<Constant> constant = evaluate(one.value, why);
  if (!constant || constant->kind != Constant::Kind::integer)
    error(one.span, "expected a number or a word such as linear", "PTX ISA 5.3");
  return {arena_.copyText(text(one.field)), {}, constant ? int64_t(constant->bits) : 0};
}

// { filter_mode = linear, addr_mode_0 = clamp_to_border, ... } (5.3)
void Checker::initializeOpaque(Variable &variable, const ast::Initializer &value) {
  // The fields of all three, of textures and samplers, of samplers (5.3, tables 16 and 17).
  static constexpr std::string_view kImage[] = {"width", "height", "depth", "channel_data_type",
                                                "channel_order"};
  static constexpr std::string_view kSampling[] = {"normalized_coords", "filter_mode",
                                                   "addr_mode_0", "addr_mode_1", "addr_mode_2"};
  static constexpr std::string_view kWords[] = {
      "nearest", "linear", "wrap", "mirror", "clamp_ogl", "clamp_to_edge", "clamp_to_border"};
  auto isOneOf = [](auto &list, std::string_view word) {
    return std::find(std::begin(list), std::end(list), word) != std::end(list);
  };
  auto hasField = [&](std::string_view field) {
    bool isSampler = variable.type == Type::samplerref;
    return (!isSampler && isOneOf(kImage, field)) ||
           (variable.type != Type::surfref && isOneOf(kSampling, field)) ||
           (isSampler && field == "force_unnormalized_coords") ||
           (variable.type == Type::surfref && field == "memory_layout");
  };
  if (!value.isList) {
    error(value.span,
          "a texture's, sampler's or surface's initial value is a list of fields in braces",
          "PTX ISA 5.3");
    return;
  }
  std::vector<OpaqueField> fields;
  for (const ast::Initializer &one : value.elements) {
    bool isField = one.hasField && hasField(text(one.field));
    bool isWord = isField && one.value.size() == 1 && one.value[0].kind == ItemKind::symbol;
    if (!isField)
      error(one.span, "expected a field such as filter_mode = linear",
            "PTX ISA 5.3: texture, sampler and surface types");
    else if (isWord && !isOneOf(kWords, text(one.value[0].name)))
      error(one.value[0].span, quote(one.value[0].name) + " is no value of this field",
            "PTX ISA 5.3");
    else
      fields.push_back(opaqueField(one, isWord));
  }
  variable.fields = arena_.copy(fields);
}

} // namespace ptxrun::check
