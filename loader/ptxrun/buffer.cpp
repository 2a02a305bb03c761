#include "loader/ptxrun/buffer.h"

#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "loader/ptxrun/errors.h"
#include "loader/ptxrun/hints.h"
#include "loader/ptxrun/npy.h"

namespace ptxrun::command {
namespace {

/// SplitMix64: every element has a number of its own, whatever the order.
uint64_t scramble(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

double unitInterval(uint64_t random) { return static_cast<double>(random >> 40) * 0x1p-24; }

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

/// The value of an element: a whole number that only 64 bits without a sign have is no integer of
/// expressions in decimal, but is one in hexadecimal.
Expression valueOf(Element element, std::string_view text, const std::vector<Symbol> &earlier) {
  while (text.starts_with(' '))
    text.remove_prefix(1);
  while (text.ends_with(' '))
    text.remove_suffix(1);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (isFloating(element) || error != std::errc() || end != text.data() + text.size())
    return Expression(text, earlier);
  char hexadecimal[sizeof "0xffffffffffffffff"];
  std::snprintf(hexadecimal, sizeof hexadecimal, "0x%llx", static_cast<unsigned long long>(number));
  return Expression(hexadecimal, {});
}

/// rand:SEED gives floats in [0, 1) and integers of all bits; rand:SEED:LOW:HIGH values in [LOW,
/// HIGH).
void fillRandom(Array &array, std::string_view arguments, const std::vector<Symbol> &constants) {
  auto parts = split(arguments, ':');
  if (parts.size() != 1 && parts.size() != 3)
    throw UsageError("rand takes SEED or SEED:LOW:HIGH, not '" + std::string(arguments) + "'");
  auto constantReal = [&](std::string_view text) { return Expression(text, constants).asDouble(); };
  auto constantInteger = [&](std::string_view text) {
    return Expression(text, constants).asInteger();
  };
  uint64_t seed = scramble(static_cast<uint64_t>(constantInteger(parts[0])));
  bool isBounded = parts.size() == 3;
  double low = 0, high = 1;
  int64_t lowInteger = 0;
  uint64_t range = 0;
  if (isBounded && isFloating(array.element()))
    low = constantReal(parts[1]), high = constantReal(parts[2]);
  if (isBounded && !isFloating(array.element())) {
    lowInteger = constantInteger(parts[1]);
    range = static_cast<uint64_t>(constantInteger(parts[2]) - lowInteger);
    if (range == 0)
      throw UsageError("rand: LOW must be below HIGH in '" + std::string(arguments) + "'");
  }
  for (uint64_t i = 0; i < array.count(); ++i) {
    uint64_t random = scramble(seed + i);
    if (isFloating(array.element()))
      storeDouble(array.element(), array.at(i), low + (high - low) * unitInterval(random));
    else
      storeInteger(array.element(), array.at(i),
                   isBounded ? lowInteger + static_cast<int64_t>(random % range)
                             : static_cast<int64_t>(random));
  }
}

void fillValues(Array &array, std::string_view list) {
  auto values = split(list, ',');
  if (values.size() != array.count())
    throw UsageError(array.describe() + " needs " + std::to_string(array.count()) + " values, " +
                     std::to_string(values.size()) + " are given");
  for (size_t i = 0; i < values.size(); ++i) {
    const Expression value = valueOf(array.element(), values[i], {});
    if (value.isFloating())
      storeDouble(array.element(), array.at(i), value.asDouble());
    else
      storeInteger(array.element(), array.at(i), value.asInteger());
  }
}

/// The common small-integer and float cases of iota, which large inputs use.
void fillIota(Array &array) {
  auto fill = [&]<class T>(T *data) {
    for (uint64_t i = 0; i < array.count(); ++i)
      data[i] = static_cast<T>(i);
  };
  if (array.element() == Element::f32)
    return fill(reinterpret_cast<float *>(array.data()));
  if (array.element() == Element::f64)
    return fill(reinterpret_cast<double *>(array.data()));
  if (array.element() == Element::i32 || array.element() == Element::u32)
    return fill(reinterpret_cast<uint32_t *>(array.data()));
  Expression("i", {}).fill(array);
}

void generate(Array &array, std::string_view generator, const std::vector<Symbol> &earlier) {
  auto starts = [&](std::string_view word) {
    if (!generator.starts_with(word))
      return false;
    generator.remove_prefix(word.size());
    return true;
  };
  if (generator.empty() || generator == "zero")
    std::memset(array.data(), 0, array.bytes());
  else if (generator == "iota")
    fillIota(array);
  else if (starts("rand:"))
    fillRandom(array, generator, earlier);
  else if (starts("fill:"))
    valueOf(array.element(), generator, earlier).fill(array);
  else if (starts("expr:"))
    Expression(generator, earlier).fill(array);
  else if (!generator.empty() && std::strchr("+-.0123456789 ", generator[0]))
    fillValues(array, generator);
  else
    throw UsageError("'" + std::string(generator) + "' is no generator" +
                     didYouMean(generator.substr(0, generator.find(':')),
                                {"zero", "iota", "fill", "rand", "expr"}) +
                     "; there are zero, iota, fill:V, rand:SEED, rand:SEED:LOW:HIGH, "
                     "expr:EXPRESSION and a list of values");
}

/// TYPE[d, d...]:GENERATOR
Array generated(std::string_view source, const std::vector<Symbol> &earlier) {
  size_t open = source.find('['), close = source.find(']');
  Element element = elementNamed(source.substr(0, open));
  std::vector<uint64_t> shape;
  if (close > open + 1)
    for (std::string_view extent : split(source.substr(open + 1, close - open - 1), ',')) {
      int64_t value = Expression(extent, earlier).asInteger();
      if (value < 0)
        throw UsageError("a negative extent in '" + std::string(source) + "'");
      shape.push_back(static_cast<uint64_t>(value));
    }
  std::string_view rest = source.substr(close + 1);
  if (!rest.empty() && rest[0] != ':')
    throw UsageError("':' expected after ']' in '" + std::string(source) + "'");
  Array array(element, shape);
  generate(array, rest.empty() ? rest : rest.substr(1), earlier);
  return array;
}

Array readRaw(const std::string &path, Element element) {
  std::error_code error;
  uint64_t size = std::filesystem::file_size(path, error);
  if (error)
    throw UsageError(whyNotOpened(path, error.value()));
  if (size % bytesOf(element))
    throw UsageError(path + ": " + std::to_string(size) + " bytes are no whole number of " +
                     std::string(nameOf(element)));
  Array array(element, {size / bytesOf(element)});
  std::FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    throw UsageError(whyNotOpened(path, errno));
  size_t got = std::fread(array.data(), 1, size, file);
  std::fclose(file);
  if (got != size)
    throw UsageError(path + ": cannot be read to its end");
  return array;
}

/// The file's name in FILE or FILE:TYPE.
std::string_view fileOf(std::string_view source) {
  const size_t colon = source.rfind(':');
  const bool hasType = colon != std::string_view::npos && isElementName(source.substr(colon + 1));
  return hasType ? source.substr(0, colon) : source;
}

Array readFile(const std::string &source, const std::string &directory) {
  if (source.ends_with(".npy"))
    return readNpy(joinPath(directory, source));
  const std::string file(fileOf(source));
  return readRaw(joinPath(directory, file),
                 file == source ? Element::u8 : elementNamed(source.substr(file.size() + 1)));
}

} // namespace

bool isGenerated(std::string_view source) {
  size_t open = source.find('[');
  return open != std::string_view::npos && source.find(']', open) != std::string_view::npos &&
         isElementName(source.substr(0, open));
}

std::string joinPath(const std::string &directory, const std::string &name) {
  return directory.empty() ? name : (std::filesystem::path(directory) / name).string();
}

BufferSpec parseBufferSpec(std::string_view text) {
  BufferSpec spec;
  auto takes = [&](std::string_view prefix, BufferSpec::Role role) {
    if (!text.starts_with(prefix))
      return;
    text.remove_prefix(prefix.size());
    spec.role = role;
  };
  takes("in:", BufferSpec::Role::in);
  if (spec.role == BufferSpec::Role::in)
    takes("out:", BufferSpec::Role::out);
  if (spec.role == BufferSpec::Role::in)
    takes("inout:", BufferSpec::Role::inout);
  if (spec.role == BufferSpec::Role::in)
    takes("print:", BufferSpec::Role::print);
  spec.source = text;
  if (spec.role != BufferSpec::Role::out && spec.role != BufferSpec::Role::inout)
    return spec;
  // `out:f32[10]` has no file to go to: it is printed.
  size_t equals = text.find('=');
  if (equals != std::string_view::npos && !isGenerated(text.substr(0, equals))) {
    spec.output = text.substr(0, equals);
    spec.source = text.substr(equals + 1);
  } else if (isGenerated(text)) {
    spec.role = BufferSpec::Role::print;
  } else {
    spec.output = fileOf(text);
  }
  return spec;
}

Array makeArray(const BufferSpec &spec, const std::string &directory,
                const std::vector<Symbol> &earlier) {
  if (spec.source.empty())
    throw UsageError("a buffer without a source; write for example f32[1024]:iota or x.npy");
  if (isGenerated(spec.source))
    return generated(spec.source, earlier);
  bool isOutOnly = spec.role == BufferSpec::Role::out && fileOf(spec.source) == spec.output;
  if (isOutOnly && !std::filesystem::exists(joinPath(directory, spec.source)))
    throw UsageError("how large is out:" + spec.output + "? Write out:" + spec.output + "=f32[N]");
  Array array = readFile(spec.source, directory);
  if (isOutOnly)
    std::memset(array.data(), 0, array.bytes());
  return array;
}

std::string preview(const Array &array, uint64_t limit) {
  std::string text = "[";
  uint64_t shown = std::min(array.count(), limit);
  for (uint64_t i = 0; i < shown; ++i)
    text += (i ? ", " : "") + toText(array.element(), array.at(i));
  if (shown < array.count())
    text += ", ...";
  return text + "]";
}

} // namespace ptxrun::command
