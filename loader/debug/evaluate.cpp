#include "loader/debug/evaluate.h"

#include <sys/uio.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "translate/check/debug_frame.h"
#include "translate/lower/shared_names.h"
#include "translate/support/hex.h"

namespace ptxrun::debug {

namespace {

using support::hex;

uint64_t bitsOf(const char *bytes, uint64_t count) {
  uint64_t value = 0;
  std::memcpy(&value, bytes, std::min<uint64_t>(count, 8));
  return value;
}

int64_t signedBits(const char *bytes, uint64_t count) {
  const uint64_t bits = bitsOf(bytes, count);
  const unsigned shift = count < 8 ? static_cast<unsigned>(64 - 8 * count) : 0;
  return static_cast<int64_t>(bits << shift) >> shift;
}

double floatingOf(const char *bytes, uint64_t count) {
  if (count == 2)
    return static_cast<double>(std::bit_cast<_Float16>(static_cast<uint16_t>(bitsOf(bytes, 2))));
  if (count == 4) {
    float value;
    std::memcpy(&value, bytes, sizeof value);
    return static_cast<double>(value);
  }
  double value = 0;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

std::string print(const char *format, auto value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string floatingText(const char *bytes, uint64_t count) {
  const double value = floatingOf(bytes, count);
  if (std::isnan(value)) {
    const uint64_t bits = bitsOf(bytes, count);
    const unsigned mantissa = count == 2 ? 10 : count == 4 ? 23 : 52;
    return std::string(std::signbit(value) ? "-" : "") + "nan(" +
           hex(bits & ((uint64_t{1} << mantissa) - 1)) + ")";
  }
  return print(count == 8 ? "%.17g" : count == 4 ? "%.9g" : "%.5g", value);
}

std::string characterText(int64_t code) {
  const auto letter = static_cast<unsigned char>(code);
  std::string quoted = letter >= 32 && letter < 127 ? std::string(1, static_cast<char>(letter))
                       : letter == '\n'             ? "\\n"
                       : letter == '\t'             ? "\\t"
                                                    : print("\\%03o", unsigned(letter));
  return std::to_string(code) + " '" + quoted + "'";
}

std::string binary(uint64_t value) {
  std::string digits;
  for (; value; value >>= 1)
    digits.insert(digits.begin(), value & 1 ? '1' : '0');
  return digits.empty() ? "0" : digits;
}

} // namespace

std::string coordinates(uint64_t linear, abi::Dim3 shape) {
  const uint64_t x = std::max(shape.x, 1u), y = std::max(shape.y, 1u);
  return "(" + std::to_string(linear % x) + "," + std::to_string(linear / x % y) + "," +
         std::to_string(linear / x / y) + ")";
}

Evaluator::Evaluator(const SourceMap &map, const DebugInfo &info, Types &types)
    : map_(map), info_(info), types_(types) {
  Type &index = types_.make();
  index.kind = Type::Kind::record;
  index.name = "dim3";
  index.bytes = 12;
  for (const auto &[name, offset] : {std::pair{"x", 0u}, {"y", 4u}, {"z", 8u}})
    index.members.push_back({name, types_.named("unsigned int"), offset});
  index3_ = &index;
}

bool Evaluator::readMemory(uint64_t address, void *to, uint64_t bytes) {
  iovec local{to, bytes}, remote{reinterpret_cast<void *>(address), bytes};
  return bytes == 0 ||
         process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

DebugValue Evaluator::load(const Type *type, uint64_t address) const {
  constexpr uint64_t kMostBytes = uint64_t{64} << 20;
  if (type->bytes > kMostBytes)
    throw DebugError("a value of " + std::to_string(type->bytes) + " bytes is too large");
  DebugValue value{type, std::string(type->bytes, '\0'), address};
  if (!readMemory(address, value.bytes.data(), type->bytes))
    throw DebugError("cannot access memory at address " + hex(address));
  return value;
}

DebugValue Evaluator::number(const char *type, uint64_t value) const {
  const Type *of = types_.named(type);
  return {of, std::string(reinterpret_cast<const char *>(&value), of->bytes), std::nullopt};
}

// --- Names -------------------------------------------------------------------------------------

const check::Function *Evaluator::functionOf(const View &view) const {
  if (!view.thread || view.call >= view.thread->calls.size())
    return nullptr;
  return &map_.function(view.thread->calls[view.call].function);
}

uint32_t Evaluator::instructionOf(const View &view) const {
  return view.thread->calls[view.call].instruction;
}

DebugValue Evaluator::registerValue(const check::Register &reg, const View &view) const {
  const check::Function *function = functionOf(view);
  const check::DebugFrame frame(*function);
  const uint64_t *words = view.thread->calls[view.call].words + frame.registers[reg.index];
  const Type *one = types_.ofPtx(reg.type);
  if (reg.vector <= 1)
    return {one, std::string(reinterpret_cast<const char *>(words), one->bytes), std::nullopt};
  DebugValue all{types_.arrayOf(one, reg.vector), {}, std::nullopt};
  for (unsigned i = 0; i < reg.vector; ++i)
    all.bytes.append(reinterpret_cast<const char *>(words + i), one->bytes);
  return all;
}

std::optional<uint64_t> Evaluator::addressOf(const check::Variable &variable,
                                             const View &view) const {
  using isa::StateSpace;
  const check::Function *function = functionOf(view);
  if (variable.space == StateSpace::shared && view.thread) {
    auto &known = shared_[view.launch->kernel->name];
    if (known.empty())
      known = lower::sharedVariables(map_.module(),
                                     *map_.module().findFunction(view.launch->kernel->name));
    for (const auto &[one, offset] : known)
      if (one == &variable)
        return reinterpret_cast<uint64_t>(view.thread->window) + offset;
    return std::nullopt;
  }
  if (variable.space == StateSpace::local || variable.space == StateSpace::param) {
    if (!function)
      return std::nullopt;
    if (function->isEntry)
      for (size_t i = 0; i < function->signature.parameters.size(); ++i)
        if (function->signature.parameters[i] == &variable)
          return reinterpret_cast<uint64_t>(view.launch->params) +
                 view.launch->kernel->parameters[i].offset;
    const check::DebugFrame frame(*function);
    const auto word = frame.variables.find(&variable);
    if (word == frame.variables.end() || view.thread->calls[view.call].words[word->second] == 0)
      return std::nullopt;
    return view.thread->calls[view.call].words[word->second];
  }
  if (const device::VariableInfo *known = view.launch->module->findVariable(variable.name))
    return reinterpret_cast<uint64_t>(known->address);
  return std::nullopt;
}

namespace {
const check::Variable *findVariable(const check::Module &module, const check::Function *function,
                                    const std::string &name) {
  const auto isIt = [&](const check::Variable *v) {
    return v->name == name || SourceMap::variableName(v->name) == name;
  };
  if (function) {
    for (const auto &all : {std::span<check::Variable *const>(function->variables),
                            function->signature.parameters, function->signature.returns})
      for (const check::Variable *v : all)
        if (isIt(v))
          return v;
  }
  for (const check::Variable *v : module.variables)
    if (isIt(v))
      return v;
  for (const check::Function *other : module.functions)
    for (const check::Variable *v : other->variables)
      if (v->space == isa::StateSpace::shared && isIt(v))
        return v;
  return nullptr;
}
} // namespace

/// A variable that the PTX declares, by its type there.
std::optional<DebugValue> Evaluator::ptxVariable(const std::string &name, const View &view) const {
  const check::Variable *variable = findVariable(map_.module(), functionOf(view), name);
  if (!variable)
    return std::nullopt;
  const auto address = addressOf(*variable, view);
  if (!address)
    throw DebugError("'" + name + "' has no memory here");
  const Type *type = types_.ofPtx(variable->type);
  uint64_t count = 1;
  for (const uint64_t dimension : variable->dimensions)
    count *= dimension;
  count *= variable->vector;
  if (!variable->dimensions.empty() || variable->vector > 1)
    type = types_.arrayOf(type, count);
  return load(type, *address);
}

DebugValue Evaluator::variableValue(const SourceVariable &variable, const View &view) const {
  const Location *location = variable.at(instructionOf(view));
  if (!location)
    throw DebugError("'" + variable.name + "' is optimised out here");
  const check::Function *function = functionOf(view);
  if (location->kind == Location::Kind::reg) {
    for (const check::Register *reg : function->registers)
      if (reg->name == location->name) {
        DebugValue value = registerValue(*reg, view);
        if (variable.type->bytes > value.bytes.size() + sizeof(uint64_t))
          throw DebugError("'" + variable.name + "' does not fit into " + location->name);
        value.type = variable.type;
        value.bytes.resize(variable.type->bytes, '\0');
        return value;
      }
    throw DebugError("'" + variable.name + "' is in " + location->name + ", which is not there");
  }
  const check::Variable *memory = findVariable(map_.module(), function, location->name);
  const auto address = memory ? addressOf(*memory, view) : std::nullopt;
  if (!address)
    throw DebugError("'" + variable.name + "' has no memory here");
  return load(variable.type, *address + static_cast<uint64_t>(location->offset));
}

namespace {
uint32_t axis(const std::string &text, uint64_t linear, abi::Dim3 shape) {
  const char letter = text.back();
  return static_cast<uint32_t>(letter == 'x'   ? linear % shape.x
                               : letter == 'y' ? linear / shape.x % shape.y
                                               : linear / shape.x / shape.y);
}
} // namespace

/// Special registers that tell where a thread is.
DebugValue Evaluator::special(const std::string &name, const View &view) const {
  const abi::Dim3 &grid = view.launch->grid, &block = view.launch->block;
  const bool isAxis = name.size() > 2 && name[name.size() - 2] == '.';
  const auto extent = [&](abi::Dim3 d) {
    return name.back() == 'x' ? d.x : name.back() == 'y' ? d.y : d.z;
  };
  if (isAxis && name.starts_with("%tid."))
    return number("u32", axis(name, view.place.thread, block));
  if (isAxis && name.starts_with("%ctaid."))
    return number("u32", axis(name, view.place.block, grid));
  if (isAxis && name.starts_with("%ntid."))
    return number("u32", extent(block));
  if (isAxis && name.starts_with("%nctaid."))
    return number("u32", extent(grid));
  if (name == "%laneid")
    return number("u32", view.place.thread % abi::kWarpSize);
  if (name == "%warpid")
    return number("u32", view.place.thread / abi::kWarpSize);
  throw DebugError("there is no register '" + name + "' in this function");
}

DebugValue Evaluator::named(const std::string &name, const View &view) const {
  const auto index3 = [&](uint64_t linear, abi::Dim3 shape) {
    DebugValue value{index3_, {}, std::nullopt};
    for (const char *letter : {"x", "y", "z"}) {
      const uint32_t one = axis(letter, linear, shape);
      value.bytes.append(reinterpret_cast<const char *>(&one), sizeof one);
    }
    return value;
  };
  const auto extents = [&](abi::Dim3 d) {
    return DebugValue{index3_, std::string(reinterpret_cast<const char *>(&d), sizeof d),
                      std::nullopt};
  };
  const check::Function *function = functionOf(view);
  if (name[0] == '%') {
    if (function)
      for (const check::Register *reg : function->registers)
        if (reg->name == name)
          return registerValue(*reg, view);
    return special(name, view);
  }
  if (function)
    for (const SourceVariable *variable : info_.visibleAt(instructionOf(view)))
      if (variable->name == name)
        return variableValue(*variable, view);
  if (name == "threadIdx")
    return index3(view.place.thread, view.launch->block);
  if (name == "blockIdx")
    return index3(view.place.block, view.launch->grid);
  if (name == "blockDim")
    return extents(view.launch->block);
  if (name == "gridDim")
    return extents(view.launch->grid);
  if (name == "warpSize")
    return number("int", abi::kWarpSize);
  if (std::optional<DebugValue> value = ptxVariable(name, view))
    return *value;
  if (!view.thread)
    throw DebugError("no symbol '" + name + "' here: the thread is not running");
  throw DebugError("no symbol '" + name + "' in this scope");
}

// --- Parts -------------------------------------------------------------------------------------

size_t Evaluator::memberCount(const DebugValue &value) const {
  switch (value.type->kind) {
  case Type::Kind::record:
    return value.type->members.size();
  case Type::Kind::array:
    return value.type->count;
  case Type::Kind::pointer:
    return value.type->target && value.type->target->bytes ? 1 : 0;
  default:
    return 0;
  }
}

std::string Evaluator::memberName(const DebugValue &value, size_t number) const {
  if (value.type->kind == Type::Kind::record)
    return value.type->members[number].name;
  return value.type->kind == Type::Kind::array ? "[" + std::to_string(number) + "]" : "*";
}

DebugValue Evaluator::member(const DebugValue &value, size_t number) const {
  if (value.type->kind == Type::Kind::pointer)
    return load(value.type->target, bitsOf(value.bytes.data(), 8));
  const Type *type =
      value.type->kind == Type::Kind::array ? value.type->target : value.type->members[number].type;
  const uint64_t offset = value.type->kind == Type::Kind::array
                              ? number * type->bytes
                              : value.type->members[number].offset;
  DebugValue part{type, std::string(type->bytes, '\0'), std::nullopt};
  if (value.address)
    part.address = *value.address + offset;
  if (offset + type->bytes <= value.bytes.size())
    part.bytes = value.bytes.substr(offset, type->bytes);
  return part;
}

int64_t Evaluator::asInteger(const DebugValue &value) {
  switch (value.type->kind) {
  case Type::Kind::floating:
    return static_cast<int64_t>(floatingOf(value.bytes.data(), value.bytes.size()));
  case Type::Kind::array:
  case Type::Kind::record:
    if (value.address)
      return static_cast<int64_t>(*value.address);
    throw DebugError("a value of type '" + value.type->describe() + "' is no number");
  case Type::Kind::void_:
    throw DebugError("there is no value of type 'void'");
  default:
    return value.type->isSigned
               ? signedBits(value.bytes.data(), value.bytes.size())
               : static_cast<int64_t>(bitsOf(value.bytes.data(), value.bytes.size()));
  }
}

double Evaluator::asReal(const DebugValue &value) {
  return floatingOf(value.bytes.data(), value.bytes.size());
}

bool Evaluator::isTrue(const DebugValue &value) {
  if (value.type->kind == Type::Kind::floating)
    return floatingOf(value.bytes.data(), value.bytes.size()) != 0;
  return asInteger(value) != 0;
}

// --- Text --------------------------------------------------------------------------------------

std::string Evaluator::formatScalar(const Type &type, const char *bytes, char format) const {
  const uint64_t bits = bitsOf(bytes, type.bytes);
  if (format == 'f' && type.kind != Type::Kind::floating && (type.bytes == 4 || type.bytes == 8))
    return floatingText(bytes, type.bytes);
  switch (format) {
  case 'x':
    return hex(bits);
  case 'a':
    return hex(bits);
  case 'o':
    return bits ? print("0%llo", static_cast<unsigned long long>(bits)) : "0";
  case 't':
    return binary(bits);
  case 'd':
    return std::to_string(signedBits(bytes, type.bytes));
  case 'u':
    return std::to_string(bits);
  case 'c':
    return characterText(signedBits(bytes, 1));
  default:
    break;
  }
  switch (type.kind) {
  case Type::Kind::void_:
    return "void";
  case Type::Kind::boolean:
    return bits == 0 ? "false" : bits == 1 ? "true" : std::to_string(bits);
  case Type::Kind::floating:
    return floatingText(bytes, type.bytes);
  case Type::Kind::character:
    return characterText(type.isSigned ? signedBits(bytes, 1) : static_cast<int64_t>(bits));
  case Type::Kind::pointer:
    return "(" + type.describe() + ") " + hex(bits);
  case Type::Kind::enumeration:
    for (const auto &[name, value] : type.values)
      if (value == signedBits(bytes, type.bytes))
        return name;
    return std::to_string(signedBits(bytes, type.bytes));
  default:
    return type.isSigned ? std::to_string(signedBits(bytes, type.bytes)) : std::to_string(bits);
  }
}

std::string Evaluator::format(const DebugValue &value, char format, uint64_t mostElements) const {
  const Type &type = *value.type;
  if (type.kind == Type::Kind::record) {
    std::string text = "{";
    for (size_t i = 0; i < type.members.size(); ++i) {
      const DebugValue part = member(value, i);
      std::string shown = this->format(part, format, mostElements);
      if (part.type->kind == Type::Kind::pointer && shown.starts_with("("))
        shown = shown.substr(shown.rfind(") ") + 2);
      text += (i ? ", " : "") + type.members[i].name + " = " + shown;
    }
    return text + "}";
  }
  if (type.kind != Type::Kind::array)
    return formatScalar(type, value.bytes.data(), format);
  constexpr size_t kRepeats = 10;
  std::string text = "{";
  size_t shown = 0;
  for (size_t i = 0; i < type.count && shown < mostElements; ++shown) {
    const std::string one = this->format(member(value, i), format, mostElements);
    size_t same = 1;
    while (i + same < type.count &&
           this->format(member(value, i + same), format, mostElements) == one)
      ++same;
    text += i ? ", " : "";
    if (same >= kRepeats) {
      text += one + " <repeats " + std::to_string(same) + " times>";
      i += same;
    } else {
      text += one;
      ++i;
    }
    if (i < type.count && shown + 1 == mostElements)
      text += "...";
  }
  return text + "}";
}

} // namespace ptxrun::debug
